/**
 * The numbers of events: the order in which they were ingested.
 *
 * @module
 */
import type { Run } from "./client.ts";

/** So many numbers are in one block of them, which a sequence of the database gives. */
const BLOCK = 4_096;

/** Gives the next numbers, so many, by the places of the events that get them. */
export type EventNumbers = (count: number) => Promise<(place: number) => number>;

/**
 * The numbers of a transaction: greater than those of all events that were written under the same locks before.
 *
 * @param first the block of numbers that it has, if it has one
 */
export function createEventNumbers(
  { run, table }: { readonly run: Run; readonly table: (name: string) => string },
  first: number | undefined,
): EventNumbers {
  const blocks = first === undefined ? [] : [first];
  let next = 0;
  return async (count) => {
    const start = next;
    next += count;
    const more = Math.ceil(next / BLOCK) - blocks.length;
    if (more > 0) {
      const text = "select nextval($1::text::regclass)::text as block from generate_series(1, $2::text::integer)";
      const rows = await run(text, [table("event_number"), String(more)]);
      blocks.push(...rows.map(({ block }) => Number(block)).sort((a, b) => a - b));
    }
    return (place) => (blocks[Math.floor((start + place) / BLOCK)] ?? 0) * BLOCK + ((start + place) % BLOCK);
  };
}
