/**
 * Parses timestamps of events: caches the last date, and parses only the time of day.
 *
 * @module
 */
import type { Instant } from "../calendar/instant.ts";
import { tryParseInstant, dayStart } from "../calendar/instant.ts";

/** Parses a date-time like {@link tryParseInstant}. */
export type ReadTimestamp = (text: string) => Instant | undefined;

const [ZERO, COLON, POINT, LETTER_Z] = [48, 58, 46, 90];
/** The lengths of `2024-01-02T03:04:05.678Z`, the usual format, and of its date. */
const USUAL_LENGTH = 24;
const DATE_LENGTH = 11;
/** Represents characters that are not digits: so negative that no sum with other parts of a time reaches 0. */
const NONE = -1_000_000_000;

/** Creates a parser with its own cache. */
export function createTimestampReader(): ReadTimestamp {
  /** The characters of the last date and its `T`, and its midnight. */
  const date = new Uint16Array(DATE_LENGTH);
  let midnight = 0;

  return (text) => {
    if (text.length !== USUAL_LENGTH) return tryParseInstant(text);
    const ms = readTimeOfDay(text);
    if (ms < 0) return tryParseInstant(text);
    let difference = 0;
    for (let at = 0; at < DATE_LENGTH; at++) difference |= text.charCodeAt(at) ^ (date[at] ?? 0);
    if (difference === 0) return midnight + ms;
    const instant = tryParseInstant(text);
    if (instant !== undefined) {
      for (let at = 0; at < DATE_LENGTH; at++) date[at] = text.charCodeAt(at);
      midnight = dayStart(instant);
    }
    return instant;
  };
}

/** The milliseconds since midnight of `HH:MM:SS.mmmZ` at the end of a text; negative for another format. */
function readTimeOfDay(text: string): number {
  const hours = readTwoDigits(text, 11);
  const minutes = readTwoDigits(text, 14);
  const seconds = readTwoDigits(text, 17);
  const hundreds = text.charCodeAt(20) - ZERO;
  const millis = hundreds >= 0 && hundreds <= 9 ? hundreds * 100 + readTwoDigits(text, 21) : NONE;
  if (hours > 23 || minutes > 59 || seconds > 59) return NONE;
  if (text.charCodeAt(13) !== COLON || text.charCodeAt(16) !== COLON) return NONE;
  if (text.charCodeAt(19) !== POINT || text.charCodeAt(23) !== LETTER_Z) return NONE;
  if ((hours | minutes | seconds | millis) < 0) return NONE;
  return ((hours * 60 + minutes) * 60 + seconds) * 1000 + millis;
}

/** The value of two digits. */
function readTwoDigits(text: string, at: number): number {
  const tens = text.charCodeAt(at) - ZERO;
  const onesDigit = text.charCodeAt(at + 1) - ZERO;
  return tens >= 0 && tens <= 9 && onesDigit >= 0 && onesDigit <= 9 ? tens * 10 + onesDigit : NONE;
}
