/**
 * Reads for the decision on a batch of events (S14).
 *
 * @module
 */
import { type Day, dayOf, type Instant } from "../../calendar/instant.ts";
import { earliestChargeStart } from "../../invoicing/due-work.ts";
import { findAccountPlan } from "../account/account-plan.ts";
import { isBehind } from "../account/catch-up.ts";
import type { AccountPlan, Catalog } from "../catalog.ts";
import { type LedgerReads, prefetch } from "../reads.ts";
import type { AccountRecord } from "../records.ts";
import type { AcceptedEventId } from "../view.ts";
import { type BatchEvent, type IngestState, isMalformed } from "./ingest.ts";

/** The data that a batch needs for one account name. */
export interface NameNeeds {
  /** The features that its events consume (S11.2). */
  readonly features: ReadonlySet<string>;
  /** The earliest and the latest timestamp of its events, inclusive. */
  readonly first: Instant;
  readonly last: Instant;
}

/** The names and ids in a batch, which determine what is read. */
export interface IngestNeeds {
  /** The ids of its events, each once. */
  readonly eventIds: readonly string[];
  /** By account name in the events: an id or an alias, resolved before the accounts are locked (S16.6). */
  readonly names: ReadonlyMap<string, NameNeeds>;
}

/** Finds the names and ids in a batch. Malformed events are skipped. */
export function findIngestNeeds(catalog: Catalog, batch: readonly BatchEvent[]): IngestNeeds {
  const eventIds = new Set<string>();
  const names = new Map<string, { features: ReadonlySet<string>; first: Instant; last: Instant }>();
  for (const event of batch) {
    if (isMalformed(event)) continue;
    const { id, accountId, schemaName, timestamp } = event;
    eventIds.add(id);
    let needs = names.get(accountId);
    if (needs === undefined) {
      names.set(accountId, (needs = { features: NO_FEATURES, first: timestamp, last: timestamp }));
    } else if (timestamp < needs.first) needs.first = timestamp;
    else if (timestamp > needs.last) needs.last = timestamp;
    const featureId = catalog.metering.schemas.get(schemaName)?.feature?.featureId;
    if (featureId === undefined || needs.features.has(featureId)) continue;
    needs.features = new Set([...needs.features, featureId]);
  }
  return { eventIds: [...eventIds], names };
}

const NO_FEATURES: ReadonlySet<string> = new Set();

/** The state that decides a batch, except for accounts with something due. */
export interface PartialIngestState extends IngestState {
  /** The accounts with something due, to be read with everything that catching up needs. */
  readonly recordsBehind: readonly AccountRecord[];
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
  const needsOf = needsByAccount(needs, names);
  const records = await view.accounts([...needsOf.keys(), ...findHolderAccounts(catalog, acceptedIds, needsOf, now)]);
  const recordsBehind: AccountRecord[] = [];
  const holders: AccountRecord[] = [];
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
  const accounts = current.map(({ record, plan }) => readParts(record, plan));
  return { accounts, recordsBehind, names, acceptedIds, holders };
}

/** The accounts of ids that are reserved only because their cycle is open (S14.1). */
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

/** Groups needs by account instead of name: several names may resolve to one account. */
function needsByAccount(needs: IngestNeeds, names: ReadonlyMap<string, string>): ReadonlyMap<string, NameNeeds> {
  if (names.size === 0) return needs.names;
  const byAccount = new Map<string, NameNeeds>();
  for (const [name, nameNeeds] of needs.names) {
    const id = names.get(name) ?? name;
    const other = byAccount.get(id);
    if (other === undefined) {
      byAccount.set(id, nameNeeds);
      continue;
    }
    byAccount.set(id, {
      features: new Set([...nameNeeds.features, ...other.features]),
      first: Math.min(nameNeeds.first, other.first),
      last: Math.max(nameNeeds.last, other.last),
    });
  }
  return byAccount;
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
