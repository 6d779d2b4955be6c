/**
 * The net total of several invoices.
 *
 * @module
 */
import { type Decimal, maximum, subtract, sum } from "../numbers/decimal.ts";
import { allLines, type Invoice } from "./invoice.ts";

/**
 * The sum of the totals of one account's invoices, in which an invoice below zero counts once, not again where its
 * credit pays another one (S13.4). Payments from the credit of any other invoice are deducted like those from any
 * credit.
 *
 * @param invoices of one account, in one currency
 */
export function netTotal(invoices: readonly Invoice[]): Decimal {
  const totals = invoices.map(({ revenueInfo }) => revenueInfo.value);
  const belowZero = sum(totals.filter((total) => total.isNegative()));
  const credits = invoices
    .flatMap(({ revenueInfo }) => allLines(revenueInfo))
    .filter(({ creditKind }) => creditKind === "NEGATIVE_INVOICE");
  const paidByThem = sum(credits.map(({ value }) => value));
  // Both are negative or 0.
  return subtract(sum(totals), maximum(belowZero, paidByThem));
}
