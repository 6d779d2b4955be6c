/**
 * Instants: milliseconds since 1970-01-01T00:00:00.000Z, UTC (S2). The parser is custom, because `Date.parse` accepts
 * 30 February as 1 March and a text without a zone as local time. It reads the text once without allocating, because
 * every event needs it; see {@link parseInstant} for the accepted formats.
 */
import { RatebookError } from "../errors.ts";
import { quoteText } from "../problem-table.ts";
import { toCivilDate, DAY_MS, toEpochDay, daysInMonth, type Day } from "./civil.ts";

export { DAY_MS, type Day } from "./civil.ts";

/** Milliseconds since 1970, UTC. */
export type Instant = number;

/** The first supported instant: 0000-01-01T00:00:00.000Z. */
export const INSTANT_MIN: Instant = -62_167_219_200_000;
/** The end of the supported range, exclusive: the first instant after the year 9999. */
export const INSTANT_END: Instant = 253_402_300_800_000;
/** The largest offset from UTC, in minutes: that of the Line Islands. */
const OFFSET_MINUTES_MAX = 14 * 60;

const MINUTE_MS = 60_000;
/** `00` to `99`. */
const TWO_DIGITS: readonly string[] = Array.from({ length: 100 }, (_, value) => String(100 + value).slice(1));
/** Represents a missing part of a text: more negative than any day or pair of digits. */
const NONE = -1_000_000;
// The characters of a date-time, as codes.
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
 * Parses a date-time (S2.2): `YYYY-MM-DD`, a `T` or one space, `HH:MM` with optional `:SS` and an optional fraction
 * after a point or a comma, then, after at most one space, a zone: `Z`, `UTC`, `±HH:MM`, `±HHMM` or `±HH`, at most 14
 * hours. Digits beyond milliseconds are truncated. Hours are 00 to 23, seconds 00 to 59, years 0000 to 9999 (in UTC).
 *
 * @param zoneMinutes the offset from UTC, in minutes east, for a text without a zone; by default such a text is
 * rejected
 * @throws {RatebookError} ERR_DATE_INVALID with the reason
 */
export function parseInstant(text: string, zoneMinutes?: number): Instant {
  const instant = readDateTime(text, zoneMinutes ?? Number.NaN);
  if (Number.isNaN(instant)) throw invalidDateError(text, "date-time", explainInvalidDate(text, true));
  return instant;
}

/** Like {@link parseInstant}, but returns undefined instead of throwing, for parsing events. */
export function tryParseInstant(text: string, zoneMinutes?: number): Instant | undefined {
  const instant = readDateTime(text, zoneMinutes ?? Number.NaN);
  return Number.isNaN(instant) ? undefined : instant;
}

/**
 * Parses a zone with a fixed offset: `UTC`, `Z` or an offset such as `+05:30`, up to 14:00.
 *
 * @returns minutes east of UTC; undefined for other texts, also for names such as `Europe/Berlin`, whose offsets change
 */
export function tryParseOffset(text: string): number | undefined {
  const minutes = text.startsWith(" ") ? Number.NaN : readZone(text, 0);
  return Number.isNaN(minutes) ? undefined : minutes;
}

/**
 * Parses a date, or a date-time at midnight UTC (S2.2).
 *
 * @returns the midnight at the start of the day
 * @throws {RatebookError} ERR_DATE_INVALID with the reason
 */
export function parseDate(text: string): Instant {
  if (text.length === 10) {
    const day = readDay(text);
    if (day === NONE) throw invalidDateError(text, "date", explainInvalidDate(text, false));
    return instantOfDay(day);
  }
  const instant = readDateTime(text, Number.NaN);
  if (Number.isNaN(instant)) throw invalidDateError(text, "date", explainInvalidDate(text, false));
  if (!isDayStart(instant)) throw invalidDateError(text, "date", "expected a date, or midnight UTC");
  return instant;
}

/** Like {@link parseDate}, in whole days since 1970. @throws {RatebookError} ERR_DATE_INVALID */
export function parseDay(text: string): Day {
  return dayOf(parseDate(text));
}

/**
 * An instant as input: milliseconds since 1970, a `Date`, or a text: a date-time with its zone, or a date, which means
 * its midnight UTC (S2.2).
 */
export type InstantInput = Instant | string | Date;

/**
 * Converts an instant from its input form.
 *
 * @throws {RatebookError} ERR_DATE_INVALID for another value, a fraction of a millisecond, or a year beyond 0000 to
 * 9999 (the end of the year 9999 is accepted, as the end of a range)
 */
export function toInstant(value: InstantInput): Instant {
  if (typeof value === "string") return value.length === 10 ? parseDate(value) : parseInstant(value);
  const instant: unknown = value instanceof Date ? value.getTime() : value;
  if (typeof instant !== "number") {
    const type = instant === null ? "null" : typeof instant;
    throw new RatebookError("ERR_DATE_INVALID", `expected milliseconds since 1970, a Date or text, got ${type}`, {});
  }
  if (!Number.isInteger(instant) || instant < INSTANT_MIN || instant > INSTANT_END) {
    const range = "within the years 0000 to 9999";
    throw invalidDateError(String(instant), "instant", `expected milliseconds since 1970, ${range}`);
  }
  return instant;
}

/**
 * Formats `2024-01-02T03:04:05.000Z`. An instant outside the years 0000 to 9999, such as the end of the last cycle of
 * 9999, has a sign and a six-digit year, as in ISO 8601.
 *
 * @throws {RangeError} for an invalid instant
 */
export function formatInstant(instant: Instant): string {
  if (!(instant >= INSTANT_MIN && instant < INSTANT_END)) return new Date(instant).toISOString();
  const day = dayOf(instant);
  const ms = instant - instantOfDay(day);
  const second = Math.floor(ms / 1000);
  const minute = Math.floor(second / 60);
  const hour = Math.floor(minute / 60);
  const fraction = String(1000 + (ms - second * 1000)).slice(1);
  return `${formatDay(day)}T${formatTwoDigits(hour)}:${formatTwoDigits(minute - hour * 60)}:${formatTwoDigits(second - minute * 60)}.${fraction}Z`;
}

/** The UTC day of an instant, `2024-01-02`. Years beyond 0000 to 9999 as in {@link formatInstant}. */
export function formatDate(instant: Instant): string {
  if (!(instant >= INSTANT_MIN && instant < INSTANT_END)) return new Date(instant).toISOString().slice(0, -14);
  return formatDay(dayOf(instant));
}

/** The UTC day of an instant. */
export function dayOf(instant: Instant): Day {
  return Math.floor(instant / DAY_MS);
}

/** The first instant of a day, its midnight UTC. */
export function instantOfDay(day: Day): Instant {
  return day * DAY_MS;
}

/** The midnight at the start of an instant's UTC day. */
export function startOfUtcDay(instant: Instant): Instant {
  return instantOfDay(dayOf(instant));
}

/** The first day that starts at or after an instant. For a range's end: the exclusive end of the days it touches. */
export function ceilToDay(instant: Instant): Day {
  return Math.ceil(instant / DAY_MS);
}

/** The first midnight at or after an instant. */
export function ceilToUtcDay(instant: Instant): Instant {
  return instantOfDay(ceilToDay(instant));
}

/** Whether an instant is the start of a day. */
export function isDayStart(instant: Instant): boolean {
  return instant % DAY_MS === 0;
}

/** The instant a number of days later, at the same time of day. */
export function addDays(instant: Instant, days: number): Instant {
  return instant + days * DAY_MS;
}

/** The days from one instant to another; a fraction unless both have the same time of day. */
export function daysBetween(from: Instant, until: Instant): number {
  return (until - from) / DAY_MS;
}

/** Parses a date-time; NaN if invalid. Invalid parts are {@link NONE}, not NaN, so that V8 keeps small integers. */
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
  const instant = instantOfDay(day) + (minutes - offset) * MINUTE_MS + ms;
  return instant >= INSTANT_MIN && instant < INSTANT_END ? instant : Number.NaN;
}

/** The day of the `YYYY-MM-DD` at the start; NONE if there is none. The text has at least 10 characters. */
function readDay(text: string): number {
  const year = readTwoDigits(text, 0) * 100 + readTwoDigits(text, 2);
  const month = readTwoDigits(text, 5);
  const day = readTwoDigits(text, 8);
  if (year < 0 || text.charCodeAt(4) !== DASH || text.charCodeAt(7) !== DASH) return NONE;
  // Every month has at least 28 days: most days need no calendar lookup.
  if (day < 1 || month < 1 || month > 12 || (day > 28 && day > daysInMonth(year, month))) return NONE;
  return toEpochDay(year, month, day);
}

/** The minutes since midnight of the `HH:MM` after the date; negative if there is none. The text has 16 characters. */
function readMinutes(text: string): number {
  const hour = readTwoDigits(text, 11);
  const minute = readTwoDigits(text, 14);
  return text.charCodeAt(13) === COLON && hour < 24 && minute < 60 ? hour * 60 + minute : NONE;
}

/** The milliseconds of the fraction that ends at `end`, truncated. */
function readMilliseconds(text: string, end: number): number {
  let ms = 100 * (text.charCodeAt(20) - ZERO);
  if (end > 21) ms += 10 * (text.charCodeAt(21) - ZERO);
  if (end > 22) ms += text.charCodeAt(22) - ZERO;
  return ms;
}

/** The offset in minutes of the zone at the end of the text; NaN if invalid. */
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
 * The number of two digits in the text; {@link NONE} if they are not digits, so negative that no sum with other digits
 * reaches 0.
 */
function readTwoDigits(text: string, at: number): number {
  const tens = text.charCodeAt(at) - ZERO;
  const onesDigit = text.charCodeAt(at + 1) - ZERO;
  return tens >= 0 && tens <= 9 && onesDigit >= 0 && onesDigit <= 9 ? tens * 10 + onesDigit : NONE;
}

function isPoint(code: number): boolean {
  return code === POINT || code === COMMA;
}

/** The end of the digits from an index, exclusive. */
function endOfDigits(text: string, from: number): number {
  let at = from;
  while (at < text.length && text.charCodeAt(at) >= ZERO && text.charCodeAt(at) < COLON) at += 1;
  return at;
}

function formatDay(day: Day): string {
  const date = toCivilDate(day);
  return `${String(10_000 + date.year).slice(1)}-${formatTwoDigits(date.month)}-${formatTwoDigits(date.dayOfMonth)}`;
}

function formatTwoDigits(value: number): string {
  return TWO_DIGITS[value] ?? String(value);
}

const SHAPE = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,]\d+)?)?(.*))?$/;

/** Explains why {@link readDateTime} rejected a text; not time-critical. */
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
  if (zone === "") return "it has no zone; add Z or an offset such as +05:30";
  if (Number.isNaN(readZone(`T${zone}`, 1))) {
    return "expected a zone at the end: Z, UTC or an offset such as +05:30, up to 14:00";
  }
  return "in UTC it is outside the years 0000 to 9999";
}

function invalidDateError(text: string, kind: string, reason: string): RatebookError<"ERR_DATE_INVALID"> {
  return new RatebookError(
    "ERR_DATE_INVALID",
    `${quoteText(text)} is not ${kind === "instant" ? "an" : "a"} ${kind}: ${reason}`,
    {},
  );
}
