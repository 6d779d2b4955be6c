/** An invoice below zero and the credit that it creates count once in an account's net total (S13.4). */
import { expect, test } from "vitest";

import { parseBook } from "../../src/book/book.ts";
import { netTotal } from "../../src/invoicing/invoice.ts";
import { preview } from "../../src/ledger/preview/preview.ts";
import { formatDecimal } from "../../src/numbers/decimal.ts";
import { accountOn, calls, feeCards, planOfMonths, sumMeter } from "../book/builder.ts";

/** 2 a call, less 5 a month in advance; and a credit of 1.00 created by command. */
const ACCOUNT = accountOn("prod", "acme", "discounted", "2024-01-01");
const BOOK_INPUT = {
  organization: { id: "acme" },
  eventSchemas: [{ name: "call", attributes: [{ name: "count" }] }],
  usageMeters: [sumMeter("um.calls", "call", "count")],
  addOns: [{ id: "addon.fee", name: "Discount", type: "FIXED_FEE" }],
  pricePlans: [planOfMonths("discounted", { ...calls(2), ...feeCards(-5, { invoiceTiming: "IN_ADVANCE" }) })],
  customers: [{ id: "acme", name: "Acme" }],
};
const BOOK = parseBook({
  ...BOOK_INPUT,
  accounts: [
    { ...ACCOUNT, credits: [{ purpose: "goodwill", creditAmount: 1, priority: 1, effectiveFrom: "2024-01-01" }] },
  ],
});

test.each([
  // The discount pays 5 of 20 and the other credit 1: the invoices are -5 and 14.
  [10, ["-5", "14"], "14"],
  // The discount pays 2 of 2, and 3 of it are left: the invoices are -5 and 0.
  [1, ["-5", "0"], "-3"],
  [0, ["-5"], "-5"],
])("S13.4 %i calls in January", (count, totals, netTotals) => {
  const attributes = [{ name: "count", value: count }];
  const event = { schemaName: "call", id: "e", accountId: "prod", timestamp: "2024-01-10T00:00:00Z", attributes };
  const { invoices } = preview(BOOK, count === 0 ? [] : [event], { at: "2024-01-10" });
  expect(invoices.map(({ revenueInfo }) => formatDecimal(revenueInfo.value))).toEqual(totals);
  expect(formatDecimal(netTotal(invoices))).toBe(netTotals);
});

test("S13.4 a credit created with the same purpose is not an invoice below zero", () => {
  const credit = { purpose: "negative invoice total", creditAmount: 1, priority: -1, effectiveFrom: "2024-01-01" };
  const book = { ...BOOK_INPUT, accounts: [{ ...ACCOUNT, credits: [credit] }] };
  const attributes = [{ name: "count", value: 1 }];
  const event = { schemaName: "call", id: "e", accountId: "prod", timestamp: "2024-01-10T00:00:00Z", attributes };
  const { invoices } = preview(parseBook(book), [event], { at: "2024-01-10" });
  // Each of the two credits pays 1 of 2: 4 are left of the discount.
  expect(invoices.map(({ revenueInfo }) => formatDecimal(revenueInfo.value))).toEqual(["-5", "0"]);
  expect(formatDecimal(netTotal(invoices))).toBe("-4");
});

test("S13.4 without the invoice below zero, its credit is subtracted like any other", () => {
  const attributes = [{ name: "count", value: 10 }];
  const event = { schemaName: "call", id: "e", accountId: "prod", timestamp: "2024-01-10T00:00:00Z", attributes };
  const { invoices } = preview(BOOK, [event], { at: "2024-01-10" });
  expect(formatDecimal(netTotal(invoices.filter(({ invoiceType }) => invoiceType === "STANDARD")))).toBe("14");
});
