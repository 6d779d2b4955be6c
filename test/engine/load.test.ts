/** Loading a book, and several engines over one store seeing each other's changes (book.md, S16). */
import { describe, expect, test } from "vitest";

import { parseBook } from "../../src/book/book.ts";
import type { BookInput } from "../../src/book/resources/book.ts";
import { memoryStore } from "../../src/store/memory/memory.ts";
import { longExampleBook } from "../support/examples.ts";
import { activeSchema, callEvent, customerWith, engineAt, monthly, describeRefusal, sumMeter } from "./support.ts";

const ACCOUNT = { id: "prod", name: "Acme prod", customerId: "acme", aliases: ["c-1"] };
const CUSTOMERS = [{ id: "acme", name: "Acme" }];

describe("loading a book", () => {
  test("accepts a book in any form: an object, its text, or one from readBook", async () => {
    const written: BookInput = {
      customers: CUSTOMERS,
      accounts: [{ ...ACCOUNT, credits: [{ purpose: "welcome", creditAmount: 1, effectiveFrom: "2024-03-01" }] }],
    };
    const text = JSON.stringify(written);
    for (const source of [written, text, parseBook(written), parseBook(text)]) {
      const { engine } = engineAt("2024-03-01");
      expect(await engine.load(source)).toMatchObject({ customers: 1, accounts: 1 });
      const { items } = await engine.credits.list({ filter: { accountId: "prod" } });
      expect(items.map(({ credit }) => [credit.purpose, credit.creditAmount.toFixed()])).toEqual([["welcome", "1"]]);
    }
  });

  test("rejects what is not a book, and a changed copy of a book from readBook, which is not a valid input", async () => {
    const { engine } = engineAt("2024-03-01");
    await expect(engine.load({ accounts: 5 as never })).rejects.toThrow("$.accounts: expected a list, got 5");
    await expect(engine.load({ ...parseBook({ customers: CUSTOMERS }), customers: [] })).rejects.toThrow(
      "a changed copy of a book from readBook; pass the original input with your changes instead",
    );
  });

  test("stores everything, replaces names by ids, and returns the counts", async () => {
    const { engine } = engineAt("2024-03-01");
    const counts = await engine.load({
      organization: { id: "org", baseCurrency: "EUR" },
      settings: [{ id: "unit", dataType: "NUMERIC", value: "1000" }],
      eventSchemas: [{ name: "call", attributes: [{ name: "count" }] }],
      usageMeters: [
        { id: "um.a", name: "calls", aggregation: "COUNT", eventSchemaName: "call", computations: [{ order: 1 }] },
      ],
      features: [{ id: "ft.a", name: "Calls", schemaAssociations: ["call"] }],
      addOns: [{ id: "ao.a", name: "Seats", type: "LICENSE" }],
      pricePlans: [
        {
          id: "pp.a",
          name: "Team",
          status: "ACTIVE",
          pricePlanDetails: { ...monthly("calls"), supportedCurrencies: [], usageRateCards: [] },
        },
      ],
      customers: CUSTOMERS,
      accounts: [{ ...ACCOUNT, credits: [{ purpose: "welcome", creditAmount: "0.10", effectiveFrom: "2024-03-01" }] }],
      invoiceGroups: [{ id: "ig.a", accountIds: ["prod"] }],
    });
    expect(counts).toEqual({
      settings: 1,
      eventSchemas: 1,
      usageMeters: 1,
      features: 1,
      addOns: 1,
      pricePlans: 1,
      customers: 1,
      accounts: 1,
      invoiceGroups: 1,
    });
    expect((await engine.accounts.get("prod")).invoiceCurrency).toBe("EUR");
    expect((await engine.accounts.get("prod")).invoiceGroupId).toBe("ig.a");
    expect((await engine.invoiceGroups.get("ig.a")).item.invoiceCurrency).toBe("EUR");
    expect((await engine.settings.get("setting.user.unit")).item.value).toBe("1000");
    expect((await engine.aliases.get("c-1")).accountId).toBe("prod");
    expect(
      (await engine.credits.list()).items.map(({ credit }) => [credit.creditAmount.toFixed(), credit.currency]),
    ).toEqual([["0.1", "EUR"]]);
  });

  test("S11.2 a loaded feature association can be removed, and the bare id of a setting is kept", async () => {
    const { engine } = engineAt("2024-03-01");
    const value = { "*": [{ var: "attribute.count" }, { var: "dependencies.unit" }] };
    await engine.load({
      settings: [{ id: "unit", dataType: "NUMERIC", value: "1000" }],
      eventSchemas: [
        {
          name: "call",
          attributes: [{ name: "count" }],
          enrichments: {
            dependencies: [{ key: "unit", name: "unit" }],
            fields: [{ name: "scaled", type: "ATTRIBUTE", order: 1, value }],
          },
        },
      ],
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

  test.each([
    ["twice", { customers: CUSTOMERS }, 'ERR_TAKEN the customer "acme" already exists; nothing was loaded'],
    [
      "of another organization",
      { organization: { id: "other" } },
      'ERR_REFUSED the database belongs to the organization "default" in USD, and the book belongs to "other" in USD',
    ],
    [
      "of another currency",
      { organization: { id: "default", baseCurrency: "EUR" } },
      'ERR_REFUSED the database belongs to the organization "default" in USD, and the book belongs to "default" in EUR',
    ],
    [
      "that rounds otherwise",
      { organization: { id: "default", rounding: "DOWN" } },
      'ERR_REFUSED the database belongs to the organization "default" in USD; the book would change its rounding',
    ],
    [
      "with an alias that is an account's id",
      {
        customers: [{ id: "b", name: "Bcme" }],
        accounts: [{ ...ACCOUNT, id: "x", customerId: "b", aliases: ["prod"] }],
      },
      'ERR_TAKEN the alias "prod" is taken',
    ],
    ["with a name in use", { addOns: [{ id: "ao.b", name: "Seats", type: "LICENSE" }] }, /^ERR_INPUT_INVALID name: /],
    ["that is broken", { customers: [{ id: "a" }] }, /^ERR_BOOK_INVALID the book has/],
    ["that is not JSON", "{", /^ERR_BOOK_INVALID the book has a problem: \$: not JSON/],
  ])("rejects a book %s, and stores nothing of it", async (_, book, sentence) => {
    const { engine, store } = engineAt("2024-03-01");
    await engine.load({
      customers: CUSTOMERS,
      accounts: [ACCOUNT],
      addOns: [{ id: "ao.a", name: "Seats", type: "LICENSE" }],
    });
    const before = store.snapshot();
    expect(await describeRefusal(engine.load(book as BookInput))).toMatch(sentence);
    expect(store.snapshot()).toBe(before);
  });

  test("a store in use can't get another organization, even if none was set explicitly", async () => {
    const { engine } = engineAt("2024-03-01");
    await customerWith(engine);
    const other = { organization: { id: "other" }, addOns: [{ id: "ao.a", name: "Seats", type: "LICENSE" }] } as const;
    expect(await describeRefusal(engine.load(other))).toBe(
      'ERR_REFUSED the database belongs to the organization "default" in USD, and the book belongs to "other" in USD',
    );
    await engine.load({ addOns: other.addOns });
    expect(await engine.organization.get()).toMatchObject({ id: "default" });
  });

  test("a book sets the name of an organization that was claimed, and no later book changes it", async () => {
    const { engine } = engineAt("2024-03-01");
    await engine.organization.claim({ id: "acme", baseCurrency: "EUR" });
    await engine.load({ organization: { id: "acme", name: "Acme", baseCurrency: "EUR" } });
    await engine.load({ organization: { id: "acme", baseCurrency: "EUR" } });
    expect(await engine.organization.get()).toMatchObject({ id: "acme", name: "Acme" });
    const otherOrganization = { organization: { id: "acme", name: "Bcme", baseCurrency: "EUR" } };
    expect(await describeRefusal(engine.load(otherOrganization))).toBe(
      'ERR_REFUSED the database belongs to the organization "acme" in EUR; the book would change its name',
    );
  });

  test("S16.1 only associates ACTIVE plans", async () => {
    const { engine } = engineAt("2024-03-01");
    const book = {
      customers: CUSTOMERS,
      accounts: [{ ...ACCOUNT, pricePlans: [{ pricePlanId: "pp.a", effectiveFrom: "2024-03-01" }] }],
      pricePlans: [{ id: "pp.a", name: "Team", pricePlanDetails: monthly() }],
    };
    expect(await describeRefusal(engine.load(book))).toBe(
      'ERR_REFUSED version 1 of "pp.a", which the account "prod" has, is a draft; an account needs an active version',
    );
  });
});

describe("settings, features and add-ons", () => {
  test("S11.2 a schema serves one feature; an association can be removed and given to another", async () => {
    const { engine } = engineAt("2024-03-01");
    await activeSchema(engine);
    const first = await engine.features.create({ name: "One", schemaAssocitions: ["call"] });
    expect(await describeRefusal(engine.features.create({ name: "Two", schemaAssociations: ["call"] }))).toBe(
      `ERR_INPUT_INVALID schemaAssociations[0]: the event schema is already used by the feature "${first.item.id}"`,
    );
    expect((await engine.eventSchemas.get("call")).item.featureDetails).toEqual({
      featureId: first.item.id,
      attributeName: "count",
    });
    await engine.features.update(first.item.id, { schemaAssocitions: [], name: "Renamed" });
    const second = await engine.features.create({ name: "Two", schemaAssociations: ["call"] });
    expect((await engine.eventSchemas.get("call")).item.featureDetails?.featureId).toBe(second.item.id);
    expect((await engine.eventSchemas.get("call")).item.version).toBe(1);
    expect((await engine.features.list()).items).toHaveLength(2);
  });
});

describe("two engines over one store", () => {
  test("see each other's configuration changes, event by event", async () => {
    const store = memoryStore();
    const one = engineAt("2024-03-01T12:00:00Z", store).engine;
    const two = engineAt("2024-03-01T12:00:00Z", store).engine;
    await activeSchema(one);
    await customerWith(one);
    await two.ingest([callEvent("e1", "2024-03-01T00:00:00Z", 3)]);
    const meterId = await sumMeter(one);
    await one.usageMeters.activate(meterId);
    const [counted] = await two.ingest([callEvent("e2", "2024-03-01T00:00:00Z", 5)]);
    expect(counted?.status).toBe("INGESTION_COMPLETED_EVENT_NOT_BILLED");
    await one.usageMeters.deactivate(meterId);
    const [after] = await two.ingest([callEvent("e3", "2024-03-01T00:00:00Z", 7)]);
    expect(after?.status).toBe("INGESTION_COMPLETED_NO_MATCHING_METERS");
    const usage = await two.usage({
      accountIds: ["prod"],
      from: "2024-03-01T00:00:00Z",
      until: "2024-03-02T00:00:00Z",
    });
    expect(usage.map(({ quantity }) => String(quantity))).toEqual(["5"]);
  });

  test("S14.1 accept an id that both send at the same time only once", async () => {
    const store = memoryStore();
    const engines = [1, 2, 3].map(() => engineAt("2024-03-01T12:00:00Z", store).engine);
    const [first] = engines;
    if (first === undefined) throw new Error("there are three engines");
    await activeSchema(first);
    await customerWith(first);
    await first.accounts.create({ id: "test", name: "Acme test", customerId: "acme" });
    const results = engines.map((engine, index) =>
      engine.ingest([callEvent("e1", "2024-03-01T00:00:00Z", 1, index === 1 ? "test" : "prod")]),
    );
    const statuses = (await Promise.all(results)).flat().map(({ status }) => status);
    expect(statuses.filter((status) => status === "INGESTION_FAILED_DUPLICATE_EVENT")).toHaveLength(2);
    expect((await first.events.get("e1")).length).toBe(1);
  });
});
