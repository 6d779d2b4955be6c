/**
 * The state that the events of a run share, and events in a run of several scenarios: each is decided by the plans of its
 * account in each scenario, and counted once if all of them accept it.
 */
import { type Instant, dayOf } from "../../calendar/instant.ts";
import type { SchemaProgram } from "../../metering/compile-metering.ts";
import type { EventEnvelope } from "../../metering/event-envelope.ts";
import type { FieldsResult } from "../../metering/event-fields.ts";
import type { UnmeteredTally } from "../../metering/unmetered-events.ts";
import { type DecisionTime, type EventDecision, idReservedUntil, refuseDuplicate } from "../events/decide-event.ts";
import type { IngestOutcome } from "../outcome.ts";
import type { AcceptedIds, IdClaim } from "./accepted-ids.ts";
import type { Tracer } from "./line-trace.ts";
import { type PreviewAccount, isNarrow } from "./preview-account.ts";
import { type EventUsage, type Scenario, decideIn, type ReadEvent, type ScenarioUsage } from "./preview-scenario.ts";

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
  readonly tracer: Pick<Tracer, "note"> | undefined;
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
