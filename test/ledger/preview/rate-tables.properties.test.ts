/** Random price tables on invoices: previews, engines and the verifier agree (S13.5, S13.6, S18). */
import fc from "fast-check";
import { expect, test } from "vitest";

import type { RateTableInput } from "../../../src/book/resources/rate-table.ts";
import { type Book, createEngine, type EventInput, memoryStore, preview, readBook } from "../../../src/index.ts";
import { Decimal, formatDecimal } from "../../../src/numbers/decimal.ts";
import { verify } from "../../../src/verify.ts";
import { priceByTable, type UsageItem } from "../../rating/rate-tables.ts";
import { GROUP_BY, tableArbitrary, usageArbitrary } from "../../rating/table-arbitrary.ts";
import { runs } from "../../support/runs.ts";

function bookWith(rateTable: RateTableInput): Book {
  return readBook({
    eventSchemas: [{ name: "call", attributes: ["n"], dimensions: GROUP_BY }],
    usageMeters: [{ id: "calls", schema: "call", sum: "n", groupBy: GROUP_BY }],
    pricePlans: [{ id: "pp", cycle: "MONTHLY", usage: [{ meter: "calls", rateTable }] }],
    accounts: [{ id: "acme", plan: "pp", from: "2026-10-01" }],
  });
}

function toEvents(usage: readonly UsageItem[]): readonly EventInput[] {
  const sorted = usage.toSorted(([a], [b]) => a - b);
  return sorted.map(([day, group, n], index) => ({
    schemaName: "call",
    id: `e${index}`,
    timestamp: `2026-10-${String(day).padStart(2, "0")}T00:00:${String(index).padStart(2, "0")}Z`,
    accountId: "acme",
    attributes: { n },
    dimensions: Object.fromEntries(GROUP_BY.map((dimension, position) => [dimension, group[position] ?? ""])),
  }));
}

const tables = tableArbitrary().filter(({ rows }) => rows.length > 0);

test("S13.5 S13.6 S18.6 a preview, an engine and the verifier agree on every table", async () => {
  await fc.assert(
    fc.asyncProperty(tables, usageArbitrary(), async (table, usage) => {
      const [book, events] = [bookWith(table), toEvents(usage)];
      const { invoices } = preview(book, events, { explain: true });
      const cards = invoices.map(({ revenueInfo }) => revenueInfo.value);
      const exact = priceByTable(table, { usage, groupBy: GROUP_BY }).total;
      const rounded = exact.toDecimalPlaces(2, Decimal.ROUND_HALF_UP);
      expect(cards.map(formatDecimal)).toEqual(invoices.length === 0 ? [] : [formatDecimal(rounded)]);
      const { differences } = verify({ invoices: JSON.parse(JSON.stringify(invoices)) });
      expect(differences).toEqual([]);
      let now = Date.UTC(2026, 9, 1);
      const engine = createEngine({ store: memoryStore(), clock: () => now });
      await engine.load(book);
      for (const event of events) {
        now = Date.parse(event.timestamp);
        await engine.ingest([event]);
      }
      const drafts = await engine.preview({ accountIds: ["acme"] });
      const usedInvoices = drafts.invoices.map(({ invoice: { revenueInfo, notices } }) => ({ revenueInfo, notices }));
      expect(JSON.stringify(usedInvoices)).toBe(
        JSON.stringify(invoices.map(({ revenueInfo, notices }) => ({ revenueInfo, notices }))),
      );
    }),
    { numRuns: runs(500, 60) },
  );
});
