/** Events in a database give the same results as events in memory. */
import { PGlite } from "@electric-sql/pglite";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

import type { EventInput } from "../../src/metering/event-envelope.ts";
import { memoryStore } from "../../src/store/memory/memory.ts";
import { postgresStore } from "../../src/store/postgres/postgres.ts";
import { batches, openStore, readStoreState, undoneBy } from "./stored-events.ts";

/** Each event many times, so that many are equal except for their ids. */
function manyTimes(batch: readonly unknown[]): readonly unknown[] {
  return batch.flatMap((event) =>
    Array.from({ length: 40 }, (_, copy) =>
      copy === 0 || typeof event !== "object" || event === null || !("id" in event) || typeof event.id !== "string"
        ? event
        : { ...event, id: `${event.id}.${copy}` },
    ),
  );
}

/**
 * As plain JSON, with event references replaced by their ranks: a lost race also loses the references that it
 * generated.
 */
function inWords(value: unknown): unknown {
  const text = JSON.stringify(value);
  const references = [...new Set(text.match(/"ev\.\d+"/g))].toSorted();
  const ranks = new Map(references.map((reference, rank) => [reference, `"ev ${rank}"`]));
  return JSON.parse(text.replaceAll(/"ev\.\d+"/g, (reference) => ranks.get(reference) ?? reference));
}

describe("events in a database", () => {
  test("S14 have the same outcomes, records, usage and undo as those in memory", async () => {
    const database = await PGlite.create();
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(batches, fc.array(fc.nat(30), { maxLength: 4 }), async (batchList, undone) => {
        const inDatabase = await openStore(await postgresStore(database, { schema: `run ${runs++}` }));
        const inMemory = await openStore(memoryStore());
        const answers: unknown[][] = [[], []];
        for (const batch of batchList.slice(0, 2).map((each) => manyTimes(each.slice(0, 10)))) {
          answers[0]?.push(await inDatabase.engine.ingest(batch as EventInput[]));
          answers[1]?.push(await inMemory.engine.ingest(batch as EventInput[]));
        }
        expect(inWords(answers[0])).toEqual(inWords(answers[1]));
        expect(inWords(await readStoreState(inDatabase))).toEqual(inWords(await readStoreState(inMemory)));
        for (const place of undone) {
          const filter = { account: "a", eventId: `e${place}` };
          expect(inWords(await undoneBy(inDatabase, filter))).toEqual(inWords(await undoneBy(inMemory, filter)));
        }
        expect(inWords(await readStoreState(inDatabase))).toEqual(inWords(await readStoreState(inMemory)));
      }),
      { numRuns: 10 },
    );
    await database.close();
  });
});
