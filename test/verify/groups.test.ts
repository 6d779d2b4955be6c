/** Usage by group, metered independently by the verifier (S18.1). */
import { expect, test } from "vitest";

import { meter, preview } from "../../src/index.ts";
import type { EventInput } from "../../src/metering/event-envelope.ts";
import { createMetering, verify } from "../../src/verify.ts";

const book = {
  eventSchemas: [
    {
      name: "tokens",
      attributes: ["count"],
      dimensions: ["model"],
      computedDimensions: { size: { if: [{ ">": [{ var: "attribute.count" }, 9] }, "large", "small"] } },
    },
  ],
  usageMeters: [{ id: "tokens", schema: "tokens", sum: "count", groupBy: ["size", "model"] }],
  pricePlans: [{ id: "team", cycle: "MONTHLY", usage: [{ meter: "tokens", rate: "0.01" }] }],
  accounts: [{ id: "acme", plan: "team", from: "2026-10-01" }],
} as const;

const eventOf = (id: string | number, count: number, model: string | number): EventInput => ({
  schemaName: "tokens",
  id: String(id),
  accountId: "acme",
  timestamp: "2026-10-03T10:00:00Z",
  attributes: { count },
  dimensions: { model },
});

const many = Array.from({ length: 1000 }, (_, index) => eventOf(index, index % 12, `model ${index % 990}`));
const others = Array.from({ length: 120 }, (_, index) => eventOf(`o${index}`, 1, `other ${index}`));
const events = [
  ...many,
  ...others,
  eventOf("back", -1, "other 1"),
  eventOf("2", 5, 2),
  eventOf("x", 5, ""),
  eventOf("y", 5, "y"),
];

test("S18.1 cells of groups and quantities of invoices are those of the events", () => {
  const { usage, events: counts } = meter(book, events);
  expect(counts.INGESTION_FAILED_UNITS_INVALID).toBeGreaterThan(2);
  const { invoices } = preview(book, events, { explain: true });
  const metering = createMetering(book);
  for (const event of events) metering.add(event);
  const input = { invoices: JSON.parse(JSON.stringify(invoices)) as unknown, usage, metering };
  const verification = verify(input);
  expect(verification.differences).toEqual([]);
  expect(verification.quantities).toEqual({ verified: 1, total: 1 });
  expect(verification.cells.total).toBeGreaterThan(900);
  const swapped = usage.map((row, index) => (index === 0 ? { ...row, group: { size: "small", model: "wrong" } } : row));
  expect(verify({ ...input, usage: swapped }).differences[0]?.where).toMatch(
    /^the cell of acme, tokens, 2026-10-03 \[\[/,
  );
});

test("S18.1 the usage of a group with the text $key is a sum, verified without the book", () => {
  const ofGroup = [eventOf("a", 5, "$key"), eventOf("b", 9, "x")];
  const { invoices } = preview(book, ofGroup, { explain: true });
  const usage = meter(book, ofGroup).usage;
  const { metersWithoutBook, quantities, differences } = verify({ invoices, usage });
  expect([[...metersWithoutBook], quantities, differences]).toEqual([[], { verified: 1, total: 1 }, []]);
});
