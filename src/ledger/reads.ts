/**
 * Reads before a decision: the parts of the accounts that it changes. The amount read does not grow with the number of
 * stored events: only the few are read that a decision may change.
 *
 * @module
 */
import { type Day, dayOf, INSTANT_END, type Instant } from "../calendar/instant.ts";
import { add, type Decimal, sum, ZERO } from "../numbers/decimal.ts";
import { catchUpInstant } from "./account/account-plan.ts";
import { catchUpReadsFrom, invoicesReadFrom, findNewGrants } from "./account/catch-up.ts";
import { findOpenStretches, type Stretch } from "./account/open-cycles.ts";
import { billedCells } from "./billed-usage.ts";
import type { Catalog } from "./catalog.ts";
import { groupBy } from "./compare-ids.ts";
import type { ExternalUsageQuery, ExternalUsageReads, ExternalUsage } from "./external-usage.ts";
import type { AccountRecord, EventRecord, LedgerCell } from "./records.ts";
import type { LedgerView } from "./view.ts";
import type { AccountParts } from "./workspace.ts";

/** The part of a view that decisions about events and entries read. */
export type LedgerReads = ExternalUsageReads &
  Pick<
    LedgerView,
    | "accounts"
    | "acceptedIds"
    | "entries"
    | "credits"
    | "invoices"
    | "usage"
    | "overage"
    | "eventsToUndo"
    | "eventsWithOverage"
    | "lastSpent"
  >;

/**
 * Reads accounts for catching up and deciding: everything except stored events, of which only those are read whose
 * overage moves onto what falls due (S11.5).
 */
export async function readAccounts(
  catalog: Catalog,
  view: LedgerReads,
  records: readonly AccountRecord[],
  now: Instant,
  wanted: InvoiceRange = "open",
): Promise<readonly AccountParts[]> {
  if (records.length === 0) return [];
  const ids = records.map(({ id }) => id);
  const elsewhereQuery = externalUsageNeeded(catalog, records, now);
  const since = { from: elsewhereQuery.from, listedSince: earliestInvoiceNeeded(catalog, records, now, wanted) };
  const holdings = await readHoldings(view, ids, since);
  const elsewhere = externalUsageByAccount(await view.externalUsage(elsewhereQuery));
  const parts: AccountParts[] = [];
  for (const record of records) {
    const { usage, ...others } = holdings(record.id);
    const own = { record, ...others, ...elsewhere(record.id, usage) };
    parts.push({ ...own, events: await readOverageOfGrants(catalog, view, own, now) });
  }
  return parts;
}

/**
 * Which final invoices to read: all, or only those of open cycles. Few decisions need earlier ones, and an account gets
 * more of them each month.
 */
export type InvoiceRange = "all" | "open";

/** From when invoices are read, by their listing instant. @param records one or more */
export function earliestInvoiceNeeded(
  catalog: Catalog,
  records: readonly AccountRecord[],
  now: Instant,
  wanted: InvoiceRange,
): Instant {
  if (wanted === "all") return Number.NEGATIVE_INFINITY;
  return Math.min(...records.map((record) => invoicesReadFrom(catalog, record, now)));
}

/** From when to read the parts of accounts that grow with time. */
export interface ReadSince {
  /** The first day of usage and overage. */
  readonly from: Day;
  /** The first listing instant of final invoices. */
  readonly listedSince: Instant;
}

/** The contents of an account, read together with others. */
type AccountHoldings = (
  accountId: string,
) => Pick<AccountParts, "entries" | "credits" | "invoices" | "usage" | "overage">;

async function readHoldings(
  view: LedgerReads,
  ids: readonly string[],
  { from, listedSince }: ReadSince,
): Promise<AccountHoldings> {
  const until = dayOf(INSTANT_END);
  // Started together: a store may use one statement.
  const [entries, credits, invoices, usage, overage] = await Promise.all([
    view.entries(ids).then(groupByAccount),
    view.credits(ids).then(groupByAccount),
    view.invoices(ids, listedSince).then(groupByAccount),
    view.usage(ids, from, until).then(groupByAccount),
    view.overage(ids, from, until).then(groupByAccount),
  ]);
  return (id) => ({
    entries: entries.get(id) ?? [],
    credits: credits.get(id) ?? [],
    invoices: invoices.get(id) ?? [],
    usage: usage.get(id) ?? [],
    overage: overage.get(id) ?? [],
  });
}

/** Accounts from one committed state. */
export interface AccountsSnapshot {
  /** The revision of the configuration. */
  readonly revision: number;
  /** Those that exist. */
  readonly records: readonly AccountRecord[];
  readonly holdings: AccountHoldings;
}

/** Reads accounts to show them, without a lock, from a view of one committed state. */
export async function readSnapshot(
  view: AccountsView,
  ids: readonly string[],
  since: ReadSince,
): Promise<AccountsSnapshot> {
  const [revision, records, holdings] = await Promise.all([
    view.configurationRevision(),
    view.accounts(ids),
    readHoldings(view, ids, since),
  ]);
  return { revision, records, holdings };
}

/** The part of a view that {@link readSnapshot} reads. */
export type AccountsView = LedgerReads & Pick<LedgerView, "configurationRevision">;

/**
 * The accounts of a snapshot, as decisions need them.
 *
 * @param since from when it was read
 * @returns undefined if more must be read: earlier usage or invoices, or events whose overage moves onto what falls due
 * (S11.5)
 */
export function partsFromSnapshot(
  catalog: Catalog,
  { records, holdings }: AccountsSnapshot,
  { from, listedSince }: ReadSince,
  now: Instant,
): readonly AccountParts[] | undefined {
  const parts: AccountParts[] = [];
  for (const record of records) {
    const own = holdings(record.id);
    const grants = findNewGrants(catalog, { record, entries: () => own.entries }, catchUpInstant(record, now));
    if (grants.length > 0 || catchUpReadsFrom(catalog, record, now) < from) return undefined;
    if (invoicesReadFrom(catalog, record, now) < listedSince) return undefined;
    parts.push({ record, ...own, events: [] });
  }
  return parts;
}

/** The external usage of each account. */
function externalUsageByAccount(
  found: ExternalUsage | undefined,
): (accountId: string, used: readonly LedgerCell[]) => Pick<AccountParts, "usage" | "externalUsage"> {
  if (found === undefined) return (_, used) => ({ usage: used });
  const [open, billed] = [groupByAccount(found.open), groupByAccount(found.billed)];
  return (accountId, used) => {
    const externalUsage = { open: open.get(accountId) ?? [], billed: billed.get(accountId) ?? [] };
    return { usage: [...used, ...externalUsage.open, ...externalUsage.billed.flatMap(billedCells)], externalUsage };
  };
}

/** The external usage that catching up and decisions on open cycles read. @param records one or more */
export function externalUsageNeeded(
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
export async function overageToMove(
  view: LedgerReads,
  accountId: string,
  rooms: readonly OverageCover[],
  open: readonly Stretch[],
  skip: ReadonlySet<string> = new Set(),
): Promise<readonly EventRecord[]> {
  const found = new Map<string, EventRecord>();
  for (const [featureId, own] of groupBy(rooms, (room) => room.featureId)) {
    const opened = sum(own.map(({ quantity }) => quantity));
    if (opened.isZero()) continue;
    const covering: Covering = { view, accountId, featureId, opened, skip, found };
    for (const stretch of open) await readCovering(covering, windowsWithin(stretch, own));
  }
  return [...found.values()];
}

/** The parts of a stretch in which entries are in force, by their start, each once: thousands of entries may share a period. */
function windowsWithin(stretch: Stretch, rooms: readonly OverageCover[]): readonly Stretch[] {
  const windows = new Map<string, Stretch>();
  for (const { effectiveFrom, effectiveUntil } of rooms) {
    const from = Math.max(stretch.from, effectiveFrom);
    const until = Math.min(stretch.until, effectiveUntil);
    if (from < until) windows.set(`${from} ${until}`, { from, until });
  }
  return [...windows.values()].sort((a, b) => a.from - b.from || a.until - b.until);
}

/** The events with overage read for the entries of one feature. */
interface Covering {
  readonly view: LedgerReads;
  readonly accountId: string;
  readonly featureId: string;
  /** The units that the entries can take. */
  readonly opened: Decimal;
  readonly skip: ReadonlySet<string>;
  /** By referenceId. */
  readonly found: Map<string, EventRecord>;
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
async function readCovering(covering: Covering, windows: readonly Stretch[]): Promise<void> {
  if (windows.length === 0) return;
  const { view, accountId, featureId, opened, skip, found } = covering;
  const [hull, shared] = [
    { from: Infinity, until: -Infinity },
    { from: -Infinity, until: Infinity },
  ];
  for (const { from, until } of windows) {
    [hull.from, hull.until] = [Math.min(hull.from, from), Math.max(hull.until, until)];
    [shared.from, shared.until] = [Math.max(shared.from, from), Math.min(shared.until, until)];
  }
  const days = [dayOf(hull.from), dayOf(hull.until - 1) + 1] as const;
  const isWanted = withinAny(windows);
  let covered = ZERO;
  let unshared = 0;
  let afterNumber: number | undefined;
  while (covered.lt(opened)) {
    if (unshared > UNSHARED_MAX && windows.length > 1) {
      const half = Math.ceil(windows.length / 2);
      await readCovering(covering, windows.slice(0, half));
      await readCovering(covering, windows.slice(half));
      return;
    }
    const page = { limit: PAGE, ...(afterNumber === undefined ? {} : { afterNumber }) };
    const events = await view.eventsWithOverage(accountId, featureId, ...days, page);
    for (const event of events) {
      afterNumber = event.number;
      const { timestamp, referenceId, feature } = event;
      const isShared = shared.from <= timestamp && timestamp < shared.until;
      if (!isShared) unshared++;
      if (isWanted(timestamp)) found.set(referenceId, event);
      if (isShared && !skip.has(referenceId)) covered = add(covered, feature?.overage ?? ZERO);
    }
    if (events.length < PAGE) return;
  }
}

/** Creates a predicate for whether an instant is in one of several windows. @param windows by their start */
function withinAny(windows: readonly Stretch[]): (at: Instant) => boolean {
  const joined: { from: Instant; until: Instant }[] = [];
  for (const { from, until } of windows) {
    const last = joined.at(-1);
    if (last !== undefined && from <= last.until) last.until = Math.max(last.until, until);
    else joined.push({ from, until });
  }
  return (at) => joined.some(({ from, until }) => from <= at && at < until);
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
  const found = new Map<string, EventRecord>();
  for (const [due, covers] of groupBy(coversOfNewGrants(catalog, account, now), (cover) => cover.due)) {
    const open = findOpenStretches(catalog, record, invoices, due);
    for (const event of await overageToMove(view, record.id, covers, open)) found.set(event.referenceId, event);
  }
  return [...found.values()];
}

/** What the grants due by now can take. They take it before the decision that follows, so events are read for both together. */
export function coversOfNewGrants(
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
