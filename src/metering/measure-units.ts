/**
 * Computes the units of each meter for an enriched event (S5). A meter with keys adds a count of 1 under the key of a
 * value, or two sums of the changes of a level (S19.2): so usage stays a sum that an undo can subtract from.
 */
import { type Computation, type UsageMeter, hasKeys } from "../book/resources/event-schema.ts";
import type { Instant } from "../calendar/instant.ts";
import { type Decimal, parseDecimal } from "../numbers/decimal.ts";
import {
  addExact,
  type Exact,
  compareExact,
  decimalOfExact,
  exactOfText,
  isZeroExact,
  formatExact,
  isExact,
  isWithinPlaces,
  multiplyExact,
} from "../numbers/exact.ts";
import { createProblem, type Problem } from "../problem-table.ts";
import { computeEventSteps, type FullRuleBudget } from "../rules/budget.ts";
import { isTruthy, formatValue, ruleFailedError, type RuleObject, type RuleValue } from "../rules/value.ts";
import { compileRuleOver, toExactResult, type RuleContext, describeFailure } from "./enrich.ts";
import { type EventSlots, findAttributeSlot, type VisibleSlots, createFacts } from "./event-slots.ts";

/** What an event may add to one cell of a meter's usage; a meter with keys may have several (S19.2). */
export interface MeasuredPlace {
  readonly meter: UsageMeter;
  /** The index of the meter in the tally. */
  readonly index: number;
  /** The slot in which the key is, among the texts; undefined for a meter that counts or sums. */
  readonly keySlot?: number;
}

type CompiledRule = (facts: RuleObject) => RuleValue;

/** A computation of a meter. */
interface Step {
  /** The order of the computation. */
  readonly order: number;
  readonly matcher: CompiledRule | undefined;
  readonly compute: (facts: RuleObject) => Exact;
  /** The result, whatever it is. */
  readonly run: CompiledRule;
}

/** A place with the function that measures it. */
interface CompiledPlace extends MeasuredPlace {
  readonly steps: readonly Step[];
  readonly measure: (facts: RuleObject) => Exact | undefined;
}

/** 1 if a matcher is truthy (S5.2). */
function compileCount(steps: readonly Step[]): (facts: RuleObject) => Exact | undefined {
  return (facts) => {
    for (const { matcher } of steps) if (matcher === undefined || isTruthy(matcher(facts))) return 1;
    return undefined;
  };
}

/** The sum of all computations whose matcher is truthy (S5.2). */
function compileSum(steps: readonly Step[]): (facts: RuleObject) => Exact | undefined {
  const [only] = steps;
  // Most meters have one computation, which needs no sum.
  if (only !== undefined && steps.length === 1) {
    const { matcher, compute } = only;
    if (matcher === undefined) return compute;
    return (facts) => {
      const match = matcher(facts);
      return match === true || isTruthy(match) ? compute(facts) : undefined;
    };
  }
  return (facts) => {
    let total: Exact | undefined;
    for (const { matcher, compute } of steps) {
      if (matcher !== undefined && !isTruthy(matcher(facts))) continue;
      const result = compute(facts);
      total = total === undefined ? result : addExact(total, result);
    }
    return total;
  };
}

/** The computations of a meter, in order. */
function compileSteps(meter: UsageMeter, context: RuleContext): readonly Step[] {
  return meter.computations
    .toSorted((a, b) => a.order - b.order)
    .map((computation) => compileStep(computation, context));
}

/** Runs the computations again and describes the rule that failed; empty for the only computation of a meter. */
function describeFailingRule(steps: readonly Step[], facts: RuleObject): string {
  for (const { order, matcher, compute } of steps) {
    let where = ` (matcher of computation ${order})`;
    try {
      if (matcher !== undefined && !isTruthy(matcher(facts))) continue;
      where = steps.length > 1 ? ` (computation ${order})` : "";
      compute(facts);
    } catch {
      return where;
    }
  }
  return "";
}

function compileStep({ order, matcher, computation }: Computation, context: RuleContext): Step {
  const run = compileRuleOver(computation ?? 1, context);
  return {
    order,
    matcher: matcher === undefined || matcher === null ? undefined : compileRuleOver(matcher, context),
    compute: compileUnits(computation ?? 1, run, context),
    run,
  };
}

/** The units of a computation. The most frequent one is just an attribute: its slot always has a decimal, so it is not checked. */
function compileUnits(
  computation: unknown,
  compiled: CompiledRule,
  context: RuleContext,
): (facts: RuleObject) => Exact {
  const slot = findAttributeSlot(computation, context.slots, context.visible);
  if (slot === undefined) return (facts) => toUnits(compiled(facts));
  const { values } = context.slots;
  return () => values[slot] ?? 0;
}

/** A meter reads the event and every enriched field. */
function allSlots(slots: EventSlots): VisibleSlots {
  return { attributes: slots.values.length, dimensions: slots.texts.length };
}

function toUnits(value: RuleValue): Exact {
  const exact = toExactResult(value);
  if (exact !== undefined) return exact;
  throw ruleFailedError(`its computation must return a decimal but returned ${formatValue(value)}`);
}

/** Maximum digits of a value before and after the decimal point (S1.6). */
const VALUE_PLACES_MAX = 40;
/** Maximum number of characters of a value of UNIQUE_COUNT. */
export const VALUE_LENGTH_MAX = 256;

/** The keys of the two sums of a TIME_WEIGHTED meter in CHANGE mode: of changes, and of changes × their milliseconds. */
export const CHANGE_KEY = "change";
export const MOMENT_KEY = "moment";

/** The key of a value with its time; those of one day in the order of time and id are {@link parseTimedKey}'s. */
export function formatTimedKey(at: Instant, eventId: string, value: Exact): string {
  return JSON.stringify([at, eventId, formatExact(value)]);
}

/** The instant, the event id and the value's text in a key of LATEST or of a level. */
export function parseTimedKey(key: string): readonly [at: Instant, eventId: string, value: string] {
  return JSON.parse(key) as [Instant, string, string];
}

/** The number of a key; undefined if it is none, or has more digits than values may have. */
export function parseKeyValue(text: string): Exact | undefined {
  const value = exactOfText(text);
  return value !== undefined && isWithinPlaces(value, VALUE_PLACES_MAX) ? value : undefined;
}

/** Whether a text is a key with a time. */
export function isTimedKey(key: string): boolean {
  try {
    const parts: unknown = JSON.parse(key);
    if (!Array.isArray(parts) || parts.length !== 3) return false;
    const [at, eventId, value] = parts as readonly unknown[];
    if (typeof eventId !== "string" || typeof value !== "string") return false;
    return Number.isSafeInteger(at) && parseKeyValue(value) !== undefined;
  } catch {
    return false;
  }
}

/** What an event measured: the value for MAX and MIN, the level or the change; 1 for a value of UNIQUE_COUNT. */
export function measuredQuantity(
  { aggregation }: Pick<UsageMeter, "aggregation">,
  { quantity, key }: { readonly quantity: Decimal; readonly key?: string },
): Decimal {
  if (key === undefined || aggregation === "UNIQUE_COUNT" || key === CHANGE_KEY) return quantity;
  return parseDecimal(aggregation === "MAX" || aggregation === "MIN" ? key : parseTimedKey(key)[2]);
}

type MeasurePlace = CompiledPlace["measure"];

/** Compiles the places of a meter with keys; their keys are written into the slots after the texts. */
function compileKeyedPlaces(
  meter: UsageMeter,
  steps: readonly Step[],
  slots: EventSlots,
): readonly Omit<CompiledPlace, "index">[] {
  const addPlace = (create: (keySlot: number) => MeasurePlace, placeSteps = steps): Omit<CompiledPlace, "index"> => {
    const keySlot = slots.texts.push("") - 1;
    return { meter, keySlot, steps: placeSteps, measure: create(keySlot) };
  };
  switch (meter.aggregation) {
    case "MAX":
    case "MIN":
    case "UNIQUE_COUNT": {
      const toKey = meter.aggregation === "UNIQUE_COUNT" ? toUniqueKey : toNumberKey;
      return steps.map((step) => addPlace((keySlot) => countKey(step, slots, keySlot, toKey), [step]));
    }
    case "LATEST":
    case "TIME_WEIGHTED":
      return meter.mode === "CHANGE"
        ? addChangePlaces(steps, slots, addPlace)
        : [addPlace(measureTimed(meter, steps, slots))];
    case "COUNT":
    case "SUM":
      return [];
  }
}

/** Counts an event under the key of the result of one computation. */
function countKey(
  { matcher, run }: Step,
  slots: EventSlots,
  keySlot: number,
  toKey: (value: RuleValue) => string,
): MeasurePlace {
  return (facts) => {
    if (matcher !== undefined && !isTruthy(matcher(facts))) return undefined;
    slots.texts[keySlot] = toKey(run(facts));
    return 1;
  };
}

/** Counts an event under the key of its time and the sum of its computations. */
function measureTimed(meter: UsageMeter, steps: readonly Step[], slots: EventSlots): (keySlot: number) => MeasurePlace {
  const sum = compileSum(steps);
  const isLevel = meter.aggregation === "TIME_WEIGHTED";
  return (keySlot) => (facts) => {
    const value = sum(facts);
    if (value === undefined) return undefined;
    requirePlaces(value);
    if (isLevel && compareExact(value, 0) < 0)
      throw ruleFailedError(
        `a level must be 0 or more, but its computation returned ${formatExact(value)}; if events change the level, use the mode CHANGE`,
      );
    slots.texts[keySlot] = formatTimedKey(slots.timestamp, slots.id, value);
    return 1;
  };
}

/** The change of a level, and the change × the event's milliseconds. */
function addChangePlaces(
  steps: readonly Step[],
  slots: EventSlots,
  addPlace: (create: (keySlot: number) => MeasurePlace) => Omit<CompiledPlace, "index">,
): readonly Omit<CompiledPlace, "index">[] {
  const sum = compileSum(steps);
  let change: Exact | undefined;
  const measureChange = (facts: RuleObject): Exact | undefined => (change = sum(facts));
  const measureMoment = (): Exact | undefined => change && multiplyExact(change, slots.timestamp);
  const withKey =
    (key: string, measure: MeasurePlace) =>
    (keySlot: number): MeasurePlace => {
      slots.texts[keySlot] = key;
      return measure;
    };
  return [addPlace(withKey(CHANGE_KEY, measureChange)), addPlace(withKey(MOMENT_KEY, measureMoment))];
}

function toNumberKey(value: RuleValue): string {
  const exact = toUnits(value);
  requirePlaces(exact);
  return formatExact(exact);
}

/** A text, or a number as its plain text: 1, 1.0 and "1" are one value. */
function toUniqueKey(value: RuleValue): string {
  if (isExact(value)) return toNumberKey(value);
  if (typeof value !== "string")
    throw ruleFailedError(`its computation must return a text or a decimal but returned ${formatValue(value)}`);
  if (value !== "" && value.length <= VALUE_LENGTH_MAX) return value;
  throw ruleFailedError(
    `its computation returned a text of ${value.length} characters; a value to count has 1 to ${VALUE_LENGTH_MAX}, such as an id`,
  );
}

function requirePlaces(value: Exact): void {
  if (isWithinPlaces(value, VALUE_PLACES_MAX)) return;
  throw ruleFailedError(
    `its computation returned ${formatExact(value)}, which has more than 40 digits before or after the point`,
  );
}

/** A meter with its index in the tally. */
export interface IndexedMeter {
  readonly meter: UsageMeter;
  readonly index: number;
}

/** The units of an event, by the places of the schema's meters in order; undefined for one that does not match. */
export type Units = readonly (Exact | undefined)[];

/** Measures the event in the slots. */
export interface Measure {
  readonly places: readonly MeasuredPlace[];
  /** The tally index of the meter of each place. */
  readonly meters: readonly number[];
  /** The units of the event by place, or the problem if a meter's rule fails. */
  run(): Units | Problem;
}

/** Compiles the meters of one schema over its slots. @param budget for one evaluation of a rule (S3.8) */
export function compileMeasure(slots: EventSlots, meters: readonly IndexedMeter[], budget: FullRuleBudget): Measure {
  const facts = createFacts(slots, allSlots(slots));
  const stepsMax = computeEventSteps(budget);
  const context: RuleContext = { slots, visible: allSlots(slots), budget };
  const places = meters.flatMap((indexed) => compilePlaces(indexed, context));
  const noUnits: Units = places.map(() => undefined);
  const measures = places.map(({ measure }) => measure);
  return {
    places,
    meters: places.map(({ index }) => index),
    run() {
      const units = noUnits.slice();
      let place = 0;
      try {
        for (; place < measures.length; place++) units[place] = measures[place]?.(facts);
      } catch (error) {
        // To find the rule that failed, the computations are run again, with the full budget.
        slots.remainingSteps = stepsMax;
        const { meter, steps = [] } = places[place] ?? {};
        const params = {
          name: meter?.name ?? "",
          place: describeFailingRule(steps, facts),
          reason: describeFailure(error),
        };
        return createProblem("$", "METER_FAILED", params);
      }
      return units;
    },
  };
}

function compilePlaces({ meter, index }: IndexedMeter, context: RuleContext): readonly CompiledPlace[] {
  const steps = compileSteps(meter, context);
  if (hasKeys(meter)) return compileKeyedPlaces(meter, steps, context.slots).map((place) => ({ ...place, index }));
  const isCount = meter.aggregation === "COUNT";
  return [{ meter, index, steps, measure: isCount ? compileCount(steps) : compileSum(steps) }];
}

/** A program with an event in its slots. */
interface MeteredEvent {
  readonly measure: Measure;
  readonly meters: readonly UsageMeter[];
  readonly slots: EventSlots;
}

/** What an event added to its meters, by place; sums of 0 are omitted. For a meter with keys, the value (S19.2). */
export function listMeasured(
  { measure, meters, slots: { texts } }: MeteredEvent,
  units: Units,
): readonly { readonly place: number; readonly quantity: Decimal }[] {
  return units.flatMap((exact, place) => {
    const [meter, { keySlot } = {}] = [meters[place], measure.places[place]];
    if (exact === undefined || meter === undefined) return [];
    const key = keySlot === undefined ? undefined : texts[keySlot];
    if (key === MOMENT_KEY || (key === undefined && isZeroExact(exact))) return [];
    return [
      {
        place,
        quantity: measuredQuantity(meter, { quantity: decimalOfExact(exact), ...(key !== undefined && { key }) }),
      },
    ];
  });
}
