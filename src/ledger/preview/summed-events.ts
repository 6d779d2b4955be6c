/** Events that a database has summed, decided together (S17.3). */
import { type Day, type Instant, instantOfDay } from "../../calendar/instant.ts";
import type { SchemaProgram } from "../../metering/compile-metering.ts";
import type { FieldsResult } from "../../metering/event-fields.ts";
import type { Units } from "../../metering/measure-units.ts";
import type { IngestOutcome } from "../outcome.ts";
import type { RunState } from "./multiple-scenarios.ts";
import { decideIn, type Scenario } from "./preview-scenario.ts";

/** Events that a database has already summed by account, schema and UTC day; their ids occur nowhere else (S17.3). */
export interface SummedEvents {
  readonly schemaName: string;
  /** An id or an alias. */
  readonly accountId: string;
  readonly day: Day;
  readonly eventCount: number;
  /** The number of events that a meter counts. */
  readonly meteredCount: number;
  /** The first timestamp. */
  readonly firstAt: Instant;
  /** The last timestamp. */
  readonly lastAt: Instant;
  /**
   * The sums of their units, by the places of the schema's measure; undefined if a meter counts none of them, 1 for
   * values.
   */
  readonly units: Units;
  /** The same sums by group, and the values; absent only if no meter has groups or keys. */
  readonly groups?: readonly SummedGroup[] | undefined;
}

/** The sums of events with the same texts of groups. */
export interface SummedGroup {
  /**
   * The dimensions of the meters' groups, and those that explain unmetered events, each once; empty texts if no meter
   * with the dimension counts the events and they explain nothing.
   */
  readonly texts: readonly (readonly [dimension: string, text: string])[];
  /** As in {@link SummedEvents}; undefined for values. */
  readonly units: Units;
  /** The keys that decide a quantity, by place; of MAX and MIN one, whatever the number of values (S19.2). */
  readonly values: readonly (readonly string[])[];
  /** The number of events that a meter counts. */
  readonly eventCount: number;
  /** The number of events that no meter counts. */
  readonly unmeteredCount: number;
}

/**
 * Adds summed events if all of them would be decided alike. Decides one of those that a meter counts, and one of the
 * others.
 *
 * @returns false if they must be decided one by one; then nothing is added
 */
export function addSummedEvents(run: RunState, summed: SummedEvents, fields: FieldsResult | undefined): boolean {
  const { scenarios } = run;
  const [firstScenario] = scenarios;
  const { accountId, schemaName, day, units } = summed;
  const account = firstScenario.accounts.findByName(accountId);
  // A trace lists events one by one.
  if (account === undefined || fields?.program === undefined || run.tracer !== undefined) return false;
  const { program } = fields;
  const groups = program.hasGroups
    ? summed.groups
    : [{ texts: [], units, values: [], eventCount: 0, unmeteredCount: 0 }];
  if (groups === undefined) return false;
  const event = { schemaName, id: "", accountId, timestamp: instantOfDay(day) };
  run.time.now = event.timestamp;
  // These events are decided per scenario.
  run.sharedDecisions.delete(account.index);
  // All groups must have room, so the outcome is the same for any of them.
  fillGroupTexts(
    program,
    groups.flatMap(({ texts }) => texts.map(([dimension]) => [dimension, "any"] as const)),
  );
  const kinds = listKinds(summed);
  const decisions: SummedDecision[] = [];
  for (const scenario of scenarios) {
    const scenarioAccount = scenario === firstScenario ? account : scenario.accounts.findByIndex(account.index);
    scenarioAccount?.processDueWork(event.timestamp);
    if (scenarioAccount?.decidesAlikeOn(day) !== true) return false;
    if (!hasRoomForAll(scenario, account.index, program, { day, groups })) return false;
    for (const kind of kinds) {
      const readEvent = { event, fields, units: kind.units };
      const { isAccepted, outcome } = decideIn(scenario, scenarioAccount, readEvent, run.time, run.ids);
      if (!isAccepted) return false;
      decisions.push({ scenario, outcome, times: kind.times });
    }
  }
  for (const { scenario, outcome, times } of decisions) scenario.tally.count(outcome, times);
  addAll(run, account.index, program, { ...summed, groups });
  addUnmetered(run, account.index, program, summed);
  return true;
}

/** Notes the events that no meter counts, with the values of their groups. */
function addUnmetered(
  { unmetered }: RunState,
  account: number,
  program: SchemaProgram,
  { eventCount, meteredCount, groups = [] }: SummedEvents,
): void {
  let unexplained = eventCount - meteredCount;
  for (const { texts, unmeteredCount } of groups) {
    if (unmeteredCount === 0) continue;
    fillGroupTexts(program, texts);
    unmetered.add(program, account, program.findUnmatchedValues(), unmeteredCount);
    unexplained -= unmeteredCount;
  }
  if (unexplained > 0) unmetered.add(program, account, undefined, unexplained);
}

/** The outcome of a number of events in a scenario. */
interface SummedDecision {
  readonly scenario: Scenario;
  readonly outcome: IngestOutcome;
  readonly times: number;
}

/** Those of summed events that a meter counts, and the others. */
function listKinds({
  units,
  eventCount,
  meteredCount,
}: SummedEvents): readonly { readonly units: Units; readonly times: number }[] {
  const kinds = [
    { units, times: meteredCount },
    { units: units.map(() => undefined), times: eventCount - meteredCount },
  ];
  return kinds.filter(({ times }) => times > 0);
}

/** Adds accepted events to the usage of all scenarios. */
function addAll(
  { usage, scenarios }: RunState,
  account: number,
  program: SchemaProgram,
  { accountId, day, firstAt, lastAt, groups = [] }: SummedEvents,
): void {
  const add = usage.adders[program.index];
  for (const { texts, units, values } of groups) {
    fillGroupTexts(program, texts);
    add?.(account, day, units);
    for (const [place, keys] of values.entries()) {
      const one = units.map((_, index) => (index === place ? 1 : undefined));
      for (const key of keys) {
        program.slots.texts[program.measure.places[place]?.keySlot ?? -1] = key;
        add?.(account, day, one);
      }
    }
  }
  for (const { tally } of scenarios) {
    tally.extendSpan(firstAt, accountId, "usage");
    tally.extendSpan(lastAt, accountId, "usage");
  }
}

/** Whether the account has room for all groups of summed events, whatever the order of the events (S18.1). */
function hasRoomForAll(
  { usage }: Scenario,
  account: number,
  { measure, groups: texts }: SchemaProgram,
  { day, groups = [] }: Pick<SummedEvents, "day" | "groups">,
): boolean {
  const counts = new Map<number, number>();
  for (const [place, { meter, index }] of measure.places.entries()) {
    if (texts[place] === undefined) continue;
    // Of all values of MAX and MIN, only one is known.
    const isExtreme = meter.aggregation === "MAX" || meter.aggregation === "MIN";
    const countIn = ({ units, values, eventCount }: SummedGroup): number =>
      isExtreme ? eventCount : (values[place]?.length ?? 0) + Number(units[place] !== undefined);
    counts.set(
      index,
      groups.reduce((sum, group) => sum + countIn(group), counts.get(index) ?? 0),
    );
  }
  return [...counts].every(([meter, count]) => usage.hasRoomFor(account, meter, day, count));
}

/** Puts the texts of a group into the slots of its program, as if an event with them were there. */
function fillGroupTexts({ slots }: SchemaProgram, texts: SummedGroup["texts"]): void {
  for (const [dimension, text] of texts) slots.texts[slots.dimensionSlots.get(dimension) ?? -1] = text;
}
