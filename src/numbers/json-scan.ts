/**
 * Scans a JSON text before parsing: its depth, whether doubles can represent its numbers (S1.2), and its number of keys
 * and values.
 */
import { Decimal } from "./decimal.ts";

/** The properties of a JSON text that decide how it is parsed. */
export interface JsonScan {
  /** Levels of objects and lists; brackets in strings do not count. */
  readonly depth: number;
  /** The numbers of more than 15 digits, or with an exponent, which a double may not represent. */
  readonly longNumbers: number;
  /** The keys of all objects, including repeated ones. */
  readonly keys: number;
  /** The commas and opening brackets: approximately the number of values. */
  readonly values: number;
  /** The index of the first key beyond {@link KEYS_MAX} in an object; -1 if there is none. */
  readonly excessKeyIndex: number;
}

/** Maximum number of keys of an object sent to a server. */
export const KEYS_MAX = 1000;
/** Levels whose keys are counted; deeper texts are rejected. */
const LEVELS_MAX = 256;

const [QUOTE, BACKSLASH, POINT, COMMA, COLON, ZERO, NINE] = [0x22, 0x5c, 0x2e, 0x2c, 0x3a, 0x30, 0x39];
/** The bit that distinguishes `{` from `[`, `}` from `]` and `e` from `E`: one comparison finds both. */
const LOWER = 0x20;
const [OPEN, CLOSE, EXPONENT] = [0x7b, 0x7d, 0x65];
const DIGITS_MAX = 15;

/** Scans the UTF-8 bytes of a JSON text; the result is arbitrary for other texts. */
export function scanJson(bytes: Uint8Array): JsonScan {
  const { length } = bytes;
  let level = 0;
  let depth = 0;
  let digits = 0;
  let longNumbers = 0;
  let keys = 0;
  let values = 1;
  const counts = new KeyCounts();
  for (let at = 0; at < length; at++) {
    const code = bytes[at] ?? 0;
    if (code === QUOTE) at = endOfText(bytes, at);
    else if (code >= ZERO && code <= NINE) {
      if (++digits === DIGITS_MAX + 1) longNumbers++;
    } else if (code !== POINT) {
      const lower = code | LOWER;
      if (code === COMMA) values++;
      else if (code === COLON) {
        keys++;
        counts.add(level, at);
      } else if (lower === OPEN) {
        values++;
        if (++level > depth) depth = level;
        counts.begin(level);
      } else if (lower === CLOSE) level--;
      else if (lower === EXPONENT && digits > 0 && digits <= DIGITS_MAX) longNumbers++;
      digits = 0;
    }
  }
  return { depth, longNumbers, keys, values, excessKeyIndex: counts.excessKeyIndex };
}

/**
 * The number of keys in a parsed value: fewer than in the text if an object had a key twice.
 *
 * @throws {RangeError} if nested too deeply for the stack
 */
export function countKeys(value: unknown): number {
  if (typeof value !== "object" || value === null || value instanceof Decimal) return 0;
  let keys = 0;
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === "object") keys += countKeys(item);
    return keys;
  }
  // Faster than a list of the keys; parsed objects inherit no enumerable properties.
  for (const key in value) {
    keys++;
    const field: unknown = (value as Readonly<Record<string, unknown>>)[key];
    if (typeof field === "object") keys += countKeys(field);
  }
  return keys;
}

/** Counts the keys of the open objects by level. */
class KeyCounts {
  excessKeyIndex = -1;
  /** Writes beyond the last level are ignored. */
  readonly #counts = new Uint32Array(LEVELS_MAX);

  begin(level: number): void {
    this.#counts[level] = 0;
  }

  add(level: number, at: number): void {
    const count = (this.#counts[level] ?? 0) + 1;
    this.#counts[level] = count;
    if (count > KEYS_MAX && this.excessKeyIndex < 0) this.excessKeyIndex = at;
  }
}

/** The end of the string that starts at a quote. */
function endOfText(bytes: Uint8Array, start: number): number {
  const { length } = bytes;
  let at = start + 1;
  while (at < length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at;
}
