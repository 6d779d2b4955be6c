/** Random price tables on invoices: previews, engines and the verifier agree (S13.5, S13.6, S18). */
import fc from "fast-check";
import { expect, test } from "vitest";

import { createEngine, memoryStore, preview, readBook } from "../../../src/index.ts";
import { Decimal, formatDecimal } from "../../../src/numbers/decimal.ts";
import { verify } from "../../../src/verify.ts";
import { priceByTable } from "../../rating/rate-tables.ts";
import { GROUP_BY, tableArbitrary, usageArbitrary } from "../../rating/table-arbitrary.ts";
import { runs } from "../../support/runs.ts";
import { tableBook, tableEvents } from "../../support/table-book.ts";

const tables = tableArbitrary().filter(({ rows }) => rows.length > 0);

test("S13.5 S13.6 S18.6 a preview, an engine and the verifier agree on every table", async () => {
  await fc.assert(
    fc.asyncProperty(tables, usageArbitrary(), async (table, usage) => {
      const book = readBook(tableBook(GROUP_BY, table, { id: "acme", from: "2026-10-01" }));
      const events = tableEvents(GROUP_BY, usage);
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
