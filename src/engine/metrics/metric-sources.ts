/**
 * Where metrics come from: usage by account, meter and day, and where that does not tell enough, stored events.
 *
 * Both are read a page at a time and counted as they pass, so that memory does not grow with them.
 *
 * @module
 */
import type { Cycle } from "../../calendar/cycle.ts";
import { DAY_MS, dayOf, INSTANT_END, INSTANT_MIN, type Instant } from "../../calendar/instant.ts";
import type { Catalog } from "../../ledger/catalog.ts";
import type { AccountRecord, LedgerCell, EventRecord } from "../../ledger/records.ts";
import type { EventFilter, LedgerView, PageRequest } from "../../ledger/view.ts";
import { createYielder } from "../../store/yielder.ts";
import { accountsIn } from "../all-accounts.ts";
import type { EngineView } from "../external/engine-store.ts";

/** Days of usage that are read at once, over all accounts of a chunk. */
const ACCOUNT_DAYS = 20_000;
/** Accounts that are read at once. */
const ACCOUNTS_MAX = 200;
/** Most events that are read at once, and most units that they have. */
const EVENTS_PAGE = 2000;
const UNITS_PAGE = 20_000;
/** In how many windows of time the events of one account are read where they are more than a page. */
const WINDOWS_MAX = 32;
/**
 * How much earlier than its timestamp an event may have been ingested, beside what an engine allows now: another engine may
 * have allowed more.
 */
const AHEAD_SPARE_MS = 31 * DAY_MS;

/** Where usage is read, and up to when that of events elsewhere counts. */
export interface UsageScan {
  readonly view: EngineView;
  readonly catalog: Catalog;
  readonly now: Instant;
}

/** A few accounts with their usage. */
export interface AccountsWithUsage {
  readonly records: readonly AccountRecord[];
  readonly cells: readonly LedgerCell[];
}

/**
 * The usage of accounts, a few at a time.
 *
 * @param accountIds default all
 * @param readsFrom whence the usage of these accounts is wanted, at or before the start of the range; default its start
 */
export async function* readUsageOfAccounts(
  { view, catalog, now: upTo }: UsageScan,
  accountIds: ReadonlySet<string> | undefined,
  { start, end }: Cycle,
  readsFrom?: (records: readonly AccountRecord[]) => Promise<Instant>,
): AsyncGenerator<AccountsWithUsage> {
  const chunk = Math.max(1, Math.min(ACCOUNTS_MAX, Math.floor(ACCOUNT_DAYS / ((end - start) / DAY_MS))));
  const read = async (records: readonly AccountRecord[]): Promise<AccountsWithUsage> => {
    const from = (await readsFrom?.(records)) ?? start;
    const ids = records.map(({ id }) => id);
    const days = { from: dayOf(from), until: dayOf(end - 1) + 1 };
    return { records, cells: await view.allUsage({ catalog, accountIds: ids, ...days, upTo }) };
  };
  const giveWay = createYielder();
  let records: AccountRecord[] = [];
  for await (const record of accountIds === undefined ? accountsIn(view) : await view.accounts([...accountIds])) {
    records.push(record);
    if (records.length < chunk) continue;
    yield await read(records);
    records = [];
    await giveWay();
  }
  if (records.length > 0) yield await read(records);
}

/** Which events are scanned. */
export interface EventScan extends Cycle {
  /** Default all; events of no account are among these. */
  readonly accountIds?: ReadonlySet<string> | undefined;
  readonly filter: Pick<EventFilter, "accepted" | "schemaName">;
  /** How far ahead of the clock an event may be dated, in milliseconds (S6.6). */
  readonly futureMs: number;
  /** How many meters measure an event, at most. */
  readonly unitsMax: number;
}

/** Stored events by their own timestamps, in no order, a page at a time. */
export async function* readEvents(view: LedgerView, scan: EventScan): AsyncGenerator<readonly EventRecord[]> {
  const { accountIds, filter, start, end, futureMs, unitsMax } = scan;
  const limit = Math.max(1, Math.min(EVENTS_PAGE, Math.floor(UNITS_PAGE / unitsMax)));
  const ingestedFrom = Math.max(INSTANT_MIN, start - futureMs - AHEAD_SPARE_MS);
  const createdAt = { from: ingestedFrom, until: INSTANT_END };
  if (accountIds === undefined) {
    yield* readPages(view, { ...filter, timestamp: { from: start, until: end }, createdAt }, limit);
    return;
  }
  const days = Math.ceil((end - start) / DAY_MS);
  const window = Math.ceil(days / WINDOWS_MAX) * DAY_MS;
  for (const accountId of accountIds) {
    const own = { ...filter, accountId, createdAt };
    const all = await view.events({ ...own, timestamp: { from: start, until: end } }, { limit });
    if (all.length < limit) {
      if (all.length > 0) yield all;
      continue;
    }
    // A store finds events by account and time, and sorts what it found for each page: so it finds fewer at once.
    for (let from = start; from < end; from += window) {
      yield* readPages(view, { ...own, timestamp: { from, until: Math.min(from + window, end) } }, limit);
    }
  }
}

async function* readPages(
  view: LedgerView,
  filter: EventFilter,
  limit: number,
): AsyncGenerator<readonly EventRecord[]> {
  const giveWay = createYielder();
  let page: PageRequest = { limit };
  for (;;) {
    await giveWay();
    const events = await view.events(filter, page);
    if (events.length > 0) yield events;
    const last = events.at(-1);
    if (last === undefined || events.length < limit) return;
    page = { limit, after: { createdAt: last.createdAt, id: last.referenceId } };
  }
}
