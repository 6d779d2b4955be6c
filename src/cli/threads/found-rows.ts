/**
 * Rows that a thread found in a part of a file: those that the core decides, and, where ids are remembered, all others too, for
 * an id may come again.
 *
 * @module
 */

/** Where rows are and what is known of them, side by side; they go from one thread to another without being copied. */
export interface FoundRows {
  readonly count: number;
  /** Where each line begins in the file. */
  readonly offsets: Float64Array;
  /** The line of each in its part, from 1. */
  readonly lines: Uint32Array;
  /** The latest time in the part up to and including the row; -Infinity before the first. */
  readonly reached: Float64Array;
  /** What is known: {@link IS_COUNTED}, {@link HAS_ID}. */
  readonly flags: Uint8Array;
  /** Two words a row: a hash of its id. */
  readonly hashes: Uint32Array;
}

/** The row is in the sums. Every other row is for the core. */
export const IS_COUNTED = 1;
/** The row has an id, whose hash is kept. */
export const HAS_ID = 2;

/** Rows that grow. */
export interface RowList {
  /** @param words the hash of its id, where it has one */
  readonly add: (offset: number, line: number, reached: number, flags: number, words: Uint32Array) => void;
  /** The rows so far. */
  readonly taken: () => FoundRows;
}

/** No rows yet. */
export function createRowList(capacity = 1024): RowList {
  let count = 0;
  let rows = emptyRows(capacity);
  return {
    add(offset, line, reached, flags, words) {
      if (count === rows.offsets.length) rows = resized(rows, 2 * count);
      rows.offsets[count] = offset;
      rows.lines[count] = line;
      rows.reached[count] = reached;
      rows.flags[count] = flags;
      rows.hashes[2 * count] = words[0] ?? 0;
      rows.hashes[2 * count + 1] = words[1] ?? 0;
      count++;
    },
    taken: () => ({ ...resized(rows, count), count }),
  };
}

function emptyRows(capacity: number): Omit<FoundRows, "count"> {
  return {
    offsets: new Float64Array(capacity),
    lines: new Uint32Array(capacity),
    reached: new Float64Array(capacity),
    flags: new Uint8Array(capacity),
    hashes: new Uint32Array(2 * capacity),
  };
}

function resized(rows: Omit<FoundRows, "count">, capacity: number): Omit<FoundRows, "count"> {
  const larger = emptyRows(capacity);
  for (const name of ["offsets", "lines", "reached", "flags", "hashes"] as const) {
    larger[name].set(rows[name].subarray(0, larger[name].length));
  }
  return larger;
}
