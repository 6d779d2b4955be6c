/**
 * Thousands of feature credit entries of one account: the work of a decision is linear in their number, not quadratic.
 */
import { expect, test } from "vitest";

import { toInstant } from "../../src/calendar/instant.ts";
import { type FeatureEntry, restoreAllocations } from "../../src/credits/feature-credits.ts";
import type { EntrySnapshot } from "../../src/engine/billing/entitlements.ts";
import { OPEN_ENTRIES_MAX } from "../../src/ledger/commands/entries.ts";
import { readOverageToMove } from "../../src/ledger/reads.ts";
import type { EntryRecord } from "../../src/ledger/records.ts";
import { parseDecimal } from "../../src/numbers/decimal.ts";
import type { Store } from "../../src/store/store.ts";
import { storeCountingEvents, storeWithReads } from "../support/stores.ts";
import { type EventLedger, NOON, openEvents, requestOf, tokenBook, tokenOverage } from "./event-harness.ts";

/** A second of April for each entry, so that no two are in force for the same time. */
const endOf = (place: number): string => new Date(Date.parse("2024-04-01T00:00:00Z") + place * 1000).toISOString();

/** An account with this many entries of one token, each with a different end. */
async function withEntries(count: number, store?: Store): Promise<EventLedger> {
  const ledger = await openEvents(tokenBook(tokenOverage()), store && { store });
  for (let place = 0; place < count; place++) await ledger.grant(1, "2024-03-01", endOf(place), NOON);
  return ledger;
}

/** An object of which each read of a field is counted. */
const watched = <Item extends object>(item: Item, field: keyof Item, onRead: () => void): Item => {
  const value = item[field];
  const get = (): unknown => (onRead(), value);
  return Object.defineProperty({ ...item }, field, { enumerable: true, get });
};

test.each([20, 200])("S11.2 an event that consumes all of %i entries reads each a few times", async (count) => {
  let looks = 0;
  const watch = (entry: EntryRecord): EntryRecord => watched(entry, "id", () => (looks += 1));
  const store = storeWithReads((view) => ({ entries: async (...of) => (await view.entries(...of)).map(watch) }));
  const ledger = await withEntries(count, store);
  looks = 0;
  expect(await ledger.statuses([requestOf("e1", count, NOON)], NOON)).toEqual(["COMPLETED_EVENT_METERED"]);
  expect(looks).toBeLessThan(20 * count);
  expect(await ledger.totals()).toMatchObject({ balance: "0", overage: "0" });
});

test.each([20, 200])(
  "S11.5 units that an event took from %i entries are returned with a few reads of each",
  (count) => {
    let looks = 0;
    const places = Array.from({ length: count }, (_, place) => place);
    const bounds = { featureId: "f", granted: 1, balance: 0, effectiveFrom: 0, createdAt: 0, voided: false };
    const entries = places.map((place): FeatureEntry => {
      const entry = { ...bounds, id: `fce.${place}`, effectiveUntil: place + 1 };
      return watched(entry, "id", () => (looks += 1));
    });
    const draws = places.map((place) => ({ entryId: `fce.${place}`, quantity: 1 }));
    expect(restoreAllocations(entries, draws).every(({ balance }) => balance === 1)).toBe(true);
    expect(looks).toBeLessThan(5 * count);
  },
);

test.each([20, 200])(
  "S11.5 events whose overage may move to %i entries are found with a few reads of each",
  async (count) => {
    const { store } = await withEntries(0);
    let looks = 0;
    const rooms = Array.from({ length: count }, (_, place) => {
      const room = { featureId: "f.tokens", effectiveFrom: 0, effectiveUntil: place + 1, quantity: parseDecimal(1) };
      return watched(room, "featureId", () => (looks += 1));
    });
    expect(await readOverageToMove(store.read, "a", rooms, [{ from: 0, until: count }])).toEqual([]);
    expect(looks).toBeLessThan(5 * count);
  },
);

test("S11.5 overage that moves to many entries is read once, and the earliest moves", async () => {
  const { store, eventsRead } = storeCountingEvents();
  const ledger = await withEntries(40, store);
  await ledger.ingest([requestOf("e0", 40, NOON)], NOON);
  const batch = Array.from({ length: 150 }, (_, place) => requestOf(`o${place}`, 1, NOON));
  await ledger.ingest(batch, NOON);
  const before = eventsRead();
  await ledger.undo({ account: "a", eventId: "e0" }, NOON);
  // The event, and a page of those with overage: 40 of these 100 move.
  expect(eventsRead() - before).toBe(101);
  expect(await ledger.totals()).toMatchObject({ balance: "0", overage: "110", consumed: "150" });
  const freeEvents = (await ledger.events()).filter(({ feature }) => feature?.overage.isZero() === true);
  const expected = ["e0", ...batch.slice(0, 40).map((_, place) => `o${place}`)];
  expect(freeEvents.map(({ eventId }) => eventId)).toEqual(expected);
});

test("S11.8 an account has at most 1,000 purchased entries that can still be consumed", async () => {
  const ledger = await withEntries(1);
  const [entry] = await ledger.entries();
  if (entry === undefined) throw new TypeError("expected an account with an entry");
  const more = Array.from({ length: OPEN_ENTRIES_MAX - 2 }, (_, place) => ({ ...entry, id: `fce.more${place}` }));
  const ended = { ...entry, id: "fce.ended", effectiveUntil: toInstant(NOON) };
  const scope = { configuration: "shared", accountIds: ["a"], eventIds: [] } as const;
  await ledger.store.transact(scope, async () => ({ result: undefined, changes: { entries: [ended, ...more] } }));
  const { entries } = ledger.at(NOON);
  const buy = (change: object = {}): Promise<EntrySnapshot> => {
    const bounds = { effectiveFrom: "2024-03-01T00:00:00Z", effectiveUntil: endOf(0) };
    return entries.grant({ accountId: "a", featureId: "f.tokens" }, { granted: 5, ...bounds, ...change });
  };
  // An entry of 0 does not count; the thousandth does.
  const empty = await buy({ granted: 0 });
  const last = await buy({ idempotencyKey: "k" });
  const refusal = "it has 1000 open purchased entries; the maximum is 1000";
  await expect(buy()).rejects.toThrow(refusal);
  expect(await buy({ idempotencyKey: "k" })).toEqual(last);
  await expect(ledger.patch(empty.id, { granted: 1 }, NOON)).rejects.toThrow(refusal);
  await expect(ledger.patch(ended.id, { until: endOf(1) }, NOON)).rejects.toThrow(refusal);
  expect((await ledger.patch(last.id, { granted: 6 }, NOON)).balance.toFixed()).toBe("6");
  await ledger.voidEntry(last.id, NOON);
  expect((await buy()).balance.toFixed()).toBe("5");
});
