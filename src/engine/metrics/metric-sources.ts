/**
 * The sources of metrics: usage by account, meter and day, and stored events where that is not detailed enough. Both
 * are read page by page, so that memory does not grow with them.
 *
 * @module
 */
import type { Cycle } from "../../calendar/cycle.ts";
import {
  DAY_MS,
  dayOf,
  INSTANT_END,
  INSTANT_MIN,
  type Instant,
  addDays,
  daysBetween,
  dayFrom,
} from "../../calendar/instant.ts";
import type { Catalog } from "../../ledger/catalog.ts";
import type { AccountRecord, LedgerCell, EventRecord } from "../../ledger/records.ts";
import type { EventFilter, LedgerView, PageRequest } from "../../ledger/view.ts";
import { createYielder } from "../../store/yielder.ts";
import { readAllAccounts } from "../all-accounts.ts";
import { type EngineStore, readUsage } from "../external/engine-store.ts";

/** Days of usage read together, over all accounts of a chunk. */
const ACCOUNT_DAYS = 20_000;
/** Accounts read together. */
const ACCOUNTS_MAX = 200;
/** Maximum number of events read together, and of their units. */
const EVENTS_PAGE = 2000;
const UNITS_PAGE = 20_000;
/** Number of time windows in which the events of one account are read if they exceed a page. */
const WINDOWS_MAX = 32;
/**
 * Margin for how much earlier than its timestamp an event may have been ingested: another engine may have allowed more
 * than this one.
 */
const INGEST_MARGIN_MS = 31 * DAY_MS;

/** Where usage is read, and up to when external usage counts. */
export interface UsageScan {
  readonly view: LedgerView;
  readonly store: Pick<EngineStore, "createPrefetch">;
  readonly catalog: Catalog;
  readonly now: Instant;
}

/** A few accounts with their usage. */
export interface AccountsWithUsage {
  readonly records: readonly AccountRecord[];
  readonly cells: readonly LedgerCell[];
}

/**
 * Reads the usage of accounts in chunks.
 *
 * @param accountIds default all
 * @param readsFrom from when these accounts' usage is needed, at or before the start of the range; default its start
 */
export async function* readUsageOfAccounts(
  { view, store, catalog, now: upTo }: UsageScan,
  accountIds: ReadonlySet<string> | undefined,
  { start, end }: Cycle,
  readsFrom?: (records: readonly AccountRecord[]) => Promise<Instant>,
): AsyncGenerator<AccountsWithUsage> {
  const chunk = Math.max(1, Math.min(ACCOUNTS_MAX, Math.floor(ACCOUNT_DAYS / daysBetween(start, end))));
  const read = async (records: readonly AccountRecord[]): Promise<AccountsWithUsage> => {
    const from = (await readsFrom?.(records)) ?? start;
    const days = { from: dayOf(from), until: dayFrom(end) };
    return { records, cells: await readUsage(store, view, { catalog, records, ...days, upTo }) };
  };
  const yieldToOthers = createYielder();
  let records: AccountRecord[] = [];
  for await (const record of accountIds === undefined ? readAllAccounts(view) : await view.accounts([...accountIds])) {
    records.push(record);
    if (records.length < chunk) continue;
    yield await read(records);
    records = [];
    await yieldToOthers();
  }
  if (records.length > 0) yield await read(records);
}

/** The events to scan. */
export interface EventScan extends Cycle {
  /** Default all, including events without an account. */
  readonly accountIds?: ReadonlySet<string> | undefined;
  readonly filter: Pick<EventFilter, "accepted" | "schemaName">;
  /** How far after the clock an event may be dated, in milliseconds (S6.6). */
  readonly futureMs: number;
  /** Maximum number of meters that measure an event. */
  readonly unitsMax: number;
}

/** Reads stored events by their own timestamps, unordered, page by page. */
export async function* readEvents(view: LedgerView, scan: EventScan): AsyncGenerator<readonly EventRecord[]> {
  const { accountIds, filter, start, end, futureMs, unitsMax } = scan;
  const limit = Math.max(1, Math.min(EVENTS_PAGE, Math.floor(UNITS_PAGE / unitsMax)));
  const ingestedFrom = Math.max(INSTANT_MIN, start - futureMs - INGEST_MARGIN_MS);
  const createdAt = { from: ingestedFrom, until: INSTANT_END };
  if (accountIds === undefined) {
    yield* readPages(view, { ...filter, timestamp: { from: start, until: end }, createdAt }, limit);
    return;
  }
  const days = Math.ceil(daysBetween(start, end));
  const windowDays = Math.ceil(days / WINDOWS_MAX);
  for (const accountId of accountIds) {
    const accountFilter = { ...filter, accountId, createdAt };
    const all = await view.events({ ...accountFilter, timestamp: { from: start, until: end } }, { limit });
    if (all.length < limit) {
      if (all.length > 0) yield all;
      continue;
    }
    // A store sorts all events it finds by account and time for each page, so each window finds fewer.
    for (let from = start; from < end; from = addDays(from, windowDays)) {
      yield* readPages(
        view,
        { ...accountFilter, timestamp: { from, until: Math.min(addDays(from, windowDays), end) } },
        limit,
      );
    }
  }
}

async function* readPages(
  view: LedgerView,
  filter: EventFilter,
  limit: number,
): AsyncGenerator<readonly EventRecord[]> {
  const yieldToOthers = createYielder();
  let page: PageRequest = { limit };
  for (;;) {
    await yieldToOthers();
    const events = await view.events(filter, page);
    if (events.length > 0) yield events;
    const last = events.at(-1);
    if (last === undefined || events.length < limit) return;
    page = { limit, after: { createdAt: last.createdAt, id: last.referenceId } };
  }
}
