/**
 * The decision of an ingest: each event of a batch gets its one outcome, in order, and what it counts and consumes is
 * written as one (S14).
 *
 * @module
 */
import { DAY_MS, type Day, dayOf, type Instant } from "../../calendar/instant.ts";
import { hasCode } from "../../errors.ts";
import type { SchemaProgram } from "../../metering/program.ts";
import type { ReadEvent, UsageEvent } from "../../metering/read-event.ts";
import { type Exact, isZeroExact } from "../../numbers/exact.ts";
import { planOf } from "../account/account-plan.ts";
import { catchUp, grantAhead } from "../account/catch-up.ts";
import { closedAt } from "../account/open-cycles.ts";
import { type Catalog, unitsIn } from "../catalog.ts";
import type { Changes, Decision, IdSource } from "../decision.ts";
import { type IngestOutcome, isCompleted, METERED, NO_METERS, NOT_BILLED, NOT_METERED, outcomeOf } from "../outcome.ts";
import { type AccountRecord, type EventRecord, type FeatureUse, UNNUMBERED } from "../records.ts";
import type { HeldId } from "../view.ts";
import { type AccountParts, noChanges, openAccount, type OpenAccount } from "../workspace.ts";
import type { EventBatch } from "./event-batch.ts";
import * as because from "./event-outcomes.ts";
import { eventRecord } from "./event-record.ts";
import { takeFeature } from "./feature-use.ts";
import type { EventGathering } from "./gathered-events.ts";
import { isSeatBehind, latestOf, periodIn, type Seat, seatOf } from "./seats.ts";
import type { AccountPeriod } from "./state.ts";

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
  /** Whether the store takes events in columns. */
  readonly inBatches?: boolean;
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
    gathering: read.inBatches === true && batch.length >= BATCH_MIN ? catalog.gathering : undefined,
    nobodys: [],
    now,
    ids,
  };
  return new Ingest(context, batch);
}

/** So few events are kept as records: columns would take more. */
const BATCH_MIN = 8;
/** So many events are decided first, while a store that takes them early waits. */
const EARLY_FIRST = 250;
/** How many times more the next time: to write events takes a store longer than to decide so many. */
const EARLY_GROWTH = 3;
const EARLY_MAX = 1_000;

/**
 * The decision of a batch, made as it is asked for. Others may be made between its parts: what they share is free then.
 */
class Ingest implements Decision<readonly IngestResult[]> {
  readonly result: IngestResult[] = [];
  readonly #context: Context;
  readonly #batch: readonly unknown[];
  #changes: Changes | undefined;

  constructor(context: Context, batch: readonly unknown[]) {
    this.#context = context;
    this.#batch = batch;
  }

  /** Plain events alone: with the first that becomes a record, all that follow are decided at once. */
  get early(): Iterable<EventBatch> | undefined {
    const { gathering } = this.#context;
    return gathering === undefined || this.#batch.length < 2 * EARLY_FIRST ? undefined : this.#parts(gathering);
  }

  get changes(): Changes {
    if (this.#changes === undefined) {
      this.#context.gathering?.begin();
      this.#changes = this.#rest();
    }
    return this.#changes;
  }

  *#parts(gathering: EventGathering): Iterable<EventBatch> {
    for (let size = EARLY_FIRST; this.result.length + size < this.#batch.length;) {
      gathering.begin();
      this.#decideUntil(this.result.length + size);
      if (gathering.hasRecords()) {
        this.#changes = this.#rest();
        return;
      }
      const gathered = gathering.batch(this.#context.now, []);
      if (gathered !== undefined) yield gathered.batch;
      size = Math.min(size * EARLY_GROWTH, EARLY_MAX);
    }
  }

  #decideUntil(end: number): void {
    while (this.result.length < end) this.result.push(ingestOne(this.#context, this.#batch[this.result.length]));
  }

  #rest(): Changes {
    const { accounts, nobodys, gathering, now } = this.#context;
    this.#decideUntil(this.#batch.length);
    const changes = noChanges();
    for (const account of accounts.values()) if (isOpen(account)) account.work?.addTo(changes);
    changes.events.push(...nobodys);
    const gathered = gathering?.batch(now, changes.events);
    return gathered === undefined ? changes : { ...changes, events: gathered.changed, batch: gathered.batch };
  }
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
  /** Takes plain events; undefined where all are kept as records. */
  readonly gathering: EventGathering | undefined;
  /** Events that name no account. */
  readonly nobodys: EventRecord[];
  readonly now: Instant;
  readonly ids: IdSource;
}

interface AccountState {
  readonly parts: AccountParts;
  readonly seat: Seat;
  /** Made when something but plain events is put. */
  work: OpenAccount | undefined;
  /** Why it takes no events: what fell due of it cannot be done. */
  readonly fault: IngestOutcome | undefined;
  /** The last day up to which grants ahead of the clock were made. */
  grantedAhead: Day;
}

function isOpen(account: AccountParts | AccountState): account is AccountState {
  return "work" in account;
}

/** Opens an account, caught up with (S2.4). Where nothing falls due nothing is noted either: its record stays as it is. */
function opened({ catalog, now }: Context, parts: AccountParts): AccountState {
  let seat = seatOf(catalog, parts.record);
  let work: OpenAccount | undefined;
  let fault: IngestOutcome | undefined;
  if (isSeatBehind(seat, now)) {
    const opening = openAccount(parts);
    try {
      catchUp(catalog, opening, now);
      work = opening;
      seat = seatOf(catalog, work.record);
    } catch (error) {
      // Its amounts have too many digits: it stays as it was read, and the others go on.
      if (!hasCode(error, "ERR_ARITHMETIC")) throw error;
      fault = because.noBill(parts.record.id, error.message);
    }
  }
  return { parts, seat, work, fault, grantedAhead: dayOf(now) };
}

function workOf(account: AccountState): OpenAccount {
  return (account.work ??= openAccount(account.parts));
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
  const decided = account === undefined ? failed(because.noAccount(event)) : decideOne(context, event, account);
  const { status, description } = decided.outcome;
  const referenceId = context.ids("ev");
  // The reader has checked the envelope.
  if (!takesPlain(context, sent as UsageEvent, account, decided, referenceId)) {
    putRecord(context, sent as UsageEvent, account, decided, referenceId);
  }
  const { id: eventId, timestamp } = event;
  if (!context.once && isCompleted(status)) {
    const accountId = account?.seat.account.id ?? "";
    context.held.set(eventId, { eventId, referenceId, accountId, timestamp, createdAt: context.now });
  }
  return { status, description, eventId, referenceId };
}

/** What becomes of an event that is stored. */
interface Decided {
  readonly outcome: IngestOutcome;
  /** Whether it counts what its meters measured. */
  readonly counts: boolean;
  readonly feature?: FeatureUse | undefined;
}

/** Keeps an event in columns, its usage and all; false where it is to become a record. */
function takesPlain(
  { catalog, gathering }: Context,
  sent: UsageEvent,
  account: AccountState | undefined,
  { outcome, counts }: Decided,
  referenceId: string,
): boolean {
  const { event } = catalog.reader;
  const { program } = event;
  if (gathering === undefined || account === undefined || program === undefined || !counts) return false;
  return gathering.take({ sent, event, program, account: account.seat.account, outcome, referenceId });
}

function putRecord(
  { catalog, gathering, nobodys, now }: Context,
  sent: UsageEvent,
  account: AccountState | undefined,
  { outcome, counts, feature }: Decided,
  referenceId: string,
): void {
  const { event } = catalog.reader;
  const owner = account?.seat.account ?? NOBODY;
  gathering?.leave(event, owner, referenceId);
  const place = {
    accountId: owner.id,
    customerId: owner.customerId,
    number: UNNUMBERED,
    referenceId,
    createdAt: now,
  };
  const units = counts && event.program !== undefined ? unitsOf(catalog, event.program) : NO_UNITS;
  const record = eventRecord(sent, event, place, { outcome, units, feature });
  if (account === undefined) {
    nobodys.push(record);
    return;
  }
  const work = workOf(account);
  work.addUnits(dayOf(event.timestamp), units);
  work.putEvent(record);
}

const NOBODY = { id: "", customerId: "" };

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
  return account === undefined || !isOpen(account) ? account?.record : account.seat.record;
}

/** Every check of S14.1 after the duplicates, in its order. */
function decideOne(context: Context, event: ReadEvent, account: AccountState): Decided {
  const { program, timestamp } = event;
  const { now, catalog } = context;
  if (account.seat.isArchived) return failed(because.archivedAccount(event));
  if (program === undefined) return failed(because.noSchema(event));
  if (event.fault !== undefined) return failed(outcomeOf("INGESTION_FAILED", event.fault));
  if (account.fault !== undefined) return failed(account.fault);
  if (timestamp > now + catalog.options.futureMs) return failed(because.tooEarly(timestamp, now));
  const period = periodIn(catalog, account.seat, timestamp);
  const failure =
    lateness(account, period, timestamp, now) ?? because.meteringFailureOf(event, program, account.seat.owner);
  return failure === undefined ? countOne(context, event, program, account) : failed(failure);
}

function lateness(account: AccountState, period: AccountPeriod, at: Instant, now: Instant): IngestOutcome | undefined {
  const { openUntil } = period;
  const latest = latestOf(account.seat, now);
  // As nearly all are: in a stretch without a plan, or in the cycle that is running.
  if (openUntil === undefined || (latest < period.end && latest < openUntil)) return undefined;
  const closed = closedAt(workOf(account), period, at, now);
  switch (closed) {
    case undefined:
      return undefined;
    case "PAST_GRACE_PERIOD":
      return because.tooLate(at, openUntil);
    case "FINAL_INVOICE":
      return because.alreadyInvoiced(at);
  }
}

/** Consumes feature credits, and says whether the usage counts. */
function countOne(context: Context, event: ReadEvent, program: SchemaProgram, account: AccountState): Decided {
  const { slots, measure, feature } = program;
  if (feature === undefined && measure.meters.length === 0) return NO_METERS_DECIDED;
  const quantity: Exact = feature === undefined ? 0 : (slots.values[feature.slot] ?? 0);
  const matched = countMatched(measure.units);
  if (matched < 0 || !because.addsUp(quantity)) return failed(because.tooManyDigits());
  const isPriced = account.seat.period.openUntil !== undefined;
  if (feature === undefined)
    return matched === 0 ? NOT_METERED_DECIDED : isPriced ? METERED_DECIDED : NOT_BILLED_DECIDED;
  const { timestamp } = event;
  const work = workOf(account);
  if (dayOf(timestamp) > account.grantedAhead) {
    // What is granted on a day falls due as it begins.
    account.grantedAhead = dayOf(timestamp);
    grantAhead(context.catalog, work, account.grantedAhead * DAY_MS);
  }
  const taken = takeFeature(work, account.seat.plan.clock, feature.featureId, quantity, timestamp);
  if (taken.kind === "INSUFFICIENT") {
    return failed(because.insufficientCredits(feature.featureId, quantity, taken.available));
  }
  const outcome = matched === 0 && isZeroExact(quantity) ? NOT_METERED : isPriced ? METERED : NOT_BILLED;
  return { outcome, counts: true, feature: taken.use };
}

const METERED_DECIDED: Decided = { outcome: METERED, counts: true };
const NOT_BILLED_DECIDED: Decided = { outcome: NOT_BILLED, counts: true };
const NOT_METERED_DECIDED: Decided = { outcome: NOT_METERED, counts: true };
const NO_METERS_DECIDED: Decided = { outcome: NO_METERS, counts: true };

/** How many meters matched; below 0 where a sum of such quantities might not be exact. */
function countMatched(units: readonly (Exact | undefined)[]): number {
  let matched = 0;
  for (const quantity of units) {
    if (quantity === undefined) continue;
    if (!because.addsUp(quantity)) return -1;
    matched += 1;
  }
  return matched;
}

/** What the meters measured. */
function unitsOf(catalog: Catalog, { measure }: SchemaProgram): EventRecord["units"] {
  const { meters, units } = measure;
  const matched = units.filter((quantity) => quantity !== undefined).length;
  if (matched === 0) return NO_UNITS;
  // A list that is mapped takes no more room than it needs, and these stay: one that grows has room for many more.
  const all = units.map((quantity, place) => unitsIn(catalog, meters[place] ?? -1, quantity ?? 0));
  return matched === units.length ? all : all.filter((_, place) => units[place] !== undefined);
}

const NO_UNITS: EventRecord["units"] = [];

function failed(outcome: IngestOutcome): Decided {
  return { outcome, counts: false };
}
