/**
 * The quantity of a meter that does not sum its events, such as a peak, a number of users or an average level, from its
 * records (S19): the change of the running quantity on each day. What prices the sums of days can so price these too.
 */
import type { GroupUsage } from "../book/resources/event-schema.ts";
import { DAY_MS, type Day, dayOf, type Instant, instantOfDay } from "../calendar/instant.ts";
import { compareIds, groupBy } from "../numbers/compare-ids.ts";
import { add, Decimal, decimalOfInteger, maximum, minimum, multiply, subtract, sum, ZERO } from "../numbers/decimal.ts";
import { compareExact, decimalOfExact, type Exact, exactOfText } from "../numbers/exact.ts";
import { roundFraction } from "../numbers/fraction.ts";

/** Usage of a value on a day. The last text of its group is the value's plain text. */
export type ValueUsage = Pick<GroupUsage, "day" | "group">;

/** A value that an event sets: of LATEST, or the level of a TIME_WEIGHTED meter. */
export interface TimedValue {
  readonly at: Instant;
  readonly eventId: string;
  readonly value: Decimal;
}

/** The changes of a level on a day. */
export interface LevelChanges {
  readonly day: Day;
  readonly change: Decimal;
  /** The sum of each change multiplied by its instant in milliseconds. */
  readonly moment: Decimal;
}

/** The change of a running quantity on a day. */
export interface DayQuantity {
  readonly day: Day;
  readonly quantity: Decimal;
}

/** A period of whole days, `[from, until)`. */
export interface AggregationPeriod {
  readonly from: Day;
  readonly until: Day;
}

/** Averages are rounded to so many digits (S19.1). */
const AVERAGE_DIGITS = 20;

/** The largest values, or the smallest, so far. @param usage in any order */
export function listExtremes(kind: "MAX" | "MIN", daily: boolean, usage: readonly ValueUsage[]): DayQuantity[] {
  const choose = kind === "MAX" ? maximum : minimum;
  const sign = kind === "MAX" ? 1 : -1;
  const byDay = new Map<Day, Exact>();
  for (const { day, group } of usage) {
    const value = exactOfText(group.at(-1) ?? "") ?? 0;
    const before = byDay.get(day);
    if (before === undefined || sign * compareExact(value, before) > 0) byDay.set(day, value);
  }
  const days = sortDays(byDay).map(([day, value]) => [day, decimalOfExact(value)] as const);
  if (daily) return toDayQuantities(days);
  let extreme: Decimal | undefined;
  return toDifferences(days, ZERO, (value) => (extreme = choose(extreme ?? value, value)));
}

/** The numbers of values that did not occur before in the period, or on the day. @param usage in any order */
export function listUniqueCounts(daily: boolean, usage: readonly ValueUsage[]): DayQuantity[] {
  const byDay = new Map<Day, number>();
  const countOn = (day: Day, count: number): unknown => byDay.set(day, (byDay.get(day) ?? 0) + count);
  const firstDays = new Map<string, Day>();
  for (const { day, group } of usage) {
    const key = group.at(-1) ?? "";
    const firstDay = daily ? undefined : firstDays.get(key);
    if (firstDay !== undefined && firstDay <= day) continue;
    if (firstDay !== undefined) countOn(firstDay, -1);
    if (!daily) firstDays.set(key, day);
    countOn(day, 1);
  }
  return toDayQuantities(sortDays(byDay).map(([day, count]) => [day, decimalOfInteger(count)] as const));
}

/**
 * The last value of each day.
 *
 * @param values of the period, in any order
 * @param carried the last value before the period, if it is carried over; else 0
 */
export function listLatest(
  values: readonly TimedValue[],
  carried: Decimal,
  { from }: AggregationPeriod,
): DayQuantity[] {
  const byDay = new Map<Day, Decimal>([[from, carried]]);
  for (const { at, value } of values.toSorted(compareTimes)) byDay.set(dayOf(at), value);
  return toDifferences(sortDays(byDay), ZERO, (value) => value);
}

/** The changes of a level that events set, by day. @param opening the level before them @param values in any order */
export function toLevelChanges(values: readonly TimedValue[], opening: Decimal): LevelChanges[] {
  let level = opening;
  return values.toSorted(compareTimes).map(({ at, value }) => {
    const change = subtract(value, level);
    level = value;
    return { day: dayOf(at), change, moment: multiply(change, new Decimal(at)) };
  });
}

/**
 * The average of a level, as the share of each day in that of the period, or as that of each day.
 *
 * @param changes of the period, in any order, several of one day add up
 * @param opening the level before the period
 * @param passedUntil the first day that has not passed: it and later ones weigh nothing (S19.5)
 */
export function listAverages(
  daily: boolean,
  changes: readonly LevelChanges[],
  opening: Decimal,
  { from, until, passedUntil = until }: AggregationPeriod & { readonly passedUntil?: Day },
): DayQuantity[] {
  const byDay = groupBy(changes, ({ day }) => day);
  const average = (integral: Decimal): Decimal =>
    roundFraction(
      { numerator: integral, denominator: daily ? DAY_MS : (until - from) * DAY_MS },
      AVERAGE_DIGITS,
      "HALF_UP",
    );
  let [level, integral] = [opening, ZERO];
  const days: (readonly [Day, Decimal])[] = [];
  for (let day = from; day < Math.min(until, passedUntil); day++) {
    const onDay = byDay.get(day) ?? [];
    const change = sum(onDay.map((each) => each.change));
    const moment = sum(onDay.map((each) => each.moment));
    const end = new Decimal(instantOfDay(day + 1));
    const ofDay = add(multiply(level, new Decimal(DAY_MS)), subtract(multiply(change, end), moment));
    integral = daily ? ofDay : add(integral, ofDay);
    days.push([day, average(integral)]);
    level = add(level, change);
  }
  return daily ? toDayQuantities(days) : toDifferences(days, ZERO, (value) => value);
}

/** By time; of equal instants by id, so that the order of arrival does not matter. */
export function compareTimes(a: TimedValue, b: TimedValue): number {
  return a.at - b.at || compareIds(a.eventId, b.eventId);
}

function sortDays<Value>(byDay: ReadonlyMap<Day, Value>): readonly (readonly [Day, Value])[] {
  return [...byDay].sort(([a], [b]) => a - b);
}

function toDayQuantities(days: readonly (readonly [Day, Decimal])[]): DayQuantity[] {
  return days.flatMap(([day, quantity]) => (quantity.isZero() ? [] : [{ day, quantity }]));
}

/** How much a running quantity changes on each day. */
function toDifferences(
  days: readonly (readonly [Day, Decimal])[],
  start: Decimal,
  next: (value: Decimal) => Decimal,
): DayQuantity[] {
  let running = start;
  return toDayQuantities(
    days.map(([day, value]) => {
      const before = running;
      running = next(value);
      return [day, subtract(running, before)] as const;
    }),
  );
}
