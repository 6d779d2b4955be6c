/** Random tables that get a part of their rows while they are in use, also of accounts with overrides (S18.7, S18.8). */
import fc from "fast-check";
import { expect, test } from "vitest";

import type { RateRowInput, RateTableInput } from "../../../src/book/resources/rate-table.ts";
import { type Book, createEngine, memoryStore, preview, readBook } from "../../../src/index.ts";
import type { Invoice } from "../../../src/invoicing/invoice.ts";
import { GROUP_BY, tableArbitrary, usageArbitrary } from "../../rating/table-arbitrary.ts";
import { runs } from "../../support/runs.ts";
import { tableBook, tableEvents } from "../../support/table-book.ts";

const METER = "um.tokens";
/** The day of October on which rows are added; cycles begin on the first. */
const TODAY = 5;

/** A table, the rows of it that are added on TODAY, and what an account has in place of it or beside it. */
interface Case {
  readonly table: RateTableInput;
  readonly isAdded: readonly boolean[];
  readonly override: object | undefined;
}

const cases: fc.Arbitrary<Case> = fc.record({
  table: tableArbitrary().filter(({ rows }) => rows.length > 0),
  isAdded: fc.array(fc.boolean(), { minLength: 15, maxLength: 15 }),
  override: fc.oneof(
    fc.constant(undefined),
    fc.constantFrom("0", "0.8", "1.5").map((multiply) => ({ multiply })),
    tableArbitrary()
      .filter(({ rows }) => rows.length > 0)
      .chain(({ rows, ...rest }) => fc.constantFrom({ rows }, { rateTable: { rows, ...rest } })),
  ),
});

const whenOf = ({ when }: RateRowInput): string => JSON.stringify(when);

/** The rows that the table has at first, and those that are added: dated ones, or all with their `when`. */
function splitRows({ table: { rows }, isAdded }: Case): readonly [RateRowInput[], RateRowInput[]] {
  const conditions = [...new Set(rows.map(whenOf))];
  const added = rows.filter((row, index) => {
    const isNew = isAdded[conditions.indexOf(whenOf(row))] === true;
    const isLater = isAdded[index] === true && String(row.from) >= `2026-10-0${TODAY}`;
    return conditions.indexOf(whenOf(row)) > 0 && (isNew || (row.from !== undefined && isLater));
  });
  return [rows.filter((row) => !added.includes(row)), added];
}

const bookWith = (rateTable: RateTableInput, plans: readonly object[]): Book => {
  const book: object = { ...tableBook(GROUP_BY, rateTable), accounts: [{ id: "acme", plans }] };
  return readBook(book);
};

/** The plan of the account in a book. */
function toPlans(override: object | undefined): readonly object[] {
  const usage = override && [{ meter: METER, ...override }];
  return [{ plan: "pp", from: "2026-10-01", ...(usage && { override: { usage } }) }];
}

const describeInvoices = (invoices: readonly Pick<Invoice, "revenueInfo" | "notices">[]): string =>
  JSON.stringify(invoices.map(({ revenueInfo, notices }) => ({ revenueInfo, notices })));

test("S18.7 S18.8 S13.5 drafts and final invoices are those of a book that had the rows from the start", async () => {
  let addedCount = 0;
  await fc.assert(
    fc.asyncProperty(cases, usageArbitrary(), async (each, usage) => {
      const { table, override } = each;
      const [rows, added] = splitRows(each);
      const events = tableEvents(GROUP_BY, usage);
      let now = Date.UTC(2026, 9, 1);
      const engine = createEngine({ store: memoryStore(), clock: () => now });
      await engine.load(bookWith({ ...table, rows }, []));
      await engine.associate("acme", {
        pricePlanId: "pp",
        effectiveFrom: "2026-10-01",
        pricePlanDetailsOverride: override && { usageRateCards: [{ usageMeterId: METER, ...override }] },
      });
      const ingestDays = async (from: number, until: number): Promise<void> => {
        for (const event of events) {
          const at = Date.parse(event.timestamp);
          if (at < Date.UTC(2026, 9, from) || at >= Date.UTC(2026, 9, until)) continue;
          now = at;
          await engine.ingest([event]);
        }
      };
      await ingestDays(1, TODAY);
      now = Date.UTC(2026, 9, TODAY);
      if (added.length > 0) await engine.pricePlans.addRateRows("pp", { usageMeterId: METER, rows: added });
      addedCount += added.length;
      await ingestDays(TODAY, 32);
      const expected = describeInvoices(
        preview(bookWith({ ...table, rows: [...rows, ...added] }, toPlans(override)), events, { explain: true })
          .invoices,
      );
      const drafts = await engine.preview({ accountIds: ["acme"] });
      expect(describeInvoices(drafts.invoices.map(({ invoice }) => invoice))).toBe(expected);
      now = Date.UTC(2026, 10, 10);
      const { items } = await engine.invoices.list({ filter: { accountId: "acme" } });
      expect(items.every(({ invoice }) => invoice.status !== "DRAFT")).toBe(true);
      expect(describeInvoices(items.map(({ invoice }) => invoice))).toBe(expected);
    }),
    { numRuns: runs(300, 40) },
  );
  expect(addedCount).toBeGreaterThan(0);
});
