/**
 * The rows that a thread found in a part of a file: those for the core and, if ids are remembered, all others too,
 * because ids may repeat.
 *
 * @module
 */

/** Columns of row data, which are transferred between threads without copying. */
export interface ScannedRows {
  readonly count: number;
  /** The positions of the lines in the file. */
  readonly offsets: Float64Array;
  /** The line numbers in the part, from 1. */
  readonly lines: Uint32Array;
  /** The latest time in the part up to and including the row; -Infinity before the first. */
  readonly latestTimes: Float64Array;
  /** Flags: {@link IS_COUNTED}, {@link HAS_ID}. */
  readonly flags: Uint8Array;
  /** The hash of each id, two words per row. */
  readonly hashes: Uint32Array;
}

/** The row is in the sums. All other rows are for the core. */
export const IS_COUNTED = 1;
/** The row has an id, whose hash is stored. */
export const HAS_ID = 2;

/** A growing list of rows. */
export interface RowList {
  /** @param words the hash of its id, if any */
  readonly addRow: (offset: number, line: number, latestTime: number, flags: number, words: Uint32Array) => void;
  readonly toRows: () => ScannedRows;
}

export function createRowList(capacity = 1024): RowList {
  let count = 0;
  let rows = createRows(capacity);
  return {
    addRow(offset, line, latestTime, flags, words) {
      if (count === rows.offsets.length) rows = resizeRows(rows, 2 * count);
      rows.offsets[count] = offset;
      rows.lines[count] = line;
      rows.latestTimes[count] = latestTime;
      rows.flags[count] = flags;
      rows.hashes[2 * count] = words[0] ?? 0;
      rows.hashes[2 * count + 1] = words[1] ?? 0;
      count++;
    },
    toRows: () => ({ ...resizeRows(rows, count), count }),
  };
}

function createRows(capacity: number): Omit<ScannedRows, "count"> {
  return {
    offsets: new Float64Array(capacity),
    lines: new Uint32Array(capacity),
    latestTimes: new Float64Array(capacity),
    flags: new Uint8Array(capacity),
    hashes: new Uint32Array(2 * capacity),
  };
}

function resizeRows(rows: Omit<ScannedRows, "count">, capacity: number): Omit<ScannedRows, "count"> {
  const larger = createRows(capacity);
  for (const name of ["offsets", "lines", "latestTimes", "flags", "hashes"] as const) {
    larger[name].set(rows[name].subarray(0, larger[name].length));
  }
  return larger;
}
