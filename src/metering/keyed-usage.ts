/** Usage of meters with keys, read as the changes of a running quantity by day, like that of other meters (S19.3). */
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
import { type Day, dayOf, INSTANT_MIN } from "../calendar/instant.ts";
import { groupBy } from "../numbers/compare-ids.ts";
import { type Decimal, parseDecimal, sum, ZERO } from "../numbers/decimal.ts";
import {
  type AggregationPeriod,
  compareTimes,
  type DayQuantity,
  type LevelChanges,
  listAverages,
  listExtremes,
  listLatest,
  listUniqueCounts,
  type TimedValue,
  toLevelChanges,
} from "./aggregation.ts";
import { CHANGE_KEY, MOMENT_KEY, parseTimedKey } from "./measure-keys.ts";

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
