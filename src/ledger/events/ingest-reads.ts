/**
 * What an ingest reads (S14): the accounts named in a batch, with what its events need of them, and the groups of the days
 * on which an account may get too many of a meter (S18.1). On most days the number of groups and of new events shows that
 * there is room; only for the others are the groups read.
 */
import { findGroupLimit } from "../../book/resources/event-schema.ts";
import { type Day, type Instant, dayOf } from "../../calendar/instant.ts";
import { earliestChargeStart } from "../../invoicing/due-work.ts";
import type { SchemaProgram } from "../../metering/compile-metering.ts";
import { type BatchEvent, isMalformed } from "../../metering/event-envelope.ts";
import { findAccountPlan } from "../account/account-plan.ts";
import { isBehind } from "../account/catch-up.ts";
import type { Catalog, AccountPlan } from "../catalog.ts";
import { type LedgerReads, prefetch } from "../reads.ts";
import type { AccountRecord, LedgerCell } from "../records.ts";
import type { AcceptedEventId } from "../view.ts";
import type { AccountParts } from "../working-records.ts";

/** The number of new events that may add to groups of a meter on a day. */
interface MeterDayEvents {
  readonly meterId: string;
  /** Maximum number of its groups on a day (S18.1, S19.2). */
  readonly maximum: number;
  readonly day: Day;
  events: number;
}

/** The new events of an account by meter with groups and day. */
type GroupedEvents = Map<string, MeterDayEvents>;

/** The meters and days of an account on which there may be too many groups, and all usage of them. */
interface FullDays {
  readonly days: NonNullable<AccountParts["fullDays"]>;
  readonly usage: readonly LedgerCell[];
}

/** Counts an event for each meter with groups. */
function countGroupedEvent(counts: GroupedEvents, { meters, groups }: SchemaProgram, day: Day): void {
  for (const [place, meter] of meters.entries()) {
    if (groups[place] === undefined) continue;
    const key = meterDayKey(meter.id, day);
    const count = counts.get(key);
    if (count === undefined) counts.set(key, { meterId: meter.id, maximum: findGroupLimit(meter), day, events: 1 });
    else count.events++;
  }
}

/** Reads the days that the events of some accounts may fill, by account. @param needs by account id */
async function readFullDays(
  view: Pick<LedgerReads, "groupCounts" | "usage">,
  records: readonly AccountRecord[],
  needs: ReadonlyMap<string, { readonly groupedEvents?: GroupedEvents }>,
): Promise<ReadonlyMap<string, FullDays>> {
  const all = records.flatMap(({ id: accountId }) =>
    [...(needs.get(accountId)?.groupedEvents?.values() ?? [])].map((each) => ({ accountId, ...each })),
  );
  const requests = all.map((each) => ({ ...each, exactAbove: each.maximum - each.events }));
  const groupCounts = all.length === 0 ? [] : await view.groupCounts(requests);
  const full = all.filter(({ events, maximum }, index) => (groupCounts[index] ?? 0) + events > maximum);
  const fullDays = new Map<string, FullDays>();
  for (const { accountId, meterId, day } of full) {
    const cells = await view.usage([accountId], day, day + 1);
    const { days = [], usage = [] } = fullDays.get(accountId) ?? {};
    const meterCells = cells.filter(({ meterOrFeatureId }) => meterOrFeatureId === meterId);
    fullDays.set(accountId, { days: [...days, { meterId, day }], usage: [...usage, ...meterCells] });
  }
  return fullDays;
}

/** An account with its days that may become full. Other parts stay as they were read. */
export function withFullDays(parts: AccountParts, full: FullDays | undefined): AccountParts {
  if (full === undefined) return parts;
  const keys = new Set(full.days.map(({ meterId, day }) => meterDayKey(meterId, day)));
  const others = parts.usage.filter(({ meterOrFeatureId, day }) => !keys.has(meterDayKey(meterOrFeatureId, day)));
  return { ...parts, usage: [...others, ...full.usage], fullDays: full.days };
}

function meterDayKey(meterId: string, day: Day): string {
  return `${day} ${meterId}`;
}

/** The state that decides a batch (see `readForIngest`). */
export interface IngestState {
  /** The existing accounts named in the batch. */
  readonly accounts: readonly AccountParts[];
  /** Account ids by name, for names that are aliases (S16.6). */
  readonly names: ReadonlyMap<string, string>;
  /** The batch's event ids that accepted events have. */
  readonly acceptedIds: readonly AcceptedEventId[];
  /** The accounts of those events that are not in `accounts`. */
  readonly holders: readonly AccountRecord[];
}

/** The data that a batch needs for one account name. */
interface NameNeeds {
  /** The features that its events consume (S11.2). */
  readonly features: ReadonlySet<string>;
  /** The earliest and the latest timestamp of its events, inclusive. */
  readonly first: Instant;
  readonly last: Instant;
  /** Its events that meters with groups may count; absent without any. */
  readonly groupedEvents?: GroupedEvents;
}

/** The names and ids in a batch, which determine what is read. */
export interface IngestNeeds {
  /** The ids of its events, each once. */
  readonly eventIds: readonly string[];
  readonly batch: readonly BatchEvent[];
  /** By account name in the events: an id or an alias, resolved before the accounts are locked (S16.6). */
  readonly names: ReadonlyMap<string, NameNeeds>;
}

/**
 * Finds the names and ids in a batch. Malformed events are skipped.
 *
 * @param accountIds of names that are aliases: then needs are by account, which may have several names
 */
export function findIngestNeeds(
  catalog: Catalog,
  batch: readonly BatchEvent[],
  accountIds: ReadonlyMap<string, string> = NO_NAMES,
): IngestNeeds {
  const eventIds = new Set<string>();
  const names = new Map<string, { -readonly [Part in keyof NameNeeds]: NameNeeds[Part] }>();
  for (const event of batch) {
    if (isMalformed(event)) continue;
    const { id, schemaName, timestamp } = event;
    eventIds.add(id);
    const name = accountIds.get(event.accountId) ?? event.accountId;
    let needs = names.get(name);
    if (needs === undefined) {
      names.set(name, (needs = { features: NO_FEATURES, first: timestamp, last: timestamp }));
    } else if (timestamp < needs.first) needs.first = timestamp;
    else if (timestamp > needs.last) needs.last = timestamp;
    const program = catalog.metering.schemas.get(schemaName);
    if (program?.hasGroups) countGroupedEvent((needs.groupedEvents ??= new Map()), program, dayOf(timestamp));
    const featureId = program?.feature?.featureId;
    if (featureId === undefined || needs.features.has(featureId)) continue;
    needs.features = new Set([...needs.features, featureId]);
  }
  return { eventIds: [...eventIds], names, batch };
}

const NO_FEATURES: ReadonlySet<string> = new Set();
const NO_NAMES: ReadonlyMap<string, string> = new Map();

/** The state that decides a batch, except for accounts with something due. */
export interface PartialIngestState extends IngestState {
  /** The accounts with something due, to be read with everything that catching up needs. */
  readonly recordsBehind: readonly AccountRecord[];
  /** The days on which accounts may get too many groups, by account id; those of `accounts` have them already. */
  readonly fullDays: ReadonlyMap<string, FullDays>;
}

/** Reads the state that `decideIngest` needs. @param names account ids by name, for names that are not ids */
export async function readForIngest(
  catalog: Catalog,
  view: LedgerReads,
  needs: IngestNeeds,
  names: ReadonlyMap<string, string>,
  now: Instant,
): Promise<PartialIngestState> {
  const acceptedIds = await view.acceptedIds(needs.eventIds);
  const needsOf = names.size === 0 ? needs.names : findIngestNeeds(catalog, needs.batch, names).names;
  const records = await view.accounts([...needsOf.keys(), ...findHolderAccounts(catalog, acceptedIds, needsOf, now)]);
  const [recordsBehind, holders]: [AccountRecord[], AccountRecord[]] = [[], []];
  const current: { readonly record: AccountRecord; readonly plan: AccountPlan }[] = [];
  const ownNeeds: EventNeeds = {
    entries: [],
    invoices: { ids: [], listedSince: Number.POSITIVE_INFINITY },
    overage: { ids: [], from: Number.POSITIVE_INFINITY, until: Number.NEGATIVE_INFINITY },
  };
  for (const record of records) {
    const accountNeeds = needsOf.get(record.id);
    if (accountNeeds === undefined) {
      holders.push(record);
      continue;
    }
    if (isBehind(record, now)) recordsBehind.push(record);
    else {
      const plan = findAccountPlan(catalog, record);
      current.push({ record, plan });
      addEventNeeds(ownNeeds, plan, record, accountNeeds, now);
    }
  }
  const readParts = await prefetch(view, ownNeeds);
  const fullDays = await readFullDays(view, records, needsOf);
  const accounts = current.map(({ record, plan }) => withFullDays(readParts(record, plan), fullDays.get(record.id)));
  return { accounts, recordsBehind, names, acceptedIds, holders, fullDays };
}

/** The accounts of ids that only an open cycle can still reserve (S14.1). */
function findHolderAccounts(
  { options }: Catalog,
  acceptedIds: readonly AcceptedEventId[],
  accounts: ReadonlyMap<string, unknown>,
  now: Instant,
): Iterable<string> {
  if (acceptedIds.length === 0) return [];
  const old = acceptedIds.filter(
    ({ accountId, createdAt }) => now >= createdAt + options.idMemoryMs && !accounts.has(accountId),
  );
  return new Set(old.map(({ accountId }) => accountId));
}

/** Everything that events need of accounts with nothing due. */
interface EventNeeds {
  readonly entries: string[];
  readonly invoices: { readonly ids: string[]; listedSince: Instant };
  readonly overage: { readonly ids: string[]; from: Day; until: Day };
}

/** Adds what the events of one account need. */
function addEventNeeds(
  { entries, invoices, overage }: EventNeeds,
  plan: AccountPlan,
  record: AccountRecord,
  needs: NameNeeds,
  now: Instant,
): void {
  if (mayBeInvoiced(plan, record, needs.first, now)) {
    invoices.ids.push(record.id);
    invoices.listedSince = Math.min(invoices.listedSince, earliestChargeStart(plan.decisions, needs.first));
  }
  if (needs.features.size === 0) return;
  entries.push(record.id);
  const days = findLimitedDays(plan, needs, now);
  if (days === undefined) return;
  overage.ids.push(record.id);
  overage.from = Math.min(overage.from, days.from);
  overage.until = Math.max(overage.until, days.until);
}

/** Whether an event at or after an instant may be in a past cycle, whose invoice may be final (S6.5). */
function mayBeInvoiced({ lookup }: AccountPlan, record: AccountRecord, first: Instant, now: Instant): boolean {
  return lookup.periodAt(first).end <= Math.max(now, record.caughtUpTo);
}

/** The days of the billing windows in which overage counts towards a limit (S11.3). */
function findLimitedDays(
  { decisions, lookup }: AccountPlan,
  { features, first, last }: NameNeeds,
  now: Instant,
): { readonly from: Day; readonly until: Day } | undefined {
  const limits = decisions.flatMap(({ plan }) => plan?.details.entitlementOverageRateCards ?? []);
  const limited = limits.filter(({ featureId, maxQuantity }) => features.has(featureId) && maxQuantity);
  if (limited.length === 0) return undefined;
  const windows = limited.map(({ featureId }) => ({
    from: lookup.overageAt(featureId, first, now)?.window.start ?? first,
    until: lookup.overageAt(featureId, last, now)?.window.end ?? last,
  }));
  return {
    from: dayOf(Math.min(first, ...windows.map((window) => window.from))),
    until: dayOf(Math.max(last, ...windows.map((window) => window.until))) + 1,
  };
}
