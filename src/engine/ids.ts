/**
 * Ids that the engine makes: a prefix, a part that grows with time, and a random part (`um.1zYnCiM9Bpg.lv25y`).
 *
 * @module
 */
import type { Instant } from "../calendar/instant.ts";
import type { IdSource } from "../ledger/decision.ts";

/** In the order of their codes, so that ids sort by time as texts. */
const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** Digits of the milliseconds since 1970: enough until the year 2081. */
const TIME_DIGITS = 7;
/** Digits of the place among the ids of one millisecond. */
const PLACE_DIGITS = 4;
const PLACES = DIGITS.length ** PLACE_DIGITS;
const RANDOM_DIGITS = 5;
/** Bytes from here on are left out, so that every digit is as likely as the others. */
const FAIR_BYTES = 256 - (256 % DIGITS.length);
const POOL_BYTES = 4096;

/**
 * Makes ids of `prefix.` and 17 more characters: each is above the one before it, also while the clock stands still or
 * is put back, and two processes do not make the same.
 *
 * @param clock milliseconds since 1970
 */
export function createIds(clock: () => Instant): IdSource {
  const random = randomDigits();
  let time = Number.NEGATIVE_INFINITY;
  let timeText = "";
  let place = 0;
  return (prefix) => {
    const now = clock();
    if (now > time) {
      time = now;
      timeText = digitsOf(now, TIME_DIGITS);
      place = 0;
    } else if (++place >= PLACES) {
      time += 1;
      timeText = digitsOf(time, TIME_DIGITS);
      place = 0;
    }
    return `${prefix}.${timeText}${digitsOf(place, PLACE_DIGITS)}.${random(RANDOM_DIGITS)}`;
  };
}

function digitsOf(value: number, count: number): string {
  let rest = Math.max(0, Math.floor(value));
  let text = "";
  for (let digit = 0; digit < count; digit++) {
    text = DIGITS.charAt(rest % DIGITS.length) + text;
    rest = Math.floor(rest / DIGITS.length);
  }
  return text;
}

/** Random digits out of a pool: asking the system for each of them would cost more than all else. */
function randomDigits(): (count: number) => string {
  const pool = new Uint8Array(POOL_BYTES);
  let next = POOL_BYTES;
  return (count) => {
    let text = "";
    while (text.length < count) {
      if (next >= POOL_BYTES) {
        globalThis.crypto.getRandomValues(pool);
        next = 0;
      }
      const byte = pool[next++] ?? 0;
      if (byte < FAIR_BYTES) text += DIGITS.charAt(byte % DIGITS.length);
    }
    return text;
  };
}
