/**
 * Parses decimals and instants directly from bytes, for the plain forms that nearly all lines have. Anything else is
 * left to the general parsers, so undefined never means invalid.
 */
import { DAY_MS, parseInstant, type Instant } from "../../calendar/instant.ts";
import { Scaled, type Exact } from "../../numbers/exact.ts";

const [ZERO, MINUS, POINT, COLON, LETTER_T, LETTER_Z] = [0x30, 0x2d, 0x2e, 0x3a, 0x54, 0x5a];
/** Doubles represent all integers with this many digits. */
const DIGITS_MAX = 15;

/**
 * Parses [start, end) as a decimal: up to 15 digits with an optional minus sign and point, as in JSON.
 *
 * @returns undefined for other text
 */
export function parseExactBytes(bytes: Uint8Array, start: number, end: number): Exact | undefined {
  return isPlainNumber(bytes, start, end) ? parsePlainNumber(bytes, start, end) : undefined;
}

/** Parses a decimal for which {@link isPlainNumber} is true. */
export function parsePlainNumber(bytes: Uint8Array, start: number, end: number): Exact {
  const isNegative = bytes[start] === MINUS;
  let mantissa = 0;
  let scale = 0;
  for (let at = isNegative ? start + 1 : start; at < end; at++) {
    if (bytes[at] === POINT) scale = end - at - 1;
    else mantissa = mantissa * 10 + (bytes[at] ?? 0) - ZERO;
  }
  if (mantissa === 0) return 0;
  const value = isNegative ? -mantissa : mantissa;
  return scale === 0 ? value : new Scaled(value, scale);
}

/** Whether {@link parseExactBytes} can parse [start, end). */
export function isPlainNumber(bytes: Uint8Array, start: number, end: number): boolean {
  const first = bytes[start] === MINUS ? start + 1 : start;
  let point = -1;
  for (let at = first; at < end; at++) {
    const digit = (bytes[at] ?? 0) - ZERO;
    if (digit >= 0 && digit <= 9) continue;
    if (bytes[at] !== POINT || point >= 0) return false;
    point = at;
  }
  const integerEnd = point < 0 ? end : point;
  if (integerEnd === first || point === end - 1) return false;
  if (bytes[first] === ZERO && integerEnd > first + 1) return false;
  return end - first - (point < 0 ? 0 : 1) <= DIGITS_MAX;
}

/** Parses instants. It remembers the last date, because events in a file are usually ordered by day. */
export interface InstantReader {
  /** Parses `2024-01-02T03:04:05.678Z`, milliseconds optional; otherwise undefined. */
  readInstant(bytes: Uint8Array, start: number, end: number): Instant | undefined;
}

/** Creates a reader, one for each file. */
export function createInstantReader(): InstantReader {
  const lastDate = new Uint8Array(10);
  let lastDateMs = Number.NaN;

  function readDate(bytes: Uint8Array, start: number): boolean {
    let isSame = true;
    for (let index = 0; index < 10; index++) {
      if (bytes[start + index] !== lastDate[index]) isSame = false;
    }
    if (isSame) return !Number.isNaN(lastDateMs);
    lastDate.set(bytes.subarray(start, start + 10));
    const text = String.fromCharCode(...lastDate);
    try {
      lastDateMs = /^\d{4}-\d\d-\d\d$/.test(text) ? parseInstant(`${text}T00:00:00.000Z`) : Number.NaN;
    } catch {
      lastDateMs = Number.NaN;
    }
    return !Number.isNaN(lastDateMs);
  }

  return {
    readInstant(bytes, start, end) {
      const length = end - start;
      if ((length !== 20 && length !== 24) || bytes[end - 1] !== LETTER_Z || bytes[start + 10] !== LETTER_T) {
        return undefined;
      }
      if (bytes[start + 13] !== COLON || bytes[start + 16] !== COLON) return undefined;
      const hours = parseDigits(bytes, start + 11, start + 13);
      const minutes = parseDigits(bytes, start + 14, start + 16);
      const seconds = parseDigits(bytes, start + 17, start + 19);
      if (!(hours <= 23 && minutes <= 59 && seconds <= 59)) return undefined;
      let millis = 0;
      if (length === 24) {
        if (bytes[start + 19] !== POINT) return undefined;
        millis = parseDigits(bytes, start + 20, start + 23);
        if (Number.isNaN(millis)) return undefined;
      }
      if (!readDate(bytes, start)) return undefined;
      const timeOfDayMs = ((hours * 60 + minutes) * 60 + seconds) * 1000 + millis;
      return timeOfDayMs < DAY_MS ? lastDateMs + timeOfDayMs : undefined;
    },
  };
}

/** Parses the digits of [start, end); NaN if a byte isn't a digit. */
function parseDigits(bytes: Uint8Array, start: number, end: number): number {
  let value = 0;
  for (let at = start; at < end; at++) {
    const digit = (bytes[at] ?? 0) - ZERO;
    if (digit < 0 || digit > 9) return Number.NaN;
    value = value * 10 + digit;
  }
  return value;
}
