/** S13.6: a diff and a backtest work for any two books, and an unchanged input is never a cause. */
import fc from "fast-check";
import { expect, test } from "vitest";

import { backtest } from "../../../src/analysis/backtest/backtest.ts";
import { diffInvoices, type DiffLine } from "../../../src/analysis/diff/diff-invoices.ts";
import { parseBook, checkPlan } from "../../../src/book/book.ts";
import { type Invoice, netTotal } from "../../../src/invoicing/invoice.ts";
import { preview } from "../../../src/ledger/preview/preview.ts";
import { formatDecimal, subtract } from "../../../src/numbers/decimal.ts";
import { runs } from "../../support/runs.ts";
import { type ChangedBook, changedBooks, plans, RANGE } from "./book-changes.ts";
import { expectToAddUp } from "./example-books.ts";

/** The unexpected causes of the lines, without rounding. Entitlements of other days cover other usage, so overage changes. */
const unexpectedCauses = (
  lines: readonly DiffLine[],
  { causes: expected, place }: Pick<ChangedBook, "causes" | "place">,
): readonly string[] =>
  lines.flatMap(({ type, causes }) => {
    const isOverage = type.endsWith("ENTITLEMENT_OVERAGE_RATE_CARD_AMOUNT") && place.endsWith("effectiveFrom");
    const allowed: readonly string[] = ["rounding", ...expected, ...(isOverage ? ["usage"] : [])];
    return Object.keys(causes)
      .filter((cause) => !allowed.includes(cause))
      .map((cause) => `${type}: ${cause}`);
  });

test("an unchanged input is never a cause, for any book with one changed input and any draft", () => {
  let changeCount = 0;
  const migration = fc.constantFrom(
    undefined,
    { mode: "IMMEDIATE" as const, on: "2024-03-20" },
    { mode: "NEXT_CYCLE_IGNORE_OVERRIDE" as const, on: "2024-03-20" },
  );
  fc.assert(
    fc.property(
      changedBooks,
      plans("plan.one", 3),
      migration,
      ({ before, after, place, causes }, draft, migrationTerms) => {
        const [a, b] = [parseBook(before.book), parseBook(after.book)];
        const previewInvoices = (book: typeof a, { events }: typeof before): readonly Invoice[] =>
          preview(book, events, { ...RANGE, explain: true }).invoices;
        const [some, others] = [previewInvoices(a, before), previewInvoices(b, after)];
        const difference = subtract(netTotal(others), netTotal(some));
        for (const books of [[a, b] as const, undefined]) {
          const { accounts } = diffInvoices(some, others, { books });
          for (const { lines } of accounts) {
            expectToAddUp(lines, difference);
            if (books !== undefined) expect([place, ...unexpectedCauses(lines, { causes, place })]).toEqual([place]);
          }
          if (books !== undefined && !difference.isZero()) changeCount++;
        }
        const [backtestResult] = backtest(a, [checkPlan(draft, a)], {
          ...RANGE,
          events: before.events,
          causes: true,
          migration: migrationTerms,
        }).plans;
        for (const { lines, difference: total, before: paid } of backtestResult?.accounts ?? []) {
          expectToAddUp(lines, total);
          expect(formatDecimal(paid)).toBe(formatDecimal(netTotal(some)));
        }
      },
    ),
    { numRuns: runs(2000, 100) },
  );
  expect(changeCount).toBeGreaterThan(runs(300, 10));
});
