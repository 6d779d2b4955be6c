/** Meters that keep usage by value (S19) in memory and in PostgreSQL: limits, laws, and writers that race. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";

import type { ShortBookInput } from "../../src/book/resources/book.ts";
import { toInstant } from "../../src/calendar/instant.ts";
import { createEngine, type Engine } from "../../src/engine/engine.ts";
import type { UsageDelta } from "../../src/ledger/records.ts";
import type { EventInput } from "../../src/metering/event-envelope.ts";
import { add, type Decimal, ZERO } from "../../src/numbers/decimal.ts";
import { commit } from "../../src/store/conformance/case.ts";
import { memoryStore } from "../../src/store/memory/memory.ts";
import { postgresStore } from "../../src/store/postgres/postgres.ts";
import type { Store } from "../../src/store/store.ts";
import { pgliteDatabase, privateDatabase } from "./test-databases.ts";

const database = privateDatabase();
const pglite = pgliteDatabase();
let schemas = 0;

const nextSchema = (): { readonly schema: string } => ({ schema: `keyed ${schemas++}` });
const STORES: readonly (readonly [name: string, open: () => Promise<Store>])[] = [
  ["memory", async () => memoryStore()],
  ["PostgreSQL", () => postgresStore(database.pool, nextSchema())],
  ["PGlite, with one connection", () => postgresStore(pglite.client, nextSchema())],
];

const METERS = [
  { id: "count", count: true },
  { id: "users", unique: "user" },
  { id: "max", max: "value" },
  { id: "min", min: "value" },
  { id: "latest", latest: "value" },
  { id: "level", level: "value" },
  { id: "change", change: "value" },
  { id: "daily-max", max: "value", daily: true },
  { id: "daily-users", unique: "user", daily: true },
  { id: "daily-level", level: "value", daily: true },
] as const;

/** The runs of a law; each has its own accounts. */
const RUNS = 40;

/** The plans of the accounts of a run: all October, in two pieces, and on one day. */
const PLANS = {
  whole: [{ plan: "p", from: "2026-10-01" }],
  sorted: [{ plan: "p", from: "2026-10-01" }],
  pieces: [
    { plan: "p", from: "2026-10-01", until: "2026-10-16" },
    { plan: "p", from: "2026-10-16" },
  ],
  day: [{ plan: "p", from: "2026-10-05", until: "2026-10-06" }],
};

const BOOK: ShortBookInput = {
  organization: { id: "acme" },
  eventSchemas: [{ name: "sample", attributes: ["value"], dimensions: ["user"] }],
  usageMeters: METERS.map((meter) => ({ schema: "sample", ...meter })),
  pricePlans: [
    {
      id: "p",
      cycle: { interval: "MONTHLY", gracePeriod: 60 },
      usage: METERS.map(({ id }) => ({ meter: id, rate: 1 })),
    },
  ],
  accounts: Array.from({ length: RUNS }, (_, run) =>
    Object.entries(PLANS).map(([name, plans]) => ({ id: accountOf(name, run), plans })),
  ).flat(),
};

function accountOf(name: string, run: number): string {
  return `${name}.${run}`;
}

/** An engine on 2 November, in the grace period of October. */
async function openEngine(store: Store): Promise<Engine> {
  let now = toInstant("2026-10-01");
  const engine = createEngine({ store, clock: () => now });
  await engine.load(BOOK);
  now = toInstant("2026-11-02");
  return engine;
}

function sample(id: string, user: string, more: Partial<EventInput> = {}): EventInput {
  const event = { schemaName: "sample", accountId: "whole.0", timestamp: "2026-10-05T10:00:00Z" };
  return { ...event, id, attributes: { value: 5 }, dimensions: { user }, ...more };
}

const DAY = Math.floor(toInstant("2026-10-05") / 86_400_000);

/** Adds usage of 5 October, as events would. */
async function addUsage(store: Store, usage: readonly Omit<UsageDelta, "accountId" | "day" | "meterOrFeatureId">[]) {
  const users = { accountId: "whole.0", day: DAY, meterOrFeatureId: "users" };
  await commit(store, { usage: usage.map((each) => ({ ...users, ...each })) });
}

/** The usage of a meter and account in October by key, in order. */
async function listKeys({ read }: Store, accountId: string, meterId?: string): Promise<readonly string[]> {
  const cells = await read.usage([accountId], DAY - 4, DAY + 27);
  return cells
    .filter(({ meterOrFeatureId }) => meterId === undefined || meterOrFeatureId === meterId)
    .map(({ meterOrFeatureId, day, group, quantity }) => {
      return `${meterOrFeatureId} ${day - DAY + 5} ${JSON.stringify(group)} ${quantity.toFixed()}`;
    })
    .toSorted();
}

/** An event of October: its hour, value and user. */
interface Draw {
  readonly hour: number;
  readonly value: number;
  readonly user: string;
}

const draw = fc.record({
  hour: fc.nat(30 * 24 - 1),
  value: fc.oneof(fc.nat(6), fc.constantFrom(0.5, 2.25)),
  user: fc.constantFrom("ann", "bob", "eve"),
});

/** Events of an account, with the same ids but for its name. */
function toEvents(accountId: string, draws: readonly Draw[], name = "e"): readonly EventInput[] {
  return draws.map(({ hour, value, user }, index) =>
    sample(`${accountId} ${name}${index}`, user, {
      accountId,
      attributes: { value },
      timestamp: new Date(toInstant("2026-10-01") + hour * 3_600_000).toISOString(),
    }),
  );
}

async function ingestAll(engine: Engine, events: readonly EventInput[]): Promise<void> {
  const results = await engine.ingest(events);
  expect(results.filter(({ status }) => status !== "INGESTION_COMPLETED_EVENT_METERED")).toEqual([]);
}

/** The quantity of each meter on the invoices of October. */
async function readQuantities(engine: Engine, accountId: string): Promise<ReadonlyMap<string, Decimal>> {
  const { items } = await engine.invoices.list({ filter: { accountId, from: "2026-10-01", until: "2026-11-01" } });
  const sums = new Map<string, Decimal>();
  for (const { id = "", quantity } of items.flatMap(({ invoice }) => invoice.usageInfo?.lineItems ?? []))
    sums.set(id, add(sums.get(id) ?? ZERO, quantity));
  return sums;
}

function formatQuantities(quantities: ReadonlyMap<string, Decimal>): readonly string[] {
  return [...quantities].map(([id, quantity]) => `${id} ${quantity.toFixed()}`).toSorted();
}

describe.each(STORES.slice(0, 2))("in a store: %s", (name, open) => {
  test("S19.2 an account has at most 100,000 values on a day: another event fails whole, until an undo makes room", async () => {
    const store = await open();
    const engine = await openEngine(store);
    for (let from = 0; from < 99_998; from += 33_333) {
      const count = Math.min(33_333, 99_998 - from);
      await addUsage(
        store,
        Array.from({ length: count }, (_, index) => ({ group: [`user ${from + index}`], quantity: 1 })),
      );
    }
    const statusesOf = async (...events: readonly EventInput[]): Promise<readonly string[]> =>
      (await engine.ingest(events)).map(({ status }) => status.replace("INGESTION_", ""));
    const ok = "COMPLETED_EVENT_METERED";
    const invalid = "FAILED_UNITS_INVALID";
    expect(
      await statusesOf(
        sample("a", "new"),
        sample("b", "newer"),
        sample("c", "newest"),
        sample("d", "user 7"),
        sample("e", "newest", { timestamp: "2026-10-06T10:00:00Z" }),
      ),
    ).toEqual([ok, ok, invalid, ok, ok]);
    const [failed] = await engine.ingest([sample("f", "newest")]);
    expect(failed?.problem?.message).toBe(
      'The account has usage of 100000 values of the meter "users" on 2026-10-05, the maximum; use computations with fewer values.',
    );
    // A failed event counts for no other meter.
    expect(await listKeys(store, "whole.0", "count")).toEqual(["count 5 undefined 3", "count 6 undefined 1"]);
    await engine.undo({ account: "whole.0", eventId: "b" });
    expect(await statusesOf(sample("f", "newest"), sample("g", "newer"))).toEqual([ok, invalid]);
  });

  const runs = name === "memory" ? RUNS : 8;

  test("S15.3 S19.2 in any order of events, an ingest and its undo leave nothing, and quantities are the same", async () => {
    const store = await open();
    const engine = await openEngine(store);
    const cases = fc.record({
      draws: fc.array(draw, { maxLength: 9 }),
      undone: fc.array(draw, { minLength: 1, maxLength: 5 }),
      seed: fc.infiniteStream(fc.nat(99)),
    });
    let run = 0;
    const law = fc.asyncProperty(cases, async ({ draws, undone, seed }) => {
      const [account, sorted] = [accountOf("whole", run), accountOf("sorted", run)];
      run++;
      const shuffle = <Item>(items: readonly Item[]): readonly Item[] =>
        items
          .map((item) => ({ item, place: seed.next().value ?? 0 }))
          .toSorted((a, b) => a.place - b.place)
          .map(({ item }) => item);
      const [events, extra] = [shuffle(toEvents(account, draws)), shuffle(toEvents(account, undone, "f"))];
      const third = Math.ceil(events.length / 3);
      await ingestAll(engine, events.slice(0, third));
      await ingestAll(engine, extra);
      await ingestAll(engine, events.slice(third, 2 * third));
      for (const { id } of shuffle(extra)) await engine.undo({ account, eventId: id });
      await ingestAll(engine, events.slice(2 * third));
      await ingestAll(engine, toEvents(sorted, draws));
      const keys = (await listKeys(store, account)).map((text) => text.replaceAll(`${account} `, `${sorted} `));
      expect(keys).toEqual(await listKeys(store, sorted));
      expect(formatQuantities(await readQuantities(engine, account))).toEqual(
        formatQuantities(await readQuantities(engine, sorted)),
      );
    });
    await fc.assert(law, { numRuns: runs, endOnFailure: true });
  });

  test("S19.1 quantities keep their order, and those of days add up", async () => {
    const engine = await openEngine(await open());
    let run = 0;
    const law = fc.asyncProperty(fc.array(draw, { maxLength: 12 }), async (draws) => {
      const [whole, pieces, day] = ["whole", "pieces", "day"].map((each) => accountOf(each, run)) as [
        string,
        string,
        string,
      ];
      run++;
      // Every period starts with an event.
      const starts = [0, 15 * 24, 4 * 24].map((hour) => ({ hour, value: 3, user: "ann" }));
      for (const account of [whole, pieces]) await ingestAll(engine, toEvents(account, [...starts, ...draws]));
      const onDay = [...starts, ...draws].filter(({ hour }) => Math.floor(hour / 24) === 4);
      await ingestAll(engine, toEvents(day, onDay));
      const ofWhole = await readQuantities(engine, whole);
      const at = (id: string): number => ofWhole.get(id)?.toNumber() ?? 0;
      expect(at("users")).toBeLessThanOrEqual(at("count"));
      expect(at("daily-users")).toBeLessThanOrEqual(at("count"));
      expect(at("min")).toBeLessThanOrEqual(at("level"));
      expect(at("level")).toBeLessThanOrEqual(at("max"));
      const daily = (quantities: ReadonlyMap<string, Decimal>): readonly string[] =>
        formatQuantities(quantities).filter((text) => text.startsWith("daily"));
      expect(daily(await readQuantities(engine, pieces))).toEqual(daily(ofWhole));
      const ofDay = await readQuantities(engine, day);
      for (const id of ["max", "users", "level"]) expect(ofDay.get(`daily-${id}`)).toEqual(ofDay.get(id));
    });
    await fc.assert(law, { numRuns: runs, endOnFailure: true });
  });
});

test.each(STORES)("S19.2 a million events of one value are one value in a store: %s", async (_, open) => {
  const store = await open();
  const engine = await openEngine(store);
  await addUsage(store, [{ group: ["ann"], quantity: 999_999 }]);
  await engine.ingest([sample("a", "ann")]);
  expect(await listKeys(store, "whole.0", "users")).toEqual(['users 5 ["ann"] 1000000']);
  await engine.undo({ account: "whole.0", eventId: "a" });
  expect(await listKeys(store, "whole.0", "users")).toEqual(['users 5 ["ann"] 999999']);
});

test("S14.1 S19.2 two engines that ingest the same ids and undo each other's events lose none and count none twice", async () => {
  const schema = nextSchema();
  const open = async (): Promise<Store> => postgresStore(database.pool, schema);
  const [store, otherStore] = [await open(), await open()];
  const engine = await openEngine(store);
  const other = createEngine({ store: otherStore, clock: () => toInstant("2026-11-02") });
  const accounts = ["whole", "sorted"].map((name) => accountOf(name, 0));
  let [ingested, undone] = [0, 0];
  const write = async (writer: Engine, number: number): Promise<void> => {
    for (let round = 0; round < 25; round++) {
      // Both writers use the same ids in a window that moves, with other accounts, values and users.
      const batch = Array.from({ length: 8 }, (_, index) => {
        const place = round * 3 + index;
        const accountId = accounts[(place + number) % 2] ?? "";
        const more = { accountId, attributes: { value: (place + number) % 4 } };
        return sample(`e${place}`, `user ${(place * 2 + number) % 5}`, more);
      });
      const results = await writer.ingest(batch);
      ingested += results.filter(({ status }) => status === "INGESTION_COMPLETED_EVENT_METERED").length;
      const undoneEvents = await writer.undo({
        account: accounts[(round + number) % 2] ?? "",
        eventId: `e${round * 3 + (round % 5)}`,
      });
      undone += undoneEvents.filter(({ status }) => status === "REVERTED").length;
    }
  };
  await Promise.all([write(engine, 0), write(other, 1)]);

  const { items } = await engine.events.list({ page: { limit: 1_000 } });
  const accepted = items.filter(({ status }) => status === "INGESTION_COMPLETED_EVENT_METERED");
  const counting = accepted.filter(({ reverted }) => !reverted);
  expect([accepted.length, accepted.length - counting.length]).toEqual([ingested, undone]);
  expect(undone).toBeGreaterThan(5);
  expect(new Set(counting.map(({ eventId }) => eventId)).size).toBe(counting.length);
  for (const account of accounts) {
    const own = counting.filter(({ accountId }) => accountId === account);
    const counts = new Map<string, Decimal>();
    for (const { meterId, key, quantity } of own.flatMap(({ units }) => units)) {
      const name = `${meterId} 5 ${JSON.stringify(key === undefined ? undefined : [key])}`;
      counts.set(name, add(counts.get(name) ?? ZERO, quantity));
    }
    const expected = [...counts].flatMap(([name, count]) => (count.isZero() ? [] : [`${name} ${count.toFixed()}`]));
    expect(await listKeys(store, account)).toEqual(expected.toSorted());
    const values = own.map(({ payload }) => Number(String(payload.attributes[0]?.value)));
    const quantities = await readQuantities(engine, account);
    expect(quantities.get("max")?.toNumber()).toBe(Math.max(...values));
    expect(quantities.get("users")?.toNumber()).toBe(
      new Set(own.map(({ payload }) => payload.dimensions["user"])).size,
    );
  }
});
