/** Loading a book, and several engines over one store seeing each other's changes (book.md, S16). */
import { describe, expect, test } from "vitest";

import { type BookInput, type Invoice, preview, readBook } from "../../src/index.ts";
import { formatDecimal } from "../../src/numbers/decimal.ts";
import { type MemoryStore, memoryStore } from "../../src/store/memory/memory.ts";
import { longExampleBook } from "../support/examples.ts";
import {
  activeSchema,
  callEvent,
  collectStatuses,
  customerWith,
  describeRefusal,
  engineAt,
  listUsage,
  sumMeter,
} from "./support.ts";

const ACCOUNT = { id: "prod", name: "Acme prod", customerId: "acme", aliases: ["c-1"] };
const CUSTOMERS = [{ id: "acme", name: "Acme" }];
const SEATS = { id: "ao.a", name: "Seats", type: "LICENSE" } as const;
const UNIT = { id: "unit", dataType: "NUMERIC", value: "1000" } as const;
const CALL = { name: "call", attributes: ["count"], dimensions: ["region"] };
const METER = { id: "um.a", name: "calls", schema: "call", count: true } as const;
const WELCOME = { purpose: "welcome", creditAmount: "0.10", effectiveFrom: "2024-03-01" };

describe("loading a book", () => {
  test("accepts a book in any form: an object, its text, or one from readBook", async () => {
    const written: BookInput = { customers: CUSTOMERS, accounts: [{ ...ACCOUNT, credits: [WELCOME] }] };
    const text = JSON.stringify(written);
    for (const source of [written, text, readBook(written), readBook(text)]) {
      const { engine } = engineAt("2024-03-01");
      expect(await engine.load(source)).toMatchObject({ customers: 1, accounts: 1 });
      const { items } = await engine.credits.list({ filter: { accountId: "prod" } });
      expect(items.map(({ credit }) => [credit.purpose, credit.creditAmount.toFixed()])).toEqual([["welcome", "0.1"]]);
    }
  });

  test("rejects what is not a book, and a changed copy of a book from readBook, which is not a valid input", async () => {
    const { engine } = engineAt("2024-03-01");
    await expect(engine.load({ accounts: 5 as never })).rejects.toThrow("$.accounts: expected a list, got 5");
    await expect(engine.load({ ...readBook({ customers: CUSTOMERS }), customers: [] })).rejects.toThrow(
      "a changed copy of a book from readBook; pass the original input with your changes instead",
    );
  });

  test("stores everything, replaces names by ids, and returns the counts", async () => {
    const { engine } = engineAt("2024-03-01");
    const counts = await engine.load({
      organization: { id: "org", baseCurrency: "EUR" },
      settings: [UNIT],
      eventSchemas: [CALL],
      usageMeters: [METER],
      features: [{ id: "ft.a", name: "Calls", schemaAssociations: ["call"] }],
      addOns: [SEATS],
      pricePlans: [{ id: "pp.a", cycle: "MONTHLY" }],
      customers: CUSTOMERS,
      accounts: [{ ...ACCOUNT, credits: [WELCOME] }],
      invoiceGroups: [{ id: "ig.a", accountIds: ["prod"] }],
    });
    const kinds = ["settings", "eventSchemas", "usageMeters", "features", "addOns", "pricePlans", "customers"];
    expect(counts).toEqual(Object.fromEntries([...kinds, "accounts", "invoiceGroups"].map((kind) => [kind, 1])));
    expect(await engine.accounts.get("prod")).toMatchObject({ invoiceCurrency: "EUR", invoiceGroupId: "ig.a" });
    expect((await engine.invoiceGroups.get("ig.a")).item.invoiceCurrency).toBe("EUR");
    expect((await engine.settings.get("setting.user.unit")).item.value).toBe("1000");
    expect((await engine.aliases.get("c-1")).accountId).toBe("prod");
    const { items } = await engine.credits.list();
    expect(items.map(({ credit }) => `${credit.creditAmount.toFixed()} ${credit.currency}`)).toEqual(["0.1 EUR"]);
  });

  test("S11.2 a loaded feature association can be removed, and the bare id of a setting is kept", async () => {
    const { engine } = engineAt("2024-03-01");
    const value = { "*": [{ var: "attribute.count" }, { var: "dependencies.unit" }] };
    const enrichments = {
      dependencies: [{ key: "unit", name: "unit" }],
      fields: [{ name: "scaled", type: "ATTRIBUTE" as const, order: 1, value }],
    };
    await engine.load({
      settings: [UNIT],
      eventSchemas: [{ name: "call", attributes: [{ name: "count" }], enrichments }],
      features: [{ id: "ft.a", name: "Calls", schemaAssociations: ["call"] }],
    });
    await engine.settings.create({ id: "unit", namespace: "other", value: "x" });
    expect((await engine.eventSchemas.get("call")).item.enrichments.dependencies[0]?.key).toBe("setting.user.unit");
    await engine.eventSchemas.update("call", { description: "Calls" });
    await engine.features.update("ft.a", { schemaAssociations: [] });
    expect((await engine.eventSchemas.get("call")).item.featureDetails).toBeUndefined();
  });

  test("loads the examples, and returns each rule as it was written", async () => {
    const { engine } = engineAt("2024-01-01");
    const book = longExampleBook("cloud-storage");
    await engine.load(book);
    for (const { id, computations } of book.usageMeters ?? []) {
      expect((await engine.usageMeters.get(id)).input["computations"]).toEqual(computations);
    }
  });

  const others = { id: "b", name: "Bcme" };
  const belongs = 'ERR_REFUSED the database belongs to the organization "default" in USD';
  test.each([
    ["twice", { customers: CUSTOMERS }, 'ERR_TAKEN the customer "acme" already exists; nothing was loaded'],
    [
      "of another organization",
      { organization: { id: "other" } },
      `${belongs}, and the book belongs to "other" in USD`,
    ],
    [
      "of another currency",
      { organization: { id: "default", baseCurrency: "EUR" } },
      `${belongs}, and the book belongs to "default" in EUR`,
    ],
    [
      "that rounds otherwise",
      { organization: { id: "default", rounding: "DOWN" } },
      `${belongs}; the book would change its rounding`,
    ],
    [
      "with an alias that is an account's id",
      { customers: [others], accounts: [{ ...ACCOUNT, id: "x", customerId: "b", aliases: ["prod"] }] },
      'ERR_TAKEN the alias "prod" is taken',
    ],
    ["with a name in use", { addOns: [{ ...SEATS, id: "ao.b" }] }, /^ERR_INPUT_INVALID name: /],
    ["that is broken", { customers: [{ id: "a" }] }, /^ERR_BOOK_INVALID the book has/],
    ["that is not JSON", "{", /^ERR_BOOK_INVALID the book has a problem: \$: not JSON/],
    [
      "S16.1 with an account on a plan that is a draft",
      {
        customers: [others],
        accounts: [{ id: "new", plan: "pp.a", from: "2024-03-01", customerId: "b" }],
        pricePlans: [{ id: "pp.a", cycle: "MONTHLY", status: "DRAFT" }],
      },
      'ERR_REFUSED version 1 of "pp.a", which the account "new" has, is a draft; an account needs an active version',
    ],
  ])("rejects a book %s, and stores nothing of it", async (_, book, sentence) => {
    const { engine, store } = engineAt("2024-03-01");
    await engine.load({ customers: CUSTOMERS, accounts: [ACCOUNT], addOns: [SEATS] });
    const before = store.snapshot();
    expect(await describeRefusal(engine.load(book as BookInput))).toMatch(sentence);
    expect(store.snapshot()).toBe(before);
  });

  test("a store in use can't get another organization, even if none was set explicitly", async () => {
    const { engine } = engineAt("2024-03-01");
    await customerWith(engine);
    const load = engine.load({ organization: { id: "other" }, addOns: [SEATS] });
    expect(await describeRefusal(load)).toBe(`${belongs}, and the book belongs to "other" in USD`);
    await engine.load({ addOns: [SEATS] });
    expect(await engine.organization.get()).toMatchObject({ id: "default" });
  });

  test("a book sets the name of an organization that was claimed, and no later book changes it", async () => {
    const { engine } = engineAt("2024-03-01");
    const organization = { id: "acme", baseCurrency: "EUR" };
    await engine.organization.claim(organization);
    await engine.load({ organization: { ...organization, name: "Acme" } });
    await engine.load({ organization });
    expect(await engine.organization.get()).toMatchObject({ id: "acme", name: "Acme" });
    expect(await describeRefusal(engine.load({ organization: { ...organization, name: "Bcme" } }))).toBe(
      'ERR_REFUSED the database belongs to the organization "acme" in EUR; the book would change its name',
    );
  });

  test("S16.8 fields that affect no figure are returned as sent, by a book, an engine and its store", async () => {
    const metadata = { "": null, nested: { list: [1, "1", true, { deep: "ü" }] }, text: "  as it is  " };
    const fields = {
      eventSchemas: { description: "Calls, “counted” once", eventLevelRevenue: true },
      usageMeters: { description: "  All calls\n of a region  " },
      features: { description: "What is metered" },
      pricePlans: { description: "From 2024 on\tfor teams" },
      accounts: { metadata, tags: ["b", "a", "b", ""] },
    };
    const tag = "Compute & storage";
    const withTag = { ...fields.pricePlans, pricePlanDetails: { usageRateCards: [{ tag }] } };
    const input: object = {
      eventSchemas: [{ ...CALL, ...fields.eventSchemas }],
      usageMeters: [{ ...METER, ...fields.usageMeters }],
      features: [{ id: "ft.a", name: "Calls", ...fields.features, schemaAssociations: [] }],
      pricePlans: [{ id: "pp.a", ...fields.pricePlans, cycle: "MONTHLY", usage: [{ meter: "um.a", tag, rate: 2 }] }],
      accounts: [{ id: "prod", plan: "pp.a", from: "2024-03-01", ...fields.accounts }],
    };
    const book = readBook(input);
    for (const [kind, expected] of Object.entries({ ...fields, pricePlans: withTag })) {
      expect(book[kind as keyof typeof fields][0]).toMatchObject(expected);
    }
    const { engine, store } = engineAt("2024-03-05");
    await engine.load(input);
    expect(await collectStatuses(engine, callEvent("e1", "2024-03-05T00:00:00Z", 3))).toEqual([
      "INGESTION_COMPLETED_EVENT_METERED",
    ]);
    for (const each of [engine, engineAt("2024-03-06", store).engine]) {
      expect((await each.eventSchemas.get("call")).item).toMatchObject(fields.eventSchemas);
      expect((await each.usageMeters.get("um.a")).item).toMatchObject(fields.usageMeters);
      expect((await each.features.get("ft.a")).item).toMatchObject(fields.features);
      expect((await each.pricePlans.get("pp.a")).item).toMatchObject(withTag);
      expect(await each.accounts.get("prod")).toMatchObject(fields.accounts);
    }
  });
});

describe("the plans of a loaded account count from when they were decided, not from when they were loaded", () => {
  const planOf = (id: string, rate: number): object => ({
    id,
    cycle: "MONTHLY",
    fees: [{ id: "addon.fee", rate, timing: "IN_ADVANCE", prorate: true }],
  });
  const planBook = (...plans: readonly object[]): object => ({
    pricePlans: [planOf("a", 100), planOf("b", 70), planOf("c", 120)],
    accounts: [{ id: "acc", plans }],
  });
  const listAmounts = (invoices: readonly Invoice[]): readonly string[] =>
    invoices
      .map(({ invoiceDate, revenueInfo }) => `${invoiceDate.slice(0, 10)} ${formatDecimal(revenueInfo.value)}`)
      .toSorted();

  test("S9.2 S9.5 S13.5 a plan change decided in the middle of a cycle refunds what was charged", async () => {
    const changing = planBook({ plan: "a", from: "2024-06-01" }, { plan: "b", from: "2024-06-16" });
    const { engine, at } = engineAt("2024-05-31");
    await engine.load(changing);
    await at("2024-07-01").finalize();
    const finals = (await engine.invoices.list()).items.map(({ invoice }) => invoice);
    // 100 for June on the 1st. On the 16th 100 × 15/30 = 50 is refunded and pays 35 of plan b, 70 × 15/30; 15 are left
    // for July.
    const figures = ["2024-06-01 100", "2024-06-16 0", "2024-07-01 55"];
    expect(listAmounts(finals)).toEqual(figures);
    const { invoices } = preview(readBook(changing), [], { from: "2024-06-01", until: "2024-07-02" });
    expect(listAmounts(invoices)).toEqual(figures);
  });

  test("S9.2 S16.1 a plan associated afterwards overrides the book's plans for later days", async () => {
    const { engine, at } = engineAt("2024-05-31");
    await engine.load(planBook({ plan: "a", from: "2024-06-01" }, { plan: "b", from: "2024-09-01" }));
    await at("2024-06-10T09:00:00Z").associate("acc", { pricePlanId: "c", effectiveFrom: "2024-07-01" });
    await at("2024-10-01").finalize();
    const plans = (await engine.invoices.list()).items.map(({ invoice }) => invoice);
    const starts = plans.map(({ startDate, pricePlanId }) => `${startDate.slice(0, 7)} ${pricePlanId}`).toSorted();
    expect(starts).toEqual(["2024-06 a", "2024-07 c", "2024-08 c", "2024-09 c", "2024-10 c"]);
  });

  const LOADED = "2024-06-15T12:00:00Z";
  /** A store as an earlier version wrote it: an association was decided when it was loaded, without other times. */
  const asFormerly = (store: MemoryStore): MemoryStore => {
    const text = store.snapshot();
    const former = text
      .replaceAll(/,"recordedAt":\d+/g, "")
      .replaceAll(/"decidedAt":\d+/g, `"decidedAt":${Date.parse(LOADED)}`);
    expect(text).toContain('"recordedAt"');
    expect(former).not.toContain('"recordedAt"');
    return memoryStore({ snapshot: former });
  };

  test.each([
    ["as stored by this version", (store: MemoryStore) => store],
    ["stored without when it was recorded", asFormerly],
  ])("S6.5 history accepts events for a day after it was loaded, %s", async (_, toStore) => {
    const loaded = engineAt(LOADED);
    await loaded.engine.load({
      eventSchemas: [CALL],
      usageMeters: [METER],
      pricePlans: [{ id: "pp.a", cycle: "MONTHLY", usage: [{ meter: "um.a", rate: 1 }] }],
      accounts: [{ id: "prod", plan: "pp.a", from: "2024-01-01" }],
    });
    const { engine, at } = engineAt(LOADED, toStore(loaded.store));
    const statusAt = async (id: string, now: string): Promise<readonly string[]> =>
      collectStatuses(at(now), callEvent(id, "2024-02-10T00:00:00Z"));
    expect(await statusAt("a", LOADED)).toEqual(["INGESTION_COMPLETED_EVENT_METERED"]);
    expect(await statusAt("b", "2024-06-16T11:59:59.999Z")).toEqual(["INGESTION_COMPLETED_EVENT_METERED"]);
    expect(await statusAt("c", "2024-06-16T12:00:00Z")).toEqual(["INGESTION_FAILED_PAST_GRACE_PERIOD"]);
    // Two events at the rate of 1, final once the grace is over.
    const filter = { accountId: "prod", from: "2024-02-01", until: "2024-03-01" };
    const { items } = await engine.invoices.list({ filter });
    expect(items.map(({ invoice }) => [invoice.status, invoice.revenueInfo.value.toNumber()])).toEqual([["DUE", 2]]);
  });
});

describe("two engines over one store", () => {
  test("see each other's configuration changes, event by event", async () => {
    const { engine: one, store } = engineAt("2024-03-01T12:00:00Z");
    const two = engineAt("2024-03-01T12:00:00Z", store).engine;
    await activeSchema(one);
    await customerWith(one);
    await two.ingest([callEvent("e1", "2024-03-01T00:00:00Z", 3)]);
    const meterId = await sumMeter(one);
    await one.usageMeters.activate(meterId);
    expect(await collectStatuses(two, callEvent("e2", "2024-03-01T00:00:00Z", 5))).toEqual([
      "INGESTION_COMPLETED_EVENT_NOT_BILLED",
    ]);
    await one.usageMeters.deactivate(meterId);
    expect(await collectStatuses(two, callEvent("e3", "2024-03-01T00:00:00Z", 7))).toEqual([
      "INGESTION_COMPLETED_NO_MATCHING_METERS",
    ]);
    expect(await listUsage(two)).toEqual([`${meterId} 2024-03-01 5`]);
  });

  test("S14.1 accept an id that both send at the same time only once", async () => {
    const { engine: first, store } = engineAt("2024-03-01T12:00:00Z");
    const engines = [first, ...[1, 2].map(() => engineAt("2024-03-01T12:00:00Z", store).engine)];
    await activeSchema(first);
    await customerWith(first);
    await first.accounts.create({ id: "test", name: "Acme test", customerId: "acme" });
    const results = engines.map((engine, index) =>
      collectStatuses(engine, callEvent("e1", "2024-03-01T00:00:00Z", 1, index === 1 ? "test" : "prod")),
    );
    const statuses = (await Promise.all(results)).flat();
    expect(statuses.filter((status) => status === "INGESTION_FAILED_DUPLICATE_EVENT")).toHaveLength(2);
    expect(await first.events.get("e1")).toHaveLength(1);
  });
});
