/** Events in columns come to the same as events in records: what is answered, kept, counted and undone. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { createEngine, type Engine } from "../../src/engine/engine.ts";
import type { EventRecord } from "../../src/ledger/records.ts";
import { textOf } from "../../src/numbers/decimal.ts";
import { type MemoryStore, memoryStore } from "../../src/store/memory.ts";

const START = Date.parse("2024-06-01T00:00:00Z");
const NOW = Date.parse("2024-06-20T12:00:00Z");
const DAY = 86_400_000;

const counted = { var: "attribute.count" };
const unlessTest = { "!=": [{ var: "dimension.region" }, "test"] };
const perUnit = {
  ratePlan: { pricingModel: "TIERED", slabs: [{ order: 1, startAfter: 0, priceType: "PER_UNIT" }] },
  rateValues: [{ currency: "USD", slabRates: [{ order: 1, rate: 0.01 }] }],
};
const book = {
  eventSchemas: [
    { name: "call", attributes: [{ name: "count" }, { name: "__proto__" }], dimensions: [{ name: "region" }] },
    { name: "ping", attributes: [] },
    { name: "token", attributes: [{ name: "count" }] },
    {
      name: "rich",
      attributes: [{ name: "count" }],
      enrichments: {
        fields: [
          {
            name: "double",
            type: "ATTRIBUTE",
            order: 1,
            enrichmentType: "JSON_LOGIC",
            value: { "*": [counted, 2] },
          },
        ],
      },
    },
  ],
  usageMeters: [
    {
      id: "um.sum",
      name: "sum",
      eventSchemaName: "call",
      computations: [{ order: 1, matcher: unlessTest, computation: counted }],
    },
    {
      id: "um.long",
      name: "long",
      eventSchemaName: "call",
      computations: [{ order: 1, computation: { "*": [counted, 1_000_001, { "/": [1, 8] }] } }],
    },
    {
      id: "um.cents",
      name: "cents",
      eventSchemaName: "call",
      computations: [{ order: 1, computation: { "/": [counted, 100] } }],
    },
    {
      id: "um.rich",
      name: "rich",
      eventSchemaName: "rich",
      computations: [{ order: 1, computation: { var: "attribute.double" } }],
    },
  ].map((meter) => ({ ...meter, aggregation: "SUM" })),
  features: [{ id: "f.tokens", name: "Tokens", schemaAssociations: [{ schemaName: "token", attributeName: "count" }] }],
  pricePlans: [
    {
      id: "pp",
      name: "Plan",
      status: "ACTIVE",
      pricePlanDetails: {
        supportedCurrencies: ["USD"],
        pricingCycleConfig: { interval: "MONTHLY", startOffset: { dayOffset: "1" } },
        billingEntitlementRateCards: [
          { featureId: "f.tokens", featureConfigs: [{ featureCreditLimit: 20, effectiveUntil: "P1M" }], ...perUnit },
        ],
        entitlementOverageRateCards: [{ featureId: "f.tokens", maxQuantity: 30, ...perUnit }],
      },
    },
  ],
  customers: [{ id: "c", name: "Customer" }],
  accounts: [
    {
      id: "a",
      name: "Account A",
      customerId: "c",
      aliases: ["alias.of.a"],
      pricePlans: [{ pricePlanId: "pp", effectiveFrom: "2024-06-10" }],
    },
    { id: "b", name: "Account B", customerId: "c" },
  ],
};

const text = fc.oneof(
  fc.constantFrom("test", "", "__proto__", "half \ud83d", "é 漢 🧾", "#1", "1.50", "12", "toString"),
  fc.string({ unit: "binary", maxLength: 8 }),
);
const value = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 0, max: 40 }) },
  fc.constantFrom(0.1, -0, 1e-7, 0.1 + 0.2, 2 ** 53 - 1, 1e15 + 0.5, 123_456.789, Number.NaN, 1e300, -3.5, 5e-324),
  fc.constantFrom("7", "1.50", "12345678901234567890.12345678901234567890", "1e3", "no number", ""),
);
const attribute = fc.record(
  { name: fc.constantFrom("count", "__proto__", "other"), value, unit: fc.constantFrom("ms", "", null) },
  { requiredKeys: ["name", "value"] },
);
const both = fc.tuple(value, value).map(([count, other]) => [
  { name: "count", value: count },
  { name: "__proto__", value: other },
]);
const dimensions = fc.oneof(
  { weight: 3, arbitrary: text.map((region): object => ({ region })) },
  fc
    .dictionary(fc.oneof(fc.constantFrom("region", "__proto__", "7", "other"), text), fc.oneof(text, value), {
      maxKeys: 3,
    })
    .map((given): object => Object.fromEntries(Object.entries(given))),
);
const event = fc.record(
  {
    schemaName: fc.constantFrom("call", "call", "call", "ping", "token", "rich", "unknown"),
    id: fc.oneof(
      fc.integer({ min: 0, max: 30 }).map((place) => `e${place}`),
      text,
    ),
    accountId: fc.constantFrom("a", "a", "b", "alias.of.a", "nobody"),
    timestamp: fc.integer({ min: 0, max: 21 * DAY }).map((ms) => new Date(START + ms).toISOString()),
    attributes: fc.oneof(
      { weight: 3, arbitrary: both },
      fc.array(attribute, { maxLength: 3 }),
      fc.constantFrom(null, undefined),
    ),
    dimensions: fc.oneof({ weight: 5, arbitrary: dimensions }, fc.constantFrom(null, undefined)),
    more: fc.constant("ignored"),
  },
  { requiredKeys: ["schemaName", "id", "accountId", "timestamp", "attributes", "dimensions"] },
);
const batches = fc.array(
  fc.array(fc.oneof({ weight: 20, arbitrary: event }, fc.anything()), { minLength: 8, maxLength: 25 }),
  {
    minLength: 1,
    maxLength: 4,
  },
);

interface Opened {
  readonly engine: Engine;
  readonly store: MemoryStore;
}

/** An engine with the book, whose ids are numbered. */
async function open(store: MemoryStore): Promise<Opened> {
  let now = START;
  let made = 0;
  const engine = createEngine({
    store,
    clock: () => now,
    ids: (prefix) => `${prefix}.${String(++made).padStart(6, "0")}`,
  });
  await engine.load(book);
  now = NOW;
  return { engine, store };
}

/** All events, each with its rank among its account's instead of its number, which is the store's own. */
async function eventsOf({ store }: Opened): Promise<readonly unknown[]> {
  const events = [...(await store.read.events({}, { limit: 1000 }))].sort((a, b) => a.number - b.number);
  const ranks = new Map<string, number>();
  const ranked = events.map((each) => {
    const number = (ranks.get(each.accountId) ?? 0) + 1;
    ranks.set(each.accountId, number);
    return { ...each, number };
  });
  return ranked.toSorted((a, b) => (a.referenceId < b.referenceId ? -1 : 1));
}

/** What an undo answers; the numbers of events are the store's own. */
async function undoneBy({ engine }: Opened, filter: Readonly<Record<string, unknown>>): Promise<readonly unknown[]> {
  const undone = await engine.undo(filter);
  return undone.map((each) => ({ ...each, event: { ...each.event, number: 0 } }));
}

async function usageOf({ store }: Opened): Promise<readonly string[]> {
  const cells = await store.read.usage(["a", "b"], -1_000_000, 1_000_000);
  return cells.map((cell) => `${cell.accountId} ${cell.itemId} ${cell.day} ${textOf(cell.quantity)}`).toSorted();
}

/** Everything of a store, in words. */
async function stateOf(opened: Opened): Promise<object> {
  const { read } = opened.store;
  const held = await read.heldIds(Array.from({ length: 31 }, (_, place) => `e${place}`));
  return {
    events: await eventsOf(opened),
    usage: await usageOf(opened),
    overage: await read.overage(["a", "b"], -1_000_000, 1_000_000),
    entries: await read.entries(["a", "b"]),
    held: held.toSorted((a, b) => (a.eventId < b.eventId ? -1 : 1)),
  };
}

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
