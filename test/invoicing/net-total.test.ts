/** An invoice below zero and the credit that it creates count once in an account's net total (S13.4). */
import { expect, test } from "vitest";

import { parseBook } from "../../src/book/book.ts";
import { type Invoice, netTotal } from "../../src/invoicing/invoice.ts";
import { preview } from "../../src/ledger/preview/preview.ts";
import { formatDecimal } from "../../src/numbers/decimal.ts";

/** The invoices of January at 2 a call, less 5 a month in advance; and with a credit of 1.00 created by command. */
function previewJanuary(calls: number, credit = { purpose: "goodwill", priority: 1 }): readonly Invoice[] {
  const book = parseBook({
    eventSchemas: [{ name: "call", attributes: ["count"] }],
    usageMeters: [{ id: "um.calls", name: "Calls", schema: "call", sum: "count" }],
    pricePlans: [
      {
        id: "discounted",
        cycle: "MONTHLY",
        usage: [{ meter: "um.calls", rate: 2 }],
        fees: [{ id: "addon.fee", rate: -5, timing: "IN_ADVANCE" }],
      },
    ],
    accounts: [
      {
        id: "prod",
        plan: "discounted",
        from: "2024-01-01",
        credits: [{ ...credit, creditAmount: 1, effectiveFrom: "2024-01-01" }],
      },
    ],
  });
  const event = { schemaName: "call", id: "e", accountId: "prod", timestamp: "2024-01-10T00:00:00Z" };
  const events = calls === 0 ? [] : [{ ...event, attributes: { count: calls } }];
  return preview(book, events, { at: "2024-01-10" }).invoices;
}

const isBelowZero = { purpose: "negative invoice total", priority: -1 };

test.each([
  // The discount pays 5 of 20 and the other credit 1: the invoices are -5 and 14.
  [10, undefined, ["-5", "14"], "14"],
  // The discount pays 2 of 2, and 3 of it are left: the invoices are -5 and 0.
  [1, undefined, ["-5", "0"], "-3"],
  [0, undefined, ["-5"], "-5"],
  // A credit with the same purpose is not of an invoice below zero. Each credit pays 1 of 2: 4 are left of the discount.
  [1, isBelowZero, ["-5", "0"], "-4"],
])("S13.4 %i calls in January, and the credit %j", (count, credit, totals, total) => {
  const invoices = previewJanuary(count, credit);
  expect(invoices.map(({ revenueInfo }) => formatDecimal(revenueInfo.value))).toEqual(totals);
  expect(formatDecimal(netTotal(invoices))).toBe(total);
});

test("S13.4 without the invoice below zero, its credit is subtracted like any other", () => {
  const invoices = previewJanuary(10).filter(({ invoiceType }) => invoiceType === "STANDARD");
  expect(formatDecimal(netTotal(invoices))).toBe("14");
});
