/**
 * Finds rows whose ids may repeat, by the hash of the id. Collisions only cost time (S17.3).
 *
 * @module
 */
import { type ScannedRows, HAS_ID } from "./scanned-rows.ts";

/** Buckets by the first byte of a hash, so that the rows of each fit the processor's cache. */
const BUCKETS = 256;
const BUCKET_SHIFT = 24;

/** @returns for each list, whether each row has an id whose hash occurs more than once in all lists */
export function findRepeatedIds(lists: readonly ScannedRows[]): readonly Uint8Array[] {
  const repeatedFlags = lists.map(({ count }) => new Uint8Array(count));
  const ends = bucketEnds(lists);
  const total = ends[BUCKETS - 1] ?? 0;
  // The rows sorted by bucket: two words of the hash, the list, the row.
  const rows = new Uint32Array(4 * total);
  const next = Uint32Array.from(ends, (_, bucket) => (bucket === 0 ? 0 : (ends[bucket - 1] ?? 0)));
  for (const [list, { count, flags, hashes }] of lists.entries()) {
    for (let row = 0; row < count; row++) {
      if (((flags[row] ?? 0) & HAS_ID) === 0) continue;
      const bucket = (hashes[2 * row] ?? 0) >>> BUCKET_SHIFT;
      const place = next[bucket] ?? 0;
      next[bucket] = place + 1;
      rows[4 * place] = hashes[2 * row] ?? 0;
      rows[4 * place + 1] = hashes[2 * row + 1] ?? 0;
      rows[4 * place + 2] = list;
      rows[4 * place + 3] = row;
    }
  }
  for (let bucket = 0; bucket < BUCKETS; bucket++) {
    const range = { from: bucket === 0 ? 0 : (ends[bucket - 1] ?? 0), until: ends[bucket] ?? 0 };
    markRepeated(rows, range, repeatedFlags);
  }
  return repeatedFlags;
}

/** The cumulative number of rows by bucket. */
function bucketEnds(lists: readonly ScannedRows[]): Uint32Array {
  const ends = new Uint32Array(BUCKETS);
  for (const { count, flags, hashes } of lists) {
    for (let row = 0; row < count; row++) {
      if (((flags[row] ?? 0) & HAS_ID) === 0) continue;
      const bucket = (hashes[2 * row] ?? 0) >>> BUCKET_SHIFT;
      ends[bucket] = (ends[bucket] ?? 0) + 1;
    }
  }
  for (let bucket = 1; bucket < BUCKETS; bucket++) ends[bucket] = (ends[bucket] ?? 0) + (ends[bucket - 1] ?? 0);
  return ends;
}

/** Marks the rows of a bucket whose hash occurs more than once. */
function markRepeated(
  rows: Uint32Array,
  { from, until }: { readonly from: number; readonly until: number },
  repeatedFlags: readonly Uint8Array[],
): void {
  let slots = 16;
  while (slots < 2 * (until - from)) slots *= 2;
  // An index plus one; 0 means empty.
  const table = new Uint32Array(slots);
  const mark = (place: number): void => {
    const list = repeatedFlags[rows[4 * place + 2] ?? 0];
    if (list !== undefined) list[rows[4 * place + 3] ?? 0] = 1;
  };
  for (let place = from; place < until; place++) {
    const [first, second] = [rows[4 * place], rows[4 * place + 1] ?? 0];
    for (let slot = second & (slots - 1); ; slot = (slot + 1) & (slots - 1)) {
      const other = (table[slot] ?? 0) - 1;
      if (other < 0) {
        table[slot] = place + 1;
        break;
      }
      if (rows[4 * other] !== first || rows[4 * other + 1] !== second) continue;
      mark(other);
      mark(place);
      break;
    }
  }
}
