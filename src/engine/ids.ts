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
/** Random numbers from here on are left out, so that every digit is as likely as the others. */
const FAIR_END = 2 ** 32 - (2 ** 32 % DIGITS.length ** RANDOM_DIGITS);
const POOL_NUMBERS = 1024;
/** Every two digits, by their value. */
const PAIRS: readonly string[] = Array.from(
  { length: DIGITS.length ** 2 },
  (_, value) => DIGITS.charAt(Math.floor(value / DIGITS.length)) + DIGITS.charAt(value % DIGITS.length),
);

/**
 * Makes ids of `prefix.` and 17 more characters: each is above the one before it, also while the clock stands still or
 * is put back, and two processes do not make the same.
 *
 * @param clock milliseconds since 1970
 */
export function createIds(clock: () => Instant): IdSource {
  const random = randomDigits();
  let time = Number.NEGATIVE_INFINITY;
  let place = 0;
  /** What the last id began with. */
  let head = "";
  let headPrefix: string | undefined;
  return (prefix) => {
    const before = time;
    const now = clock();
    if (now > time) {
      time = now;
      place = 0;
    } else if (++place >= PLACES) {
      time += 1;
      place = 0;
    }
    if (time !== before || prefix !== headPrefix) {
      headPrefix = prefix;
      head = `${prefix}.${digitsOf(time, TIME_DIGITS)}`;
    }
    return head + `${pairOf(place / PAIRS.length)}${pairOf(place)}.${random()}`;
  };
}

/** Two digits of a number: its last two, parts of a whole aside. */
function pairOf(value: number): string {
  return PAIRS[Math.floor(value) % PAIRS.length] ?? "";
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

/** Five random digits out of a pool: asking the system for each of them would cost more than all else. */
function randomDigits(): () => string {
  const pool = new Uint32Array(POOL_NUMBERS);
  let next = POOL_NUMBERS;
  return () => {
    let number = FAIR_END;
    while (number >= FAIR_END) {
      if (next >= POOL_NUMBERS) {
        globalThis.crypto.getRandomValues(pool);
        next = 0;
      }
      number = pool[next++] ?? FAIR_END;
    }
    const rest = Math.floor(number / PAIRS.length);
    return `${pairOf(number)}${pairOf(rest)}${DIGITS.charAt(Math.floor(rest / PAIRS.length) % DIGITS.length)}`;
  };
}
