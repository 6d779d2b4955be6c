/** ISO 8601 durations: years and months are calendar steps, all smaller units are exact times (S3.4, S11.1). */
import { RatebookError } from "../errors.ts";
import { add, Decimal, multiply, formatDecimal, ZERO } from "../numbers/decimal.ts";
import { decimalOfFraction } from "../numbers/fraction.ts";
import { quoteText } from "../problem-table.ts";
import { toCivilDate, dayInMonth, monthNumberOf } from "./civil.ts";
import { DAY_MS, dayOf, formatInstant, instantOfDay, INSTANT_END, INSTANT_MIN, type Instant } from "./instant.ts";

/** A duration. Both parts have the same sign. */
export interface Duration {
  /** Years and months, in months. Whole. */
  readonly months: number;
  /** Weeks, days, hours, minutes and seconds, in milliseconds. Exact. */
  readonly millis: Decimal;
}

/** The units for creating and measuring durations (S3.4). */
export const DURATION_UNITS = ["MILLIS", "SECONDS", "MINUTES", "HOURS", "DAYS"] as const;
export type DurationUnit = (typeof DURATION_UNITS)[number];

const UNIT_MS: Readonly<Record<DurationUnit, number>> = {
  MILLIS: 1,
  SECONDS: 1000,
  MINUTES: 60_000,
  HOURS: 3_600_000,
  DAYS: DAY_MS,
};

/** Maximum length of a text. */
const TEXT_LENGTH_MAX = 128;
const SHAPE =
  /^([+-]?)P(?=.)(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+(?:[.,]\d+)?)W)?(?:(\d+(?:[.,]\d+)?)D)?(?:T(?=.)(?:(\d+(?:[.,]\d+)?)H)?(?:(\d+(?:[.,]\d+)?)M)?(?:(\d+(?:[.,]\d+)?)S)?)?$/;
/** Milliseconds of each part from weeks down. */
const PART_MS: readonly number[] = [7 * DAY_MS, DAY_MS, 3_600_000, 60_000, 1000];

/** Whether a text is a unit, in capitals. */
export function isDurationUnit(text: string): text is DurationUnit {
  return (DURATION_UNITS as readonly string[]).includes(text);
}

/**
 * Parses an ISO 8601 duration: `P1Y2M3W4DT5H6M7.5S` with at least one part. Capitals only. The last part may have a
 * fraction, unless it is years or months. A sign before the `P` applies to the whole.
 *
 * @throws {RatebookError} ERR_DATE_INVALID with the reason; ERR_ARITHMETIC beyond 100 digits
 */
export function parseDuration(text: string): Duration {
  const parts = text.length > TEXT_LENGTH_MAX ? null : SHAPE.exec(text);
  if (parts === null) throw invalidDurationError(text, "expected a duration such as P1Y2M3W4DT5H6M7.5S");
  const [, sign, years = "0", months = "0", ...rest] = parts;
  const presentParts = rest.filter((part) => part !== undefined);
  if (presentParts.slice(0, -1).some((part) => /[.,]/.test(part))) {
    throw invalidDurationError(text, "only the last part may have a fraction");
  }
  let millis = ZERO;
  for (const [index, part] of rest.entries()) {
    if (part === undefined) continue;
    millis = add(millis, multiply(new Decimal(part.replace(",", ".")), new Decimal(PART_MS[index] ?? 0)));
  }
  const monthCount = Number(years) * 12 + Number(months);
  if (sign !== "-") return { months: monthCount, millis };
  return { months: monthCount === 0 ? 0 : -monthCount, millis: multiply(millis, new Decimal(-1)) };
}

/**
 * Moves an instant by a duration: first by its months, keeping the day of the month (or the month's last day if it is
 * shorter) and the time of day, then by its exact time, truncated to whole milliseconds.
 *
 * @param sign 1 moves forward, −1 back
 * @throws {RatebookError} ERR_DATE_INVALID if the result is not within the years 0000 to 9999
 */
export function addDuration(instant: Instant, duration: Duration, sign: 1 | -1 = 1): Instant {
  if (duration.months === 0) return shiftInstant(instant, instant, duration, sign);
  const day = dayOf(instant);
  const date = toCivilDate(day);
  const target = dayInMonth(monthNumberOf(date) + sign * duration.months, date.dayOfMonth);
  return shiftInstant(instant, instantOfDay(target) + (instant - instantOfDay(day)), duration, sign);
}

/**
 * Moves the start of a cycle forward by a duration. Months follow the cycle's day offset, not the actual day of the
 * start (S11.1): with LAST, 28 February and `P1M` give 31 March. A start that is not on its day offset, after a plan
 * change, and weekly cycles move as in {@link addDuration}.
 *
 * @param dayOffset the cycle's: a day of the month, or LAST
 * @throws {RatebookError} ERR_DATE_INVALID if the result is not within the years 0000 to 9999
 */
export function addDurationFromCycleStart(start: Instant, duration: Duration, dayOffset: number | "LAST"): Instant {
  const month = monthNumberOf(toCivilDate(dayOf(start)));
  if (duration.months === 0 || instantOfDay(dayInMonth(month, dayOffset)) !== start)
    return addDuration(start, duration);
  return shiftInstant(start, instantOfDay(dayInMonth(month + duration.months, dayOffset)), duration, 1);
}

/**
 * The exact time between two instants, in hours, minutes and seconds: 1 May to 1 June is `PT744H` (S3.4). No time is
 * `PT0S`; a negative one has a sign: `-PT1H`.
 */
export function durationBetween(from: Instant, until: Instant): string {
  const ms = Math.abs(until - from);
  const hours = Math.floor(ms / UNIT_MS.HOURS);
  const minutes = Math.floor((ms % UNIT_MS.HOURS) / UNIT_MS.MINUTES);
  const rest = ms % UNIT_MS.MINUTES;
  const fraction = String(1000 + (rest % 1000)).slice(1);
  const seconds = `${Math.floor(rest / 1000)}${rest % 1000 === 0 ? "" : `.${fraction.replace(/0+$/, "")}`}`;
  const text = `${hours === 0 ? "" : `${hours}H`}${minutes === 0 ? "" : `${minutes}M`}${rest === 0 ? "" : `${seconds}S`}`;
  return `${until < from ? "-" : ""}PT${text === "" ? "0S" : text}`;
}

/**
 * Formats a number of units: 100 DAYS is `P100D`, 250 MILLIS is `PT0.25S` (S3.4). A negative one has a leading sign.
 *
 * @throws {RatebookError} ERR_DATE_INVALID if the text would be too long
 */
export function formatDuration(count: Decimal, unit: DurationUnit): string {
  const amount = unit === "MILLIS" ? multiply(count, new Decimal("0.001")) : count;
  const digits = formatDecimal(amount.abs());
  const sign = amount.isNegative() && digits !== "0" ? "-" : "";
  const text = `${sign}${unit === "DAYS" ? `P${digits}D` : `PT${digits}${UNIT_LETTERS[unit]}`}`;
  if (text.length > TEXT_LENGTH_MAX) throw invalidDurationError(text, `it has more than ${TEXT_LENGTH_MAX} characters`);
  return text;
}

const UNIT_LETTERS: Readonly<Record<Exclude<DurationUnit, "DAYS">, string>> = {
  MILLIS: "S",
  SECONDS: "S",
  MINUTES: "M",
  HOURS: "H",
};

/**
 * Converts a duration to a number of units: `PT24H` is 1 in DAYS (S3.4). Exact if possible, else 34 significant digits.
 *
 * @throws {RatebookError} ERR_DATE_INVALID if it has years or months, which have no fixed length
 */
export function durationAs(duration: Duration, unit: DurationUnit): Decimal {
  if (duration.months !== 0) {
    throw new RatebookError("ERR_DATE_INVALID", `a duration with years or months is not a fixed number of ${unit}`, {});
  }
  return decimalOfFraction({ numerator: duration.millis, denominator: UNIT_MS[unit] });
}

/** Moves `base`, which is `original` moved by the months, by the exact time. */
function shiftInstant(original: Instant, base: Instant, duration: Duration, sign: 1 | -1): Instant {
  const result = base + sign * Number(formatDecimal(duration.millis.trunc()));
  if (result >= INSTANT_MIN && result < INSTANT_END) return result;
  const text = formatInstant(original);
  throw new RatebookError("ERR_DATE_INVALID", `${text} moved by the duration is outside the years 0000 to 9999`, {});
}

function invalidDurationError(text: string, reason: string): RatebookError<"ERR_DATE_INVALID"> {
  return new RatebookError("ERR_DATE_INVALID", `${quoteText(text)} is not a duration: ${reason}`, {});
}
