/**
 * The decision of an ingest: each event of a batch gets its one outcome, in order, and what it counts and consumes is
 * written as one (S14).
 *
 * @module
 */
import { DAY_MS, type Day, dayOf, type Instant } from "../calendar/instant.ts";
import type { SchemaProgram } from "../metering/program.ts";
import type { ReadEvent, UsageEvent } from "../metering/read-event.ts";
import { decimalOfExact, type Exact, isZeroExact } from "../numbers/exact.ts";
import { planOf } from "./account-plan.ts";
import { type AccountPlan, type Catalog, ownerIn, unitsIn } from "./catalog.ts";
import { catchUp, grantAhead } from "./catch-up.ts";
import type { Decision, IdSource } from "./decision.ts";
import * as because from "./event-outcomes.ts";
import { eventRecord, type Ingested } from "./event-record.ts";
import { takeFeature } from "./feature-use.ts";
import { closedAt } from "./open-cycles.ts";
import { type IngestOutcome, isCompleted, METERED, NO_METERS, NOT_BILLED, NOT_METERED, outcomeOf } from "./outcome.ts";
import { type AccountRecord, type EventRecord, UNNUMBERED } from "./records.ts";
import type { AccountPeriod } from "./state.ts";
import type { HeldId } from "./view.ts";
import { type AccountParts, noChanges, openAccount, type OpenAccount } from "./workspace.ts";

/** What was read for a batch (see `readForIngest`). */
export interface IngestRead {
  /** The accounts that the batch names and that exist. */
  readonly accounts: readonly AccountParts[];
  /** The id of the account that a name stands for, where it is not the name itself but an alias (S16.6). */
  readonly names: ReadonlyMap<string, string>;
  /** Whether each event id of the batch comes once. */
  readonly once?: boolean;
  /** Those of the batch's event ids that accepted events hold. */
  readonly held: readonly HeldId[];
  /** The accounts of those events, where they are not in `accounts`. */
  readonly holders: readonly AccountRecord[];
}

/** What became of one event. */
export interface IngestResult extends IngestOutcome {
  /** Absent where the event is malformed. */
  readonly eventId?: string;
  /** The stored event's; for a duplicate that of the event that holds the id. Absent where the event is malformed. */
  readonly referenceId?: string;
}

/**
 * Decides what a batch of events does to the accounts that it names. Pure: the same view, batch and instant, the same
 * decision (S14.3).
 *
 * @param batch events as they were sent, in order
 * @param ids makes the referenceIds
 */
export function decideIngest(
  catalog: Catalog,
  read: IngestRead,
  batch: readonly unknown[],
  now: Instant,
  ids: IdSource,
): Decision<readonly IngestResult[]> {
  const accounts = new Map<string, AccountParts | AccountState>();
  for (const parts of read.accounts) accounts.set(parts.record.id, parts);
  const context: Context = {
    catalog,
    accounts,
    names: read.names,
    held: new Map(read.held.map((held) => [held.eventId, held])),
    holders: new Map(read.holders.map((each) => [each.id, each])),
    once: read.once === true,
    nobodys: [],
    now,
    ids,
  };
  const result = batch.map((sent) => ingestOne(context, sent));
  const changes = noChanges();
  for (const account of accounts.values()) {
    if (!isOpen(account)) continue;
    account.work.addTo(changes);
  }
  changes.events.push(...context.nobodys);
  return { result, changes };
}

interface Context {
  readonly catalog: Catalog;
  /** By id; each is opened by its first event. */
  readonly accounts: Map<string, AccountParts | AccountState>;
  readonly names: ReadonlyMap<string, string>;
  /** By event id; the batch's own events are added as they are accepted, unless each of its ids comes once. */
  readonly held: Map<string, HeldId>;
  readonly once: boolean;
  /** Of other accounts, by id. */
  readonly holders: ReadonlyMap<string, AccountRecord>;
  /** Events that name no account. */
  readonly nobodys: EventRecord[];
  readonly now: Instant;
  readonly ids: IdSource;
}

interface AccountState {
  readonly work: OpenAccount;
  readonly owner: because.EventOwner;
  readonly plan: AccountPlan;
  /** The period of the last event. */
  period: AccountPeriod;
  /** The last day up to which grants ahead of the clock were made. */
  grantedAhead: Day;
}

function isOpen(account: AccountParts | AccountState): account is AccountState {
  return "work" in account;
}

/** Opens an account, caught up with (S2.4). */
function opened({ catalog, now }: Context, parts: AccountParts): AccountState {
  const work = openAccount(parts);
  catchUp(catalog, work, now);
  const { record } = work;
  const plan = planOf(catalog, record);
  return {
    work,
    owner: ownerIn(catalog, record),
    plan,
    period: plan.clock.periodAt(now),
    grantedAhead: dayOf(now),
  };
}

function ingestOne(context: Context, sent: unknown): IngestResult {
  const { reader } = context.catalog;
  const problem = reader.read(sent);
  if (problem !== undefined) return outcomeOf("INGESTION_REFUSED", problem);
  const { event } = reader;
  const held = context.held.get(event.id);
  if (held !== undefined && stillHolds(context, held)) {
    return { ...because.duplicateOf(event), eventId: event.id, referenceId: held.referenceId };
  }
  const account = accountOf(context, event.accountId);
  const ingested = account === undefined ? failed(because.noAccount(event)) : decideOne(context, event, account);
  const place = {
    accountId: account?.owner.id ?? "",
    customerId: account?.owner.customerId ?? "",
    number: UNNUMBERED,
    referenceId: context.ids("ev"),
    createdAt: context.now,
  };
  // The reader has checked the envelope.
  const record = eventRecord(sent as UsageEvent, event, place, ingested);
  if (account === undefined) context.nobodys.push(record);
  else account.work.putEvent(record);
  if (!context.once && isCompleted(record.status)) context.held.set(record.eventId, record);
  const { status, description, eventId, referenceId } = record;
  return { status, description, eventId, referenceId };
}

/** For a time after its ingest, and in any case while its event's cycle is open (S14.1). */
function stillHolds({ catalog, accounts, holders, now }: Context, held: HeldId): boolean {
  if (now < held.createdAt + catalog.options.idMemoryMs) return true;
  const holder = recordOf(accounts.get(held.accountId)) ?? holders.get(held.accountId);
  if (holder === undefined) return false;
  const { openUntil } = planOf(catalog, holder).clock.periodAt(held.timestamp);
  return openUntil !== undefined && now < openUntil;
}

/** The account of a name, caught up with (S2.4); undefined where there is none. */
function accountOf(context: Context, name: string): AccountState | undefined {
  const { names, accounts } = context;
  const id = names.size === 0 ? name : (names.get(name) ?? name);
  const account = accounts.get(id);
  // The name of an account that is archived is its id: archiving frees the aliases (S16.6).
  if (account === undefined || (name !== id && recordOf(account)?.status === "ARCHIVED")) return undefined;
  if (isOpen(account)) return account;
  const state = opened(context, account);
  accounts.set(id, state);
  return state;
}

function recordOf(account: AccountParts | AccountState | undefined): AccountRecord | undefined {
  return account === undefined || !isOpen(account) ? account?.record : account.work.record;
}

/** Every check of S14.1 after the duplicates, in its order. */
function decideOne(context: Context, event: ReadEvent, account: AccountState): Ingested {
  const { program, timestamp } = event;
  const { now, catalog } = context;
  if (account.work.record.status === "ARCHIVED") return failed(because.archivedAccount(event));
  if (program === undefined) return failed(because.noSchema(event));
  if (event.fault !== undefined) return failed(outcomeOf("INGESTION_FAILED", event.fault));
  if (timestamp > now + catalog.options.futureMs) return failed(because.tooEarly(timestamp, now));
  if (timestamp < account.period.start || timestamp >= account.period.end) {
    account.period = account.plan.clock.periodAt(timestamp);
  }
  const failure = lateness(account, timestamp, now) ?? because.meteringFailureOf(event, program, account.owner);
  return failure === undefined ? countOne(context, event, program, account) : failed(failure);
}

function lateness({ work, period }: AccountState, timestamp: Instant, now: Instant): IngestOutcome | undefined {
  const closed = closedAt(work, period, timestamp, now);
  switch (closed) {
    case undefined:
      return undefined;
    case "PAST_GRACE_PERIOD":
      return because.tooLate(timestamp, period.openUntil ?? timestamp);
    case "FINAL_INVOICE":
      return because.alreadyInvoiced(timestamp);
  }
}

/** Consumes feature credits, then counts the usage. */
function countOne(context: Context, event: ReadEvent, program: SchemaProgram, account: AccountState): Ingested {
  const { slots, measure, feature } = program;
  if (feature === undefined && measure.meters.length === 0) return { outcome: NO_METERS, units: NO_UNITS };
  const quantity: Exact = feature === undefined ? 0 : (slots.values[feature.slot] ?? 0);
  const units = unitsOf(context.catalog, program);
  if (units === undefined || !addsUp(quantity)) return failed(because.tooManyDigits());
  if (feature === undefined) return counted(units, account, event);
  const { timestamp } = event;
  if (dayOf(timestamp) > account.grantedAhead) {
    // What is granted on a day falls due as it begins.
    account.grantedAhead = dayOf(timestamp);
    grantAhead(context.catalog, account.work, account.grantedAhead * DAY_MS);
  }
  const taken = takeFeature(account.work, account.plan.clock, feature.featureId, quantity, timestamp);
  if (taken.kind === "TAKEN") return { ...counted(units, account, event, !isZeroExact(quantity)), feature: taken.use };
  return failed(because.insufficientCredits(feature.featureId, quantity, taken.available));
}

function counted(
  units: EventRecord["units"],
  { work, period }: AccountState,
  { timestamp }: ReadEvent,
  consumed = false,
): Ingested {
  work.addUnits(dayOf(timestamp), units);
  if (units.length === 0 && !consumed) return { outcome: NOT_METERED, units };
  return { outcome: period.openUntil === undefined ? NOT_BILLED : METERED, units };
}

/** What the meters measured; undefined where a sum of such quantities might not be exact. */
function unitsOf(catalog: Catalog, { measure }: SchemaProgram): EventRecord["units"] | undefined {
  const { meters, units } = measure;
  let matched = 0;
  for (const quantity of units) {
    if (quantity === undefined) continue;
    if (!addsUp(quantity)) return undefined;
    matched += 1;
  }
  if (matched === 0) return NO_UNITS;
  // A list that is mapped takes no more room than it needs, and these stay: one that grows has room for many more.
  const all = units.map((quantity, place) => unitsIn(catalog, meters[place] ?? -1, quantity ?? 0));
  return matched === units.length ? all : all.filter((_, place) => units[place] !== undefined);
}

const NO_UNITS: EventRecord["units"] = [];

/** Digits before, and digits after the point of a quantity: the product of two values (S1.3) has no more. */
const QUANTITY_DIGITS_MAX = 40;

/**
 * Whether sums of such quantities stay within 100 digits (S1.4). What the cells hold is not read for an ingest, so each
 * quantity must leave room for 10^20 others.
 */
function addsUp(quantity: Exact): boolean {
  if (typeof quantity === "number") return true;
  const decimal = decimalOfExact(quantity);
  return decimal.decimalPlaces() <= QUANTITY_DIGITS_MAX && decimal.e < QUANTITY_DIGITS_MAX;
}

function failed(outcome: IngestOutcome): Ingested {
  return { outcome, units: NO_UNITS };
}
