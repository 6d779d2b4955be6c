/** Meters that do not sum their events (S19): what an event adds to usage by value, and quantities from it. */
import {
  add,
  asList,
  asObject,
  asText,
  divide,
  type Fraction,
  fractionOrZero,
  type JsonObject,
  maxFraction,
  minFraction,
  multiply,
  roundToDigits,
  subtract,
  toWholeFraction,
  ZERO,
  formatFraction,
  hasAtMostDigits,
  isFraction,
  ONE,
} from "./figures.ts";
import { requireDecimal } from "./rules.ts";
import { KEY_NAME } from "./usage-cells.ts";

/** How a meter makes a quantity of its events (S19.1). */
export interface Aggregation {
  /** `SUM`, `MAX` and so on; empty for sums in the short form. */
  readonly kind: string;
  /** LEVEL or CHANGE, for TIME_WEIGHTED. */
  readonly mode: string;
  readonly isDaily: boolean;
  readonly isCarriedOver: boolean;
}

/** The UTC dates `[from, until)` of a quantity. */
export interface Days {
  readonly from: string;
  readonly until: string;
  /** The first day that has not passed: a level weighs nothing from then on (S19.5). */
  readonly passedUntil: string;
}

/** The usage of a value on a day. */
interface ValueUsage {
  readonly date: string;
  readonly key: string;
  readonly sum: Fraction;
}

/** By the texts of the group. */
export type UsageGroups = ReadonlyMap<string, readonly ValueUsage[]>;

const DAY_MS = 86_400_000;
const AVERAGE_DIGITS = 20;

const MEASURES = [
  { field: "sum", aggregation: "SUM" },
  { field: "max", aggregation: "MAX" },
  { field: "min", aggregation: "MIN" },
  { field: "unique", aggregation: "UNIQUE_COUNT" },
  { field: "latest", aggregation: "LATEST" },
  { field: "level", aggregation: "TIME_WEIGHTED", mode: "LEVEL" },
  { field: "change", aggregation: "TIME_WEIGHTED", mode: "CHANGE" },
];

/** What a short meter measures, and how. */
export function findMeasure(meter: JsonObject): (typeof MEASURES)[number] | undefined {
  return MEASURES.find(({ field }) => (meter[field] ?? undefined) !== undefined);
}

export function readAggregation(meter: JsonObject): Aggregation {
  const { aggregation = "", mode = "" } = findMeasure(meter) ?? {};
  return {
    kind: asText(meter["aggregation"]) || aggregation,
    mode: asText(meter["mode"]) || mode,
    isDaily: meter["daily"] === true,
    isCarriedOver: meter["carryOver"] === true,
  };
}

/** The aggregations of a book's meters, by id. */
export function readAggregations(book: unknown): ReadonlyMap<string, Aggregation> {
  return new Map(asList(asObject(book)["usageMeters"]).map((meter) => [asText(meter["id"]), readAggregation(meter)]));
}

/** Whether usage is kept by value (S19.2). */
export function hasKeys({ kind }: Aggregation): boolean {
  return ["MAX", "MIN", "UNIQUE_COUNT", "LATEST", "TIME_WEIGHTED"].includes(kind);
}

/** Whether the price must be prorated in a partial cycle, or must not; undefined if its card says so (S19.4). */
export function mustBeProrated(aggregation: Aggregation): boolean | undefined {
  if (!hasKeys(aggregation) || aggregation.isDaily) return false;
  return aggregation.kind === "TIME_WEIGHTED" ? true : undefined;
}

/** The usage of values, by group. @param usage by the key of a day and group */
export function groupValues(usage: Iterable<readonly [string, Fraction]>): UsageGroups {
  const groups = new Map<string, ValueUsage[]>();
  for (const [cell, sum] of usage) {
    const texts = JSON.parse(cell.slice(11)) as (readonly [name: string, text: string])[];
    const [, key = ""] = texts.find(([name]) => name === KEY_NAME) ?? [];
    const group = JSON.stringify(texts.filter(([name]) => name !== KEY_NAME));
    const values = groups.get(group) ?? [];
    groups.set(group, values);
    // A value of which every event was undone is not there.
    if (sum.numerator !== 0n) values.push({ date: cell.slice(0, 10), key, sum });
  }
  return groups;
}

/** The quantity of a period: each group is aggregated separately. */
export function aggregate(aggregation: Aggregation, groups: UsageGroups, days: Days): Fraction {
  return [...groups.values()].map((values) => aggregateGroup(aggregation, values, days)).reduce(add, ZERO);
}

function aggregateGroup(aggregation: Aggregation, values: readonly ValueUsage[], days: Days): Fraction {
  const known = values.filter(({ date }) => date < days.until);
  const periods = aggregation.isDaily ? listDays(days.from, days.until) : [[days.from, days.until] as const];
  const quantityOf =
    aggregation.kind === "TIME_WEIGHTED"
      ? createAverage(aggregation.mode === "CHANGE" ? areaOfChanges(known) : areaOfLevels(known), days)
      : (from: string, until: string) => aggregatePeriod(aggregation, known, from, until);
  return periods.map(([from, until]) => quantityOf(from, until)).reduce(add, ZERO);
}

function aggregatePeriod(
  { kind, isCarriedOver }: Aggregation,
  values: readonly ValueUsage[],
  from: string,
  until: string,
): Fraction {
  const within = values.filter(({ date }) => date >= from && date < until);
  if (kind === "UNIQUE_COUNT") return toWholeFraction(new Set(within.map(({ key }) => key)).size);
  if (kind === "LATEST") return sortByTime(isCarriedOver ? values : within).at(-1)?.value ?? ZERO;
  const numbers = within.map(({ key }) => fractionOrZero(key));
  return numbers.length === 0 ? ZERO : numbers.reduce(kind === "MAX" ? maxFraction : minFraction);
}

/** The start and the end of each day of a period. */
export function listDays(from: string, until: string): readonly (readonly [from: string, until: string])[] {
  const count = (Date.parse(until) - Date.parse(from)) / DAY_MS;
  const dayAt = (index: number): string => new Date(Date.parse(from) + index * DAY_MS).toISOString().slice(0, 10);
  return Array.from({ length: count }, (_, index) => [dayAt(index), dayAt(index + 1)]);
}

/** The sum of a level × its milliseconds from one midnight to another. */
type Area = (from: string, until: string) => Fraction;

/** The average of a level in a period, rounded once. */
function createAverage(area: Area, { passedUntil }: Days): Area {
  return (from, until) => {
    const end = passedUntil < until ? passedUntil : until;
    const periodMs = toWholeFraction(Date.parse(until) - Date.parse(from));
    return end <= from ? ZERO : roundToDigits(divide(area(from, end), periodMs), AVERAGE_DIGITS, "HALF_UP");
  };
}

/** Each change lasts from its instant on: change × midnight − change × instant. */
function areaOfChanges(values: readonly ValueUsage[]): Area {
  const areaUntil = (end: string): Fraction =>
    values
      .filter(({ date }) => date < end)
      .map(({ key, sum }) => (key === "change" ? multiply(sum, toWholeFraction(Date.parse(end))) : subtract(ZERO, sum)))
      .reduce(add, ZERO);
  return (from, until) => subtract(areaUntil(until), areaUntil(from));
}

/** Each level lasts from its instant to the next one. */
function areaOfLevels(values: readonly ValueUsage[]): Area {
  const levels = sortByTime(values);
  return (from, until) => {
    const [start, end] = [Date.parse(from), Date.parse(until)];
    const opening = levels.findLast(({ at }) => at <= start);
    const steps = [{ at: start, value: opening?.value ?? ZERO }, ...levels.filter(({ at }) => at > start && at < end)];
    return steps
      .map(({ at, value }, index) => multiply(value, toWholeFraction((steps[index + 1]?.at ?? end) - at)))
      .reduce(add, ZERO);
  };
}

/** The values that events set, by instant, of equal ones by id. */
function sortByTime(values: readonly ValueUsage[]): readonly { readonly at: number; readonly value: Fraction }[] {
  return values
    .map(({ key }) => {
      const [at, id, value] = JSON.parse(key) as readonly [at: number, id: string, value: string];
      return { at, id: Buffer.from(id), value: fractionOrZero(value) };
    })
    .toSorted((a, b) => a.at - b.at || Buffer.compare(a.id, b.id));
}

/** The units of a value. */
export interface KeyedUnits {
  readonly key: string;
  readonly quantity: Fraction;
}

const TEXT_MAX = 256;

/**
 * The values of an event, each once, or the two sums of a change.
 *
 * @param results those of the computations that match, at least one
 * @throws {Error} if the event fails
 */
export function listKeyedUnits(
  { kind, mode }: Aggregation,
  results: readonly unknown[],
  event: { readonly id: string; readonly instant: number },
): readonly KeyedUnits[] {
  if (kind === "MAX" || kind === "MIN") return results.map((result) => toUnits(formatNumber(requireDecimal(result))));
  if (kind === "UNIQUE_COUNT") return results.map((result) => toUnits(formatUnique(result)));
  const value = results.map(requireDecimal).reduce(add, ZERO);
  if (mode === "CHANGE") {
    const moment = multiply(value, toWholeFraction(event.instant));
    if (!hasAtMostDigits(moment, 40)) throw new Error("the change has too many digits");
    return [
      { key: "change", quantity: value },
      { key: "moment", quantity: moment },
    ];
  }
  if (kind === "TIME_WEIGHTED" && value.numerator < 0n) throw new Error("a level is below 0");
  return [toUnits(JSON.stringify([event.instant, event.id, formatNumber(value)]))];
}

function toUnits(key: string): KeyedUnits {
  return { key, quantity: ONE };
}

function formatNumber(value: Fraction): string {
  if (!hasAtMostDigits(value, 40)) throw new Error("the value has too many digits");
  return formatFraction(value);
}

/** The plain text of a value to count: 1, 1.0 and "1" are one. */
function formatUnique(value: unknown): string {
  if (isFraction(value)) return formatNumber(value);
  if (typeof value === "string" && value.length > 0 && value.length <= TEXT_MAX) return value;
  throw new Error("the value is not a number or a text of 1 to 256 characters");
}
