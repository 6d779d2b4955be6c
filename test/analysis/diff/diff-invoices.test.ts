import fc from "fast-check";
import { expect, test } from "vitest";

import { diffInvoices } from "../../../src/analysis/diff/diff-invoices.ts";
import { toBookInput } from "../../../src/book/book.ts";
import { type Invoice, netTotal } from "../../../src/invoicing/invoice.ts";
import { preview } from "../../../src/ledger/preview/preview.ts";
import type { EventInput } from "../../../src/metering/event-envelope.ts";
import { subtract, sum } from "../../../src/numbers/decimal.ts";
import { formatFraction, ZERO_FRACTION } from "../../../src/numbers/fraction.ts";
import { decimalCardArbitrary, pricingModelArbitrary } from "../../../src/testing/price-arbitrary.ts";
import { catalogBook } from "../../book/catalog-book.ts";
import { createSlabPricing } from "../../rating/cards.ts";
import { goldenCases } from "../../support/golden.ts";
import { runs } from "../../support/runs.ts";
import {
  changesOf,
  changesWithoutBooks,
  diffAccount,
  expectToAddUp,
  type PreviewedBook,
  previewSide,
  usage,
} from "./example-books.ts";

/** 2 a unit up to 100, 1 above. */
const inBands = usage({ tiers: [{ upTo: 100, rate: 2 }, { rate: 1 }] });
const CARD = "USAGE_RATE_CARD_AMOUNT";

test("the total has the causes of all lines", () => {
  const credits = [{ id: "c", purpose: "hello", amount: 25 }];
  const { total } = diffAccount(previewSide([inBands, 90]), previewSide([inBands, 90, { credits }]));
  expect(Object.entries(total.causes).map(([cause, amount]) => [cause, formatFraction(amount)])).toEqual([
    ["credits", "-25"],
  ]);
});

test("without the books, in any form, rates are applied before usage if an explanation lacks the slab", () => {
  // 90 × 2 = 180; at 3: 270, then 120 × 3 = 360. With the books: 120 units at the old rates are 220.
  const [before, after] = [previewSide([inBands, 90]), previewSide([usage({ rate: 3 }), 120])];
  expect(changesWithoutBooks(before, after)).toEqual([`${CARD} 180: usage 90, rates 90`]);
  expect(changesOf(before, after)).toEqual([`${CARD} 180: usage 40, rates 140`]);
  const written = [toBookInput(before[0]), toBookInput(after[0])] as const;
  for (const books of [written, [JSON.stringify(written[0]), JSON.stringify(written[1])]] as const)
    expect(diffInvoices(before[1], after[1], { books }).accounts).toEqual([diffAccount(before, after)]);
});

test("S13.6 causes add up to lines, and lines to invoices, for any two invoices", () => {
  const side = fc.record({
    card: decimalCardArbitrary(),
    model: pricingModelArbitrary(),
    rate: fc.nat(99),
    units: fc.nat(20_000).map((hundredths) => (hundredths / 100).toFixed(2)),
    amount: fc.nat(300),
    from: fc.constantFrom("2026-06-01", "2026-06-16"),
  });
  const sides = side.map(({ card: { rows, bounds }, model, rate, units, amount, from }) => {
    const plan = {
      ...usage(createSlabPricing(model, rows, bounds)),
      fees: [{ id: "fee", rate, prorate: true }],
      commitment: 500,
    };
    const credits = [{ id: "c", purpose: "hello", amount, from: "2026-06-01" }];
    return previewSide([plan, units, { plans: [{ plan: "pp", from }], credits }]);
  });
  const totalOf = ([, invoices]: PreviewedBook) => sum(invoices.map(({ revenueInfo }) => revenueInfo.value));
  fc.assert(
    fc.property(sides, sides, (before, after) => {
      const { lines, total } = diffAccount(before, after);
      expectToAddUp([total], total.difference);
      expectToAddUp(lines, subtract(totalOf(after), totalOf(before)));
      // At most two invoices a side, one card and one fee: each is off by at most half a cent, and a true-up with them
      // (S1.5).
      for (const { causes } of lines)
        expect(Math.abs(Number(formatFraction(causes.rounding ?? ZERO_FRACTION)))).toBeLessThanOrEqual(0.06);
    }),
    { numRuns: runs(100) },
  );
});

test("S13.6 causes add up for any two golden cases, including increases, refunds and credits", () => {
  const previews = goldenCases().map((golden): PreviewedBook => {
    const book = catalogBook(golden.book);
    return [book, preview(book, golden.events as EventInput[], { ...golden.options, explain: true }).invoices];
  });
  const one = fc.constantFrom(
    ...previews.filter(([, invoices]) => invoices.every(({ currency }) => currency === "USD")),
  );
  fc.assert(
    fc.property(one, one, (before, after) => {
      const { accounts } = diffInvoices(before[1], after[1], { books: [before[0], after[0]] });
      for (const { accountId, lines, total } of accounts) {
        const totalOf = ([, invoices]: PreviewedBook) =>
          netTotal(invoices.filter((each) => each.accountId === accountId));
        expectToAddUp([total], total.difference);
        expectToAddUp(lines, subtract(totalOf(after), totalOf(before)));
      }
    }),
    { numRuns: runs(600) },
  );
});

test("the difference between a draft and its final invoice is what was used in between", () => {
  const plan = { ...inBands, fees: [{ id: "fee", rate: 30 }] };
  const [draft, [book, invoices]] = [previewSide([plan, 90]), previewSide([plan, 120])];
  const finals = invoices.map((invoice): Invoice => ({ ...invoice, status: "DUE" }));
  expect(changesOf(draft, [book, finals])).toEqual([`${CARD} 40: usage 40`, "FIXED_FEE_RATE_CARD_AMOUNT 0: none"]);
});

test("rejects invoices without explanations or of another version, and one whose lines don't add up to its total", () => {
  const [, [invoice]] = previewSide([inBands, 90]);
  if (invoice === undefined) throw new Error("an invoice");
  const { revenueInfo } = invoice;
  expect(() =>
    diffInvoices({ ...invoice, revenueInfo: changeLine(revenueInfo, { explanation: undefined }) }, invoice),
  ).toThrow(`${CARD} units: the line has no explanation`);
  expect(() =>
    diffInvoices(invoice, { ...invoice, revenueInfo: changeLine(revenueInfo, { type: "USAGE_LINE" }) }),
  ).toThrow("unknown invoice line type USAGE_LINE; run preview again with this version");
  expect(() => diffInvoices(invoice, { ...invoice, revenueInfo: { ...revenueInfo, value: sum([]) } })).toThrow(
    "prod: the lines of its invoices add up to 180, but their totals to 0",
  );
});

/** The line and those below it, with other fields in the line of the usage card. */
function changeLine(line: Invoice["revenueInfo"], fields: object): Invoice["revenueInfo"] {
  if (line.type === CARD) return { ...line, ...fields };
  return { ...line, ...(line.lineItems && { lineItems: line.lineItems.map((each) => changeLine(each, fields)) }) };
}
