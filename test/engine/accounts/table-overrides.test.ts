/** Overrides of price tables in an engine (S18.7). */
import { expect, test } from "vitest";

import { createEngine, type EventInput, memoryStore, preview, readBook } from "../../../src/index.ts";
import { formatDecimal } from "../../../src/numbers/decimal.ts";

const book = readBook({
  eventSchemas: [{ name: "call", attributes: [{ name: "n" }], dimensions: [{ name: "model" }] }],
  usageMeters: [{ id: "calls", name: "calls", schema: "call", sum: "n", groupBy: ["model"] }],
  pricePlans: [
    { id: "pp", name: "Models", cycle: "MONTHLY", usage: [{ meter: "calls", rateTable: { rows: [{ rate: 10 }] } }] },
  ],
  accounts: [{ id: "acme", plan: "pp", from: "2026-10-01" }],
});

test("S18.7 S16.2 an exported account keeps its own rows and factor", async () => {
  const now = Date.parse("2026-10-01T12:00:00Z");
  const engine = createEngine({ store: memoryStore(), clock: () => now });
  await engine.load(book);
  const usageRateCards = [{ usageMeterId: "calls", rows: [{ when: { model: "a" }, rate: 3 }], multiply: "0.8" }];
  const association = { pricePlanId: "pp", effectiveFrom: "2026-10-01" };
  await engine.associate("acme", { ...association, pricePlanDetailsOverride: { usageRateCards } });
  const events = ["a", "b"].map((model): EventInput => {
    const event = { schemaName: "call", id: model, timestamp: "2026-10-01T10:00:00Z", accountId: "acme" };
    return { ...event, attributes: { n: 1 }, dimensions: { model } };
  });
  await engine.ingest(events);
  const exportedBook = readBook((await engine.exportBook()).book);
  const drafts = (await engine.preview({ accountIds: ["acme"] })).invoices.map(({ invoice }) => invoice);
  const totals = [drafts, preview(exportedBook, events).invoices].map((invoices) =>
    invoices.map(({ revenueInfo: { value } }) => formatDecimal(value)),
  );
  // 1 × 3 + 1 × 10 × 0.8
  expect(totals).toEqual([["11"], ["11"]]);
});
