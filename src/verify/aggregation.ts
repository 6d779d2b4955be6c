/** The quantities of meters that do not sum their events, from their usage by value (S19). */
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
} from "./figures.ts";
import { findMeasure } from "./short-items.ts";
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

const DAY_MS = 86_400_000;
const AVERAGE_DIGITS = 20;

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

/** The quantity of a period: each group is aggregated by itself. @param usage by the key of a day and group */
export function aggregate(
  aggregation: Aggregation,
  usage: Iterable<readonly [string, Fraction]>,
  days: Days,
): Fraction {
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
  return [...groups.values()].map((values) => aggregateGroup(aggregation, values, days)).reduce(add, ZERO);
}

function aggregateGroup(aggregation: Aggregation, values: readonly ValueUsage[], days: Days): Fraction {
  if (aggregation.isDaily) {
    const single = { ...aggregation, isDaily: false };
    return listDays(days.from, days.until)
      .map(([from, until]) => aggregateGroup(single, values, { ...days, from, until }))
      .reduce(add, ZERO);
  }
  const within = values.filter(({ date }) => date >= days.from && date < days.until);
  const numbers = (): readonly Fraction[] => within.map(({ key }) => fractionOrZero(key));
  switch (aggregation.kind) {
    case "MAX":
      return within.length === 0 ? ZERO : numbers().reduce(maxFraction);
    case "MIN":
      return within.length === 0 ? ZERO : numbers().reduce(minFraction);
    case "UNIQUE_COUNT":
      return toWholeFraction(new Set(within.map(({ key }) => key)).size);
    case "LATEST": {
      const counted = aggregation.isCarriedOver ? values.filter(({ date }) => date < days.until) : within;
      return sortByTime(counted).at(-1)?.value ?? ZERO;
    }
    default:
      return computeAverage(aggregation.mode === "CHANGE" ? areaOfChanges(values) : areaOfLevels(values), days);
  }
}

/** The start and the end of each day of a period. */
export function listDays(from: string, until: string): readonly (readonly [from: string, until: string])[] {
  const count = (Date.parse(until) - Date.parse(from)) / DAY_MS;
  const dayAt = (index: number): string => new Date(Date.parse(from) + index * DAY_MS).toISOString().slice(0, 10);
  return Array.from({ length: count }, (_, index) => [dayAt(index), dayAt(index + 1)]);
}

/** A level × milliseconds, from its first change until midnight of a day. */
type Area = (date: string) => Fraction;

/** The average of a level in a period, rounded once. */
function computeAverage(area: Area, { from, until, passedUntil }: Days): Fraction {
  const end = passedUntil < until ? passedUntil : until;
  if (end <= from) return ZERO;
  const periodMs = toWholeFraction(Date.parse(until) - Date.parse(from));
  return roundToDigits(divide(subtract(area(end), area(from)), periodMs), AVERAGE_DIGITS, "HALF_UP");
}

/** Each change lasts from its instant on: change × midnight − change × instant. */
function areaOfChanges(values: readonly ValueUsage[]): Area {
  return (until) =>
    values
      .filter(({ date }) => date < until)
      .map(({ key, sum }) =>
        key === "change" ? multiply(sum, toWholeFraction(Date.parse(until))) : subtract(ZERO, sum),
      )
      .reduce(add, ZERO);
}

/** Each level lasts from its instant to the next one. */
function areaOfLevels(values: readonly ValueUsage[]): Area {
  const levels = sortByTime(values);
  return (until) => {
    const end = Date.parse(until);
    return levels
      .map(({ at, value }, index) => {
        const next = Math.min(levels[index + 1]?.at ?? end, end);
        return at < end ? multiply(value, toWholeFraction(next - at)) : ZERO;
      })
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
