/** Creates ids: a prefix, a part that grows with time, and a random part (`um.1zYnCiM9Bpg.lv25y`). */
import type { Instant } from "../calendar/instant.ts";
import type { IdSource } from "../ledger/decision.ts";
import { BASE_62 } from "../numbers/ids.ts";

/** Digits of the milliseconds since 1970: enough until the year 2081. */
const TIME_DIGITS = 7;
/** Digits of the sequence number within a millisecond. */
const SEQUENCE_DIGITS = 4;
const SEQUENCE_NUMBERS = BASE_62.length ** SEQUENCE_DIGITS;
const RANDOM_DIGITS = 5;
/** Larger random numbers are discarded, so that all digits are equally likely. */
const FAIR_END = 2 ** 32 - (2 ** 32 % BASE_62.length ** RANDOM_DIGITS);
const POOL_NUMBERS = 1024;
const BASE = BASE_62.length;
const CODES: readonly number[] = Array.from(BASE_62, (digit) => digit.charCodeAt(0));

/**
 * Creates ids of `prefix.` and 17 more characters. Each is greater than the previous one, even if the clock stands
 * still or is set back, and two processes do not create the same.
 *
 * @param clock milliseconds since 1970
 */
export function createIds(clock: () => Instant): IdSource {
  const random = randomDigits();
  let time = Number.NEGATIVE_INFINITY;
  let sequence = 0;
  /** The characters of the last id, most of which stay the same; a text created from all of them at once is contiguous. */
  const codes: number[] = [];
  let lastPrefix: string | undefined;
  return (prefix) => {
    const before = time;
    const now = clock();
    if (now > time) {
      time = now;
      sequence = 0;
    } else if (++sequence >= SEQUENCE_NUMBERS) {
      time += 1;
      sequence = 0;
    }
    if (time !== before || prefix !== lastPrefix) {
      lastPrefix = prefix;
      const text = `${prefix}.${formatDigits(time, TIME_DIGITS)}0000.00000`;
      codes.length = 0;
      for (let at = 0; at < text.length; at++) codes.push(text.charCodeAt(at));
    }
    const { length } = codes;
    putDigits(codes, length - RANDOM_DIGITS - 1, SEQUENCE_DIGITS, sequence);
    putDigits(codes, length, RANDOM_DIGITS, random());
    return String.fromCharCode(...codes);
  };
}

/** Writes the last digits of a number before an index. */
function putDigits(codes: number[], end: number, count: number, value: number): void {
  let rest = value;
  for (let at = end - 1; at >= end - count; at--) {
    const before = Math.floor(rest / BASE);
    codes[at] = CODES[rest - BASE * before] ?? 0;
    rest = before;
  }
}

function formatDigits(value: number, count: number): string {
  let rest = Math.max(0, Math.floor(value));
  let text = "";
  for (let digit = 0; digit < count; digit++) {
    text = BASE_62.charAt(rest % BASE) + text;
    rest = Math.floor(rest / BASE);
  }
  return text;
}

/** Random numbers for five digits each, from a pool: a system call for each would dominate. */
function randomDigits(): () => number {
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
    return number;
  };
}
