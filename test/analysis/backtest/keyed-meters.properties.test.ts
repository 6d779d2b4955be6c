/** S13.5 S19: backtests of meters that do not sum equal previews, whatever the order of events, also after undos. */
import fc from "fast-check";
import { expect, test } from "vitest";

import { toInstant } from "../../../src/calendar/instant.ts";
import { createEngine } from "../../../src/engine/engine.ts";
import {
  backtest,
  type EventInput,
  meter,
  parsePlan,
  preview,
  readBook,
  type ShortBookInput,
} from "../../../src/index.ts";
import type { Invoice } from "../../../src/invoicing/invoice.ts";
import { formatDecimal, sum } from "../../../src/numbers/decimal.ts";
import { memoryStore } from "../../../src/store/memory/memory.ts";
import { runs } from "../../support/runs.ts";

const METERS = [
  { id: "peak", max: "value" },
  { id: "lows", min: "value", daily: true },
  { id: "users", unique: "user" },
  { id: "daily-users", unique: "user", daily: true, groupBy: ["region"] },
  { id: "last", latest: "value", carryOver: true },
  { id: "disk", level: "value", groupBy: ["region"] },
  { id: "seats", change: "value" },
] as const;
const prices = (rate: number) =>
  METERS.map(({ id }) => {
    if (id !== "disk") return { meter: id, tiers: [{ upTo: 4, rate: 0.1 }, { rate }] };
    return { meter: id, rateTable: { rows: [{ when: { region: "eu" }, rate }, { rate: 1 }] } };
  });
const source: ShortBookInput = {
  organization: { id: "acme" },
  eventSchemas: [{ name: "sample", attributes: ["value"], dimensions: ["user", "region"] }],
  usageMeters: METERS.map((fields) => ({ schema: "sample", ...fields })),
  pricePlans: [{ id: "pp", cycle: "QUARTERLY", usage: prices(2) }],
  accounts: [
    { id: "whole", plan: "pp", from: "2024-01-01" },
    { id: "parted", plans: [{ plan: "pp", from: "2024-01-01", until: "2024-02-10" }] },
  ],
};
const book = readBook(source);
const draft = parsePlan(JSON.stringify({ id: "draft", cycle: "MONTHLY", usage: prices(3) }), book);
const RANGE = { from: "2024-01-01", until: "2024-04-01" };

/** Samples of a quarter, at hours that repeat, in any order. */
const samples = fc
  .uniqueArray(
    fc.record({
      accountId: fc.constantFrom("whole", "parted"),
      id: fc.nat(40).map(String),
      hour: fc.integer({ min: 0, max: 30 }).map((at) => at * 70),
      value: fc.constantFrom(0, 1, 2.5, 7),
      user: fc.constantFrom("ann", "bob", "1"),
      region: fc.constantFrom("eu", "us"),
    }),
    { maxLength: 20, selector: ({ id }) => id },
  )
  .map((list) =>
    list.map(({ accountId, id, hour, value, user, region }): EventInput => ({
      schemaName: "sample",
      accountId,
      id,
      timestamp: new Date(Date.UTC(2024, 0, 1) + hour * 3_600_000).toISOString(),
      attributes: { value },
      dimensions: { user, region },
    })),
  );

function totalOf(invoices: readonly Invoice[]): string {
  return formatDecimal(sum(invoices.map(({ revenueInfo }) => revenueInfo.value)));
}

function quantitiesOf({ usageInfo }: Pick<Invoice, "usageInfo">): readonly string[] {
  return usageInfo?.lineItems.map(({ id, quantity }) => `${id}: ${formatDecimal(quantity)}`) ?? [];
}

test("each side is that of a preview, of rows of usage too, and of events in order of time", () => {
  fc.assert(
    fc.property(samples, (events) => {
      const tested = backtest(book, [draft], { ...RANGE, events, causes: true });
      const sides = [preview(book, events, RANGE), preview(book, events, { ...RANGE, plan: draft })];
      const accounts = tested.plans[0]?.accounts ?? [];
      const totals = [accounts.map(({ before }) => before), accounts.map(({ after }) => after)];
      expect(totals.map((each) => formatDecimal(sum(each)))).toEqual(sides.map(({ invoices }) => totalOf(invoices)));
      for (const { lines, difference } of accounts)
        expect(formatDecimal(sum(lines.map((line) => line.difference)))).toBe(formatDecimal(difference));
      const { usage } = meter(book, events);
      expect(JSON.stringify(backtest(book, [draft], { ...RANGE, usage, causes: true }).plans[0]?.accounts)).toBe(
        JSON.stringify(accounts),
      );
      const sorted = events.toSorted((a, b) => (a.timestamp < b.timestamp ? -1 : 1));
      expect(backtest(book, [draft], { ...RANGE, events: sorted, causes: true })).toEqual(tested);
    }),
    { numRuns: runs(40) },
  );
});

test("an engine that undid events has the quantities and totals of a preview of the others", async () => {
  let chargedCount = 0;
  await fc.assert(
    fc.asyncProperty(samples, fc.infiniteStream(fc.boolean()), async (all, coins) => {
      const events = all.filter(({ accountId }) => accountId === "whole");
      const undone = events.filter(() => coins.next().value);
      let now = toInstant("2024-01-01");
      const engine = createEngine({ store: memoryStore(), clock: () => now });
      await engine.load(source);
      now = toInstant("2024-03-31T23:00:00Z");
      await engine.ingest(events);
      for (const { id } of undone) await engine.undo({ account: "whole", eventId: id });
      now = toInstant("2024-04-01");
      const filter = { accountId: "whole", ...RANGE };
      const { items } = await engine.invoices.list({ filter });
      const others = events.filter((event) => !undone.includes(event));
      const expected = preview(book, others, { ...RANGE, accounts: ["whole"] });
      expect(items.flatMap(({ invoice }) => quantitiesOf(invoice))).toEqual(expected.invoices.flatMap(quantitiesOf));
      expect(totalOf(items.map(({ invoice }) => invoice))).toBe(totalOf(expected.invoices));
      if (totalOf(expected.invoices) !== "0") chargedCount++;
    }),
    { numRuns: runs(40) },
  );
  expect(chargedCount).toBeGreaterThan(0);
});
