/**
 * What several invoices come to.
 *
 * @module
 */
import { type Decimal, greatest, subtract, sum } from "../numbers/decimal.ts";
import { allLines, type Invoice } from "./invoice.ts";

/**
 * The sum of the totals of one account's invoices, in which an invoice below zero counts once: not once more where the credit that
 * it is pays of another one (S13.4). What a credit of an invoice that is not among them pays is taken off as any credit is.
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
  // Both are below zero, or 0.
  return subtract(sum(totals), greatest(belowZero, paidByThem));
}
