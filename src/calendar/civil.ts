/**
 * Days of the Gregorian calendar as numbers. The calendar is proleptic, so the year 0 exists and is a leap year.
 * date-fns computes the first day of each month once, and a table stores it: every event's timestamp needs a month, and
 * calling date-fns for each cycle would double the time of computing invoices.
 */
import { UTCDateMini } from "@date-fns/utc/date/mini";
import { addMonths } from "date-fns/addMonths";

/** Whole days since 1970-01-01, UTC. */
export type Day = number;

/** A calendar date. `month` is 1 to 12, `dayOfMonth` 1 to 31. */
export interface CivilDate {
  readonly year: number;
  readonly month: number;
  readonly dayOfMonth: number;
}

/** Milliseconds of a day. */
export const DAY_MS = 86_400_000;

const EPOCH = new UTCDateMini(0);
/** Months from January of the year 0 to January 1970. */
const MONTH_OF_DAY_0 = 1970 * 12;
/** Days from 0000-01-01 to 1970-01-01. */
const DAYS_BEFORE_1970 = 719_528;
/** In {@link FIRST_DAYS}, a month that was not used yet. */
const UNKNOWN = -(2 ** 31);
/** The first day of each month of the years 0 to 9999, computed on first use. */
const FIRST_DAYS: Int32Array = new Int32Array(120_000).fill(UNKNOWN);

/** The days of a month; 0 where `month` is not 1 to 12. */
export function daysInMonth(year: number, month: number): number {
  if (month < 1 || month > 12) return 0;
  const monthNumber = year * 12 + (month - 1);
  return firstDayOfMonth(monthNumber + 1) - firstDayOfMonth(monthNumber);
}

/** The day of a date, which must exist. */
export function toEpochDay(year: number, month: number, dayOfMonth: number): Day {
  return firstDayOfMonth(year * 12 + (month - 1)) + (dayOfMonth - 1);
}

/** The date of a day. */
export function toCivilDate(day: Day): CivilDate {
  // 400 years are 146,097 days and 4,800 months, so the estimate is the month or an adjacent one.
  let monthNumber = Math.floor(((day + DAYS_BEFORE_1970) * 4800) / 146_097);
  if (firstDayOfMonth(monthNumber) > day) monthNumber -= 1;
  else if (firstDayOfMonth(monthNumber + 1) <= day) monthNumber += 1;
  const year = Math.floor(monthNumber / 12);
  return { year, month: monthNumber - year * 12 + 1, dayOfMonth: day - firstDayOfMonth(monthNumber) + 1 };
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
  const last = firstDayOfMonth(monthNumber + 1) - 1;
  return dayOfMonth === "LAST" ? last : Math.min(firstDayOfMonth(monthNumber) + (dayOfMonth - 1), last);
}

/** The first day of a month; infinite for a month that is hundreds of thousands of years from 1970. */
function firstDayOfMonth(monthNumber: number): Day {
  const firstDay = FIRST_DAYS[monthNumber];
  if (firstDay !== undefined && firstDay !== UNKNOWN) return firstDay;
  const day = addMonths(EPOCH, monthNumber - MONTH_OF_DAY_0).getTime() / DAY_MS;
  if (Number.isNaN(day)) return monthNumber < MONTH_OF_DAY_0 ? -Infinity : Infinity;
  FIRST_DAYS[monthNumber] = day;
  return day;
}
