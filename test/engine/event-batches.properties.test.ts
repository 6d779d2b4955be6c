/**
 * Batches of events over a memory store: equal to their events one by one, stored completely, and restored from a
 * snapshot.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";

import type { EventRecord } from "../../src/ledger/records.ts";
import type { EventInput } from "../../src/metering/event-envelope.ts";
import { exactOfText } from "../../src/numbers/exact.ts";
import { memoryStore } from "../../src/store/memory/memory.ts";
import { runs } from "../support/runs.ts";
import { batches, DAY, openStore, readStoreState, undoneBy } from "./stored-events.ts";

describe("a batch of events", () => {
  test("S14.3 gives the same outcomes, records, usage and undo as its events one by one, also after restoring a snapshot", async () => {
    await fc.assert(
      fc.asyncProperty(batches, fc.array(fc.nat(30), { maxLength: 4 }), async (eventBatches, undone) => {
        const [whole, single] = [await openStore(memoryStore()), await openStore(memoryStore())];
        for (const batch of eventBatches) {
          const answers: unknown[] = [];
          for (const event of batch) answers.push(...(await single.engine.ingest([event as EventInput])));
          expect(await whole.engine.ingest(batch as EventInput[])).toStrictEqual(answers);
        }
        expect(await readStoreState(whole)).toStrictEqual(await readStoreState(single));
        for (const place of undone) {
          const filter = { account: "a", eventId: `e${place}` };
          expect(await undoneBy(whole, filter)).toEqual(await undoneBy(single, filter));
        }
        expect(await readStoreState(whole)).toStrictEqual(await readStoreState(single));
        const copy = memoryStore({ snapshot: whole.store.snapshot() });
        expect(await readStoreState({ ...whole, store: copy })).toStrictEqual(await readStoreState(whole));
      }),
      { numRuns: runs(60) },
    );
  });

  test("S14.3 is numbered in the order in which it was sent, whatever its events consume", async () => {
    const { engine, store } = await openStore(memoryStore());
    const at = "2024-06-20T00:00:00Z";
    const eventList = Array.from({ length: 9 }, (_, place) => ({
      schemaName: place % 3 === 1 ? "token" : "call",
      id: `e${place}`,
      accountId: "a",
      timestamp: at,
      attributes: [{ name: "count", value: place }, ...(place % 3 === 1 ? [] : [{ name: "__proto__", value: 1 }])],
      ...(place % 3 === 1 ? {} : { dimensions: { region: "eu" } }),
    }));
    const results = await engine.ingest(eventList);
    expect(results.map(({ status }) => status)).toEqual(eventList.map(() => "INGESTION_COMPLETED_EVENT_METERED"));
    const events: readonly EventRecord[] = await store.read.eventsToUndo("a", {});
    expect(events.map(({ eventId }) => eventId)).toEqual(eventList.map(({ id }) => id));
    expect(events.map(({ payload }) => payload.attributes.map(({ value: each }) => String(each)))).toEqual(
      eventList.map(({ attributes }) => attributes.map((each) => String(each.value))),
    );
  });

  test("is not stored at all if a sum can't be stored", async () => {
    const { engine, store } = await openStore(memoryStore());
    const quantity = exactOfText("1e90") ?? 0;
    const scope = { configuration: "shared", accountIds: ["b"], eventIds: [] } as const;
    const day = Math.floor(Date.parse("2024-06-19T00:00:00Z") / DAY);
    await store.transact(scope, async () => ({
      result: undefined,
      changes: { usage: [{ accountId: "b", meterOrFeatureId: "cents", day, quantity }] },
    }));
    const before = store.snapshot();
    const batch = Array.from({ length: 10 }, (_, place) => ({
      schemaName: "call",
      id: `e${place}`,
      accountId: place === 6 ? "b" : "a",
      timestamp: "2024-06-19T00:00:00Z",
      attributes: [
        { name: "count", value: 1e-9 },
        { name: "__proto__", value: 1 },
      ],
      dimensions: { region: "eu" },
    }));
    await expect(engine.ingest(batch)).rejects.toMatchObject({ code: "ERR_ARITHMETIC" });
    expect(store.snapshot()).toBe(before);
  });
});
