/** The numbers of events: the order of ingest. */
import type { Run } from "./client.ts";

/** Numbers per block; a database sequence assigns the blocks. */
const BLOCK = 4_096;

/** Reserves `count` numbers, and returns them by index of the event. */
export type EventNumbers = (count: number) => Promise<(place: number) => number>;

/**
 * Creates the event numbers of a transaction: greater than those of all events written earlier under the same locks.
 *
 * @param first its block of numbers, if it has one
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
