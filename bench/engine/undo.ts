/** The time to undo one event among many. */
import type { Engine } from "../../src/engine/engine.ts";
import type { EventInput } from "../../src/metering/event-envelope.ts";
import { accountOfEvent, createEvent } from "./scenario.ts";

const BATCH = 1_000;
const REPETITIONS = 400;

/** The time to undo one event at each number of stored events, one line each. */
export async function measureUndoBySize(engine: Engine, sizes: readonly number[]): Promise<readonly string[]> {
  const lines: string[] = [];
  let eventCount = 0;
  for (const size of sizes) {
    eventCount = await ingestUpTo(engine, eventCount, size);
    lines.push(await measureUndo(engine, eventCount));
  }
  return lines;
}

/** Ingests batches until `size` events are stored. @returns the number of stored events */
async function ingestUpTo(engine: Engine, eventCount: number, size: number): Promise<number> {
  let count = eventCount;
  for (; count < size; count += BATCH) {
    await engine.ingest(Array.from({ length: BATCH }, (_, index) => createEvent(count + index)) as EventInput[]);
  }
  return count;
}

/** Undoes single events spread over all stored ones, and ingests each again. */
async function measureUndo(engine: Engine, eventCount: number): Promise<string> {
  const times: number[] = [];
  for (let round = 0; round < REPETITIONS; round++) {
    const place = Math.floor((round / REPETITIONS) * (eventCount - 1));
    const filter = { account: accountOfEvent(place), eventId: `e${place}` };
    const start = process.hrtime.bigint();
    const [undoneEvent] = await engine.undo(filter);
    times.push(Number(process.hrtime.bigint() - start) / 1e9);
    if (undoneEvent?.status !== "REVERTED") throw new Error("an event was not undone");
    await engine.ingest([createEvent(place) as EventInput]);
  }
  return `${eventCount.toLocaleString("en-US")} stored: ${formatPercentiles(times)}`;
}

/** The median and the 99th percentile, converted from seconds to microseconds. */
export function formatPercentiles(times: readonly number[]): string {
  const sorted = times.toSorted((a, b) => a - b);
  const percentile = (part: number): string => ((sorted[Math.floor(sorted.length * part)] ?? 0) * 1e6).toFixed(1);
  return `p50 ${percentile(0.5)} µs, p99 ${percentile(0.99)} µs`;
}
