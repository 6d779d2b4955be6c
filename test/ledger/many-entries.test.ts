/**
 * Thousands of feature credit entries of one account: the work of a decision is linear in their number, not quadratic.
 */
import { expect, test } from "vitest";

import { toInstant } from "../../src/calendar/instant.ts";
import { type FeatureEntry, restoreAllocations } from "../../src/credits/feature-credits.ts";
import { createWorkspace } from "../../src/ledger/account-state.ts";
import { grantEntry, OPEN_ENTRIES_MAX, patchEntry, voidEntry } from "../../src/ledger/commands/entries.ts";
import { findIngestNeeds, readForIngest } from "../../src/ledger/events/ingest-reads.ts";
import { decideIngest } from "../../src/ledger/events/ingest.ts";
import { type LedgerReads, readOverageToMove } from "../../src/ledger/reads.ts";
import type { EntryRecord } from "../../src/ledger/records.ts";
import type { AccountParts } from "../../src/ledger/working-records.ts";
import { parseDecimal } from "../../src/numbers/decimal.ts";
import { runToCompletion } from "../../src/numbers/steps.ts";
import { tokenBook, type EventLedger, NOON, onPlan, openEvents, tokenOverage, requestOf } from "./event-harness.ts";
import { readBatch } from "./read-batch.ts";

const MARCH_1 = "2024-03-01T00:00:00Z";
/** A second of April for each entry, so that no two are in force for the same time. */
const endOf = (place: number): string => new Date(Date.parse("2024-04-01T00:00:00Z") + place * 1000).toISOString();

/** An account with this many entries of one token, each with a different end. */
async function withEntries(count: number): Promise<EventLedger> {
  const ledger = openEvents(tokenBook(tokenOverage()), [onPlan("a")]);
  for (let place = 0; place < count; place++) await ledger.grant(1, MARCH_1, endOf(place), NOON);
  return ledger;
}

/** The reads of a ledger, counting how often the ids of entries are read. */
function counting({ view }: EventLedger): { readonly countedReads: LedgerReads; readonly looks: () => number } {
  let looks = 0;
  const watchId = ({ id, ...entry }: EntryRecord): EntryRecord =>
    Object.defineProperty({ ...entry, id }, "id", { enumerable: true, get: () => (looks++, id) });
  return {
    countedReads: {
      ...view,
      entries: async (...args) => (await view.entries(...args)).map(watchId),
    },
    looks: () => looks,
  };
}

test.each([20, 200])("S11.2 an event that consumes all of %i entries reads each a few times", async (count) => {
  const ledger = await withEntries(count);
  const { countedReads, looks } = counting(ledger);
  const batch = readBatch([requestOf("e1", count, NOON)]);
  const read = await readForIngest(
    ledger.catalog,
    countedReads,
    findIngestNeeds(ledger.catalog, batch),
    new Map(),
    toInstant(NOON),
  );
  const { changes } = runToCompletion(
    decideIngest(ledger.catalog, read, batch, toInstant(NOON), (prefix) => `${prefix}.x`),
  );
  expect(changes.entries).toHaveLength(count);
  expect(changes.entries?.every(({ balance }) => balance.isZero())).toBe(true);
  expect(looks()).toBeLessThan(20 * count);
});

test.each([20, 200])(
  "S11.5 units that an event took from %i entries are returned with a few reads of each",
  (count) => {
    let looks = 0;
    const places = Array.from({ length: count }, (_, place) => place);
    const bounds = { featureId: "f", granted: 1, balance: 0, effectiveFrom: 0, createdAt: 0, voided: false };
    const entries = places.map((place): FeatureEntry => {
      const get = (): string => {
        looks++;
        return `fce.${place}`;
      };
      return Object.defineProperty({ ...bounds, id: "", effectiveUntil: place + 1 }, "id", { get, enumerable: true });
    });
    const draws = places.map((place) => ({ entryId: `fce.${place}`, quantity: 1 }));
    expect(restoreAllocations(entries, draws).every(({ balance }) => balance === 1)).toBe(true);
    expect(looks).toBeLessThan(5 * count);
  },
);

test.each([20, 200])(
  "S11.5 events whose overage may move to %i entries are found with a few reads of each",
  async (count) => {
    const { view } = await withEntries(0);
    let looks = 0;
    const get = (): string => {
      looks++;
      return "f.tokens";
    };
    const rooms = Array.from({ length: count }, (_, place) => {
      const room = { featureId: "f.tokens", effectiveFrom: 0, effectiveUntil: place + 1, quantity: parseDecimal(1) };
      return Object.defineProperty(room, "featureId", { get });
    });
    expect(await readOverageToMove(view, "a", rooms, [{ from: 0, until: count }])).toEqual([]);
    expect(looks).toBeLessThan(5 * count);
  },
);

test("S11.5 overage that moves to many entries is read once, and the earliest moves", async () => {
  const ledger = await withEntries(40);
  await ledger.ingest([requestOf("e0", 40, NOON)], NOON);
  const batch = Array.from({ length: 150 }, (_, place) => requestOf(`o${place}`, 1, NOON));
  await ledger.ingest(batch, NOON);
  const before = ledger.eventsRead();
  await ledger.undo({ account: "a", eventId: "e0" }, NOON);
  // The event, and a page of those with overage: 40 of these 100 move.
  expect(ledger.eventsRead() - before).toBe(101);
  expect(ledger.totals()).toMatchObject({ balance: "0", overage: "110", consumed: "150" });
  const freeEvents = ledger.events().filter(({ feature }) => feature?.overage.isZero() === true);
  expect(freeEvents.map(({ eventId }) => eventId)).toEqual([
    "e0",
    ...batch.slice(0, 40).map((_, place) => `o${place}`),
  ]);
});

test("S11.8 an account has at most 1,000 purchased entries that can still be consumed", async () => {
  const ledger = await withEntries(1);
  const [entry] = ledger.entries();
  const [record] = ledger.records();
  if (record === undefined || entry === undefined) throw new TypeError("expected an account with an entry");
  const more = Array.from({ length: OPEN_ENTRIES_MAX - 2 }, (_, place) => ({ ...entry, id: `fce.more${place}` }));
  const none = { credits: [], invoices: [], usage: [], overage: [], events: [] };
  const endedEntry = { ...entry, id: "fce.ended", effectiveUntil: toInstant(NOON) };
  const parts: AccountParts = { record, ...none, entries: [endedEntry, entry, ...more] };
  const work = createWorkspace(ledger.catalog, [parts]).account("a");
  const request = {
    featureId: "f.tokens",
    granted: parseDecimal(5),
    effectiveFrom: toInstant(MARCH_1),
    effectiveUntil: toInstant(endOf(0)),
  };
  let idCount = 0;
  const buy = (change: object = {}): EntryRecord =>
    grantEntry(ledger.catalog, work, { ...request, ...change }, toInstant(NOON), () => `fce.new${++idCount}`);
  // An entry of 0 does not count; the thousandth does.
  const empty = buy({ granted: parseDecimal(0) });
  const last = buy({ idempotencyKey: "k" });
  const refusal = "it has 1000 open purchased entries; the maximum is 1000";
  expect(() => buy()).toThrow(refusal);
  expect(buy({ idempotencyKey: "k" })).toEqual(last);
  const change = (entryId: string, to: object): EntryRecord =>
    patchEntry(ledger.catalog, work, { entryId, lastSpent: undefined }, to, toInstant(NOON));
  expect(() => change(empty.id, { granted: parseDecimal(1) })).toThrow(refusal);
  expect(() => change(endedEntry.id, { effectiveUntil: toInstant(endOf(1)) })).toThrow(refusal);
  expect(change(last.id, { granted: parseDecimal(6) }).balance.toFixed()).toBe("6");
  voidEntry(ledger.catalog, work, last.id, toInstant(NOON));
  expect(buy().balance.toFixed()).toBe("5");
});
