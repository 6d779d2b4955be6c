/** Events in columns come to the same as events in records: what is answered, kept, counted and undone. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";

import type { EventRecord } from "../../src/ledger/records.ts";
import { type MemoryStore, memoryStore } from "../../src/store/memory/memory.ts";
import { batches, DAY, open, stateOf, undoneBy } from "./event-batches.ts";

function inRecords(): MemoryStore {
  return { ...memoryStore(), takesBatches: false };
}

describe("events in columns", () => {
  test("S14 are answered, kept, counted and undone as events in records", async () => {
    await fc.assert(
      fc.asyncProperty(batches, fc.array(fc.nat(30), { maxLength: 4 }), async (given, undone) => {
        const [columns, records] = [await open(memoryStore()), await open(inRecords())];
        for (const batch of given) {
          expect(await columns.engine.ingest(batch)).toStrictEqual(await records.engine.ingest(batch));
        }
        expect(await stateOf(columns)).toStrictEqual(await stateOf(records));
        for (const place of undone) {
          const filter = { account_id: "a", event_id: `e${place}` };
          expect(await undoneBy(columns, filter)).toEqual(await undoneBy(records, filter));
        }
        expect(await stateOf(columns)).toStrictEqual(await stateOf(records));
        const restored = memoryStore({ snapshot: columns.store.snapshot() });
        expect(await stateOf({ ...columns, store: restored })).toStrictEqual(await stateOf(columns));
      }),
      { numRuns: 60 },
    );
  });

  test("S14.3 are numbered in the order in which they were sent, among those with records", async () => {
    const { engine, store } = await open(memoryStore());
    const at = "2024-06-20T00:00:00Z";
    const sent = Array.from({ length: 9 }, (_, place) => ({
      schemaName: place % 3 === 1 ? "token" : "call",
      id: `e${place}`,
      accountId: "a",
      timestamp: at,
      attributes: [{ name: "count", value: place }, ...(place % 3 === 1 ? [] : [{ name: "__proto__", value: 1 }])],
      ...(place % 3 === 1 ? {} : { dimensions: { region: "eu" } }),
    }));
    const results = await engine.ingest(sent);
    expect(results.map(({ status }) => status)).toEqual(sent.map(() => "INGESTION_COMPLETED_EVENT_METERED"));
    const events: readonly EventRecord[] = await store.read.eventsToUndo("a", {});
    expect(events.map(({ eventId }) => eventId)).toEqual(sent.map(({ id }) => id));
    expect(events.map(({ payload }) => payload.attributes.map(({ value: each }) => String(each)))).toEqual(
      sent.map(({ attributes }) => attributes.map((each) => String(each.value))),
    );
  });

  test("a sum that cannot be kept leaves nothing of its batch", async () => {
    const { engine, store } = await open(memoryStore());
    const quantity = (await import("../../src/numbers/decimal.ts")).decimalOf("1e90");
    const scope = { configuration: "shared", accountIds: ["b"], eventIds: [] } as const;
    const day = Math.floor(Date.parse("2024-06-19T00:00:00Z") / DAY);
    await store.transact(scope, async () => ({
      result: undefined,
      changes: { usage: [{ accountId: "b", itemId: "um.cents", day, quantity }] },
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
