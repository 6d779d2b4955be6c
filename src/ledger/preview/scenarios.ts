/**
 * The scenarios of a run: each is a set of plans that decides all events, either the book's own or with a draft instead of
 * them. An event is decided by the plans of its account in each scenario, and counted once if all of them accept it.
 */
import type { Book } from "../../book/resources/book.ts";
import { formatGroup, NO_GROUP } from "../../book/resources/event-schema.ts";
import { type Instant, dayOf } from "../../calendar/instant.ts";
import type { SchemaProgram } from "../../metering/compile-metering.ts";
import type { EventEnvelope } from "../../metering/event-envelope.ts";
import type { FieldsResult } from "../../metering/event-fields.ts";
import { type AddUnits, readGroup } from "../../metering/grouped-cells.ts";
import type { Units } from "../../metering/measure-units.ts";
import type { UnmeteredTally } from "../../metering/unmetered-events.ts";
import { sumGroupUsage, type UsageCell, UsageTally } from "../../metering/usage.ts";
import { add, ZERO } from "../../numbers/decimal.ts";
import { addExact, type Exact, isZeroExact } from "../../numbers/exact.ts";
import { quoteText } from "../../problem-table.ts";
import { type Catalog, withPlan } from "../catalog.ts";
import {
  decideEvent,
  type DecisionTime,
  type EventDecision,
  idReservedUntil,
  refuseDuplicate,
} from "../events/decide-event.ts";
import { type IngestStatus, INGEST_STATUSES, type IngestOutcome, METERED } from "../outcome.ts";
import type { AcceptedIds, IdClaim } from "./accepted-ids.ts";
import type { Tracer } from "./line-trace.ts";
import {
  type PlanTrial,
  type PreviewAccount,
  type PreviewAccounts,
  createPreviewAccounts,
  isNarrow,
} from "./preview-account.ts";
import type { EventSpan, SpanEnd } from "./preview-options.ts";

/** The usage of a scenario: the shared usage of all scenarios plus its own. */
export type ScenarioUsage = Pick<
  UsageTally,
  "between" | "groupsBetween" | "cellsOf" | "fullness" | "groupsMax" | "countGroups" | "hasRoom" | "hasRoomFor"
>;

/** The result of a run in one of its scenarios. */
export interface ScenarioResult {
  /** The book that decides its events, with the draft among its plans. */
  readonly catalog: Catalog;
  /** The plans of its accounts. */
  readonly trial: PlanTrial;
  readonly accounts: PreviewAccounts;
  readonly usage: ScenarioUsage;
  /** The number of events with each status so far. */
  readonly counts: () => Readonly<Record<IngestStatus, number>>;
  /** The first and the last accepted event or day of usage so far; of equal instants, the earliest to arrive. */
  readonly span: () => EventSpan | undefined;
}

/** A scenario during a run. */
export interface Scenario extends ScenarioResult {
  readonly tally: OutcomeTally;
  /** The usage of the events that only some scenarios accept; undefined with one scenario. */
  readonly ownUsage: EventUsage | undefined;
}

/** Usage, and functions that add the units of an event, by program index. */
export interface EventUsage {
  readonly tally: UsageTally;
  readonly adders: readonly AddUnits[];
}

export function createEventUsage({ accounts }: Book, metering: Catalog["metering"]): EventUsage {
  const tally = new UsageTally(
    accounts.map(({ id }) => id),
    metering.meterIds,
    metering.groupings,
  );
  const adders = Array.from(metering.schemas.values(), ({ measure, groups }) => tally.adder(measure.meters, groups));
  return { tally, adders };
}

/** The parts that the scenarios of a run share. */
interface Shared {
  readonly catalog: Catalog;
  readonly book: Book;
  /** The usage of the events that all scenarios accept. */
  readonly usage: UsageTally;
}

export function createScenario(shared: Shared, trial: PlanTrial, ownUsage: EventUsage | undefined): Scenario {
  const { book } = shared;
  const usage = ownUsage === undefined ? shared.usage : addUsage(shared.usage, ownUsage.tally);
  const catalog = trial.plan === undefined ? shared.catalog : withPlan(shared.catalog, trial.plan);
  const tally = createTally();
  const accounts = createPreviewAccounts(catalog, book, trial, usage);
  return { catalog, trial, accounts, usage, tally, counts: tally.counts, span: tally.span, ownUsage };
}

/** The sum of two tallies, with cells by meter and day. */
function addUsage(a: UsageTally, b: UsageTally): ScenarioUsage {
  const countGroups = (account: number, meter: number): number =>
    a.countGroups(account, meter) + b.countGroups(account, meter);
  return {
    between: (...of) => add(a.between(...of), b.between(...of)),
    groupsBetween: (...of) => sumGroupUsage([...a.groupsBetween(...of), ...b.groupsBetween(...of)]),
    cellsOf(accountId) {
      const cells = new Map<string, UsageCell>();
      for (const cell of [...a.cellsOf(accountId), ...b.cellsOf(accountId)]) {
        const key = `${cell.day} ${cell.meterId} ${formatGroup(cell.group ?? NO_GROUP)}`;
        const { quantity = ZERO } = cells.get(key) ?? {};
        cells.set(key, { ...cell, quantity: add(quantity, cell.quantity) });
      }
      return cells.values();
    },
    get fullness() {
      return a.fullness + b.fullness;
    },
    groupsMax: (meter) => a.groupsMax(meter),
    countGroups,
    hasRoomFor: (account, meter, day, groups) =>
      countGroups(account, meter) + groups <= a.groupsMax(meter) ||
      (b.countGroups(account, meter) === 0 && a.hasRoomFor(account, meter, day, groups)),
    hasRoom(account, meter, day, texts) {
      if (countGroups(account, meter) < a.groupsMax(meter)) return true;
      const sums = new Map<string, Exact>();
      for (const tally of [a, b]) {
        tally.visit(account, meter, [day, day + 1], (_, exact, group = NO_GROUP) => {
          const key = formatGroup(group);
          sums.set(key, addExact(sums.get(key) ?? 0, exact));
        });
      }
      const used = new Set([...sums].flatMap(([key, exact]) => (isZeroExact(exact) ? [] : [key])));
      return used.size < a.groupsMax(meter) || used.has(formatGroup(readGroup(texts)));
    },
  };
}

/** An event with its fields, to be decided. */
export interface ReadEvent {
  readonly event: EventEnvelope;
  readonly fields: FieldsResult;
  /** Its units, if another scenario measured it. */
  readonly units: Units | undefined;
}

/**
 * Decides an event in one scenario. Changes only its account: everything due before the event is processed, and an
 * account without a plan may get the draft.
 *
 * @param ids of accepted events; undefined for no check
 */
export function decideIn(
  scenario: Scenario,
  account: PreviewAccount | undefined,
  { event, fields, units }: ReadEvent,
  time: DecisionTime,
  ids: AcceptedIds<Scenario> | undefined,
): EventDecision {
  account?.processDueWork(event.timestamp);
  const decision = decideEvent(event, fields, account?.state, time, units);
  if (account?.hasPendingPlan !== true || !mayBeginPlan(decision, fields)) return decision;
  if (ids?.has(scenario, event) === true) return decision;
  // Deciding has no effect: the event is decided again with the plan, whose credits it may spend.
  const undoPlan = account.startPlan(event.timestamp);
  const byPlan = decideEvent(event, fields, account.state, time, units);
  if (!byPlan.isAccepted) undoPlan();
  return byPlan.isAccepted || decision.isAccepted ? byPlan : decision;
}

/** Whether an event is accepted without a plan, or may be accepted by one that grants the credits that it spends. */
function mayBeginPlan({ isAccepted }: EventDecision, { program }: FieldsResult): boolean {
  return isAccepted || program?.feature !== undefined;
}

/** The number of events with each status. */
export type OutcomeCounts = Readonly<Record<IngestStatus, number>>;

/** What bounds a span: an event, named by its id, or usage, named by its account. */
type SpanKind = "event" | "usage";

/** Counts outcomes and extends a span. */
export interface OutcomeTally {
  /** Counts an outcome once or several times. @returns it */
  readonly count: (outcome: IngestOutcome, times?: number) => IngestOutcome;
  readonly counts: () => OutcomeCounts;
  /** Extends the span to an instant. */
  readonly extendSpan: (at: Instant, id: string, kind: SpanKind) => void;
  /** The first and the last so far; of equal instants, the earliest to arrive. */
  readonly span: () => EventSpan | undefined;
}

/** Creates an empty tally. */
export function createTally(): OutcomeTally {
  const counts = new Map(INGEST_STATUSES.map((status) => [status, 0]));
  // Most events have the same outcome as the previous one.
  let last: IngestOutcome = METERED;
  let pendingCount = 0;
  const addPending = (): void => {
    counts.set(last.status, (counts.get(last.status) ?? 0) + pendingCount);
    pendingCount = 0;
  };
  const first: OpenEnd = { at: Infinity, id: "", kind: "event" };
  const latest: OpenEnd = { at: -Infinity, id: "", kind: "event" };
  return {
    count(outcome, times = 1) {
      if (outcome !== last) addPending();
      last = outcome;
      pendingCount += times;
      return outcome;
    },
    counts() {
      addPending();
      return Object.fromEntries(counts) as OutcomeCounts;
    },
    extendSpan(at, id, kind) {
      if (at < first.at) setEnd(first, at, id, kind);
      if (at > latest.at) setEnd(latest, at, id, kind);
    },
    span: () => (first.at > latest.at ? undefined : { first: toSpanEnd(first), last: toSpanEnd(latest) }),
  };
}

interface OpenEnd {
  at: Instant;
  id: string;
  kind: SpanKind;
}

function setEnd(end: OpenEnd, at: Instant, id: string, kind: SpanKind): void {
  end.at = at;
  end.id = id;
  end.kind = kind;
}

function toSpanEnd({ at, id, kind }: OpenEnd): SpanEnd {
  return { name: `${kind === "usage" ? "usage of" : kind} ${quoteText(id)}`, timestamp: at };
}

/** The time `[from, until)`, which may be empty. */
interface DecisionSpan {
  readonly from: Instant;
  readonly until: Instant;
}

/** A run in progress. */
export interface RunState {
  readonly scenarios: readonly [Scenario, ...Scenario[]];
  /** The usage of the events that all scenarios accept. */
  readonly usage: EventUsage;
  /** Undefined if ids are not checked. */
  readonly ids: AcceptedIds<Scenario> | undefined;
  /**
   * By account index, a time span in which all scenarios decide its events alike, so that one decision holds for all.
   * With five drafts, this makes a million events five times as fast.
   */
  readonly sharedDecisions: Map<number, DecisionSpan>;
  /** The time of the event being decided: one object for all events. */
  readonly time: { now: DecisionTime["now"]; readonly futureMs: number };
  readonly tracers: readonly Pick<Tracer, "note">[];
  readonly unmetered: UnmeteredTally;
}

/**
 * The outcome of an event that a scenario rejects: a duplicate id is reported before any other problem except a
 * malformed field.
 */
export function outcomeOfUnaccepted(
  { ids }: RunState,
  scenario: Scenario,
  event: EventEnvelope,
  fields: FieldsResult,
  { outcome }: EventDecision,
): IngestOutcome {
  return fields.problem === undefined && ids?.has(scenario, event) === true ? refuseDuplicate(event) : outcome;
}

/** An event in one scenario: its account and its decision. */
interface Attempt extends IdClaim<Scenario> {
  readonly account: PreviewAccount | undefined;
  readonly decision: EventDecision;
}

/** Whether the decision in the first scenario holds for all, and the id is reserved for the same time in all. */
export function holdsForAll(
  { scenarios, sharedDecisions, ids }: RunState,
  account: PreviewAccount | undefined,
  { timestamp }: EventEnvelope,
  { program }: FieldsResult,
  { isAccepted, units }: EventDecision,
): boolean {
  if (!isAccepted || program?.feature !== undefined || ids?.areAllShared === false) return false;
  const span = account && sharedDecisions.get(account.index);
  if (span === undefined || timestamp < span.from || timestamp >= span.until) return false;
  // A quantity with many digits may make the bill impossible in one scenario and not in another.
  for (const quantity of units) if (quantity !== undefined && !isNarrow(quantity)) return false;
  return !program?.hasGroups || !scenarios.some(({ usage }) => mayLackRoom(usage, account?.index ?? -1, program));
}

/** Whether an account has had so many groups of a meter that another one may be too much (S18.1). */
function mayLackRoom(usage: ScenarioUsage, account: number, { measure }: SchemaProgram): boolean {
  return measure.meters.some((meter) => usage.countGroups(account, meter) >= usage.groupsMax(meter));
}

/**
 * Decides an event in all scenarios and counts it in those that accept it.
 *
 * @param account that of the first scenario
 * @param decision that of the first scenario
 * @returns the outcome in the first scenario
 */
export function decideInEachScenario(
  run: RunState,
  event: EventEnvelope,
  fields: FieldsResult,
  account: PreviewAccount | undefined,
  decision: EventDecision,
): IngestOutcome {
  const attempts = listAttempts(run, { event, fields, units: decision.isAccepted ? decision.units : undefined }, [
    account,
    decision,
  ]);
  const accepted = attempts.filter((each) => each.decision.isAccepted);
  const admittedScenarios = new Set(run.ids?.admitEach(event, accepted, attempts.length) ?? accepted);
  const isShared = admittedScenarios.size === attempts.length;
  if (isShared && account !== undefined && fields.program !== undefined) {
    run.usage.adders[fields.program.index]?.(account.index, dayOf(event.timestamp), decision.units);
    const until = findSharedDecisionEnd(attempts, event.timestamp);
    run.sharedDecisions.set(account.index, { from: event.timestamp, until });
  }
  const outcomes = attempts.map((attempt) => {
    const { scenario, decision: scenarioDecision } = attempt;
    const outcome = scenarioDecision.isAccepted
      ? settle(attempt, event, fields, { isAdmitted: admittedScenarios.has(attempt), isShared })
      : outcomeOfUnaccepted(run, scenario, event, fields, scenarioDecision);
    return scenario.tally.count(outcome);
  });
  return outcomes[0] ?? decision.outcome;
}

/** Decides an event in the other scenarios, reusing units that were measured in one. */
function listAttempts(
  { scenarios, time, ids }: RunState,
  { event, fields, units: measured }: ReadEvent,
  [account, decision]: readonly [PreviewAccount | undefined, EventDecision],
): readonly Attempt[] {
  const { timestamp } = event;
  let units = measured;
  return scenarios.map((scenario, place) => {
    const scenarioAccount =
      place === 0 || account === undefined ? account : scenario.accounts.findByIndex(account.index);
    const scenarioDecision =
      place === 0 ? decision : decideIn(scenario, scenarioAccount, { event, fields, units }, time, ids);
    if (scenarioDecision.isAccepted) units ??= scenarioDecision.units;
    return {
      scenario,
      account: scenarioAccount,
      decision: scenarioDecision,
      holdsUntil: idReservedUntil(scenario.catalog.options, timestamp, scenarioAccount?.state.periodAt(timestamp)),
    };
  });
}

/** Counts an event in a scenario that accepts it, unless its id is reserved there. @returns its outcome */
function settle(
  { scenario, account, decision }: Attempt,
  event: EventEnvelope,
  { program }: FieldsResult,
  { isAdmitted, isShared }: { readonly isAdmitted: boolean; readonly isShared: boolean },
): IngestOutcome {
  if (!isAdmitted || account === undefined || program === undefined) return refuseDuplicate(event);
  if (!isShared) scenario.ownUsage?.adders[program.index]?.(account.index, dayOf(event.timestamp), decision.units);
  account.apply(event, program, decision);
  scenario.tally.extendSpan(event.timestamp, event.id, "event");
  return decision.outcome;
}

/** Until when all scenarios decide an account's events alike, after an event that all of them accepted. */
function findSharedDecisionEnd(attempts: readonly Attempt[], at: Instant): Instant {
  const [first] = attempts;
  const openUntil = first?.account?.state.periodAt(at).openUntil;
  const rememberedUntil = at + (first?.scenario.catalog.options.idMemoryMs ?? 0);
  let until = Infinity;
  for (const { account } of attempts) {
    if (account === undefined || account.state.record.caughtUpTo > at) return -Infinity;
    const period = account.state.periodAt(at);
    // With a plan in one scenario and none in the other, openUntil is undefined in one, and the outcomes differ.
    const isSameReservation =
      period.openUntil === openUntil ||
      Math.max(period.openUntil ?? Infinity, openUntil ?? Infinity) <= rememberedUntil;
    if (!isSameReservation) return -Infinity;
    until = Math.min(until, period.end, account.unchangedUntil);
  }
  return until;
}
