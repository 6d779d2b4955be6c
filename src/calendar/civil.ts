/**
 * Gregorian calendar days as numbers: without `Date`, zones or allocation. The calendar is proleptic, so the year 0
 * exists and is a leap year. Tests compare with date-fns and UTCDate; using these instead of {@link dayInMonth} takes 4
 * µs per natural cycle instead of under 0.5 µs, and halves the rate of invoices.
 *
 * @module
 */

/** Whole days since 1970-01-01, UTC. */
export type Day = number;

/** A calendar date. `month` is 1 to 12, `day` 1 to 31. */
export interface CivilDate {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

/** Days from 0000-01-01 to 1970-01-01. */
const DAYS_BEFORE_1970 = 719_528;
/** Days of 400 years, after which the calendar repeats. */
const DAYS_OF_400_YEARS = 146_097;
/** Days of a common year before each month, January first; the 13th is the whole year. */
const DAYS_BEFORE_MONTH: readonly number[] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365];
/** Days of each month of a common year, January first. */
const MONTH_DAYS: readonly number[] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Whether a year has 29 February. */
export function isLeapYear(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

/** The days of a month; 0 where `month` is not 1 to 12. */
export function daysInMonth(year: number, month: number): number {
  if (month === 2 && isLeapYear(year)) return 29;
  return MONTH_DAYS[month - 1] ?? 0;
}

/** The day of a date, which must exist. */
export function dayOfDate(year: number, month: number, day: number): Day {
  const leapDay = month > 2 && isLeapYear(year) ? 1 : 0;
  return firstDayOfYear(year) + (DAYS_BEFORE_MONTH[month - 1] ?? 0) + leapDay + (day - 1);
}

/** The date of a day. */
export function dateOfDay(day: Day): CivilDate {
  const sinceYear0 = day + DAYS_BEFORE_1970;
  // The estimate may be off by one, because 400 years are only nearly equally long.
  let year = Math.floor((sinceYear0 * 400) / DAYS_OF_400_YEARS);
  if (firstDayOfYear(year) > day) year -= 1;
  else if (firstDayOfYear(year + 1) <= day) year += 1;
  let rest = day - firstDayOfYear(year);
  if (isLeapYear(year) && rest >= 59) {
    if (rest === 59) return { year, month: 2, day: 29 };
    rest -= 1;
  }
  // Months are shorter than 31 days by at most 7 days a year, so the estimate is the month or the previous one.
  let month = Math.floor(rest / 31) + 1;
  if (rest >= (DAYS_BEFORE_MONTH[month] ?? 365)) month += 1;
  return { year, month, day: rest - (DAYS_BEFORE_MONTH[month - 1] ?? 0) + 1 };
}

/** Months since January of the year 0, for the month of a date. */
export function monthNumberOf(date: CivilDate): number {
  return date.year * 12 + (date.month - 1);
}

/**
 * The day of a month, or its last day if the month is shorter (S6.2).
 *
 * @param monthNumber months since January of the year 0
 * @param dayOfMonth 1 to 31, or LAST
 */
export function dayInMonth(monthNumber: number, dayOfMonth: number | "LAST"): Day {
  const year = Math.floor(monthNumber / 12);
  const month = monthNumber - year * 12 + 1;
  const last = daysInMonth(year, month);
  return dayOfDate(year, month, dayOfMonth === "LAST" ? last : Math.min(dayOfMonth, last));
}

/** The day of a year's 1 January. */
function firstDayOfYear(year: number): Day {
  return YEAR_STARTS[year] ?? computedFirstDay(year);
}

function computedFirstDay(year: number): Day {
  const leapYears = Math.ceil(year / 4) - Math.ceil(year / 100) + Math.ceil(year / 400);
  return year * 365 + leapYears - DAYS_BEFORE_1970;
}

/** 1 January of the years 0 to 9999: a lookup is faster than three divisions, and every event's timestamp needs one. */
const YEAR_STARTS: Int32Array = Int32Array.from({ length: 10_000 }, (_, year) => computedFirstDay(year));
