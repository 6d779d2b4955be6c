/**
 * What an event adds to the usage of a meter with keys (S19.2): a count of 1 under the key of its value, or two sums of the
 * changes of a level. So usage stays a sum that an undo can subtract from, whatever the aggregation.
 */
import type { UsageMeter } from "../book/resources/event-schema.ts";
import type { Instant } from "../calendar/instant.ts";
import { type Decimal, parseDecimal } from "../numbers/decimal.ts";
import {
  compareExact,
  type Exact,
  exactOfText,
  formatExact,
  isExact,
  isWithinPlaces,
  multiplyExact,
} from "../numbers/exact.ts";
import { formatValue, isTruthy, ruleFailedError, type RuleObject, type RuleValue } from "../rules/value.ts";
import { type CompiledPlace, compileSum, type Step } from "./computations.ts";
import { toExactResult } from "./enrich.ts";
import type { EventSlots } from "./event-slots.ts";

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

type Measure = CompiledPlace["measure"];

/** Compiles the places of a meter with keys; their keys are written into the slots after the texts. */
export function compileKeyedPlaces(
  meter: UsageMeter,
  steps: readonly Step[],
  slots: EventSlots,
): readonly Omit<CompiledPlace, "index">[] {
  const addPlace = (create: (keySlot: number) => Measure, placeSteps = steps): Omit<CompiledPlace, "index"> => {
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
): Measure {
  return (facts) => {
    if (matcher !== undefined && !isTruthy(matcher(facts))) return undefined;
    slots.texts[keySlot] = toKey(run(facts));
    return 1;
  };
}

/** Counts an event under the key of its time and the sum of its computations. */
function measureTimed(meter: UsageMeter, steps: readonly Step[], slots: EventSlots): (keySlot: number) => Measure {
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
  addPlace: (create: (keySlot: number) => Measure) => Omit<CompiledPlace, "index">,
): readonly Omit<CompiledPlace, "index">[] {
  const sum = compileSum(steps);
  let change: Exact | undefined;
  const measureChange = (facts: RuleObject): Exact | undefined => (change = sum(facts));
  const measureMoment = (): Exact | undefined => change && multiplyExact(change, slots.timestamp);
  const withKey =
    (key: string, measure: Measure) =>
    (keySlot: number): Measure => {
      slots.texts[keySlot] = key;
      return measure;
    };
  return [addPlace(withKey(CHANGE_KEY, measureChange)), addPlace(withKey(MOMENT_KEY, measureMoment))];
}

function toNumberKey(value: RuleValue): string {
  const exact = toExactResult(value);
  if (exact === undefined)
    throw ruleFailedError(`its computation must return a decimal but returned ${formatValue(value)}`);
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
