/**
 * Caches values of repeated texts in a file (accounts, dimensions) by their bytes, without creating strings.
 *
 * @module
 */

/** A bounded cache of values by byte sequence. */
export interface TextCache<T> {
  /** The value for the ASCII text in [start, end), created or cached. */
  get(bytes: Buffer, start: number, end: number): T;
}

const SLOTS = 1 << 16;
/** The number of entries at which the cache is cleared, to bound memory. */
const ENTRIES_MAX = 1 << 15;

interface Entry<T> {
  readonly text: Uint8Array;
  readonly value: T;
}

/** @param createValue must return the same value for the same text */
export function createTextCache<T>(createValue: (text: string) => T): TextCache<T> {
  let table = createTable<T>();
  let count = 0;

  return {
    get(bytes, start, end) {
      let hash = 0x811c9dc5;
      for (let at = start; at < end; at++) hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x01000193);
      hash ^= hash >>> 15;
      let slot = hash & (SLOTS - 1);
      for (let entry = table[slot]; entry !== undefined; entry = table[slot]) {
        if (equalsBytes(entry.text, bytes, start, end)) return entry.value;
        slot = (slot + 1) & (SLOTS - 1);
      }
      const value = createValue(bytes.toString("latin1", start, end));
      if (count >= ENTRIES_MAX) {
        table = createTable<T>();
        count = 0;
        slot = hash & (SLOTS - 1);
      }
      table[slot] = { text: Uint8Array.prototype.slice.call(bytes, start, end), value };
      count++;
      return value;
    },
  };
}

/** Copied for each table, because filling one entry by entry takes as long as reading a small file. */
const EMPTY_TABLE: readonly undefined[] = Array.from({ length: SLOTS }, () => undefined);

function createTable<T>(): (Entry<T> | undefined)[] {
  return EMPTY_TABLE.slice();
}

function equalsBytes(text: Uint8Array, bytes: Uint8Array, start: number, end: number): boolean {
  if (text.length !== end - start) return false;
  for (let at = 0; at < text.length; at++) {
    if (text[at] !== bytes[start + at]) return false;
  }
  return true;
}
