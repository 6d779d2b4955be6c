/** Events: reserved ids, undo, and lookups of overage and spending. */
import assert from "node:assert/strict";

import { INGEST_STATUSES } from "../../ledger/outcome.ts";
import type { EventRecord } from "../../ledger/records.ts";
import { formatDecimal } from "../../numbers/decimal.ts";
import type { Store } from "../store.ts";
import { commit, type ConformanceCase, defineCase } from "./case.ts";
import { cell, event, LONG, newEvent, NOON, ODD_TEXTS, TODAY, consumption, withOddKeys } from "./samples.ts";

const FAILED: Partial<EventRecord> = { status: "INGESTION_FAILED_INSUFFICIENT_CREDITS", units: [] };
const REVERTED: Partial<EventRecord> = { reverted: true };

async function listReservedIds(store: Store, eventIds: readonly string[]): Promise<readonly string[]> {
  const acceptedIds = await store.read.acceptedIds(eventIds);
  return acceptedIds.map(({ eventId, referenceId }) => `${eventId} ${referenceId}`).toSorted();
}

async function listEventsToUndo(store: Store, filter = {}, limit?: number): Promise<readonly number[]> {
  return (await store.read.eventsToUndo("a", filter, limit)).map(({ number }) => number);
}

async function listEventsWithOverage(store: Store, from: number, until: number): Promise<readonly number[]> {
  return (await store.read.eventsWithOverage("a", "f.one", from, until)).map(({ number }) => number);
}

/** An event with every field. */
const FULL = event("a", 1, {
  payload: {
    accountId: "alias of a",
    attributes: [
      { name: "tokens", value: LONG, unit: "tok" },
      { name: "bad", value: "1,5" },
      { name: "text", value: "12" },
    ],
    dimensions: { ...withOddKeys(), note: ODD_TEXTS.join("|"), zone: formatDecimal(LONG), one: "1" },
    numericDimensions: ["zone", "one"],
  },
  enriched: { attributes: [{ name: "cost", value: LONG.neg() }], dimensions: withOddKeys() },
  units: [
    { meterId: "um.one", quantity: LONG },
    { meterId: "um.two", quantity: LONG.neg() },
  ],
  feature: {
    featureId: "f.one",
    quantity: LONG,
    allocations: [{ entryId: "e.one", quantity: LONG }],
    overage: LONG,
  },
});

export const eventCases: readonly ConformanceCase[] = [
  defineCase("an event is read as it was written", async (store) => {
    const plain = event("a", 2);
    const { schemaVersion: _, ...unknownSchema } = event("", 0, { customerId: "", ...FAILED });
    await commit(store, { events: [FULL, plain, unknownSchema] });
    assert.deepEqual(await store.read.events({ referenceId: FULL.referenceId }, { limit: 1 }), [FULL]);
    assert.deepEqual(await store.read.events({ eventId: plain.eventId }, { limit: 1 }), [plain]);
    assert.deepEqual(await store.read.events({ accountId: "" }, { limit: 9 }), [unknownSchema]);
    assert.deepEqual(await store.read.eventsToUndo("a", {}), [FULL, plain]);
  }),

  defineCase("different ids stay different, whatever they contain", async (store) => {
    const events = ODD_TEXTS.map((text, index) =>
      event(text, 1, { eventId: text, referenceId: `r${index}`, schemaName: text }),
    );
    await commit(store, { events });
    for (const expected of events) {
      const { eventId, accountId, referenceId } = expected;
      assert.deepEqual(await listReservedIds(store, [eventId]), [`${eventId} ${referenceId}`]);
      assert.deepEqual(await store.read.events({ accountId }, { limit: 9 }), [expected]);
      assert.deepEqual(await store.read.events({ schemaName: accountId }, { limit: 9 }), [expected]);
    }
  }),

  defineCase("only an accepted event that is not reverted reserves its id", async (store) => {
    const events = INGEST_STATUSES.map((status, index) => event("a", index + 1, { status }));
    await commit(store, { events });
    const acceptedIds = await listReservedIds(
      store,
      events.map(({ eventId }) => eventId),
    );
    const completed = events.filter(({ status }) => status.startsWith("INGESTION_COMPLETED"));
    assert.deepEqual(acceptedIds, completed.map(({ eventId, referenceId }) => `${eventId} ${referenceId}`).toSorted());
  }),

  defineCase("undoing an event releases its id, even for another account", async (store) => {
    await commit(store, { events: [event("a", 1, { eventId: "same" })] });
    await commit(store, { events: [event("a", 1, { eventId: "same", ...REVERTED })] });
    assert.deepEqual(await listReservedIds(store, ["same"]), []);
    await commit(store, { events: [event("b", 1, { eventId: "same" })] });
    assert.deepEqual(await listReservedIds(store, ["same"]), ["same ref.b.000001"]);
    assert.equal((await store.read.events({ eventId: "same" }, { limit: 9 })).length, 2);
  }),

  defineCase("a repeated id belongs to the event that was ingested last", async (store) => {
    await commit(store, { events: [event("b", 1, { eventId: "same", createdAt: NOON })] });
    await store.transact({ configuration: "shared", accountIds: ["a"], eventIds: ["same"] }, async (view) => {
      assert.equal((await view.acceptedIds(["same"])).length, 1);
      return { result: undefined, changes: { events: [event("a", 1, { eventId: "same", createdAt: NOON + 9 })] } };
    });
    assert.deepEqual(await listReservedIds(store, ["same"]), ["same ref.a.000001"]);
    await commit(store, { events: [event("a", 1, { eventId: "same", createdAt: NOON + 9, ...REVERTED })] });
    assert.deepEqual(await listReservedIds(store, ["same"]), ["same ref.b.000001"]);
  }),

  defineCase("a deleted event is not listed and releases its id; its usage stays", async (store) => {
    const [first, second] = [
      event("a", 1, { eventId: "same", feature: consumption("f.one", 1, ["e.one"]) }),
      event("a", 2),
    ];
    await commit(store, { events: [first, second], usage: [cell("a", "um.one", TODAY, "2")] });
    const unknown = { referenceId: "ref.unknown", eventId: "unknown" };
    await commit(store, { removedEvents: [first, unknown] });
    assert.deepEqual(await listReservedIds(store, ["same"]), []);
    for (const filter of [{}, { accountId: "a" }]) {
      assert.deepEqual(await store.read.events(filter, { limit: 9 }), [second]);
    }
    for (const filter of [{ eventId: "same" }, { referenceId: first.referenceId }]) {
      assert.deepEqual(await store.read.events(filter, { limit: 9 }), []);
    }
    assert.deepEqual(await store.read.eventsToUndo("a", {}), [second]);
    assert.deepEqual(await listEventsWithOverage(store, TODAY - 1, TODAY + 1), []);
    assert.equal(await store.read.lastSpent("e.one", "a"), undefined);
    const [usageCell] = await store.read.usage(["a"], TODAY, TODAY + 1);
    assert.equal(usageCell?.quantity.toFixed(), "2");
    await commit(store, { events: [event("b", 1, { eventId: "same" })] });
    assert.deepEqual(await listReservedIds(store, ["same"]), ["same ref.b.000001"]);
  }),

  defineCase("if the first of two events with the same id is deleted, the id belongs to the second", async (store) => {
    await commit(store, { events: [event("b", 1, { eventId: "same", createdAt: NOON })] });
    const again = event("a", 1, { eventId: "same", createdAt: NOON + 9 });
    await commit(store, { events: [again] });
    await commit(store, { removedEvents: [event("b", 1, { eventId: "same" })] });
    const scope = { configuration: "shared", accountIds: ["b"], eventIds: ["same"] } as const;
    await store.transact(scope, async (view) => {
      const isFree = (await view.acceptedIds(["same"])).length === 0;
      const third = newEvent(event("b", 3, { eventId: "same", createdAt: NOON + 10 }));
      return { result: undefined, changes: isFree ? { newEvents: [third] } : {} };
    });
    assert.deepEqual(await store.read.events({ eventId: "same" }, { limit: 9 }), [again]);
  }),

  defineCase("a new event with an existing reference id is rejected and replaces nothing", async (store) => {
    const first = event("a", 1);
    await commit(store, { events: [first] });
    const { referenceId } = first;
    const again = newEvent(event("b", 1, { referenceId, eventId: "other" }));
    await assert.rejects(commit(store, { newEvents: [again] }), {
      code: "ERR_TAKEN",
      message: `the reference id "${referenceId}" is taken: the id source returned it twice`,
      details: { resource: "event", id: referenceId },
    });
    assert.deepEqual(await store.read.events({}, { limit: 9 }), [first]);
    assert.deepEqual(await listReservedIds(store, ["other"]), []);
  }),

  defineCase("the event with an id is found, with its account and both times", async (store) => {
    const { eventId, referenceId, accountId, timestamp, createdAt } = FULL;
    await commit(store, { events: [FULL] });
    const acceptedIds = await store.read.acceptedIds([eventId, "other", eventId]);
    assert.deepEqual(acceptedIds, [{ eventId, referenceId, accountId, timestamp, createdAt }]);
  }),

  defineCase("an event replaces the one with its reference id, in every list", async (store) => {
    const changed = event("a", 1, { units: [], customerId: "changed" });
    await commit(store, { events: [event("a", 1), event("a", 2)] });
    await commit(store, { events: [changed] });
    assert.deepEqual(await store.read.events({ accountId: "a" }, { limit: 9 }), [event("a", 2), changed]);
    assert.deepEqual(await store.read.events({}, { limit: 9 }), [event("a", 2), changed]);
    assert.deepEqual(await store.read.eventsToUndo("a", {}), [changed, event("a", 2)]);
  }),

  defineCase("events to undo are sorted by number, not time, without reverted events", async (store) => {
    const createEvent = (number: number, more: Partial<EventRecord> = {}): EventRecord =>
      event("a", number, { timestamp: NOON - number, ...more });
    await commit(store, { events: [createEvent(1), createEvent(2, REVERTED), createEvent(3, FAILED)] });
    await commit(store, { events: [createEvent(5), createEvent(4), event("b", 1)] });
    assert.deepEqual(await listEventsToUndo(store), [1, 3, 4, 5]);
    assert.deepEqual(await listEventsToUndo(store, {}, 2), [1, 3]);
    await commit(store, { events: [createEvent(1, REVERTED)] });
    assert.deepEqual(await listEventsToUndo(store, {}, 2), [3, 4]);
    assert.deepEqual(await listEventsToUndo(store, { accepted: true }), [4, 5]);
    assert.deepEqual(await listEventsToUndo(store, { accepted: false }), [3]);
    assert.deepEqual(await listEventsToUndo(store, { timestamp: { from: NOON - 4, until: NOON - 3 } }), [4]);
    assert.deepEqual(await listEventsToUndo(store, { createdAt: { from: NOON + 4, until: NOON + 6 } }), [4, 5]);
    assert.deepEqual(await listEventsToUndo(store, { eventId: "event.a.5" }), [5]);
    assert.deepEqual(await listEventsToUndo(store, { referenceId: "ref.a.000004" }), [4]);
    assert.deepEqual(await listEventsToUndo(store, { eventId: "event.b.1" }), []);
    assert.deepEqual(await listEventsToUndo(store, { referenceId: "ref.a.000004", status: "INGESTION_FAILED" }), []);
  }),

  defineCase("numbers and times are sorted by value, not as text", async (store) => {
    const createEvent = (number: number, more: Partial<EventRecord> = {}): EventRecord =>
      event("a", number, {
        timestamp: number,
        createdAt: number,
        feature: consumption("f.one", 1, ["e.one"]),
        ...more,
      });
    await commit(store, {
      events: [createEvent(10), createEvent(9), createEvent(100), createEvent(-5, { number: 1000 })],
    });
    assert.deepEqual(await listEventsToUndo(store), [9, 10, 100, 1000]);
    assert.deepEqual(await listEventsToUndo(store, {}, 2), [9, 10]);
    assert.deepEqual(await listEventsWithOverage(store, 0, 1), [9, 10, 100]);
    assert.equal(await store.read.lastSpent("e.one", "a"), 100);
    const listed = await store.read.events({}, { limit: 9 });
    assert.deepEqual(
      listed.map(({ createdAt }) => createdAt),
      [100, 10, 9, -5],
    );
    await commit(store, {
      events: [event("b", 1, { eventId: "event.a.9", createdAt: 11, ...FAILED }), createEvent(9, REVERTED)],
    });
    await commit(store, { events: [createEvent(9)] });
    assert.deepEqual(await listEventsToUndo(store, { createdAt: { from: 9, until: 100 } }), [9, 10]);
  }),

  defineCase("the first events to undo are found within the given days", async (store) => {
    const on = (number: number, day: number, more: Partial<EventRecord> = {}): EventRecord =>
      event("a", number, { timestamp: (TODAY + day) * 86_400_000 + number, ...more });
    await commit(store, { events: [on(1, 2), on(2, 0), on(3, -3), on(4, 0), on(5, -20_000), on(6, 2, REVERTED)] });
    assert.deepEqual(await listEventsToUndo(store, {}, 2), [1, 2]);
    assert.deepEqual(await listEventsToUndo(store, {}, 9), [1, 2, 3, 4, 5]);
    const timestamp = { from: (TODAY - 3) * 86_400_000 + 3, until: TODAY * 86_400_000 + 4 };
    assert.deepEqual(await listEventsToUndo(store, { timestamp }, 9), [2, 3]);
    assert.deepEqual(await listEventsToUndo(store, { timestamp }, 1), [2]);
    assert.deepEqual(
      await listEventsToUndo(store, { timestamp: { from: timestamp.from + 1, until: timestamp.until + 1 } }, 9),
      [2, 4],
    );
    await commit(store, { events: [on(1, 2, REVERTED), on(2, 0, REVERTED)] });
    assert.deepEqual(await listEventsToUndo(store, {}, 1), [3]);
  }),

  defineCase("new events get the next numbers, in their order", async (store) => {
    const addNewEvents = (accountId: string, ...places: readonly number[]): Promise<void> =>
      commit(store, { newEvents: places.map((place) => newEvent(event(accountId, place))) });
    await commit(store, { events: [event("a", 1)] });
    await addNewEvents("a", 9, 2, 5);
    await addNewEvents("b", 1);
    await addNewEvents("a", 3, 8);
    const events = await store.read.eventsToUndo("a", {});
    assert.deepEqual(
      events.map(({ eventId }) => eventId),
      [1, 9, 2, 5, 3, 8].map((place) => `event.a.${place}`),
    );
    const numbers = events.map(({ number }) => number);
    assert.equal(new Set(numbers).size, numbers.length);
    for (const number of numbers)
      assert.ok(Number.isSafeInteger(number) && number >= 1, `${number} is not the number of an event`);
    // A replaced event keeps its number.
    await commit(store, { events: events.map((each) => ({ ...each, customerId: "changed" })) });
    assert.deepEqual(await listEventsToUndo(store), numbers);
  }),

  defineCase("a new event is read with the result of its decision", async (store) => {
    const plain = event("a", 2);
    const { schemaVersion: _, ...unknownSchema } = event("", 0, { customerId: "", ...FAILED });
    // A sent text that is a decimal is stored as that decimal.
    const attributes = FULL.payload.attributes.filter(({ value }) => value !== "12");
    const sent = [{ ...FULL, payload: { ...FULL.payload, attributes } }, plain, unknownSchema];
    await commit(store, { newEvents: sent.map(newEvent) });
    for (const record of sent) {
      const [event] = await store.read.events({ referenceId: record.referenceId }, { limit: 1 });
      assert.deepEqual(event, { ...record, number: event?.number });
    }
  }),

  defineCase("changing an event object after the commit has no effect", async (store) => {
    const row = newEvent(event("a", 1));
    await commit(store, { newEvents: [row] });
    const attributes = row.sent.attributes as { name: string; value: unknown }[];
    attributes.push({ name: "more", value: 1 });
    Object.assign(attributes[0] ?? {}, { value: 99 });
    Object.assign(row.sent.dimensions ?? {}, { region: "moon" });
    assert.deepEqual((await store.read.events({}, { limit: 1 }))[0]?.payload, event("a", 1).payload);
  }),

  defineCase("a reference id can be used by only one new event", async (store) => {
    await commit(store, { newEvents: [newEvent(event("a", 1))] });
    const again = { ...newEvent(event("a", 2)), referenceId: event("a", 1).referenceId };
    await assert.rejects(commit(store, { newEvents: [again], usage: [cell("a", "m", TODAY, "1")] }));
    assert.equal((await store.read.events({}, { limit: 9 })).length, 1);
    assert.deepEqual(await store.read.usage(["a"], TODAY, TODAY + 1), []);
  }),

  defineCase(
    "events with overage are the accepted, not reverted events of the given days, sorted by number",
    async (store) => {
      const on = (number: number, day: number, more: Partial<EventRecord> = {}): EventRecord =>
        event("a", number, { timestamp: day * 86_400_000, feature: consumption("f.one", 2), ...more });
      await commit(store, {
        events: [
          on(1, TODAY + 1),
          on(2, TODAY),
          on(3, TODAY + 2),
          on(4, TODAY, { feature: consumption("f.one", 0, ["e.one"]) }),
          on(5, TODAY, { feature: consumption("f.two", 2) }),
          on(6, TODAY, REVERTED),
          on(7, TODAY, FAILED),
          on(8, TODAY + 2, { timestamp: (TODAY + 2) * 86_400_000 - 1 }),
          event("b", 1, { feature: consumption("f.one", 2), timestamp: TODAY * 86_400_000 }),
        ],
      });
      assert.deepEqual(await listEventsWithOverage(store, TODAY, TODAY + 2), [1, 2, 8]);
      assert.deepEqual(await listEventsWithOverage(store, TODAY + 1, TODAY + 3), [1, 3, 8]);
      const page = await store.read.eventsWithOverage("a", "f.one", TODAY, TODAY + 3, { limit: 2, afterNumber: 1 });
      assert.deepEqual(page, [on(2, TODAY), on(3, TODAY + 2)]);
      await commit(store, {
        events: [on(1, TODAY + 1, { feature: consumption("f.one", 0, ["e.one"]) }), on(2, TODAY, REVERTED)],
      });
      assert.deepEqual(await listEventsWithOverage(store, TODAY, TODAY + 3), [3, 8]);
    },
  ),

  defineCase("an entry was last used by the latest event that is not reverted", async (store) => {
    const spendingEvent = (number: number, timestamp: number, more: Partial<EventRecord> = {}): EventRecord =>
      event("a", number, { timestamp, feature: consumption("f.one", 0, ["e.zero", "e.one"]), ...more });
    await commit(store, {
      events: [
        spendingEvent(1, NOON + 5),
        spendingEvent(2, NOON + 3),
        spendingEvent(3, NOON + 7, REVERTED),
        spendingEvent(4, NOON + 8, FAILED),
        spendingEvent(5, NOON + 9, { feature: consumption("f.one", 0, ["e.two"]) }),
        event("a", 6, { timestamp: NOON + 10 }),
      ],
    });
    assert.equal(await store.read.lastSpent("e.one", "a"), NOON + 5);
    assert.equal(await store.read.lastSpent("e.two", "a"), NOON + 9);
    assert.equal(await store.read.lastSpent("e.one", "b"), undefined);
    await commit(store, { events: [spendingEvent(1, NOON + 5, REVERTED)] });
    assert.equal(await store.read.lastSpent("e.one", "a"), NOON + 3);
  }),
];
