/** Fields that affect no figure are returned as sent (S16.8). */
import { describe, expect, test } from "vitest";

import { parseBook } from "../../src/book/book.ts";
import type { BookInput } from "../../src/book/resources/book.ts";
import { callEvent, engineAt } from "./support.ts";

const SCHEMA = {
  name: "call",
  description: "Calls, “counted” once",
  attributes: [{ name: "count" }],
  dimensions: [{ name: "region" }],
  eventLevelRevenue: true,
};
const METER = {
  id: "um.a",
  name: "calls",
  description: "  All calls\n of a region  ",
  aggregation: "SUM",
  eventSchemaName: "call",
  computations: [{ order: 1, computation: { var: "attribute.count" } }],
};
const CARD = {
  usageMeterId: "um.a",
  tag: "Compute & storage",
  ratePlan: { pricingModel: "TIERED", slabs: [{ order: 1, startAfter: 0, priceType: "PER_UNIT" }] },
  rateValues: [{ currency: "USD", slabRates: [{ order: 1, rate: 2 }] }],
};
const PLAN = {
  id: "pp.a",
  name: "Team",
  status: "ACTIVE",
  description: "From 2024 on\tfor teams",
  pricePlanDetails: {
    supportedCurrencies: ["USD"],
    pricingCycleConfig: { interval: "MONTHLY", startOffset: { dayOffset: "1" } },
    usageRateCards: [CARD],
  },
};
const FEATURE = { id: "ft.a", name: "Calls", description: "What is metered", schemaAssociations: [] };
const ACCOUNT = {
  id: "prod",
  name: "Acme prod",
  customerId: "acme",
  metadata: { "": null, nested: { list: [1, "1", true, { deep: "ü" }] }, text: "  as it is  " },
  tags: ["b", "a", "b", ""],
  pricePlans: [{ pricePlanId: "pp.a", effectiveFrom: "2024-03-01" }],
};
const DOCUMENT = {
  eventSchemas: [SCHEMA],
  usageMeters: [METER],
  features: [FEATURE],
  pricePlans: [PLAN],
  customers: [{ id: "acme", name: "Acme" }],
  accounts: [ACCOUNT],
};

describe("S16.8 eventLevelRevenue, tags, metadata and descriptions", () => {
  test("S16.8 are the same in a book as in its document", () => {
    const book = parseBook(DOCUMENT);
    expect(book.eventSchemas[0]).toMatchObject({ description: SCHEMA.description, eventLevelRevenue: true });
    expect(book.usageMeters[0]?.description).toBe(METER.description);
    expect(book.features[0]?.description).toBe(FEATURE.description);
    expect(book.pricePlans[0]?.description).toBe(PLAN.description);
    expect(book.pricePlans[0]?.pricePlanDetails.usageRateCards[0]?.tag).toBe(CARD.tag);
    expect(book.accounts[0]?.metadata).toEqual(ACCOUNT.metadata);
    expect(book.accounts[0]?.tags).toEqual(ACCOUNT.tags);
  });

  test("S16.8 are returned by an engine, by its store, and after an event was metered", async () => {
    const { engine, store } = engineAt("2024-03-05");
    await engine.load(DOCUMENT as BookInput);
    const [result] = await engine.ingest([callEvent("e1", "2024-03-05T00:00:00Z", 3)]);
    expect(result?.status).toBe("INGESTION_COMPLETED_EVENT_METERED");
    for (const each of [engine, engineAt("2024-03-06", store).engine]) {
      expect((await each.eventSchemas.get("call")).item).toMatchObject({
        description: SCHEMA.description,
        eventLevelRevenue: true,
      });
      expect((await each.usageMeters.get("um.a")).item.description).toBe(METER.description);
      expect((await each.features.get("ft.a")).item.description).toBe(FEATURE.description);
      const { item } = await each.pricePlans.get("pp.a");
      expect([item.description, item.pricePlanDetails.usageRateCards[0]?.tag]).toEqual([PLAN.description, CARD.tag]);
      const account = await each.accounts.get("prod");
      expect(account.metadata).toEqual(ACCOUNT.metadata);
      expect(account.tags).toEqual(ACCOUNT.tags);
    }
  });
});
