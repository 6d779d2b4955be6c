/**
 * Time series: the periods of a range, the values in them, by group, and revenue over time: what the usage of each period
 * adds to the charge of its cycle (S7).
 */

import { type GroupUsage, NO_GROUP, type UsageGroup, type UsageMeter } from "../../book/resources/event-schema.ts";
import type { AggregationPeriod } from "../../book/resources/requests.ts";
import { type Cycle, type CycleConfig, cycleIndexAt, naturalCycle } from "../../calendar/cycle.ts";
import { DAY_MS, dayOf, type Instant, instantOfDay } from "../../calendar/instant.ts";
import { isPriceProrated } from "../../invoicing/arrears.ts";
import { cyclesIn, type Timeline } from "../../invoicing/timeline.ts";
import { aggregateGroups } from "../../metering/keyed-usage.ts";
import { add, type Decimal, ZERO } from "../../numbers/decimal.ts";
import { type Fraction, ZERO_FRACTION, subtractFractions } from "../../numbers/fraction.ts";
import { compareIds, groupBy } from "../../numbers/ids.ts";
import { rateUsage } from "../../rating/cards.ts";
import { type FindTable, hasTable } from "../../rating/rated-table.ts";
import { chargeByTable } from "../../rating/table-charge.ts";

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
interface SeriesValue<Value> {
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

/** Units of a meter and group on one day, or in one hour. */
export interface UsageAtInstant {
  readonly meterId: string;
  /** Absent for a meter without groups. */
  readonly group?: UsageGroup;
  /** The start of the day or hour of use. */
  readonly at: Instant;
  readonly quantity: Decimal;
}

/** An account and its usage. */
export interface RevenueSource {
  readonly timeline: Timeline;
  readonly currency: string;
  readonly findTable: FindTable;
  /** Those of which the quantity is no sum (S19). */
  readonly keyedMeters: ReadonlyMap<string, UsageMeter>;
  /** Of all cycles from the one in which the range begins, in any order. */
  readonly usage: readonly UsageAtInstant[];
  /** Cycles that begin later have no revenue yet. */
  readonly now: Instant;
}

/** From when usage must be known for the revenue of a range: the start of the cycle in which it begins. */
export function revenueReadsFrom(timeline: Timeline, { start, end }: Pick<Periods, "start" | "end">): Instant {
  return Math.min(start, ...cyclesIn(timeline, start, end).map((cycle) => cycle.start));
}

/** A meter's revenue in a period. */
interface PeriodRevenue {
  readonly meterId: string;
  readonly index: number;
  readonly value: Fraction;
}

/**
 * The revenue of an account's usage cards, without zeros. The revenue of a period is the price of the cycle's quantity
 * at its end minus that at its start, with 0 before the cycle. All periods of a cycle add up to the exact charge of its
 * invoice, including minimum and maximum charges; if the price falls with quantity, revenue is negative.
 *
 * @param isWanted which meters count
 */
export function* listUsageRevenue(
  { timeline, currency, findTable, keyedMeters, usage, now }: RevenueSource,
  periods: Periods,
  isWanted: (meterId: string) => boolean,
): Iterable<PeriodRevenue> {
  const byMeter = groupBy(
    usage.toSorted((a, b) => a.at - b.at),
    ({ meterId }) => meterId,
  );
  for (const cycle of cyclesIn(timeline, periods.start, periods.end)) {
    if (cycle.start > now) continue;
    const period = { served: { start: cycle.start, end: cycle.end }, natural: cycle.natural };
    for (const card of cycle.term.plan.details.usageRateCards) {
      const { usageMeterId: meterId } = card;
      if (!isWanted(meterId)) continue;
      const meter = keyedMeters.get(meterId);
      const ofMeter = byMeter.get(meterId) ?? [];
      const used =
        meter === undefined
          ? ofMeter.filter(({ at }) => at >= cycle.start && at < cycle.end)
          : aggregateCycle(meter, ofMeter, cycle, now);
      const isProrated = isPriceProrated(card, meter);
      const priceOf: PriceOf = (quantity, count) => {
        if (!hasTable(card)) return rateUsage(card, currency, quantity, period, { isProrated }).bounded;
        const groups = used.slice(0, count).map(toGroupUsage);
        return chargeByTable(findTable(card, currency), { meterId, quantity, groups }, period, { isProrated }).bounded;
      };
      for (const [index, value] of listRevenueInCycle(priceOf, used, cycle, periods)) yield { meterId, index, value };
    }
  }
}

/** The changes of a running quantity in a cycle, at the start of each day (S19.3). */
function aggregateCycle(
  meter: UsageMeter,
  usage: readonly UsageAtInstant[],
  { start, end }: Cycle,
  now: Instant,
): readonly UsageAtInstant[] {
  const period = { from: dayOf(start), until: dayOf(end), passedUntil: dayOf(now) };
  return aggregateGroups(meter, usage.map(toGroupUsage), period).map(({ group, day, quantity }) => ({
    meterId: meter.id,
    group,
    at: instantOfDay(day),
    quantity,
  }));
}

/** The price of the first entries of usage in a cycle, with their sum. */
type PriceOf = (quantity: Decimal, count: number) => Fraction;

function toGroupUsage({ group = NO_GROUP, at, quantity }: UsageAtInstant): GroupUsage {
  return { group, day: dayOf(at), quantity };
}

/** The revenue of a card in a cycle by period. @param used in order of time */
function* listRevenueInCycle(
  priceOf: PriceOf,
  used: readonly UsageAtInstant[],
  cycle: Cycle,
  periods: Periods,
): Iterable<readonly [index: number, revenue: Fraction]> {
  const start = Math.max(cycle.start, periods.start);
  let next = 0;
  let quantity = ZERO;
  const countUntil = (instant: Instant): boolean => {
    const before = next;
    for (let entry = used[next]; entry !== undefined && entry.at < instant; entry = used[next]) {
      quantity = add(quantity, entry.quantity);
      next += 1;
    }
    return next > before;
  };
  countUntil(start);
  let price = start === cycle.start ? ZERO_FRACTION : priceOf(quantity, next);
  const last = periods.indexAt(Math.min(cycle.end, periods.end) - 1);
  for (let index = periods.indexAt(start); index <= last; index += 1) {
    const hasMore = countUntil(periods.periodAt(index).end);
    // Only usage and the start of the cycle change a price.
    if (!hasMore && !(index === periods.indexAt(start) && start === cycle.start)) continue;
    const after = priceOf(quantity, next);
    const revenue = subtractFractions(after, price);
    price = after;
    if (!revenue.numerator.isZero()) yield [index, revenue];
  }
}
