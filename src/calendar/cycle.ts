/**
 * Pricing cycles (S6): calendar periods. Natural cycles are numbered, and cycle k of a config is computed from k alone,
 * so steps, distances and ranges need no loop. Proration by whole UTC days (S8).
 */
import { RatebookError, invariant } from "../errors.ts";
import { quoteText } from "../problem-table.ts";
import { toCivilDate, dayInMonth, daysInMonth, monthNumberOf, type Day } from "./civil.ts";
import { dayOf, instantOfDay, toInstant, type Instant, daysBetween, isDayStart } from "./instant.ts";

/** A half-open period `[start, end)` of whole UTC days. */
export interface Cycle {
  readonly start: Instant;
  readonly end: Instant;
}

/** The lengths of a cycle (S6.1). */
const INTERVALS = ["WEEKLY", "MONTHLY", "QUARTERLY", "HALF_YEARLY", "ANNUALLY"] as const;
/** The length of a cycle (S6.1). */
export type Interval = (typeof INTERVALS)[number];

/** When natural cycles begin, checked and normalized: equal configs have equal fields. */
export interface CycleConfig {
  readonly interval: Interval;
  /** Weekly: 1 (Monday) to 7. Otherwise the day of the month, 1 to 30, or LAST (31 is LAST). */
  readonly dayOffset: number | "LAST";
  /** The month within the interval, 1 to 3, 6 or 12; null for weekly and monthly. */
  readonly monthOffset: number | null;
}

/** Where a cycle starts within its interval, in a book (S6.1). */
interface StartOffset {
  /** `"1"` to `"31"` (weekly `"7"`), or `LAST`. */
  readonly dayOffset: string;
  /** `NIL` or absent for weekly and monthly, else `"1"` to `"12"`, `FIRST` or `LAST`. */
  readonly monthOffset?: string | null | undefined;
}

/** The fields of a plan's pricingCycleConfig that define when cycles begin (S6.1, S6.3). */
export interface CycleTerms {
  readonly interval: Interval;
  /** Required unless `anniversaryCycle` is true; ignored then. */
  readonly startOffset?: StartOffset | null | undefined;
  readonly anniversaryCycle?: boolean | null | undefined;
}

const MONTHS: Readonly<Record<Exclude<Interval, "WEEKLY">, number>> = {
  MONTHLY: 1,
  QUARTERLY: 3,
  HALF_YEARLY: 6,
  ANNUALLY: 12,
};
/** 1969-12-29, a Monday: the start of week 0. */
const WEEK_0_MONDAY: Day = -3;

/**
 * Checks a plan's cycle terms and resolves them for one association (S6.1, S6.3).
 *
 * @param associationDate an anniversary is derived from its UTC day
 * @throws {RatebookError} ERR_CYCLE_INVALID if an offset is not valid for the interval
 */
export function resolveCycleConfig(terms: CycleTerms, associationDate: Instant): CycleConfig {
  const { interval } = terms;
  if (!INTERVALS.includes(interval)) {
    throw invalidCycleError("interval", INTERVALS.join(", "), interval);
  }
  if (terms.anniversaryCycle === true) return anniversaryConfig(interval, dayOf(associationDate));
  const offset = terms.startOffset;
  if (offset === undefined || offset === null) {
    throw cycleError("startOffset", "missing: add it, or set anniversaryCycle to true");
  }
  return { interval, dayOffset: parseDayOffset(interval, offset), monthOffset: parseMonthOffset(interval, offset) };
}

/** The offsets of a config in the form of a book, as stored with an association (S6.3). */
export function toStartOffset(config: CycleConfig): { readonly dayOffset: string; readonly monthOffset: string } {
  return {
    dayOffset: String(config.dayOffset),
    monthOffset: config.monthOffset === null ? "NIL" : String(config.monthOffset),
  };
}

/** Whether two configs have the same interval and offsets. */
export function isSameCycleConfig(a: CycleConfig, b: CycleConfig): boolean {
  return a.interval === b.interval && a.dayOffset === b.dayOffset && a.monthOffset === b.monthOffset;
}

/** The natural cycle that contains an instant (S6.2). */
export function naturalCycleAt(config: CycleConfig, instant: Instant): Cycle {
  return naturalCycle(config, cycleIndexAt(config, instant));
}

/**
 * Natural cycle number `index` of a config; numbers ascend with time, from an arbitrary origin.
 *
 * @param index a whole number, possibly negative
 */
export function naturalCycle(config: CycleConfig, index: number): Cycle {
  return { start: instantOfDay(startDay(config, index)), end: instantOfDay(startDay(config, index + 1)) };
}

/** The number of the natural cycle that contains an instant. */
export function cycleIndexAt(config: CycleConfig, instant: Instant): number {
  const day = dayOf(instant);
  if (config.interval === "WEEKLY") return Math.floor((day - startDay(config, 0)) / 7);
  const month = monthNumberOf(toCivilDate(day)) - ((config.monthOffset ?? 1) - 1);
  const index = Math.floor(month / MONTHS[config.interval]);
  // Only in a month in which a cycle starts can a day belong to the previous cycle.
  return startDay(config, index) > day ? index - 1 : index;
}

/** The number of natural cycles from the one that contains `from` to the one that contains `to`; negative if it is earlier. */
export function cyclesElapsed(config: CycleConfig, from: Instant, to: Instant): number {
  return cycleIndexAt(config, to) - cycleIndexAt(config, from);
}

/**
 * The complete natural cycles that touch a range (S6.2), oldest first.
 *
 * @param config a checked config, or a plan's pricingCycleConfig, with an anniversary derived from `from`
 * @param from inclusive
 * @param until exclusive; an empty range touches none
 * @throws {RatebookError} ERR_CYCLE_INVALID as {@link resolveCycleConfig}; ERR_DATE_INVALID as {@link toInstant}
 */
export function cyclesBetween(
  config: CycleConfig | CycleTerms,
  from: Instant | string | Date,
  until: Instant | string | Date,
): readonly Cycle[] {
  // Callers without types may pass anything.
  if (typeof config !== "object" || config === null) {
    throw cycleError("pricingCycleConfig", "expected an object with an interval");
  }
  const [first, end] = [toInstant(from), toInstant(until)];
  const cycleConfig = "dayOffset" in config ? config : resolveCycleConfig(config, first);
  if (first >= end) return [];
  const start = cycleIndexAt(cycleConfig, first);
  const count = cycleIndexAt(cycleConfig, end - 1) - start + 1;
  return Array.from({ length: count }, (_, step) => naturalCycle(cycleConfig, start + step));
}

/** The start day of natural cycle number `index`. */
function startDay(config: CycleConfig, index: number): Day {
  if (config.interval === "WEEKLY") return index * 7 + WEEK_0_MONDAY + (Number(config.dayOffset) - 1);
  return dayInMonth(index * MONTHS[config.interval] + ((config.monthOffset ?? 1) - 1), config.dayOffset);
}

/** The config whose natural starts include the association's day (S6.3). */
function anniversaryConfig(interval: Interval, day: Day): CycleConfig {
  // 1970-01-01, day 0, was a Thursday: ISO weekday 4.
  if (interval === "WEEKLY") return { interval, dayOffset: ((((day + 3) % 7) + 7) % 7) + 1, monthOffset: null };
  const date = toCivilDate(day);
  const dayOffset = date.dayOfMonth === 31 ? "LAST" : date.dayOfMonth;
  if (interval === "MONTHLY") return { interval, dayOffset, monthOffset: null };
  if (interval !== "ANNUALLY") return { interval, dayOffset, monthOffset: ((date.month - 1) % MONTHS[interval]) + 1 };
  const lastOfFebruary = date.month === 2 && date.dayOfMonth === daysInMonth(date.year, 2);
  return { interval, dayOffset: lastOfFebruary ? "LAST" : dayOffset, monthOffset: date.month };
}

function parseDayOffset(interval: Interval, { dayOffset }: StartOffset): number | "LAST" {
  const last = interval === "WEEKLY" ? 7 : 31;
  const day = dayOffset === "LAST" ? last : parseWholeNumber(dayOffset);
  if (!(day >= 1 && day <= last)) {
    throw invalidCycleError(
      "startOffset.dayOffset",
      `"1" to "${last}" or LAST with the interval ${interval}`,
      dayOffset,
    );
  }
  // The 31st is always the last day of a month: use one form, so that equal configs are equal.
  return day === 31 ? "LAST" : day;
}

function parseMonthOffset(interval: Interval, { monthOffset }: StartOffset): number | null {
  if (interval === "WEEKLY" || interval === "MONTHLY") {
    if (monthOffset === undefined || monthOffset === null || monthOffset === "NIL") return null;
    throw invalidCycleError("startOffset.monthOffset", `NIL or none with the interval ${interval}`, monthOffset);
  }
  const last = MONTHS[interval];
  if (monthOffset === "FIRST") return 1;
  if (monthOffset === "LAST") return last;
  const month = parseWholeNumber(monthOffset ?? "");
  if (month >= 1 && month <= last) return month;
  const expected = `"1" to "${last}", FIRST or LAST with the interval ${interval}`;
  throw invalidCycleError("startOffset.monthOffset", expected, monthOffset ?? "none");
}

/** The number in a text of one or two digits; NaN for any other text. */
function parseWholeNumber(text: string): number {
  return /^[1-9]\d?$/.test(text) ? Number(text) : Number.NaN;
}

function invalidCycleError(field: string, expected: string, got: string): RatebookError<"ERR_CYCLE_INVALID"> {
  return cycleError(field, `expected ${expected}, got ${quoteText(got)}`);
}

function cycleError(field: string, reason: string): RatebookError<"ERR_CYCLE_INVALID"> {
  return new RatebookError("ERR_CYCLE_INVALID", `${field}: ${reason}`, { field, reason });
}

/** The charged share of a full amount: `days` out of `of`, multiplied first and divided last (S8.1). */
export interface Share {
  readonly days: number;
  /** 1 or more. */
  readonly of: number;
}

/** The days of a period, 0 or more. @throws {InvariantError} if it does not consist of whole UTC days, or ends before it starts */
export function daysIn(period: Cycle): number {
  invariant(
    isDayStart(period.start) && isDayStart(period.end) && period.start <= period.end,
    "S8.1: a period is whole UTC days and does not end before it starts",
  );
  return daysBetween(period.start, period.end);
}

/** The intersection of two half-open periods; undefined if it is empty. */
export function intersection(a: Cycle, b: Cycle): Cycle | undefined {
  const start = Math.max(a.start, b.start);
  const end = Math.min(a.end, b.end);
  return start < end ? { start, end } : undefined;
}

/**
 * The charged share for the `served` days (S8.1): 15 to 30 June of June is 16 of 30.
 *
 * @param served inside `natural`
 * @param natural at least one day
 * @throws {InvariantError} if one of them is not whole UTC days, or `served` is not inside `natural`
 */
export function shareOfDays(served: Cycle, natural: Cycle): Share {
  const of = daysIn(natural);
  invariant(of > 0, "S8.1: the natural period has at least one day");
  invariant(
    natural.start <= served.start && served.end <= natural.end,
    "S8.1: the served period is inside the natural one",
  );
  return { days: daysIn(served), of };
}
