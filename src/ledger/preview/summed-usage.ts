/** Usage that a preview takes without its events (S17): rows, and events that a database has summed, decided together. */
import { didYouMean } from "../../book/problems.ts";
import type { Book } from "../../book/resources/book.ts";
import { type UsageMeter, findGroupLimit, hasKeys } from "../../book/resources/event-schema.ts";
import { type Day, type Instant, instantOfDay, formatDate } from "../../calendar/instant.ts";
import { hasCode, RatebookError } from "../../errors.ts";
import type { SchemaProgram } from "../../metering/compile-metering.ts";
import type { FieldsResult } from "../../metering/event-fields.ts";
import { toGroupTexts } from "../../metering/grouped-cells.ts";
import type { Units } from "../../metering/measure-units.ts";
import { readUsageRow, readRowGroup } from "../../metering/usage-rows.ts";
import type { UsageTally } from "../../metering/usage.ts";
import { exactOfDecimal, isZeroExact } from "../../numbers/exact.ts";
import { type Problem, rejection, quoteText } from "../../problem-table.ts";
import { featuresBySchema, describeOrderDependence } from "../catalog.ts";
import type { IngestOutcome } from "../outcome.ts";
import { refusedError } from "../refusals.ts";
import { type RunState, decideIn, type Scenario, type ScenarioResult } from "./scenarios.ts";

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
  if (account === undefined || fields?.program === undefined || run.tracers.length > 0) return false;
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

/** An account and a meter as their indices in the book, and a group only for a meter with groups. */
export type UsageCellArguments = Parameters<UsageTally["add"]>;

/**
 * Adds a usage cell to all scenarios.
 *
 * @throws {RatebookError} ERR_ARITHMETIC if its cell would need more than 100 digits (S1.4), ERR_INPUT_INVALID if the
 * account would have too many groups (S18.1); nothing is added then
 */
export function addUsageCell(run: RunState, book: Book, ...of: UsageCellArguments): void {
  const [account, meter, day, quantity, group] = of;
  const { tally: usage } = run.usage;
  const at = instantOfDay(day);
  const hasRoom = group === undefined || usage.hasRoom(account, meter, day, toGroupTexts(group));
  const { [meter]: bookMeter } = book.usageMeters;
  if (!hasRoom && !isZeroExact(quantity) && bookMeter !== undefined)
    throw rejectedRowError("$.group", describeTooManyGroups(bookMeter, at));
  usage.add(...of);
  for (const { accounts, tally } of run.scenarios) {
    accounts.findByIndex(account)?.addCell(quantity, at);
    tally.extendSpan(at, book.accounts[account]?.id ?? "", "usage");
  }
  run.sharedDecisions.delete(account);
}

/**
 * Creates the function that adds a row.
 *
 * @returns throws ERR_INPUT_INVALID for an invalid row, or an unknown account or meter; ERR_REFUSED for a meter whose
 * event schema consumes a feature, because the order of events matters; ERR_ARITHMETIC if its cell would need more than
 * 100 digits. A row that throws adds nothing
 */
export function createUsageReceiver(
  book: Book,
  { accounts, addCell }: Pick<ScenarioResult, "accounts"> & { readonly addCell: (...of: UsageCellArguments) => void },
): (row: unknown) => void {
  const meters = new Map(book.usageMeters.map((meter, index) => [meter.id, { meter, index }]));
  const features = featuresBySchema(book);
  return (row) => {
    const usageRow = readUsageRow(row);
    const { accountId, meterId, day, quantity } = usageRow;
    const meter = meters.get(meterId);
    if (meter === undefined) {
      const hint = didYouMean(meterId, [...meters.keys()]);
      throw rejectedRowError("$.meterId", `no usage meter has the id ${quoteText(meterId)}${hint}`);
    }
    const { eventSchemaName } = meter.meter;
    const feature = features.get(eventSchemaName);
    if (feature !== undefined) throw featureUsageError(eventSchemaName, feature);
    const account = accounts.findByName(accountId);
    if (account === undefined) {
      const names = book.accounts.flatMap(({ id, aliases }) => [id, ...aliases]);
      throw rejectedRowError(
        "$.accountId",
        `no account has the id or alias ${quoteText(accountId)}${didYouMean(accountId, names)}`,
      );
    }
    addCell(account.index, meter.index, day, exactOfDecimal(quantity), readRowGroup(usageRow, meter.meter));
  };
}

/**
 * Adds all rows, or throws one error for all problems.
 *
 * @throws {RatebookError} ERR_INPUT_INVALID with the first {@link PROBLEMS_MAX} problems, each with its path, as in
 * `$.usage[3].date`
 */
export function addUsageRows(take: (row: unknown) => void, rows: Iterable<unknown>): void {
  const problems: Problem[] = [];
  let index = 0;
  for (const row of rows) {
    try {
      take(row);
    } catch (error) {
      if (!isRowFault(error)) throw error;
      const path = hasCode(error, "ERR_INPUT_INVALID") ? (error.details.problems[0]?.path.slice(1) ?? "") : "";
      if (problems.length < PROBLEMS_MAX)
        problems.push(rejection(`$.usage[${index}]${path}`, "INVALID_USAGE", error.message));
    }
    index++;
  }
  const [first] = problems;
  if (first === undefined) return;
  const more = problems.length === 1 ? "" : ` (and ${problems.length - 1} more)`;
  throw new RatebookError("ERR_INPUT_INVALID", `${first.path}: ${first.message}${more}`, { problems });
}

/** Whether an error concerns a single row, so that other rows can still be checked. */
export function isRowFault(error: unknown): error is RatebookError {
  return hasCode(error, "ERR_INPUT_INVALID") || hasCode(error, "ERR_REFUSED") || hasCode(error, "ERR_ARITHMETIC");
}

/** The error for usage of a schema that consumes a feature. */
export function featureUsageError(schemaName: string, featureId: string): RatebookError<"ERR_REFUSED"> {
  const why = describeOrderDependence(featureId);
  return refusedError("S17.1", `${quoteText(schemaName)} can't be summed: ${why}; preview its events instead`);
}

/** The end of a sentence for usage of another group (S18.1). */
function describeTooManyGroups(meter: UsageMeter, at: Instant): string {
  const [what, cure] = hasKeys(meter) ? ["values", "computations"] : ["groups", "dimensions"];
  const usage = `${findGroupLimit(meter)} ${what} of the meter ${quoteText(meter.name)}`;
  return `the account has usage of ${usage} on ${formatDate(at)}, the maximum; use ${cure} with fewer values`;
}

function rejectedRowError(path: string, message: string): RatebookError<"ERR_INPUT_INVALID"> {
  return new RatebookError("ERR_INPUT_INVALID", message, {
    problems: [rejection(path, "INVALID_USAGE", message)],
  });
}

/** Maximum number of problems of events, and of rows, listed; all events are counted. */
export const PROBLEMS_MAX = 1000;
