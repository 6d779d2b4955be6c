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
export const OFFSET_MINUTES_MAX = 14 * 60;

const MINUTE_MS = 60_000;
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
  const instant = read(text, zoneMinutes ?? Number.NaN);
  if (Number.isNaN(instant)) throw invalidDate(text, "date-time", reasonAgainst(text, true));
  return instant;
}

/** As {@link parseInstant}, but undefined where that throws: for the path of every event. */
export function instantOrUndefined(text: string, zoneMinutes?: number): Instant | undefined {
  const instant = read(text, zoneMinutes ?? Number.NaN);
  return Number.isNaN(instant) ? undefined : instant;
}

/**
 * Reads a zone: `UTC`, `Z` or an offset such as `+05:30`.
 *
 * @returns minutes east of UTC
 * @throws {RatebookError} ERR_DATE_INVALID; names such as `Europe/Berlin` are refused, since what they mean changes
 */
export function parseZone(text: string): number {
  const minutes = readZone(text, 0);
  if (Number.isNaN(minutes)) {
    throw invalidDate(text, "zone", "expected UTC, Z or an offset such as +05:30, at most 14:00");
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
    if (Number.isNaN(day)) throw invalidDate(text, "date", reasonAgainst(text, false));
    return day * DAY_MS;
  }
  const instant = read(text, Number.NaN);
  if (Number.isNaN(instant)) throw invalidDate(text, "date", reasonAgainst(text, false));
  if (instant % DAY_MS !== 0) throw invalidDate(text, "date", "a date-time must be a midnight in UTC here");
  return instant;
}

/** As {@link parseDate}, in whole days since 1970. @throws {RatebookError} ERR_DATE_INVALID */
export function parseDay(text: string): Day {
  return parseDate(text) / DAY_MS;
}

/**
 * Takes an instant as a caller of the public face may hold one: milliseconds since 1970, a date-time or date as text, or
 * a `Date`.
 *
 * @throws {RatebookError} ERR_DATE_INVALID for another value, a fraction of a millisecond, or a year beyond 0000 to 9999
 * (the end of the year 9999 is taken, as the end of a range)
 */
export function instantOf(value: Instant | string | Date): Instant {
  if (typeof value === "string") return value.length === 10 ? parseDate(value) : parseInstant(value);
  const instant: unknown = value instanceof Date ? value.getTime() : value;
  if (typeof instant !== "number" || !Number.isInteger(instant) || instant < INSTANT_MIN || instant > INSTANT_END) {
    const shown = typeof instant === "number" ? String(instant) : typeof instant;
    throw invalidDate(shown, "instant", "expected whole milliseconds since 1970 within the years 0000 to 9999");
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
  return `${dateText(day)}T${two(hour)}:${two(minute - hour * 60)}:${two(second - minute * 60)}.${fraction}Z`;
}

/** `2024-01-02`: the UTC day that holds an instant. Years beyond 0000 to 9999 as in {@link formatInstant}. */
export function formatDate(instant: Instant): string {
  if (!(instant >= INSTANT_MIN && instant < INSTANT_END)) return new Date(instant).toISOString().slice(0, -14);
  return dateText(dayOf(instant));
}

/** The UTC day that holds an instant. */
export function dayOf(instant: Instant): Day {
  return Math.floor(instant / DAY_MS);
}

/** Reads a date-time; NaN where it is none. Every part is NaN or a number, and NaN goes through the sum. */
function read(text: string, zoneMinutes: number): number {
  const separator = text.charCodeAt(10);
  if (separator !== T && separator !== SPACE) return Number.NaN;
  let at = 16;
  let ms = readMinutes(text) * MINUTE_MS;
  if (text.charCodeAt(16) === COLON) {
    ms += 1000 * below(pair(text, 17), 60);
    at = 19;
    const point = text.charCodeAt(19);
    if (point === POINT || point === COMMA) {
      ms += readMilliseconds(text);
      at = endOfDigits(text, 20);
    }
  }
  const offset = at === text.length ? zoneMinutes : readZone(text, at);
  const instant = readDay(text) * DAY_MS + ms - offset * MINUTE_MS;
  return instant >= INSTANT_MIN && instant < INSTANT_END ? instant : Number.NaN;
}

/** The day of the `YYYY-MM-DD` at the beginning; NaN where there is none, or no such day. */
function readDay(text: string): number {
  const year = pair(text, 0) * 100 + pair(text, 2);
  const month = pair(text, 5);
  const day = pair(text, 8);
  if (text.charCodeAt(4) !== DASH || text.charCodeAt(7) !== DASH) return Number.NaN;
  if (Number.isNaN(year) || !(day >= 1 && day <= daysInMonth(year, month))) return Number.NaN;
  return dayOfDate(year, month, day);
}

/** The minutes since midnight of the `HH:MM` after the date; NaN where there is none. */
function readMinutes(text: string): number {
  if (text.charCodeAt(13) !== COLON) return Number.NaN;
  return below(pair(text, 11), 24) * 60 + below(pair(text, 14), 60);
}

/** The milliseconds of the fraction after the seconds, cut; NaN where it has no digit. */
function readMilliseconds(text: string): number {
  const first = digit(text, 20);
  if (Number.isNaN(first)) return Number.NaN;
  const second = digit(text, 21);
  if (Number.isNaN(second)) return first * 100;
  const third = digit(text, 22);
  return first * 100 + second * 10 + (Number.isNaN(third) ? 0 : third);
}

/** The offset in minutes of the zone that fills the rest of the text; NaN where it is none. */
function readZone(text: string, from: number): number {
  const at = text.charCodeAt(from) === SPACE && from > 0 ? from + 1 : from;
  const left = text.length - at;
  const sign = text.charCodeAt(at);
  if (sign === Z) return left === 1 ? 0 : Number.NaN;
  if (sign !== PLUS && sign !== DASH) return left === 3 && text.endsWith("UTC") ? 0 : Number.NaN;
  let minutes = pair(text, at + 1) * 60;
  if (left === 6 && text.charCodeAt(at + 3) === COLON) minutes += below(pair(text, at + 4), 60);
  else if (left === 5) minutes += below(pair(text, at + 3), 60);
  else if (left !== 3) return Number.NaN;
  if (!(minutes <= OFFSET_MINUTES_MAX)) return Number.NaN;
  return sign === DASH ? -minutes : minutes;
}

/** The digit at a place; NaN where there is none. */
function digit(text: string, at: number): number {
  const value = text.charCodeAt(at) - ZERO;
  return value >= 0 && value <= 9 ? value : Number.NaN;
}

/** The two digits at a place as a number; NaN where there are none. */
function pair(text: string, at: number): number {
  return digit(text, at) * 10 + digit(text, at + 1);
}

/** The value where it is below the bound, else NaN. */
function below(value: number, bound: number): number {
  return value < bound ? value : Number.NaN;
}

function endOfDigits(text: string, from: number): number {
  let at = from;
  while (digit(text, at) >= 0) at += 1;
  return at;
}

function dateText(day: Day): string {
  const date = dateOfDay(day);
  return `${String(10_000 + date.year).slice(1)}-${two(date.month)}-${two(date.day)}`;
}

function two(value: number): string {
  return value < 10 ? `0${value}` : String(value);
}

const SHAPE = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,]\d+)?)?(.*))?$/;

/** Why a text that {@link read} refused is refused; off the fast path, so it may read the text again. */
function reasonAgainst(text: string, timeNeeded: boolean): string {
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
  return reasonAgainstZone(zone);
}

function reasonAgainstZone(zone: string): string {
  if (zone === "") return "it has no zone, expected Z or an offset such as +05:30 at its end";
  if (Number.isNaN(readZone(`T${zone}`, 1))) {
    return "expected at its end a zone: Z, UTC or an offset such as +05:30, at most 14:00";
  }
  return "in UTC it is not within the years 0000 to 9999";
}

function invalidDate(text: string, kind: string, reason: string): RatebookError<"ERR_DATE_INVALID"> {
  const shown = JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
  return new RatebookError("ERR_DATE_INVALID", `${shown} is not a ${kind}: ${reason}`, {});
}
