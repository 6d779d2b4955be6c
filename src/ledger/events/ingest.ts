/**
 * Reads for an ingest and decides it: each event of a batch gets one outcome, in order, and all changes form one decision
 * (S14).
 */
import { dayOf, startOfUtcDay, type Instant, type Day } from "../../calendar/instant.ts";
import { hasCode } from "../../errors.ts";
import { earliestChargeStart } from "../../invoicing/due-work.ts";
import type { IncomingEvent } from "../../metering/event-envelope.ts";
import type { FieldsResult } from "../../metering/event-fields.ts";
import type { Steps } from "../../numbers/steps.ts";
import type { Problem } from "../../problem-table.ts";
import { AccountState } from "../account-state.ts";
import { findAccountPlan } from "../account/account-plan.ts";
import { catchUp, grantUpTo, isBehind } from "../account/catch-up.ts";
import type { Catalog, AccountPlan } from "../catalog.ts";
import { type Changes, type Decision, type IdSource, noChanges } from "../decision.ts";
import type { IngestOutcome } from "../outcome.ts";
import { type LedgerReads, prefetch } from "../reads.ts";
import type { AccountRecord, NewEvent } from "../records.ts";
import type { AcceptedEventId } from "../view.ts";
import type { AccountParts } from "../working-records.ts";
import {
  decideEvent,
  type DecisionTime,
  type EventDecision,
  explainUnmetered,
  idReservedUntil,
  refuse,
  refuseDuplicate,
  refuseExternal,
  type UnmeteredExplanation,
} from "./decide-event.ts";
import {
  countGroupedEvent,
  type FullDays,
  type GroupedEvents,
  mergeGroupedEvents,
  readFullDays,
  withFullDays,
} from "./full-days.ts";
import { createNewEvent } from "./new-event.ts";

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

/** The result of one event. */
export interface IngestResult extends IngestOutcome, UnmeteredExplanation {
  /** As sent, also for a malformed event; absent if that has none. */
  readonly eventId?: string;
  /** The stored event's; for a duplicate, that of the event that reserves the id. Absent if the event is malformed. */
  readonly referenceId?: string;
}

/** An event of a batch: its envelope, or why it is malformed. */
export type BatchEvent = IncomingEvent | MalformedEvent;

/** An event whose envelope cannot be read. */
export interface MalformedEvent {
  readonly problem: Problem;
  /** Its id, if it has one. */
  readonly id?: string;
}

export function isMalformed(event: BatchEvent): event is MalformedEvent {
  return !("sent" in event);
}

/**
 * Decides a batch of events. Pure: the same state, batch and instant give the same decision (S14.3). Pauses after every
 * event, whose rules may use a full budget, so that other work can run.
 *
 * @param batch in the order sent
 * @param ids creates the referenceIds
 */
export function* decideIngest(
  catalog: Catalog,
  read: IngestState,
  batch: readonly BatchEvent[],
  now: Instant,
  ids: IdSource,
): Steps<IngestDecision> {
  const ingest: Ingest = {
    catalog,
    accounts: new Map(read.accounts.map((each) => [each.record.id, each])),
    names: read.names,
    acceptedIds: new Map(read.acceptedIds.map((each) => [each.eventId, each])),
    holders: new Map(read.holders.map((each) => [each.id, each])),
    events: [],
    time: { now, futureMs: catalog.options.futureMs },
    ids,
  };
  const result: IngestResult[] = [];
  for (const event of batch) {
    if (result.length > 0) yield;
    result.push(ingestOne(ingest, event));
  }
  return { result, changes: collectChanges(ingest) };
}

type IngestDecision = Decision<readonly IngestResult[]>;

interface Ingest {
  readonly catalog: Catalog;
  /** By id: the parts that were read, replaced by an AccountState when the first event of the account is decided. */
  readonly accounts: Map<string, AccountParts | AccountState>;
  readonly names: ReadonlyMap<string, string>;
  /** By event id; accepted events of the batch are added. */
  readonly acceptedIds: Map<string, AcceptedEventId>;
  /** Accounts not in the batch, by id. */
  readonly holders: ReadonlyMap<string, AccountRecord>;
  /** The events to store, in order. */
  readonly events: NewEvent[];
  readonly time: DecisionTime;
  readonly ids: IdSource;
}

function ingestOne(ingest: Ingest, event: BatchEvent): IngestResult {
  const { catalog, time } = ingest;
  if (isMalformed(event)) return { ...refuse(event.problem), ...(event.id === undefined ? {} : { eventId: event.id }) };
  if (catalog.options.externalSchemas.includes(event.schemaName)) {
    return { ...refuseExternal(event), eventId: event.id };
  }
  const fields = catalog.readFields(event);
  if (fields.problem !== undefined) return { ...refuse(fields.problem), eventId: event.id };
  const acceptedId = ingest.acceptedIds.get(event.id);
  if (acceptedId !== undefined && isIdReserved(ingest, acceptedId)) {
    return { ...refuseDuplicate(event), eventId: event.id, referenceId: acceptedId.referenceId };
  }
  const account = findAccount(ingest, event.accountId);
  const isAhead = event.timestamp > time.now && event.timestamp <= time.now + time.futureMs;
  if (isAhead && fields.program?.feature !== undefined && account !== undefined && account.billFault === undefined) {
    grantAhead(catalog, account, event.timestamp);
  }
  const decision = decideEvent(event, fields, account, time);
  const referenceId = addToChanges(ingest, event, fields, account, decision);
  return { ...decision.outcome, eventId: event.id, referenceId, ...explainUnmetered(fields, decision) };
}

/** Adds a decided event, its units and its consumption to the changes. @returns its reference id */
function addToChanges(
  { ids, time: { now }, events, acceptedIds }: Ingest,
  event: IncomingEvent,
  { program }: FieldsResult,
  account: AccountState | undefined,
  decision: EventDecision,
): string {
  const { timestamp } = event;
  const { units, consumption } = decision;
  const referenceId = ids("ev");
  const { id: accountId, customerId } = account ?? NO_ACCOUNT;
  const feature = consumption && account?.consume(consumption, timestamp);
  const newEvent = createNewEvent(
    event,
    program,
    decision,
    { accountId, customerId, referenceId, createdAt: now },
    feature,
  );
  events.push(newEvent);
  if (account === undefined || !decision.isAccepted) return referenceId;
  if (program !== undefined && units.length > 0) account.addUnits(program, units, dayOf(timestamp));
  acceptedIds.set(event.id, newEvent);
  return referenceId;
}

const NO_ACCOUNT = { id: "", customerId: "" };

/** Whether an accepted event still reserves its id (S14.1). */
function isIdReserved({ catalog, accounts, holders, time: { now } }: Ingest, acceptedId: AcceptedEventId): boolean {
  const { accountId, createdAt, timestamp } = acceptedId;
  const holder = accounts.get(accountId)?.record ?? holders.get(accountId);
  const period = holder && findAccountPlan(catalog, holder).lookup.periodAt(timestamp);
  return now < idReservedUntil(catalog.options, createdAt, period);
}

/** Finds the account with a name, caught up (S2.4). */
function findAccount({ catalog, names, accounts, time: { now } }: Ingest, name: string): AccountState | undefined {
  const id = names.get(name) ?? name;
  let account = accounts.get(id);
  if (account === undefined) return undefined;
  if (!(account instanceof AccountState)) accounts.set(id, (account = createCaughtUpAccount(catalog, account, now)));
  // An archived account is named by its id only: archiving frees its aliases (S16.6).
  return account.isArchived && name !== id ? undefined : account;
}

/** Opens an account with everything due processed. If nothing was due, its record is not written. */
function createCaughtUpAccount(catalog: Catalog, read: AccountParts, now: Instant): AccountState {
  const account = new AccountState(catalog, read);
  if (read.currentPlan !== undefined || !isBehind(read.record, now)) return account;
  try {
    catchUp(catalog, account, now);
    return account;
  } catch (error) {
    // Amounts with too many digits: the account stays as read and its events fail; other accounts continue.
    if (!hasCode(error, "ERR_ARITHMETIC")) throw error;
    const failedAccount = new AccountState(catalog, read);
    failedAccount.billFault = error.message;
    return failedAccount;
  }
}

/** Creates the grants due up to a future-dated event (S2.4). */
function grantAhead(catalog: Catalog, account: AccountState, at: Instant): void {
  // Every grant falls due at the start of a day.
  const upTo = startOfUtcDay(at);
  if (upTo <= Math.max(account.grantedUpTo, account.record.caughtUpTo)) return;
  account.grantedUpTo = upTo;
  grantUpTo(catalog, account, upTo);
}

function collectChanges({ accounts, events }: Ingest): Changes {
  const changes = { ...noChanges(), newEvents: events };
  for (const account of accounts.values()) if (account instanceof AccountState) account.addTo(changes);
  return changes;
}

/** The data that a batch needs for one account name. */
export interface NameNeeds {
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
  /** By account name in the events: an id or an alias, resolved before the accounts are locked (S16.6). */
  readonly names: ReadonlyMap<string, NameNeeds>;
}

/** Finds the names and ids in a batch. Malformed events are skipped. */
export function findIngestNeeds(catalog: Catalog, batch: readonly BatchEvent[]): IngestNeeds {
  const eventIds = new Set<string>();
  const names = new Map<string, { -readonly [Part in keyof NameNeeds]: NameNeeds[Part] }>();
  for (const event of batch) {
    if (isMalformed(event)) continue;
    const { id, accountId, schemaName, timestamp } = event;
    eventIds.add(id);
    let needs = names.get(accountId);
    if (needs === undefined) {
      names.set(accountId, (needs = { features: NO_FEATURES, first: timestamp, last: timestamp }));
    } else if (timestamp < needs.first) needs.first = timestamp;
    else if (timestamp > needs.last) needs.last = timestamp;
    const program = catalog.metering.schemas.get(schemaName);
    if (program?.hasGroups) countGroupedEvent((needs.groupedEvents ??= new Map()), program, dayOf(timestamp));
    const featureId = program?.feature?.featureId;
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
  const needsOf = needsByAccount(needs, names);
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

/** Groups needs by account instead of name: several names may resolve to one account. */
function needsByAccount(needs: IngestNeeds, names: ReadonlyMap<string, string>): ReadonlyMap<string, NameNeeds> {
  if (names.size === 0) return needs.names;
  const byAccount = new Map<string, NameNeeds>();
  for (const [name, nameNeeds] of needs.names) {
    const id = names.get(name) ?? name;
    const other = byAccount.get(id);
    byAccount.set(id, other === undefined ? nameNeeds : mergeNeeds(nameNeeds, other));
  }
  return byAccount;
}

function mergeNeeds(a: NameNeeds, b: NameNeeds): NameNeeds {
  return {
    features: new Set([...a.features, ...b.features]),
    first: Math.min(a.first, b.first),
    last: Math.max(a.last, b.last),
    ...mergeGroupedEvents(a.groupedEvents, b.groupedEvents),
  };
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
