/** Revenue over time of usage that a price table prices (S18). */
import { expect, test } from "vitest";

import { createEngine, type EventInput, memoryStore } from "../../../src/index.ts";
import { formatDecimal } from "../../../src/numbers/decimal.ts";

const tiers = (first: string, then: string): readonly object[] => [{ upTo: 10, rate: first }, { rate: then }];
const rateTable = {
  rows: [
    { when: { model: "a" }, tiers: tiers("0.30", "0.20") },
    { when: { model: "a" }, from: "2026-10-15", tiers: tiers("0.20", "0.10") },
    { when: { model: "b" }, rate: "2" },
  ],
};
const book = {
  eventSchemas: [{ name: "call", attributes: ["n"], dimensions: ["model"] }],
  usageMeters: [{ id: "calls", schema: "call", sum: "n", groupBy: ["model"] }],
  pricePlans: [{ id: "pp", cycle: "MONTHLY", usage: [{ meter: "calls", rateTable }] }],
  accounts: [{ id: "acme", plan: "pp", from: "2026-10-01" }],
};
const events = [
  ["a", 8, "03T08"],
  ["b", 1, "03T09"],
  ["a", 6, "20T08"],
  ["a", -4, "25T08"],
].map(([model, n, hour], index): EventInput => ({
  schemaName: "call",
  id: `e${index}`,
  timestamp: `2026-10-${hour}:30:00Z`,
  accountId: "acme",
  attributes: { n: Number(n) },
  dimensions: { model: String(model) },
}));

test("S18.4 revenue of a price table by day and by hour is what its usage adds to the invoice", async () => {
  let now = Date.UTC(2026, 9, 1);
  const engine = createEngine({ store: memoryStore(), clock: () => now });
  await engine.load(book as never);
  for (const event of events) {
    now = Date.parse(event.timestamp);
    await engine.ingest([event]);
  }
  const revenueOf = async (
    aggregationPeriod: "DAY" | "HOUR",
    startTime: string,
    endTime: string,
  ): Promise<readonly string[]> => {
    const [result] = await engine.metrics({
      startTime,
      endTime,
      metricQueries: [{ id: "q", name: "REVENUE", aggregationPeriod }],
    });
    const points = result?.series[0]?.points ?? [];
    return points.filter(({ value }) => !value.isZero()).map(({ value }) => formatDecimal(value));
  };
  // 8 × 0.30 and 1 × 2; 2 × 0.20 and 4 × 0.10; −4 × 0.10.
  expect(await revenueOf("DAY", "2026-10-01", "2026-11-01")).toEqual(["4.4", "0.8", "-0.4"]);
  expect(await revenueOf("HOUR", "2026-10-03", "2026-10-04")).toEqual(["2.4", "2"]);
  expect(await revenueOf("HOUR", "2026-10-20", "2026-10-26")).toEqual(["0.8", "-0.4"]);
});
