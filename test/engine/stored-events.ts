/** Engines with the same book over separate stores, events for them, and the stored state as text. */
import fc from "fast-check";

import { createEngine, type Engine } from "../../src/engine/engine.ts";
import type { UndoFilter } from "../../src/ledger/events/undo.ts";
import { formatDecimal } from "../../src/numbers/decimal.ts";
import type { Store } from "../../src/store/store.ts";

const START = Date.parse("2024-06-01T00:00:00Z");
const NOW = Date.parse("2024-06-20T12:00:00Z");
export const DAY = 86_400_000;

const count = { var: "attribute.count" };
const DOUBLE_RULE = { "*": [count, 2] };
const meterOf = (id: string, sum: object, more: object = { schema: "call" }): object => ({ id, sum, ...more });
const book: object = {
  eventSchemas: [
    { name: "call", attributes: ["count", "__proto__"], dimensions: ["region"] },
    { name: "ping" },
    { name: "token", attributes: ["count"] },
    { name: "rich", attributes: ["count"], computed: { double: DOUBLE_RULE } },
  ],
  usageMeters: [
    meterOf("sum", count, { schema: "call", where: { region: { not: "test" } } }),
    meterOf("long", { "*": [count, 1_000_001, { "/": [1, 8] }] }),
    meterOf("cents", { "/": [count, 100] }),
    meterOf("rich", { var: "attribute.double" }, { schema: "rich" }),
  ],
  features: [{ id: "tokens", name: "Tokens", schemaAssociations: [{ schemaName: "token", attributeName: "count" }] }],
  pricePlans: [
    {
      id: "plan",
      cycle: "MONTHLY",
      entitlements: [{ feature: "tokens", quantity: 20, for: "P1M", rate: 0.01 }],
      overages: [{ feature: "tokens", max: 30, rate: 0.01 }],
    },
  ],
  accounts: [
    { id: "a", name: "Account A", customerId: "c", aliases: ["alias.of.a"], plan: "plan", from: "2024-06-10" },
    { id: "b", name: "Account B", customerId: "c" },
  ],
  customers: [{ id: "c", name: "Customer" }],
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
  { weight: 3, arbitrary: text.map((region) => ({ region })) },
  fc
    .dictionary(fc.oneof(fc.constantFrom("region", "__proto__", "7", "other"), text), fc.oneof(text, value), {
      maxKeys: 3,
    })
    .map((values) => ({ ...values })),
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
  { minLength: 1, maxLength: 4 },
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
  await engine.load(book);
  now = NOW;
  return { engine, store };
}

/** Events, each with its rank among its account's instead of its number, which is assigned by the store. */
async function listRankedEvents({ store }: OpenStore): Promise<readonly unknown[]> {
  const events = (await store.read.events({}, { limit: 1000 })).toSorted((a, b) => a.number - b.number);
  const ranks = new Map<string, number>();
  const withRanks = events.map((each) => {
    ranks.set(each.accountId, (ranks.get(each.accountId) ?? 0) + 1);
    return { ...each, number: ranks.get(each.accountId) };
  });
  return withRanks.toSorted((a, b) => (a.referenceId < b.referenceId ? -1 : 1));
}

/** The answer of an undo; the store assigns the numbers of events. */
export async function undoneBy({ engine }: OpenStore, filter: UndoFilter): Promise<readonly unknown[]> {
  const undone = await engine.undo(filter);
  return undone.map((each) => ({ ...each, event: { ...each.event, number: 0 } }));
}

/** The complete state of a store, as text. */
export async function readStoreState(source: OpenStore): Promise<object> {
  const { read } = source.store;
  const usage = await read.usage(["a", "b"], -1_000_000, 1_000_000);
  const acceptedRows = await read.acceptedIds(Array.from({ length: 31 }, (_, place) => `e${place}`));
  return {
    events: await listRankedEvents(source),
    usage: usage
      .map((cell) => `${cell.accountId} ${cell.meterOrFeatureId} ${cell.day} ${formatDecimal(cell.quantity)}`)
      .toSorted(),
    overage: await read.overage(["a", "b"], -1_000_000, 1_000_000),
    entries: await read.entries(["a", "b"]),
    acceptedIds: acceptedRows.toSorted((a, b) => (a.eventId < b.eventId ? -1 : 1)),
  };
}
