/**
 * Instants: milliseconds since 1970-01-01T00:00:00.000Z, UTC (S2).
 *
 * The reader is our own: `Date.parse` takes 30 February for 1 March and a text without a zone for local time. It walks
 * the text once without allocating, because it is on the path of every event. What it accepts is written down at
 * {@link parseInstant}.
 *
 * @module
 */
import { RatebookError } from "../errors.ts";
import { dateOfDay, dayOfDate, daysInMonth, type Day } from "./civil.ts";

export type { Day } from "./civil.ts";

/** Milliseconds since 1970, UTC. */
export type Instant = number;

/** Milliseconds of a day. */
export const DAY_MS = 86_400_000;
/** The first instant that is accepted: 0000-01-01T00:00:00.000Z. */
export const INSTANT_MIN: Instant = -62_167_219_200_000;
/** The end of what is accepted, exclusive: the first instant after the year 9999. */
export const INSTANT_END: Instant = 253_402_300_800_000;
/** The furthest offset from UTC that is accepted, in minutes: that of the Line Islands. */
const OFFSET_MINUTES_MAX = 14 * 60;

const MINUTE_MS = 60_000;
/** `00` to `99`. */
const TWO_DIGITS: readonly string[] = Array.from({ length: 100 }, (_, value) => String(100 + value).slice(1));
/** Stands for a part of a text that is not there: no day and no pair of digits is as far below 0. */
const NONE = -1_000_000;
// The signs of a date-time, as character codes.
const SPACE = 32;
const PLUS = 43;
const COMMA = 44;
const DASH = 45;
const POINT = 46;
const ZERO = 48;
const COLON = 58;
const T = 84;
const Z = 90;

/**
 * Reads a date-time (S2.2).
 *
 * Accepted are `YYYY-MM-DD`, a `T` or one space, `HH:MM` with optional `:SS` and an optional fraction after a point or a
 * comma, then, after at most one space, a zone: `Z`, `UTC`, `±HH:MM`, `±HHMM` or `±HH`, at most 14 hours. Digits beyond
 * milliseconds are cut. Hours are 00 to 23, seconds 00 to 59, years 0000 to 9999 (in UTC).
 *
 * @param zoneMinutes the offset from UTC, in minutes east, of a text that names no zone; without it such a text is
 * refused
 * @throws {RatebookError} ERR_DATE_INVALID with the reason
 */
export function parseInstant(text: string, zoneMinutes?: number): Instant {
  const instant = readDateTime(text, zoneMinutes ?? Number.NaN);
  if (Number.isNaN(instant)) throw invalidDate(text, "date-time", explainInvalidDate(text, true));
  return instant;
}

/** As {@link parseInstant}, but undefined where that throws: for the path of every event. */
export function tryParseInstant(text: string, zoneMinutes?: number): Instant | undefined {
  const instant = readDateTime(text, zoneMinutes ?? Number.NaN);
  return Number.isNaN(instant) ? undefined : instant;
}

/**
 * Reads a zone: `UTC`, `Z` or an offset such as `+05:30`.
 *
 * @returns minutes east of UTC
 * @throws {RatebookError} ERR_DATE_INVALID; names such as `Europe/Berlin` are refused, since what they mean changes
 */
export function parseZone(text: string): number {
  const minutes = text.startsWith(" ") ? Number.NaN : readZone(text, 0);
  if (Number.isNaN(minutes)) {
    throw invalidDate(text, "zone", "expected UTC, Z or an offset such as +05:30, up to 14:00");
  }
  return minutes;
}

/**
 * Reads a date, or a date-time that is a midnight in UTC (S2.2).
 *
 * @returns the midnight that begins the day
 * @throws {RatebookError} ERR_DATE_INVALID with the reason
 */
export function parseDate(text: string): Instant {
  if (text.length === 10) {
    const day = readDay(text);
    if (day === NONE) throw invalidDate(text, "date", explainInvalidDate(text, false));
    return day * DAY_MS;
  }
  const instant = readDateTime(text, Number.NaN);
  if (Number.isNaN(instant)) throw invalidDate(text, "date", explainInvalidDate(text, false));
  if (instant % DAY_MS !== 0) throw invalidDate(text, "date", "a date-time must be a midnight in UTC here");
  return instant;
}

/** As {@link parseDate}, in whole days since 1970. @throws {RatebookError} ERR_DATE_INVALID */
export function parseDay(text: string): Day {
  return parseDate(text) / DAY_MS;
}

/**
 * An instant as a caller may give it: milliseconds since 1970, a `Date`, or a text: a date-time with its zone, or a date,
 * which is its midnight UTC (S2.2).
 */
export type InstantInput = Instant | string | Date;

/**
 * Takes an instant as a caller of the public face may hold one.
 *
 * @throws {RatebookError} ERR_DATE_INVALID for another value, a fraction of a millisecond, or a year beyond 0000 to 9999
 * (the end of the year 9999 is taken, as the end of a range)
 */
export function toInstant(value: InstantInput): Instant {
  if (typeof value === "string") return value.length === 10 ? parseDate(value) : parseInstant(value);
  const instant: unknown = value instanceof Date ? value.getTime() : value;
  if (typeof instant !== "number" || !Number.isInteger(instant) || instant < INSTANT_MIN || instant > INSTANT_END) {
    const shown = typeof instant === "number" ? String(instant) : typeof instant;
    throw invalidDate(shown, "instant", "expected milliseconds since 1970, within the years 0000 to 9999");
  }
  return instant;
}

/**
 * `2024-01-02T03:04:05.000Z`. An instant outside the years 0000 to 9999, such as the end of the last cycle of 9999, is
 * written with a sign and six digits of year, as ISO 8601 has it.
 *
 * @throws {RangeError} for what is no instant at all
 */
export function formatInstant(instant: Instant): string {
  if (!(instant >= INSTANT_MIN && instant < INSTANT_END)) return new Date(instant).toISOString();
  const day = dayOf(instant);
  const ms = instant - day * DAY_MS;
  const second = Math.floor(ms / 1000);
  const minute = Math.floor(second / 60);
  const hour = Math.floor(minute / 60);
  const fraction = String(1000 + (ms - second * 1000)).slice(1);
  return `${formatDay(day)}T${formatTwoDigits(hour)}:${formatTwoDigits(minute - hour * 60)}:${formatTwoDigits(second - minute * 60)}.${fraction}Z`;
}

/** `2024-01-02`: the UTC day that holds an instant. Years beyond 0000 to 9999 as in {@link formatInstant}. */
export function formatDate(instant: Instant): string {
  if (!(instant >= INSTANT_MIN && instant < INSTANT_END)) return new Date(instant).toISOString().slice(0, -14);
  return formatDay(dayOf(instant));
}

/** The UTC day that holds an instant. */
export function dayOf(instant: Instant): Day {
  return Math.floor(instant / DAY_MS);
}

/** The midnight with which the UTC day of an instant begins. */
export function dayStart(instant: Instant): Instant {
  return dayOf(instant) * DAY_MS;
}

/**
 * Reads a date-time; NaN where it is none. The parts are small whole numbers, {@link NONE} where they are missing, so
 * that nothing here leaves the integers before the sum.
 */
function readDateTime(text: string, zoneMinutes: number): number {
  const length = text.length;
  if (length < 16) return Number.NaN;
  const separator = text.charCodeAt(10);
  const day = readDay(text);
  const minutes = readMinutes(text);
  if ((separator !== T && separator !== SPACE) || day === NONE || minutes < 0) return Number.NaN;
  let ms = 0;
  let at = 16;
  if (length >= 19 && text.charCodeAt(16) === COLON) {
    const seconds = readTwoDigits(text, 17);
    if (seconds < 0 || seconds > 59) return Number.NaN;
    ms = seconds * 1000;
    at = 19;
    if (length > 20 && isPoint(text.charCodeAt(19))) {
      at = endOfDigits(text, 20);
      if (at === 20) return Number.NaN;
      ms += readMilliseconds(text, at);
    }
  }
  const offset = at === length ? zoneMinutes : readZone(text, at);
  const instant = day * DAY_MS + (minutes - offset) * MINUTE_MS + ms;
  return instant >= INSTANT_MIN && instant < INSTANT_END ? instant : Number.NaN;
}

/** The day of the `YYYY-MM-DD` at the beginning; NONE where there is no such day. The text has 10 characters or more. */
function readDay(text: string): number {
  const year = readTwoDigits(text, 0) * 100 + readTwoDigits(text, 2);
  const month = readTwoDigits(text, 5);
  const day = readTwoDigits(text, 8);
  if (year < 0 || text.charCodeAt(4) !== DASH || text.charCodeAt(7) !== DASH) return NONE;
  // 28 days are in every month: most days need no look at the calendar.
  if (day < 1 || month < 1 || month > 12 || (day > 28 && day > daysInMonth(year, month))) return NONE;
  return dayOfDate(year, month, day);
}

/** The minutes since midnight of the `HH:MM` after the date; below 0 where there is none. The text has 16 characters. */
function readMinutes(text: string): number {
  const hour = readTwoDigits(text, 11);
  const minute = readTwoDigits(text, 14);
  return text.charCodeAt(13) === COLON && hour < 24 && minute < 60 ? hour * 60 + minute : NONE;
}

/** The milliseconds of the fraction that ends at `end`, cut. */
function readMilliseconds(text: string, end: number): number {
  let ms = 100 * (text.charCodeAt(20) - ZERO);
  if (end > 21) ms += 10 * (text.charCodeAt(21) - ZERO);
  if (end > 22) ms += text.charCodeAt(22) - ZERO;
  return ms;
}

/** The offset in minutes of the zone that fills the rest of the text; NaN where it is none. */
function readZone(text: string, from: number): number {
  const at = text.charCodeAt(from) === SPACE ? from + 1 : from;
  const length = text.length - at;
  if (length === 1) return text.charCodeAt(at) === Z ? 0 : Number.NaN;
  if (length === 3 && text.endsWith("UTC")) return 0;
  if (length === 3 || length === 5 || (length === 6 && text.charCodeAt(at + 3) === COLON))
    return readOffset(text, at, length);
  return Number.NaN;
}

/** The minutes of `±HH`, `±HHMM` or `±HH:MM`, the `length` characters at the end of the text. */
function readOffset(text: string, at: number, length: number): number {
  const sign = text.charCodeAt(at);
  const hours = readTwoDigits(text, at + 1);
  const minutes = length === 3 ? 0 : readTwoDigits(text, text.length - 2);
  const offset = hours * 60 + minutes;
  if (hours < 0 || minutes < 0 || minutes > 59 || offset > OFFSET_MINUTES_MAX) return Number.NaN;
  if (sign === PLUS) return offset;
  return sign === DASH ? -offset : Number.NaN;
}

/**
 * The two digits at a place as a number; {@link NONE} where they are not digits, far enough below 0 that no sum with
 * other digits comes out at 0 or more. Both places are inside the text.
 */
function readTwoDigits(text: string, at: number): number {
  const tens = text.charCodeAt(at) - ZERO;
  const ones = text.charCodeAt(at + 1) - ZERO;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : NONE;
}

function isPoint(code: number): boolean {
  return code === POINT || code === COMMA;
}

/** Where the digits that begin at a place end, exclusive. */
function endOfDigits(text: string, from: number): number {
  let at = from;
  while (at < text.length && text.charCodeAt(at) >= ZERO && text.charCodeAt(at) < COLON) at += 1;
  return at;
}

function formatDay(day: Day): string {
  const date = dateOfDay(day);
  return `${String(10_000 + date.year).slice(1)}-${formatTwoDigits(date.month)}-${formatTwoDigits(date.day)}`;
}

function formatTwoDigits(value: number): string {
  return TWO_DIGITS[value] ?? String(value);
}

const SHAPE = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,]\d+)?)?(.*))?$/;

/** Why a text that {@link readDateTime} refused is refused; off the fast path, so it may read the text again. */
function explainInvalidDate(text: string, timeNeeded: boolean): string {
  const expected = `expected ${timeNeeded ? "" : "2024-01-02 or "}a date-time such as 2024-01-02T03:04:05Z`;
  const parts = text.length > 60 ? null : SHAPE.exec(text);
  if (parts === null) return expected;
  const [, year = "", month = "", day = "", hour, minute, second, zone = ""] = parts;
  const days = daysInMonth(Number(year), Number(month));
  if (days === 0) return `there is no month ${month}`;
  if (Number(day) < 1 || Number(day) > days) return `${year}-${month} has days 01 to ${days}, not ${day}`;
  if (hour === undefined) return `it has no time, ${expected}`;
  if (Number(hour) > 23) return `hours are 00 to 23, not ${hour}`;
  if (Number(minute) > 59) return `minutes are 00 to 59, not ${minute}`;
  if (Number(second) > 59) return `seconds are 00 to 59, not ${second}`;
  return explainInvalidZone(zone);
}

function explainInvalidZone(zone: string): string {
  if (zone === "") return "it has no zone, expected Z or an offset such as +05:30 at its end";
  if (Number.isNaN(readZone(`T${zone}`, 1))) {
    return "expected at its end a zone: Z, UTC or an offset such as +05:30, at most 14:00";
  }
  return "in UTC it is not within the years 0000 to 9999";
}

function invalidDate(text: string, kind: string, reason: string): RatebookError<"ERR_DATE_INVALID"> {
  const shown = JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
  return new RatebookError("ERR_DATE_INVALID", `${shown} is no ${kind}: ${reason}`, {});
}
