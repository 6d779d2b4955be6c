/**
 * Creating an engine over a store that it shares with a server, the times and ids of its answers, and the number of
 * accounts that a query without an index may have.
 */
import { describe, expect, test } from "vitest";

import { createEngine, type Engine } from "../../src/engine/engine.ts";
import { createIds } from "../../src/engine/ids.ts";
import { memoryStore } from "../../src/store/memory/memory.ts";
import {
  activeSchema,
  callEvent,
  collectStatuses,
  customerWith,
  describeRefusal,
  engineAt,
  monthly,
} from "./support.ts";
import { teamBook } from "./team-book.ts";

describe("an engine", () => {
  test.each([[undefined], [null], [{}], [{ store: null }], [{ store: {} }]])(
    "is rejected without a store: %j",
    (options) => {
      expect(() => createEngine(options as never)).toThrow(
        expect.objectContaining({
          code: "ERR_OPTION_INVALID",
          message: "store: missing: expected a store, such as memoryStore() or await postgresStore(client)",
          details: { option: "store" },
        }),
      );
    },
  );

  test.each([Number.NaN, Infinity, 1_718_452_800_000.5, 1e20])(
    "stores nothing while its clock returns %s",
    async (now) => {
      const engine = createEngine({ store: memoryStore(), clock: () => now });
      const message = `ERR_OPTION_INVALID clock: expected whole milliseconds since 1970, got ${now}`;
      expect(await describeRefusal(engine.load(teamBook()))).toBe(message);
      expect((await engine.eventSchemas.list()).items).toEqual([]);
    },
  );

  test("shares its store with a server, whose own documents are not part of the configuration", async () => {
    const { engine, store } = engineAt("2024-03-01");
    expect(engine.store).toBe(store);
    await activeSchema(engine);
    const revision = await store.read.configurationRevision();
    const ownOf = (kind: "apiKey" | "serverSecret") =>
      ({ kind, id: "one", createdAt: 1, updatedAt: 1, body: { name: "One" } }) as const;
    const documents = [ownOf("apiKey"), ownOf("serverSecret")];
    const scope = { configuration: "exclusive", accountIds: [], eventIds: [] } as const;
    await engine.store.transact(scope, async () => ({ result: undefined, changes: { documents } }));
    expect(await engine.store.read.documents("apiKey", { limit: 9 })).toEqual([documents[0]]);
    expect(await engine.store.read.document("serverSecret", "one")).toEqual(documents[1]);
    expect(await store.read.configurationRevision()).toBe(revision);
    expect((await engine.eventSchemas.list()).items).toHaveLength(1);
  });

  test("answers with milliseconds for instants and texts for days; a schedule without an end has no `until`", async () => {
    const [JUNE, AUGUST] = [Date.parse("2024-06-01T00:00:00Z"), Date.parse("2024-08-01T00:00:00Z")];
    const { engine } = engineAt("2024-06-20T12:00:00Z");
    await engine.load({
      eventSchemas: [{ name: "call", attributes: ["count"], dimensions: ["region"] }],
      usageMeters: [{ id: "calls", schema: "call", sum: "count" }],
      pricePlans: [{ id: "team", cycle: "MONTHLY", usage: [{ meter: "calls", rate: 1 }] }],
      accounts: [{ id: "prod" }],
    });
    const [open] = await engine.associate("prod", { pricePlanId: "team", effectiveFrom: "2024-06-01" });
    expect(open).toMatchObject({ pricePlanId: "team", from: JUNE });
    expect(Object.keys(open ?? {})).not.toContain("until");
    const events = [
      callEvent("late", "2024-06-19T23:59:59.999Z", 2),
      callEvent("early", "2024-06-20T00:00:00Z", 3),
      callEvent("more", "2024-06-20T01:00:00Z", 4),
    ];
    expect(new Set(await collectStatuses(engine, ...events))).toEqual(new Set(["INGESTION_COMPLETED_EVENT_METERED"]));
    const usage = await engine.usage({ accountIds: ["prod"], from: JUNE, until: new Date(AUGUST) });
    expect(usage.map(({ quantity, ...of }) => ({ ...of, quantity: quantity.toFixed() }))).toEqual([
      { accountId: "prod", meterId: "calls", date: "2024-06-19", quantity: "2" },
      { accountId: "prod", meterId: "calls", date: "2024-06-20", quantity: "7" },
    ]);
    const empty = { accountIds: ["prod"], from: AUGUST, until: AUGUST };
    for (const query of [engine.usage(empty), engine.overage(empty)])
      expect(await describeRefusal(query)).toBe(
        "ERR_OPTION_INVALID until: expected an instant after the start of the range",
      );
    for (const count of [0, 1001]) {
      const accountIds = Array.from({ length: count }, (_, place) => `a${place}`);
      expect(await describeRefusal(engine.usage({ accountIds, from: JUNE, until: AUGUST }))).toBe(
        `ERR_OPTION_INVALID accountIds: expected 1 to 1000 accounts, got ${count}`,
      );
    }
    // The range is half-open, whichever form its ends have.
    const timestamp = { from: JUNE, until: new Date("2024-06-20T00:00:00Z") };
    expect((await engine.events.list({ filter: { timestamp } })).items.map(({ eventId }) => eventId)).toEqual(["late"]);
    const [ending] = await engine.dissociate("prod", { effectiveFrom: "2024-08-01" });
    expect(ending).toMatchObject({ from: JUNE, until: AUGUST });
  });
});

describe("ids", () => {
  test("have the prefix, the time, an index within the millisecond and a random part", () => {
    const ids = createIds(() => 0);
    expect(ids("ev")).toMatch(/^ev\.00000000000\.[0-9A-Za-z]{5}$/);
    expect(ids("ev")).toMatch(/^ev\.00000000001\.[0-9A-Za-z]{5}$/);
    expect(ids("a.long prefix")).toMatch(/^a\.long prefix\.00000000002\.[0-9A-Za-z]{5}$/);
    // 1,000 is 16 × 62 + 8.
    expect(createIds(() => 1000)("ev")).toMatch(/^ev\.00000G80000\.[0-9A-Za-z]{5}$/);
  });

  test("are ascending while the clock stands still, advances and is set back", () => {
    let now = 1_700_000_000_000;
    const ids = createIds(() => now);
    const newIds = Array.from({ length: 10_000 }, (_, index) => {
      now += [0, 0, 1, 0, -5][index % 5] ?? 0;
      return ids("ev");
    });
    expect(newIds.toSorted()).toEqual(newIds);
    expect(new Set(newIds).size).toBe(newIds.length);
  });

  test("that are generated twice replace neither a configured resource nor anything of an account", async () => {
    const { engine } = engineAt("1970-01-01", memoryStore(), { ids: (prefix) => `${prefix}.1` });
    const refusalOf = (id: string): string => `ERR_TAKEN the id "${id}" is taken: the id source returned it twice`;
    const { item: addOn } = await engine.addOns.create({ name: "Seats", type: "LICENSE" });
    expect(await describeRefusal(engine.addOns.create({ name: "Fee", type: "FIXED_FEE" }))).toBe(refusalOf(addOn.id));
    const { item: plan } = await engine.pricePlans.create({ name: "First", pricePlanDetails: monthly() });
    const second = engine.pricePlans.create({ name: "Second", pricePlanDetails: monthly() });
    expect(await describeRefusal(second)).toBe(refusalOf(plan.id));
    expect((await engine.addOns.list()).items.map(({ item }) => item.name)).toEqual(["Seats"]);
    expect((await engine.pricePlans.list()).items.map(({ item }) => item.name)).toEqual(["First"]);
    await customerWith(engine);
    const credit = { accountId: "prod", purpose: "first", creditAmount: 5, priority: 1, effectiveFrom: "1970-01-01" };
    const other = { ...credit, purpose: "second" };
    expect(await describeRefusal(engine.credits.create([credit, other]))).toBe(refusalOf("cr.1"));
    expect((await engine.credits.list()).items).toEqual([]);
    await engine.credits.create([credit]);
    expect(await describeRefusal(engine.credits.create([other]))).toBe(refusalOf("cr.1"));
    expect((await engine.credits.list()).items.map(({ credit: { purpose } }) => purpose)).toEqual(["first"]);
  });
});

describe("over 10,000 accounts", () => {
  /** An engine whose store lists one account this many times. */
  async function createBigEngine(accounts: number): Promise<Engine> {
    const { engine, store } = engineAt("2024-02-01");
    await engine.load(teamBook());
    const [record] = await store.read.accounts(["prod"]);
    if (record === undefined) throw new Error("the book has the account");
    let listings = 0;
    const accountList: typeof store.read.accountList = async (_, { limit, after }) => {
      if (after === undefined) listings = 0;
      const page = Array.from({ length: Math.min(limit, accounts - listings) }, () => record);
      listings += page.length;
      return page;
    };
    const bigStore = { ...store, read: { ...store.read, accountList } };
    return createEngine({ store: bigStore, clock: () => Date.parse("2024-02-01T00:00:00Z") });
  }
  const readRevenue = (engine: Engine, accountIds?: readonly string[]): Promise<unknown> => {
    const filters = accountIds && [{ fieldName: "ACCOUNT_ID" as const, fieldValues: accountIds }];
    const query = { id: "q", name: "REVENUE", aggregationPeriod: "MONTH", filters } as const;
    return engine.metrics({ startTime: "2024-01-01", endTime: "2024-02-01", metricQueries: [query] });
  };

  test("revenue requires a filter by account, and below the limit yields to other work", async () => {
    expect(await describeRefusal(readRevenue(await createBigEngine(10_001)))).toBe(
      "ERR_INPUT_INVALID metricQueries[0].filters: add a filter by ACCOUNT_ID: revenue can be read for at most 10,000 accounts at once, but there are more",
    );
    await readRevenue(await createBigEngine(10_001), ["prod"]);
    let turns = 0;
    const beat = setInterval(() => (turns += 1), 1);
    await readRevenue(await createBigEngine(10_000));
    clearInterval(beat);
    expect(turns).toBeGreaterThan(5);
  });

  test("license updates require an account", async () => {
    const engine = await createBigEngine(10_001);
    expect(await describeRefusal(engine.licenses.list({ filter: { licenseId: "addon.seats" } }))).toBe(
      "ERR_INPUT_INVALID accountId: add the id of an account: license updates can be read for at most 10,000 accounts at once, but there are more",
    );
    await engine.licenses.list({ filter: { accountId: "prod" } });
    await (await createBigEngine(10_000)).licenses.list();
  });
});
