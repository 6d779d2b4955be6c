/**
 * Time series: the periods of a range, and the values in them, by group.
 *
 * @module
 */
import type { AggregationPeriod } from "../../book/resources/requests.ts";
import { type Cycle, type CycleConfig, cycleIndexAt, naturalCycle } from "../../calendar/cycle.ts";
import { DAY_MS, type Instant } from "../../calendar/instant.ts";
import { compareIds } from "../compare-ids.ts";

const HOUR_MS = DAY_MS / 24;
/** Weeks begin on Monday, months on the first. */
const CALENDARS: Readonly<Record<"WEEK" | "MONTH", CycleConfig>> = {
  WEEK: { interval: "WEEKLY", dayOffset: 1, monthOffset: null },
  MONTH: { interval: "MONTHLY", dayOffset: 1, monthOffset: null },
};

/** The periods that a range touches, UTC. */
export interface Periods extends Cycle {
  /** The number of points of a series. */
  readonly count: number;
  /** The index, from 0, of the period that contains an instant of the range. */
  readonly indexAt: (instant: Instant) => number;
  /** A period, cut at the bounds of the range. */
  readonly periodAt: (index: number) => Cycle;
}

/**
 * The periods of a range. The range is first extended to the granularity of stored usage: whole hours for hours, else
 * whole days. Weeks and months at its bounds may be shorter, so that points add up to the range.
 */
export function createPeriods(aggregation: AggregationPeriod, from: Instant, until: Instant): Periods {
  const unit = aggregation === "HOUR" ? HOUR_MS : DAY_MS;
  const start = Math.floor(from / unit) * unit;
  const end = Math.ceil(until / unit) * unit;
  if (aggregation === "HOUR" || aggregation === "DAY") {
    return {
      start,
      end,
      count: (end - start) / unit,
      indexAt: (instant) => Math.floor((instant - start) / unit),
      periodAt: (index) => ({ start: start + index * unit, end: start + (index + 1) * unit }),
    };
  }
  const calendar = CALENDARS[aggregation];
  const first = cycleIndexAt(calendar, start);
  return {
    start,
    end,
    count: cycleIndexAt(calendar, end - 1) - first + 1,
    indexAt: (instant) => cycleIndexAt(calendar, instant) - first,
    periodAt(index) {
      const whole = naturalCycle(calendar, first + index);
      return { start: Math.max(whole.start, start), end: Math.min(whole.end, end) };
    },
  };
}

/** The key of one series. */
export interface SeriesKey {
  /** The account, meter, schema or status; absent without `groupBy`, and for events without one. */
  readonly group?: string;
  /** For amounts of money. */
  readonly currency?: string;
}

/** One series: its values by period index; absent values are 0. */
export interface Series<Value> extends SeriesKey {
  readonly values: ReadonlyMap<number, Value>;
}

/** A value in a period of a series. */
export interface SeriesValue<Value> {
  readonly key: SeriesKey;
  readonly index: number;
  readonly value: Value;
}

/** Series to which values can be added. */
export interface SeriesSet<Value> {
  add(key: SeriesKey, index: number, value: Value): void;
  /** Adds all values, or none if a sum throws. */
  addAll(values: readonly SeriesValue<Value>[]): void;
  /** By group, then by currency; series without a group come last. */
  all(): readonly Series<Value>[];
}

/** Creates an empty set. @param onMany is called, and throws, when there are more than `seriesMax` series */
export function createSeries<Value>(
  plus: (a: Value, b: Value) => Value,
  seriesMax: number,
  onMany: () => never,
): SeriesSet<Value> {
  const byKey = new Map<string, SeriesKey & { readonly values: Map<number, Value> }>();
  const nameOf = ({ group, currency }: SeriesKey): string => JSON.stringify([group, currency]);
  const createValues = ({ group, currency }: SeriesKey): Map<number, Value> => {
    if (byKey.size === seriesMax) onMany();
    const series = {
      ...(group === undefined ? {} : { group }),
      ...(currency === undefined ? {} : { currency }),
      values: new Map<number, Value>(),
    };
    byKey.set(nameOf(series), series);
    return series.values;
  };
  return {
    add(key, index, value) {
      const values = byKey.get(nameOf(key))?.values ?? createValues(key);
      const before = values.get(index);
      values.set(index, before === undefined ? value : plus(before, value));
    },
    addAll(added) {
      const sums = new Map<string, { readonly key: SeriesKey; readonly values: Map<number, Value> }>();
      for (const { key, index, value } of added) {
        const name = nameOf(key);
        const series = sums.get(name) ?? { key, values: new Map<number, Value>() };
        const before = series.values.get(index) ?? byKey.get(name)?.values.get(index);
        series.values.set(index, before === undefined ? value : plus(before, value));
        sums.set(name, series);
      }
      for (const [name, { key, values }] of sums) {
        const all = byKey.get(name)?.values ?? createValues(key);
        for (const [index, sum] of values) all.set(index, sum);
      }
    },
    all: () => [...byKey.values()].toSorted(compareGroups),
  };
}

function compareGroups(a: SeriesKey, b: SeriesKey): number {
  if ((a.group === undefined) !== (b.group === undefined)) return a.group === undefined ? 1 : -1;
  return compareIds(a.group ?? "", b.group ?? "") || compareIds(a.currency ?? "", b.currency ?? "");
}
