/** Engines with the same book over separate stores, events for them, and the stored state as text. */
import fc from "fast-check";

import type { BookInput } from "../../src/book/resources/book.ts";
import { createEngine, type Engine } from "../../src/engine/engine.ts";
import type { UndoFilter } from "../../src/ledger/events/undo.ts";
import { formatDecimal } from "../../src/numbers/decimal.ts";
import type { Store } from "../../src/store/store.ts";
import { perUnit } from "../book/builder.ts";

const START = Date.parse("2024-06-01T00:00:00Z");
const NOW = Date.parse("2024-06-20T12:00:00Z");
export const DAY = 86_400_000;

const countRule = { var: "attribute.count" };
const unlessTest = { "!=": [{ var: "dimension.region" }, "test"] };
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
            value: { "*": [countRule, 2] },
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
      computations: [{ order: 1, matcher: unlessTest, computation: countRule }],
    },
    {
      id: "um.long",
      name: "long",
      eventSchemaName: "call",
      computations: [{ order: 1, computation: { "*": [countRule, 1_000_001, { "/": [1, 8] }] } }],
    },
    {
      id: "um.cents",
      name: "cents",
      eventSchemaName: "call",
      computations: [{ order: 1, computation: { "/": [countRule, 100] } }],
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
          {
            featureId: "f.tokens",
            featureConfigs: [{ featureCreditLimit: 20, effectiveUntil: "P1M" }],
            ...perUnit(0.01),
          },
        ],
        entitlementOverageRateCards: [{ featureId: "f.tokens", maxQuantity: 30, ...perUnit(0.01) }],
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
    .map((values): object => Object.fromEntries(Object.entries(values))),
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
/** Batches of events, mostly ordinary; some are not events at all. */
export const batches: fc.Arbitrary<readonly (readonly unknown[])[]> = fc.array(
  fc.array(fc.oneof({ weight: 20, arbitrary: event }, fc.anything()), { minLength: 8, maxLength: 25 }),
  {
    minLength: 1,
    maxLength: 4,
  },
);

/** An engine and its store. */
export interface OpenStore<StoreType extends Store = Store> {
  readonly engine: Engine;
  readonly store: StoreType;
}

/** An engine with the book and numbered ids. */
export async function openStore<StoreType extends Store>(store: StoreType): Promise<OpenStore<StoreType>> {
  let now = START;
  let idCount = 0;
  const engine = createEngine({
    store,
    clock: () => now,
    ids: (prefix) => `${prefix}.${String(++idCount).padStart(6, "0")}`,
  });
  await engine.load(book as BookInput);
  now = NOW;
  return { engine, store };
}

/** All events, each with its rank among its account's instead of its number, which is assigned by the store. */
async function listRankedEvents({ store }: OpenStore): Promise<readonly unknown[]> {
  const events = (await store.read.events({}, { limit: 1000 })).toSorted((a, b) => a.number - b.number);
  const ranks = new Map<string, number>();
  const withRanks = events.map((each) => {
    const number = (ranks.get(each.accountId) ?? 0) + 1;
    ranks.set(each.accountId, number);
    return { ...each, number };
  });
  return withRanks.toSorted((a, b) => (a.referenceId < b.referenceId ? -1 : 1));
}

/** The answer of an undo; the store assigns the numbers of events. */
export async function undoneBy({ engine }: OpenStore, filter: UndoFilter): Promise<readonly unknown[]> {
  const undone = await engine.undo(filter);
  return undone.map((each) => ({ ...each, event: { ...each.event, number: 0 } }));
}

async function listUsageCells({ store }: OpenStore): Promise<readonly string[]> {
  const cells = await store.read.usage(["a", "b"], -1_000_000, 1_000_000);
  return cells
    .map((cell) => `${cell.accountId} ${cell.meterOrFeatureId} ${cell.day} ${formatDecimal(cell.quantity)}`)
    .toSorted();
}

/** The complete state of a store, as text. */
export async function readStoreState(source: OpenStore): Promise<object> {
  const { read } = source.store;
  const acceptedRows = await read.acceptedIds(Array.from({ length: 31 }, (_, place) => `e${place}`));
  return {
    events: await listRankedEvents(source),
    usage: await listUsageCells(source),
    overage: await read.overage(["a", "b"], -1_000_000, 1_000_000),
    entries: await read.entries(["a", "b"]),
    acceptedIds: acceptedRows.toSorted((a, b) => (a.eventId < b.eventId ? -1 : 1)),
  };
}
