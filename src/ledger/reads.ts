/**
 * Reads before a decision: the parts of the accounts that it changes. The amount read does not grow with the number of
 * stored events: only the few events that a decision may change are read.
 */
import { type Day, dayOf, INSTANT_END, type Instant, ceilToDay } from "../calendar/instant.ts";
import { add, type Decimal, sum, ZERO } from "../numbers/decimal.ts";
import { groupBy } from "../numbers/ids.ts";
import type { AccountState } from "./account-state.ts";
import { isBilledFor } from "./account-usage.ts";
import { catchUpInstant } from "./account/account-plan.ts";
import { catchUpReadsFrom, findNewGrants } from "./account/catch-up.ts";
import { findOpenRanges, invoicesReadFrom, type TimeRange } from "./account/open-cycles.ts";
import type { AccountPlan, Catalog } from "./catalog.ts";
import type { AccountRecord, EventRecord, LedgerCell, AccountExternalUsage } from "./records.ts";
import type { LedgerView } from "./view.ts";
import type { AccountParts } from "./working-records.ts";

/** The part of a view that decisions about events and entries read. */
export type LedgerReads = Pick<
  LedgerView,
  | "accounts"
  | "acceptedIds"
  | "entries"
  | "credits"
  | "invoices"
  | "usage"
  | "groupCounts"
  | "billedUsage"
  | "overage"
  | "eventsToUndo"
  | "eventsWithOverage"
  | "lastSpent"
>;

/** A query for the external usage of some accounts (S17.4). */
export interface ExternalUsageQuery {
  readonly catalog: Catalog;
  readonly records: readonly AccountRecord[];
  /** From this day to that of `upTo`. */
  readonly from: Day;
  /** Usage dated after this instant is excluded (S17.2). */
  readonly upTo: Instant;
}

/** Which parts of accounts to read, by the ids of the accounts. A part is empty for all other accounts. */
export interface Needs {
  readonly entries?: readonly string[];
  readonly credits?: readonly string[];
  /** Final invoices from this listing instant. */
  readonly invoices?: { readonly ids: readonly string[]; readonly listedSince: Instant };
  readonly usage?: CellNeeds;
  readonly overage?: CellNeeds;
  /** Read only if there is a source. */
  readonly externalUsage?: ExternalUsageQuery;
}

/** Cells of the days `[from, until)`. */
interface CellNeeds {
  readonly ids: readonly string[];
  readonly from: Day;
  readonly until: Day;
}

/** The parts that were read of an account. */
export type ReadParts = (record: AccountRecord, currentPlan?: AccountPlan) => AccountParts;

/**
 * Reads parts of accounts. This is the only place where an account is assembled from a store.
 *
 * @param source the source's current usage for the query in `needs`; absent if all events are ingested
 */
export async function prefetch(view: LedgerReads, needs: Needs, source?: readonly LedgerCell[]): Promise<ReadParts> {
  const { usage: days, overage: overageDays, externalUsage: query } = needs;
  const sourceIds = source && query?.records.map(({ id }) => id);
  const [firstDay, endDay] = [query?.from ?? 0, dayOf(query?.upTo ?? 0) + 1];
  // Started together: a store may use one statement.
  const [entries, credits, invoices, usage, overage, billed] = await Promise.all([
    readByAccount(needs.entries, (ids) => view.entries(ids)),
    readByAccount(needs.credits, (ids) => view.credits(ids)),
    readByAccount(needs.invoices?.ids, (ids) => view.invoices(ids, needs.invoices?.listedSince ?? 0)),
    readByAccount(days?.ids, (ids) => view.usage(ids, days?.from ?? 0, days?.until ?? 0)),
    readByAccount(overageDays?.ids, (ids) => view.overage(ids, overageDays?.from ?? 0, overageDays?.until ?? 0)),
    readByAccount(sourceIds, (ids) => view.billedUsage(ids, firstDay, endDay)),
  ]);
  const current = source && groupByAccount(source);
  return (record, currentPlan) => {
    const { id } = record;
    const parts = {
      record,
      entries: entries.get(id) ?? NOTHING,
      credits: credits.get(id) ?? NOTHING,
      invoices: invoices.get(id) ?? NOTHING,
      usage: usage.get(id) ?? NOTHING,
      overage: overage.get(id) ?? NOTHING,
      events: NOTHING,
      currentPlan,
    };
    if (current === undefined || query === undefined) return parts;
    return { ...parts, externalUsage: splitByBilling(query.catalog, current.get(id), billed.get(id)) };
  };
}

/** Usage counts as billed on the days stored with an invoice, and as the source has it now on others. */
function splitByBilling(
  catalog: Catalog,
  current: readonly LedgerCell[] = NOTHING,
  billed: AccountExternalUsage["billed"] = NOTHING,
): AccountExternalUsage {
  const isBilled = (cell: LedgerCell): boolean => billed.some((each) => isBilledFor(catalog, each, cell));
  return { current, open: billed.length === 0 ? current : current.filter((cell) => !isBilled(cell)), billed };
}

const NOTHING: readonly never[] = [];
const NONE: ReadonlyMap<string, readonly never[]> = new Map();

function readByAccount<Item extends { readonly accountId: string }>(
  ids: readonly string[] = NOTHING,
  read: (ids: readonly string[]) => Promise<readonly Item[]>,
): ReadonlyMap<string, readonly Item[]> | Promise<ReadonlyMap<string, readonly Item[]>> {
  return ids.length === 0 ? NONE : read(ids).then(groupByAccount);
}

/**
 * Which final invoices to read: all, or only those of open cycles. Few decisions need earlier ones, and an account gets
 * more of them each month.
 */
export type InvoiceRange = "all" | "open";

/** Everything that catching up and deciding need except events. @param records one or more */
export function catchUpNeeds(
  catalog: Catalog,
  records: readonly AccountRecord[],
  now: Instant,
  range: InvoiceRange = "open",
): Required<Needs> {
  const ids = records.map(({ id }) => id);
  const externalUsage = externalUsageNeeds(catalog, records, now);
  const days = { ids, from: externalUsage.from, until: dayOf(INSTANT_END) };
  const listedSince =
    range === "all"
      ? Number.NEGATIVE_INFINITY
      : Math.min(...records.map((record) => invoicesReadFrom(catalog, record, now)));
  return { entries: ids, credits: ids, invoices: { ids, listedSince }, usage: days, overage: days, externalUsage };
}

/**
 * Reads accounts for catching up and deciding: everything except stored events, of which only those are read whose
 * overage moves onto what falls due (S11.5).
 *
 * @param source as in {@link prefetch}
 */
export async function readAccounts(
  catalog: Catalog,
  view: LedgerReads,
  needs: Required<Needs>,
  now: Instant,
  source?: readonly LedgerCell[],
): Promise<readonly AccountParts[]> {
  const read = await prefetch(view, needs, source);
  const parts: AccountParts[] = [];
  for (const accountParts of needs.externalUsage.records.map((record) => read(record))) {
    parts.push({ ...accountParts, events: await readOverageOfGrants(catalog, view, accountParts, now) });
  }
  return parts;
}

/** Accounts from one committed state. */
export interface AccountsSnapshot {
  /** The revision of the configuration. */
  readonly revision: number;
  /** Those that exist. */
  readonly records: readonly AccountRecord[];
  readonly read: ReadParts;
}

/** Reads accounts to show them, without a lock, from a view of one committed state. */
export async function readSnapshot(
  view: LedgerReads & Pick<LedgerView, "configurationRevision">,
  ids: readonly string[],
  needs: Needs,
): Promise<AccountsSnapshot> {
  const [revision, records, read] = await Promise.all([
    view.configurationRevision(),
    view.accounts(ids),
    prefetch(view, needs),
  ]);
  return { revision, records, read };
}

/**
 * The accounts of a snapshot, as decisions need them.
 *
 * @param needs what was read
 * @returns undefined if more must be read: earlier usage or invoices, or events whose overage moves onto what falls due
 * (S11.5)
 */
export function partsFromSnapshot(
  catalog: Catalog,
  { records, read }: AccountsSnapshot,
  { usage: { from }, invoices: { listedSince } }: Pick<Required<Needs>, "usage" | "invoices">,
  now: Instant,
): readonly AccountParts[] | undefined {
  const parts = records.map((record) => read(record));
  const isEnough = parts.every(
    (accountParts) =>
      coversOfNewGrants(catalog, accountParts, now).length === 0 &&
      catchUpReadsFrom(catalog, accountParts.record, now) >= from &&
      invoicesReadFrom(catalog, accountParts.record, now) >= listedSince,
  );
  return isEnough ? parts : undefined;
}

/** The external usage that catching up and decisions on open cycles read. @param records one or more */
export function externalUsageNeeds(
  catalog: Catalog,
  records: readonly AccountRecord[],
  now: Instant,
): ExternalUsageQuery {
  const from = Math.min(...records.map((record) => catchUpReadsFrom(catalog, record, now)));
  const upTo = Math.max(now, ...records.map((record) => catchUpInstant(record, now)));
  return { catalog, records, from, upTo };
}

/** Units that a new or raised entry, in force over `[effectiveFrom, effectiveUntil)`, can take of open overage. */
export interface OverageCover {
  readonly featureId: string;
  readonly effectiveFrom: Instant;
  readonly effectiveUntil: Instant;
  readonly quantity: Decimal;
}

/**
 * Reads the events whose overage may move onto entries (S11.5): for each entry the earliest events in its period, until
 * their overage reaches the units that all entries of the feature can take. No later event's overage can move.
 *
 * @param open the ranges in which overage may move
 * @param skip referenceIds of events that are being undone
 */
export async function readOverageToMove(
  view: LedgerReads,
  accountId: string,
  covers: readonly OverageCover[],
  open: readonly TimeRange[],
  skip: ReadonlySet<string> = new Set(),
): Promise<readonly EventRecord[]> {
  const eventsById = new Map<string, EventRecord>();
  for (const [featureId, coversOfFeature] of groupBy(covers, ({ featureId }) => featureId)) {
    const coverable = sum(coversOfFeature.map(({ quantity }) => quantity));
    if (coverable.isZero()) continue;
    const search: CoverSearch = { view, accountId, featureId, coverable, skip, eventsById };
    for (const range of open) await readCoverableEvents(search, listWindows(range, coversOfFeature));
  }
  return [...eventsById.values()];
}

/** The parts of a range in which entries are in force, by their start, each once: thousands of entries may share a period. */
function listWindows(range: TimeRange, covers: readonly OverageCover[]): readonly TimeRange[] {
  const windows = new Map<string, TimeRange>();
  for (const { effectiveFrom, effectiveUntil } of covers) {
    const from = Math.max(range.from, effectiveFrom);
    const until = Math.min(range.until, effectiveUntil);
    if (from < until) windows.set(`${from} ${until}`, { from, until });
  }
  return [...windows.values()].sort((a, b) => a.from - b.from || a.until - b.until);
}

/** The events with overage read for the entries of one feature. */
interface CoverSearch {
  readonly view: LedgerReads;
  readonly accountId: string;
  readonly featureId: string;
  /** The units that the entries can take. */
  readonly coverable: Decimal;
  readonly skip: ReadonlySet<string>;
  /** By referenceId. */
  readonly eventsById: Map<string, EventRecord>;
}

const PAGE = 100;
/** Maximum number of events read that not all windows share; beyond it, the windows are split into two halves. */
const UNSHARED_MAX = 1000;

/**
 * Reads the earliest events of each window until their overage reaches the available units. Overlapping windows, of
 * which there may be thousands, are read together until the overage in their common range reaches it: then that of each
 * window does.
 *
 * @param windows by their start
 */
async function readCoverableEvents(search: CoverSearch, windows: readonly TimeRange[]): Promise<void> {
  if (windows.length === 0) return;
  const { view, accountId, featureId, coverable, skip, eventsById } = search;
  const [hull, shared] = [
    { from: Infinity, until: -Infinity },
    { from: -Infinity, until: Infinity },
  ];
  for (const { from, until } of windows) {
    [hull.from, hull.until] = [Math.min(hull.from, from), Math.max(hull.until, until)];
    [shared.from, shared.until] = [Math.max(shared.from, from), Math.min(shared.until, until)];
  }
  const days = [dayOf(hull.from), ceilToDay(hull.until)] as const;
  const isWanted = createWindowCheck(windows);
  let coveredQuantity = ZERO;
  let unshared = 0;
  let afterNumber: number | undefined;
  while (coveredQuantity.lt(coverable)) {
    if (unshared > UNSHARED_MAX && windows.length > 1) {
      const half = Math.ceil(windows.length / 2);
      await readCoverableEvents(search, windows.slice(0, half));
      await readCoverableEvents(search, windows.slice(half));
      return;
    }
    const page = { limit: PAGE, ...(afterNumber === undefined ? {} : { afterNumber }) };
    const events = await view.eventsWithOverage(accountId, featureId, ...days, page);
    for (const event of events) {
      afterNumber = event.number;
      const { timestamp, referenceId, feature } = event;
      const isShared = shared.from <= timestamp && timestamp < shared.until;
      if (!isShared) unshared++;
      if (isWanted(timestamp)) eventsById.set(referenceId, event);
      if (isShared && !skip.has(referenceId)) coveredQuantity = add(coveredQuantity, feature?.overage ?? ZERO);
    }
    if (events.length < PAGE) return;
  }
}

/** Creates a predicate for whether an instant is in one of several windows. @param windows by their start */
function createWindowCheck(windows: readonly TimeRange[]): (at: Instant) => boolean {
  const mergedWindows: { from: Instant; until: Instant }[] = [];
  for (const { from, until } of windows) {
    const last = mergedWindows.at(-1);
    if (last !== undefined && from <= last.until) last.until = Math.max(last.until, until);
    else mergedWindows.push({ from, until });
  }
  return (at) => mergedWindows.some(({ from, until }) => from <= at && at < until);
}

/** A grant takes overage of the cycles that are open when it falls due. */
async function readOverageOfGrants(
  catalog: Catalog,
  view: LedgerReads,
  account: Pick<AccountParts, "record" | "entries" | "invoices">,
  now: Instant,
): Promise<readonly EventRecord[]> {
  const { record, invoices } = account;
  // Several grants may cover one event: it moves once.
  const eventsById = new Map<string, EventRecord>();
  for (const [due, covers] of groupBy(coversOfNewGrants(catalog, account, now), (cover) => cover.due)) {
    const open = findOpenRanges(catalog, record, invoices, due);
    for (const event of await readOverageToMove(view, record.id, covers, open))
      eventsById.set(event.referenceId, event);
  }
  return [...eventsById.values()];
}

/**
 * Adds the events to an account whose overage may move onto entries or grants due by now (S11.5).
 *
 * @param open the ranges in which overage may move
 * @param otherEvents other events that the decision changes
 * @param skip referenceIds of events that are being undone
 */
export async function readMovableOverage(
  catalog: Catalog,
  view: LedgerReads,
  account: AccountState,
  now: Instant,
  { covers, open, otherEvents = [], skip }: MovableOverage,
): Promise<void> {
  const { record } = account;
  const all = [...covers, ...coversOfNewGrants(catalog, { record, entries: account.entries() }, now)];
  account.addStoredEvents([...otherEvents, ...(await readOverageToMove(view, record.id, all, open, skip))]);
}

interface MovableOverage {
  readonly covers: readonly OverageCover[];
  readonly open: readonly TimeRange[];
  readonly otherEvents?: readonly EventRecord[];
  readonly skip?: ReadonlySet<string>;
}

/** What the grants due by now can take. They take it before the decision that follows, so events are read for both together. */
function coversOfNewGrants(
  catalog: Catalog,
  { record, entries }: Pick<AccountParts, "record" | "entries">,
  now: Instant,
): readonly (OverageCover & { readonly due: Instant })[] {
  const grants = findNewGrants(catalog, { record, entries: () => entries }, catchUpInstant(record, now));
  return grants.map((grant) => ({ ...grant, quantity: grant.granted }));
}

/** Groups items by account. */
export function groupByAccount<Item extends { readonly accountId: string }>(
  items: readonly Item[],
): ReadonlyMap<string, readonly Item[]> {
  return groupBy(items, ({ accountId }) => accountId);
}
