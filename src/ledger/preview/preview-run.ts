/**
 * Events one after another, each with its outcome, and the usage and overage that they leave: what a preview prices.
 *
 * An event arrives at its own timestamp, so none is late or early (S13.5). A run may have several lanes, one for each way of
 * planning the accounts: an event is read and measured once, and decided in each of them.
 *
 * @module
 */
import type { Book } from "../../book/model/book.ts";
import { DAY_MS, type Day, dayOf, formatInstant, type Instant } from "../../calendar/instant.ts";
import type { AddAll } from "../../metering/cells.ts";
import { createEnvelopeReader, type EventEnvelope } from "../../metering/event-envelope.ts";
import type { FieldsRead } from "../../metering/event-fields.ts";
import type { EventSlots } from "../../metering/event-slots.ts";
import type { SchemaProgram } from "../../metering/program.ts";
import { createUsageTally, type Usage } from "../../metering/usage.ts";
import type { Exact } from "../../numbers/exact.ts";
import type { RuleBudget } from "../../rules/budget.ts";
import { createCatalog } from "../catalog.ts";
import { decideEvent, type DecisionTime, type EventDecision, refuse, refuseDuplicate } from "../events/decide-event.ts";
import { newEvent, recordOfNewEvent } from "../events/new-event.ts";
import type { IngestOutcome } from "../outcome.ts";
import { type EventRecord, type FeatureUse, UNNUMBERED } from "../records.ts";
import type { CountedEvents } from "./counted-events.ts";
import type { Tracer } from "./line-trace.ts";
import { openTally, type OutcomeTally } from "./outcome-tally.ts";
import { isNarrow, type PreviewAccount } from "./preview-account.ts";
import { heldUntil, type Lane, type LaneResult, openLane } from "./preview-lane.ts";
import type { Tried } from "./preview-tried.ts";
import { rememberIds, type SeenIds } from "./seen-ids.ts";

/** How events are decided. */
export interface EventRunOptions {
  /** The lanes: the plans of the accounts in each. At least one; default the plans of the book alone. */
  readonly tried?: readonly [Tried, ...Tried[]] | undefined;
  /** Remembers the ids of accepted events; undefined does without (S14.1). */
  readonly ids?: SeenIds | undefined;
  /** The budget of one evaluation of a rule (S3.8). */
  readonly ruleBudget?: Partial<RuleBudget> | undefined;
  /** Keeps what is behind lines, in a run of one lane. */
  readonly tracer?: Pick<Tracer, "note"> | undefined;
}

/** Events in, usage out. Members that describe one lane are those of the first. */
export interface EventRun extends Omit<LaneResult, "usage" | "tried"> {
  /** Decides one event as it was sent. @returns its outcome in the first lane */
  readonly add: (event: unknown) => IngestOutcome;
  /**
   * The slots for the events of an ACTIVE schema, for a reader that finds the parts of an event without JSON.parse. It must set id,
   * accountId, timestamp, every declared attribute within S1.3 and every declared dimension, all within their bounds;
   * every other event goes through {@link add}.
   */
  readonly slotsOf: (schemaName: string) => EventSlots | undefined;
  /** Decides the event that was laid out in the slots of {@link slotsOf}. */
  readonly addSlots: (slots: EventSlots) => IngestOutcome;
  /**
   * Adds usage that was counted elsewhere (S17.1), in any order, for all lanes.
   *
   * @param account an index in the book's accounts
   * @param meter an index in the book's meters
   * @throws {RatebookError} ERR_ARITHMETIC when its cell would need more than 100 digits (S1.4); nothing is added then
   */
  readonly addCell: (account: number, meter: number, day: Day, quantity: Exact) => void;
  /**
   * Takes plain events that were measured elsewhere, if every one of them would be decided alike and be accepted. Days of an
   * account come in order, each before the other events of that day.
   *
   * @returns false where they are to be decided one by one; then nothing of them is counted
   */
  readonly addCounted: (counted: CountedEvents) => boolean;
  /** What all lanes count: with one lane, all. */
  readonly usage: Usage;
  /** In the order in which they were asked for. */
  readonly lanes: readonly [LaneResult, ...LaneResult[]];
}

/** Starts a run over a book that was read and checked. */
export function startEventRun(book: Book, { tried = [{}], ids, ruleBudget, tracer }: EventRunOptions = {}): EventRun {
  const catalog = createCatalog(book, ruleBudget === undefined ? {} : { ruleBudget });
  const { metering } = catalog;
  const together = [...metering.schemas.values()].map(({ measure }) => measure.meters);
  const usage = createUsageTally(
    book.accounts.map(({ id }) => id),
    metering.meterIds,
    together,
  );
  const all = openTally();
  const shared = { catalog, book, usage, all, together };
  const first = openLane(shared, tried[0]);
  const run: Run = {
    first,
    lanes: [first, ...tried.slice(1).map((each) => openLane(shared, each))],
    all,
    quiet: quietTimes(tried.length > 1 ? book.accounts.length : 0),
    adders: together.map((meters) => usage.adder(meters)),
    ids,
    hasOwnIds: false,
    time: { now: 0, futureMs: 0 },
    tracer,
  };
  const readEnvelope = createEnvelopeReader();
  const read = new Map(
    [...metering.schemas].map(([name, program]) => [name, { program, problem: undefined, fault: undefined }]),
  );
  return {
    catalog: first.catalog,
    accounts: first.accounts,
    counts: first.counts,
    span: first.span,
    usage,
    lanes: run.lanes,
    add: (event) => {
      const incoming = readEnvelope(event);
      return typeof incoming === "string"
        ? all.count(refuse(incoming))
        : takeEvent(run, incoming, catalog.readFields(incoming));
    },
    slotsOf: (schemaName) => metering.schemas.get(schemaName)?.slots,
    addSlots: (slots) => takeEvent(run, slots, read.get(slots.schemaName) ?? UNKNOWN),
    addCounted: (counted) => takeCounted(run, counted, read.get(counted.schemaName)),
    addCell: (account, meter, day, quantity) => {
      usage.add(account, meter, day, quantity);
      const at = day * DAY_MS;
      for (const { accounts } of run.lanes) accounts.at(account)?.noteCounted(quantity, at);
      run.quiet.until[account] = Number.NEGATIVE_INFINITY;
      all.widen(at, book.accounts[account]?.id ?? "", "usage of");
    },
  };
}

const UNKNOWN: FieldsRead = { program: undefined, problem: undefined, fault: undefined };

interface Run {
  readonly first: Lane;
  /** The first among them. */
  readonly lanes: readonly [Lane, ...Lane[]];
  /** Counts events that all lanes take alike, once. */
  readonly all: OutcomeTally;
  /** By account, when all lanes take an event of a schema without a feature alike. */
  readonly quiet: QuietTimes;
  /** What adds the units of an event that all lanes accept, by the index of its program. */
  readonly adders: readonly AddAll[];
  /** Ids that all lanes hold, equally long. */
  readonly ids: SeenIds | undefined;
  /** Whether a lane holds ids of its own. */
  hasOwnIds: boolean;
  /** The time of the event that is decided. */
  readonly time: { now: DecisionTime["now"]; readonly futureMs: number };
  readonly tracer: EventRunOptions["tracer"];
}

function takeEvent(run: Run, event: EventEnvelope, read: FieldsRead): IngestOutcome {
  const { first, lanes, all } = run;
  run.time.now = event.timestamp;
  const account = first.accounts.find(event.accountId);
  const decision = decideIn(run, first, account, { event, read, units: undefined });
  if (lanes.length > 1 && !isTakenAlike(run, event, read, decision)) return takeInAll(run, event, read);
  if (!decision.isAccepted || account === undefined) return all.count(repeatedOr(run, first, event, read));
  if (run.ids !== undefined && !run.ids.admit(event.id, event.timestamp, heldUntil(first, event)))
    return all.count(refuseDuplicate(event));
  if (read.program !== undefined) {
    run.adders[read.program.index]?.(account.index, dayOf(event.timestamp), decision.units);
    apply(account, event, read.program, decision);
    run.tracer?.note(account, event, read.program, decision);
  }
  all.widen(event.timestamp, event.id, "event");
  return all.count(decision.outcome);
}

/** When nothing happens to an account in any lane, and all have a plan in force, or none has: `[from, until)` by account. */
interface QuietTimes {
  readonly from: Float64Array;
  readonly until: Float64Array;
}

function quietTimes(accounts: number): QuietTimes {
  const from = new Float64Array(accounts).fill(Infinity);
  return { from, until: new Float64Array(accounts).fill(-Infinity) };
}

/**
 * Whether every lane decides an event as the first one does, and holds its id as long: then it is taken once. With five
 * drafts a million events take a fifth of the time so.
 */
function isTakenAlike(
  { first, quiet, hasOwnIds }: Run,
  event: EventEnvelope,
  read: FieldsRead,
  decision: EventDecision,
): boolean {
  const index = first.account?.index ?? -1;
  const { timestamp } = event;
  if (hasOwnIds || !decision.isAccepted || read.program?.feature !== undefined) return false;
  if (!(timestamp >= (quiet.from[index] ?? Infinity) && timestamp < (quiet.until[index] ?? -Infinity))) return false;
  // A quantity with many digits may make the bill of one lane impossible, and not of another.
  for (const quantity of decision.units) if (quantity !== undefined && !isNarrow(quantity)) return false;
  return true;
}

/** Notes until when all lanes will take the account's events alike. */
function noteQuiet({ first, lanes, quiet }: Run, { timestamp }: EventEnvelope): void {
  const { account } = first;
  if (account === undefined) return;
  const { openUntil } = account.seen.periodAt(timestamp);
  const remembered = timestamp + first.catalog.options.idMemoryMs;
  let until = Infinity;
  for (const lane of lanes) {
    if (lane.account === undefined) return;
    const { seen, quietUntil } = lane.account;
    const period = seen.periodAt(timestamp);
    const isHeldAlike =
      period.openUntil === openUntil || Math.max(period.openUntil ?? Infinity, openUntil ?? Infinity) <= remembered;
    const isOpen = seen.record.caughtUpTo <= timestamp;
    until = Math.min(until, isHeldAlike && isOpen ? Math.min(period.end, quietUntil) : -Infinity);
  }
  quiet.from[account.index] = timestamp;
  quiet.until[account.index] = until;
}

interface Incoming {
  readonly event: EventEnvelope;
  readonly read: FieldsRead;
  /** What the event counts, where another lane measured it. */
  readonly units: EventDecision["units"] | undefined;
}

/** Takes events that were measured elsewhere: the decider decides one of those that a meter counts, and one of the others. */
function takeCounted(run: Run, counted: CountedEvents, read: FieldsRead | undefined): boolean {
  const { first, lanes, all } = run;
  const { accountId, schemaName, day, units, events, metered } = counted;
  const account = first.accounts.find(accountId);
  // A trace lists events one by one.
  if (account === undefined || read?.program === undefined || run.tracer !== undefined) return false;
  const event = { schemaName, id: "", accountId, timestamp: day * DAY_MS };
  run.time.now = event.timestamp;
  run.quiet.until[account.index] = Number.NEGATIVE_INFINITY;
  const kinds = [
    { units, times: metered },
    { units: units.map(() => undefined), times: events - metered },
  ].filter(({ times }) => times > 0);
  const decided: { readonly lane: Lane; readonly outcome: IngestOutcome; readonly times: number }[] = [];
  for (const lane of lanes) {
    const own = lane === first ? account : lane.accounts.at(account.index);
    own?.fallDue(event.timestamp);
    if (own?.isSteadyOn(day) !== true) return false;
    for (const kind of kinds) {
      const { isAccepted, outcome } = decideIn(run, lane, own, { event, read, units: kind.units });
      if (!isAccepted) return false;
      decided.push({ lane, outcome, times: kind.times });
    }
  }
  for (const { lane, outcome, times } of decided) (lanes.length > 1 ? lane.tally : all).count(outcome, times);
  run.adders[read.program.index]?.(account.index, day, units);
  all.widen(counted.first, accountId, "usage of");
  all.widen(counted.last, accountId, "usage of");
  return true;
}

/** Decides an event in one lane. Nothing is changed but what falls due of its account. */
function decideIn(
  run: Run,
  lane: Lane,
  account: PreviewAccount | undefined,
  { event, read, units }: Incoming,
): EventDecision {
  lane.account = account;
  account?.fallDue(event.timestamp);
  let decision = decideEvent(event, read, account?.seen, run.time, units);
  if (account?.awaitsPlan === true && mayBeginPlan(decision, read) && !isHeld(run, lane, event)) {
    // Deciding changes nothing: the event is decided again by the plan, whose credits it may spend.
    const takeBack = account.startPlan(event.timestamp);
    const byPlan = decideEvent(event, read, account.seen, run.time, units);
    if (!byPlan.isAccepted) takeBack();
    if (byPlan.isAccepted || decision.isAccepted) decision = byPlan;
  }
  lane.decision = decision;
  return decision;
}

/** Whether an event is accepted without a plan, or may be by one that grants what it spends. */
function mayBeginPlan({ isAccepted }: EventDecision, { program }: FieldsRead): boolean {
  return isAccepted || program?.feature !== undefined;
}

/** Whether an event that was accepted holds the id. */
function isHeld({ ids }: Run, lane: Lane, { id, timestamp }: EventEnvelope): boolean {
  return ids?.has(id, timestamp) === true || lane.ids?.has(id, timestamp) === true;
}

/** The outcome of an event that a lane does not accept: that it is a repetition comes before what is wrong with it. */
function repeatedOr(run: Run, lane: Lane, event: EventEnvelope, read: FieldsRead): IngestOutcome {
  return isHeld(run, lane, event) && read.problem === undefined ? refuseDuplicate(event) : lane.decision.outcome;
}

/** Decides an event that the first lane has decided in the others, and applies it wherever it is accepted. */
function takeInAll(run: Run, event: EventEnvelope, read: FieldsRead): IngestOutcome {
  const { first, lanes } = run;
  const units = decideInOthers(run, event, read);
  const taking = units === undefined ? 0 : admitInAll(run, event);
  const isShared = taking === lanes.length;
  if (isShared) {
    const { index } = read.program ?? {};
    run.adders[index ?? -1]?.(first.account?.index ?? -1, dayOf(event.timestamp), units ?? []);
    noteQuiet(run, event);
  }
  for (const lane of lanes) lane.tally.count((lane.outcome = settleIn(run, lane, { event, read, isShared })));
  return first.outcome;
}

/** @returns what the event counts, where a lane accepts it */
function decideInOthers(run: Run, event: EventEnvelope, read: FieldsRead): EventDecision["units"] | undefined {
  const { first, lanes } = run;
  let units = first.decision.isAccepted ? first.decision.units : undefined;
  for (const lane of lanes) {
    if (lane === first) continue;
    const account = first.account && lane.accounts.at(first.account.index);
    const decision = decideIn(run, lane, account, { event, read, units });
    if (decision.isAccepted) units ??= decision.units;
  }
  return units;
}

/** Applies what a lane has decided. @returns the outcome of the event in it */
function settleIn(
  run: Run,
  lane: Lane,
  { event, read, isShared }: Omit<Incoming, "units"> & { readonly isShared: boolean },
): IngestOutcome {
  const { account, decision } = lane;
  const { program } = read;
  if (!decision.isAccepted) return repeatedOr(run, lane, event, read);
  if (!lane.takes || account === undefined || program === undefined) return refuseDuplicate(event);
  if (!isShared) lane.addAlone(program.index, account.index, dayOf(event.timestamp), decision.units);
  apply(account, event, program, decision);
  lane.tally.widen(event.timestamp, event.id, "event");
  return decision.outcome;
}

/** Which lanes take an event that at least one accepts: those in which its id counts no more. @returns how many */
function admitInAll(run: Run, event: EventEnvelope): number {
  const { ids, lanes } = run;
  let accepting = 0;
  let [shortest, longest] = [Infinity, -Infinity];
  for (const lane of lanes) {
    lane.takes = lane.decision.isAccepted;
    if (!lane.takes) continue;
    accepting++;
    lane.holdsUntil = heldUntil(lane, event);
    if (lane.holdsUntil < shortest) shortest = lane.holdsUntil;
    if (lane.holdsUntil > longest) longest = lane.holdsUntil;
  }
  if (ids === undefined) return accepting;
  const isAlike = accepting === lanes.length && shortest === longest && !run.hasOwnIds;
  if (!isAlike && !ids.has(event.id, event.timestamp)) return admitApart(run, ids, event, shortest);
  if (isAlike && ids.admit(event.id, event.timestamp, shortest)) return accepting;
  for (const lane of lanes) lane.takes = false;
  return 0;
}

/** Admits an id that lanes hold for different times: what all of them hold is shared, the rest is each one's own. */
function admitApart(run: Run, ids: SeenIds, { id, timestamp }: EventEnvelope, shortest: Instant): number {
  const { lanes } = run;
  let taking = 0;
  for (const lane of lanes) {
    lane.takes &&= lane.ids?.has(id, timestamp) !== true;
    if (lane.takes) taking++;
  }
  const isShared = taking === lanes.length;
  if (isShared) ids.admit(id, timestamp, shortest);
  for (const lane of lanes) {
    if (!lane.takes || (isShared && lane.holdsUntil === shortest)) continue;
    lane.ids ??= rememberIds();
    lane.ids.admit(id, timestamp, lane.holdsUntil);
    run.hasOwnIds = true;
  }
  return taking;
}

/** Takes what an event takes of a feature, and notes what it counts. */
function apply(account: PreviewAccount, event: EventEnvelope, program: SchemaProgram, decision: EventDecision): void {
  const { units, take } = decision;
  account.count(units, event.timestamp);
  if (take !== undefined) account.take(take, event.timestamp, recorderOf(account, event, program, decision));
}

/** Makes the record of an event that takes of a feature. */
function recorderOf(
  { seen: { id: accountId, customerId } }: PreviewAccount,
  event: EventEnvelope,
  program: SchemaProgram,
  decision: EventDecision,
): (feature: FeatureUse, referenceId: string) => EventRecord {
  const { schemaName, id, timestamp } = event;
  return (feature, referenceId) => {
    const sent = { schemaName, id, accountId: event.accountId, timestamp: formatInstant(timestamp) };
    const owner = { accountId, customerId, referenceId, createdAt: timestamp };
    return recordOfNewEvent(newEvent({ ...event, sent }, program, decision, owner, feature), UNNUMBERED);
  };
}
