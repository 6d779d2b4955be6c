/**
 * Series of points over time: the periods of a range, and the values that fall into them, by group.
 *
 * @module
 */
import type { AggregationPeriod } from "../../book/model/requests.ts";
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
  /** How many points a series has. */
  readonly count: number;
  /** The place of the period that holds an instant of the range, from 0. */
  readonly indexAt: (instant: Instant) => number;
  /** A period, cut where the range begins or ends within it. */
  readonly periodAt: (index: number) => Cycle;
}

/**
 * The periods of a range, which is first widened to what usage is kept by: whole hours for hours, else whole days. So a
 * week or a month that the range cuts is a shorter point, and points add up to the range whatever their length.
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
  /** The account, meter, schema or status; absent without `groupBy`, and for events that have none. */
  readonly group?: string;
  /** Where values are money. */
  readonly currency?: string;
}

/** One series: its values by the place of their period; those that are not there are nothing. */
export interface Series<Value> extends SeriesKey {
  readonly values: ReadonlyMap<number, Value>;
}

/** A value that belongs to a period of a series. */
export interface SeriesValue<Value> {
  readonly key: SeriesKey;
  readonly index: number;
  readonly value: Value;
}

/** Series to which values are added. */
export interface SeriesSet<Value> {
  add(key: SeriesKey, index: number, value: Value): void;
  /** Adds all of them, or none where one of the sums throws. */
  addAll(values: readonly SeriesValue<Value>[]): void;
  /** By group, then by currency; what has no group comes last. */
  all(): readonly Series<Value>[];
}

/** No series yet. @param onMany is called, and throws, when there is one series more than `most` */
export function createSeries<Value>(
  plus: (a: Value, b: Value) => Value,
  most: number,
  onMany: () => never,
): SeriesSet<Value> {
  const byKey = new Map<string, SeriesKey & { readonly values: Map<number, Value> }>();
  const nameOf = ({ group, currency }: SeriesKey): string => JSON.stringify([group, currency]);
  const made = ({ group, currency }: SeriesKey): Map<number, Value> => {
    if (byKey.size === most) onMany();
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
      const values = byKey.get(nameOf(key))?.values ?? made(key);
      const before = values.get(index);
      values.set(index, before === undefined ? value : plus(before, value));
    },
    addAll(added) {
      const sums = new Map<string, { readonly key: SeriesKey; readonly values: Map<number, Value> }>();
      for (const { key, index, value } of added) {
        const name = nameOf(key);
        const own = sums.get(name) ?? { key, values: new Map<number, Value>() };
        const before = own.values.get(index) ?? byKey.get(name)?.values.get(index);
        own.values.set(index, before === undefined ? value : plus(before, value));
        sums.set(name, own);
      }
      for (const [name, { key, values }] of sums) {
        const all = byKey.get(name)?.values ?? made(key);
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
