/**
 * Usage of meters that do not sum their events, such as a peak, a number of users or an average level, read as the
 * changes of a running quantity by day, so that what prices the sums of days can price it too (S19).
 */
import {
  carriesOver,
  compareGroups,
  formatGroup,
  type GroupUsage,
  hasKeys,
  NO_GROUP,
  type UsageGroup,
  type UsageMeter,
} from "../book/resources/event-schema.ts";
import { type Day, dayOf, INSTANT_MIN, DAY_MS, type Instant, instantOfDay } from "../calendar/instant.ts";
import {
  Decimal,
  parseDecimal,
  sum,
  ZERO,
  add,
  decimalOfInteger,
  maximum,
  minimum,
  multiply,
  subtract,
} from "../numbers/decimal.ts";
import { compareExact, decimalOfExact, type Exact, exactOfText } from "../numbers/exact.ts";
import { roundFraction } from "../numbers/fraction.ts";
import { groupBy, compareIds } from "../numbers/ids.ts";
import { CHANGE_KEY, MOMENT_KEY, parseTimedKey } from "./measure-units.ts";

/** The usage of meters. */
export interface MeterUsage {
  /** The quantity of the UTC days `[from, until)`. */
  readonly usage: (meterId: string, from: Day, until: Day) => Decimal;
  /** The usage other than 0 of a meter's groups in the UTC days `[from, until)`, in any order; empty without groups. */
  readonly usageByGroup: (meterId: string, from: Day, until: Day) => readonly GroupUsage[];
}

/** The usage of meters, aggregated. */
export interface AggregatedUsage extends MeterUsage {
  /** The usage of a meter with keys that decides its quantity of the UTC days `[from, until)`. */
  readonly usageByKey: (meter: UsageMeter, from: Day, until: Day) => KeyedUsage;
}

/** The meters with keys, by id. */
export function findKeyedMeters(meters: readonly UsageMeter[]): ReadonlyMap<string, UsageMeter> {
  return new Map(meters.filter(hasKeys).map((meter) => [meter.id, meter]));
}

/**
 * Aggregates the usage of meters with keys; that of others stays as it is.
 *
 * @param stored with the key of each sum as the last text of its group
 * @param passedUntil the first day that has not passed: a level weighs nothing from then on (S19.5); default none
 */
export function aggregateUsage(
  keyedMeters: ReadonlyMap<string, UsageMeter>,
  stored: MeterUsage,
  passedUntil?: Day,
): AggregatedUsage {
  const usageByKey: AggregatedUsage["usageByKey"] = (meter, from, until) => {
    const usage = stored.usageByGroup(meter.id, readsFrom(meter, from), until);
    const period = { from, until, ...(passedUntil !== undefined && { passedUntil }) };
    return aggregateMeter(meter, usage, period);
  };
  if (keyedMeters.size === 0) return { ...stored, usageByKey };
  const usageByGroup: MeterUsage["usageByGroup"] = (meterId, from, until) => {
    const meter = keyedMeters.get(meterId);
    if (meter === undefined) return stored.usageByGroup(meterId, from, until);
    return usageByKey(meter, from, until).changes;
  };
  return {
    usage: (meterId, from, until) =>
      keyedMeters.has(meterId)
        ? sum(usageByGroup(meterId, from, until).map(({ quantity }) => quantity))
        : stored.usage(meterId, from, until),
    usageByGroup,
    usageByKey,
  };
}

/** The usage of a meter with keys that decides the quantity of a period. */
export interface KeyedUsage {
  readonly meter: UsageMeter;
  /** With the key of each sum as the last text of its group. */
  readonly usage: readonly GroupUsage[];
  readonly period: KeyedPeriod;
  /** The changes of the quantity of each group, by day, then group. */
  readonly changes: readonly GroupUsage[];
}

/** The usage of a meter with keys in a period, with its quantity. @param usage with keys */
export function aggregateMeter(meter: UsageMeter, usage: readonly GroupUsage[], period: KeyedPeriod): KeyedUsage {
  return { meter, usage, period, changes: aggregateGroups(meter, usage, period) };
}

/** The first day of which usage decides the quantity of a period that begins on a day. */
export function readsFrom(meter: UsageMeter, from: Day): Day {
  return carriesOver(meter) ? FIRST_DAY : from;
}

/** The first day that usage may have. */
export const FIRST_DAY = dayOf(INSTANT_MIN);

/** A period, and until which day a level is weighed (S19.5). */
export interface KeyedPeriod extends AggregationPeriod {
  /** The first day that has not passed: a level weighs nothing from then on; default none. */
  readonly passedUntil?: Day;
}

/**
 * Aggregates the usage of a meter with keys in a period, each group separately, by day, then group.
 *
 * @param stored of all days, or at least from {@link readsFrom} on; other usage has no effect
 */
export function aggregateGroups(
  meter: UsageMeter,
  stored: readonly GroupUsage[],
  period: KeyedPeriod,
): readonly GroupUsage[] {
  const aggregated = groupCells(meter, stored, period).flatMap((cells) => {
    const group: UsageGroup = cells[0]?.group.slice(0, -1) ?? NO_GROUP;
    return aggregateCells(meter, cells, period).map(({ day, quantity }) => ({ group, day, quantity }));
  });
  return aggregated.sort((a, b) => a.day - b.day || compareGroups(a.group, b.group));
}

/** The usage that decides the quantity of each group. */
export function groupCells(
  meter: UsageMeter,
  stored: readonly GroupUsage[],
  { from, until }: KeyedPeriod,
): readonly (readonly GroupUsage[])[] {
  const firstDay = readsFrom(meter, from);
  const used = stored.filter(({ day, quantity }) => day >= firstDay && day < until && !quantity.isZero());
  if (used.length === 0 || meter.groupBy === undefined) return used.length === 0 ? [] : [used];
  return [...groupBy(used, ({ group }) => formatGroup(group.slice(0, -1))).values()];
}

/**
 * Of a meter that carries over, the usage that decides later levels: the last value of each group, or the sum of its
 * changes. Values and sums of 0 are omitted.
 */
export function listCarriedUsage({ mode }: UsageMeter, stored: readonly GroupUsage[]): readonly GroupUsage[] {
  const groups = groupBy(stored, ({ group }) => formatGroup(group.slice(0, -1)));
  return [...groups.values()].flatMap((cells) => {
    if (mode !== "CHANGE") {
      const last = toTimedCells(cells).toSorted(compareTimes).at(-1);
      return last === undefined || last.value.isZero() ? [] : [last.cell];
    }
    const changes = cells.filter(({ group }) => group.at(-1) === CHANGE_KEY);
    const [last, quantity] = [changes.at(-1), sum(changes.map((change) => change.quantity))];
    return last === undefined || quantity.isZero() ? [] : [{ ...last, quantity }];
  });
}

function aggregateCells(
  { aggregation, daily, mode }: UsageMeter,
  cells: readonly GroupUsage[],
  period: KeyedPeriod,
): readonly DayQuantity[] {
  const isDaily = daily === true;
  switch (aggregation) {
    case "MAX":
    case "MIN":
      return listExtremes(aggregation, isDaily, cells);
    case "UNIQUE_COUNT":
      return listUniqueCounts(isDaily, cells);
    case "LATEST": {
      const { opening, values } = splitValues(cells, period);
      return listLatest(values, opening, period);
    }
    case "TIME_WEIGHTED": {
      if (mode === "CHANGE") {
        const changes = cells.filter(({ day }) => day >= period.from).map(toLevelChange);
        const before = cells.filter(({ group, day }) => day < period.from && group.at(-1) === CHANGE_KEY);
        return listAverages(isDaily, changes, sum(before.map(({ quantity }) => quantity)), period);
      }
      const { opening, values } = splitValues(cells, period);
      return listAverages(isDaily, toLevelChanges(values, opening), opening, period);
    }
    case "COUNT":
    case "SUM":
      return [];
  }
}

function toLevelChange({ group, day, quantity }: GroupUsage): LevelChanges {
  const isMoment = group.at(-1) === MOMENT_KEY;
  return { day, change: isMoment ? ZERO : quantity, moment: isMoment ? quantity : ZERO };
}

/** The values of a period, and the last one before it. */
export function splitValues(
  cells: readonly GroupUsage[],
  { from }: AggregationPeriod,
): { readonly before: TimedValue | undefined; readonly opening: Decimal; readonly values: readonly TimedValue[] } {
  const all = toTimedCells(cells);
  const before = all
    .filter(({ cell }) => cell.day < from)
    .toSorted(compareTimes)
    .at(-1);
  return { before, opening: before?.value ?? ZERO, values: all.filter(({ cell }) => cell.day >= from) };
}

function toTimedCells(cells: readonly GroupUsage[]): (TimedValue & { readonly cell: GroupUsage })[] {
  return cells.map((cell) => {
    const [at, eventId, value] = parseTimedKey(cell.group.at(-1) ?? "");
    return { cell, at, eventId, value: parseDecimal(value) };
  });
}

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
