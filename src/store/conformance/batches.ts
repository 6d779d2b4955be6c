/**
 * Events in columns are kept, counted and found as if each had come as a record. For stores that take them.
 *
 * @module
 */
import assert from "node:assert/strict";

import { APART, type EventBatch, type EventForm, recordIn, sizeOf } from "../../ledger/events/event-batch.ts";
import { type EventRecord, UNNUMBERED } from "../../ledger/records.ts";
import { Decimal } from "../../numbers/decimal.ts";
import type { Store } from "../store.ts";
import { commit, type ConformanceCase, given, scopeOf } from "./case.ts";
import { account, cell, event, LONG, NOON, ODD_TEXTS, TODAY } from "./samples.ts";

const METERED = { status: "INGESTION_COMPLETED_EVENT_METERED", description: "The event was metered." } as const;
const UNMATCHED = { status: "INGESTION_COMPLETED_NO_MATCHING_METERS", description: "No meter matched." } as const;

const COUNTED: EventForm = {
  schemaName: "request",
  schemaVersion: 2,
  attributes: ["tokens", "__proto__"],
  dimensions: ["region", "__proto__"],
  meterIds: ["um.tokens", "um.cost"],
  outcome: METERED,
};
const BARE: EventForm = { ...COUNTED, attributes: [], dimensions: [], meterIds: [], outcome: UNMATCHED };
/** As numbers of an event may be: each says its decimal by its shortest text. */
const NUMBERS = [0, -0, 1, 2.5, 1e-7, 0.1, 2 ** 53 - 1, 1e15 + 0.5, -3.25];
/** Enough of each form that they are worth their columns. */
const COUNT = 120;

/** A hundred and twenty events of two accounts: of two forms, and every tenth with a record of its own. */
function columns(prefix: string, cost = 0.5): EventBatch {
  const places = Array.from({ length: COUNT }, (_, place) => place);
  const isApart = (place: number): boolean => place % 10 === 9;
  const formOf = (place: number): EventForm => (isApart(place) ? APART : place % 2 === 0 ? COUNTED : BARE);
  const numbers = places.map((place) => {
    const units = [place, cost];
    return [
      NOON - place,
      ...(formOf(place) === COUNTED ? [NUMBERS[place % NUMBERS.length] ?? 0, place, ...units] : []),
    ];
  });
  const texts = places.map((place) =>
    formOf(place) === COUNTED ? [ODD_TEXTS[(place / 2) % ODD_TEXTS.length] ?? "", "eu"] : [],
  );
  return {
    createdAt: NOON + 7,
    eventIds: places.map((place) => `${prefix} ${place}`),
    referenceIds: places.map((place) => referenceIdOf(prefix, place)),
    accounts: places.map((place) => ({ id: accountIdOf(place), customerId: "c.one" })),
    forms: places.map(formOf),
    numbers: Float64Array.from(numbers.flat()),
    starts: startsOf(numbers),
    texts: texts.flat(),
    textStarts: startsOf(texts).slice(0, COUNT),
    records: new Map(places.filter(isApart).map((place) => [place, apart(prefix, place)])),
  };
}

function accountIdOf(place: number): string {
  return place % 3 === 0 ? "b" : "a";
}

function referenceIdOf(prefix: string, place: number): string {
  return `ref.${prefix}.${String(place).padStart(3, "0")}`;
}

function startsOf(lists: readonly (readonly unknown[])[]): Uint32Array {
  const starts = [0];
  for (const list of lists) starts.push((starts.at(-1) ?? 0) + list.length);
  return Uint32Array.from(starts);
}

function apart(prefix: string, place: number): EventRecord {
  return event(accountIdOf(place), place, {
    number: UNNUMBERED,
    referenceId: referenceIdOf(prefix, place),
    eventId: `${prefix} ${place}`,
    timestamp: NOON - place,
    createdAt: NOON + 7,
    units: [{ meterId: "um.tokens", quantity: LONG }],
  });
}

/** The records of a batch that are of an account, as they come back; their numbers are the store's own. */
function recordsOf(batch: EventBatch, accountId: string): readonly EventRecord[] {
  const all = Array.from({ length: sizeOf(batch) }, (_, index) => recordIn(batch, index, 0));
  return all.filter((record) => record.accountId === accountId);
}

async function kept(store: Store, accountId: string): Promise<readonly EventRecord[]> {
  return (await store.read.eventsToUndo(accountId, {})).map((record) => ({ ...record, number: 0 }));
}

/** Commits events in columns, as an ingest of their accounts does. */
async function commitBatch(store: Store, batch: EventBatch, events: readonly EventRecord[] = []): Promise<void> {
  const scope = scopeOf(["a", "b"], [...batch.eventIds, ...events.map(({ eventId }) => eventId)]);
  await store.transact(scope, async () => ({ result: undefined, changes: { batch, events } }));
}

/** A case for stores that take batches; others pass it. */
function givenBatches(name: string, check: (store: Store) => Promise<void>): ConformanceCase {
  return given(name, async (store) => {
    if (store.takesBatches !== true) return;
    await commit(store, { accounts: [account("a"), account("b")] });
    await check(store);
  });
}

/** Events in columns. */
export const batchCases: readonly ConformanceCase[] = [
  givenBatches(
    "events in columns come back as records, in their order, among those that are records",
    async (store) => {
      const batch = columns("x");
      const after = event("a", 500, { number: UNNUMBERED, createdAt: NOON + 7 });
      await commitBatch(store, batch, [after]);
      assert.deepEqual(await kept(store, "a"), [...recordsOf(batch, "a"), { ...after, number: 0 }]);
      assert.deepEqual(await kept(store, "b"), recordsOf(batch, "b"));
      const [found] = await store.read.events({ eventId: "x 8" }, { limit: 9 });
      assert.deepEqual({ ...found, number: 0 }, recordIn(batch, 8, 0));
      assert.equal(
        (await store.read.events({ status: UNMATCHED.status }, { limit: 99 })).length,
        COUNT / 2 - COUNT / 10,
      );
    },
  ),

  givenBatches("what the meters of events in columns measured is usage", async (store) => {
    await commit(store, { usage: [cell("a", "um.cost", TODAY, "0.25")] });
    const batch = columns("x");
    await commitBatch(store, batch);
    const sums = new Map<string, Decimal>([[`a um.cost ${TODAY}`, new Decimal("0.25")]]);
    for (let index = 0; index < COUNT; index++) {
      if (batch.records.has(index)) continue;
      const { accountId, timestamp, units } = recordIn(batch, index, 0);
      for (const { meterId, quantity } of units) {
        const key = `${accountId} ${meterId} ${Math.floor(timestamp / 86_400_000)}`;
        sums.set(key, Decimal.sum(sums.get(key) ?? 0, quantity));
      }
    }
    const usage = await store.read.usage(["a", "b"], TODAY - 9, TODAY + 9);
    const found = usage.map(
      ({ accountId, itemId, day, quantity }) => `${accountId} ${itemId} ${day} ${String(quantity)}`,
    );
    assert.deepEqual(found.toSorted(), [...sums].map(([key, sum]) => `${key} ${String(sum)}`).toSorted());
  }),

  givenBatches("events in columns hold their ids", async (store) => {
    await commitBatch(store, columns("x"));
    const seen: number[] = [];
    await store.transact(scopeOf(["a"], ["x 2", "x 9", "y 2"]), async (view) => {
      seen.push((await view.heldIds(["x 2", "x 9", "y 2"])).length);
      return { result: undefined, changes: {} };
    });
    assert.equal(seen.at(-1), 2);
    const [held] = await store.read.heldIds(["x 2"]);
    assert.deepEqual(held, {
      eventId: "x 2",
      referenceId: referenceIdOf("x", 2),
      accountId: "a",
      timestamp: NOON - 2,
      createdAt: NOON + 7,
    });
  }),

  givenBatches("an event in columns is replaced as any other", async (store) => {
    const batch = columns("x");
    await commitBatch(store, batch);
    const [before] = await store.read.events({ eventId: "x 4" }, { limit: 1 });
    assert.ok(before !== undefined);
    await commit(store, { events: [{ ...before, reverted: true }] });
    assert.deepEqual(await store.read.events({ eventId: "x 4" }, { limit: 9 }), [{ ...before, reverted: true }]);
    assert.deepEqual(await store.read.heldIds(["x 4"]), []);
    assert.deepEqual(
      await kept(store, "a"),
      recordsOf(batch, "a").filter(({ eventId }) => eventId !== "x 4"),
    );
  }),

  givenBatches("a batch of which a sum cannot be kept leaves nothing", async (store) => {
    await commit(store, { usage: [cell("a", "um.cost", TODAY, "1e90")] });
    await assert.rejects(commitBatch(store, columns("x", 1e-14)), { code: "ERR_ARITHMETIC" });
    assert.deepEqual(await kept(store, "a"), []);
    assert.deepEqual(await kept(store, "b"), []);
    assert.deepEqual(await store.read.heldIds(["x 0"]), []);
    assert.deepEqual(await store.read.usage(["a", "b"], TODAY - 9, TODAY + 9), [cell("a", "um.cost", TODAY, "1e90")]);
  }),
];
