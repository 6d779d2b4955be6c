/** Invoices of one account in June 2026 for books with one plan, and the diff of two of them as text. */
import { expect } from "vitest";

import { type AccountDiff, diffInvoices, type DiffLine } from "../../../src/analysis/diff/diff-invoices.ts";
import { parseBook } from "../../../src/book/book.ts";
import type { Book } from "../../../src/book/resources/book.ts";
import type { Invoice } from "../../../src/invoicing/invoice.ts";
import { preview } from "../../../src/ledger/preview/preview.ts";
import { type Decimal, formatDecimal, sum } from "../../../src/numbers/decimal.ts";
import { compareFractions, formatFraction, sumFractions, toFraction } from "../../../src/numbers/fraction.ts";

export type PreviewedBook = readonly [Book, readonly Invoice[]];
/** The fields of the plan, what the account used, and its fields; without them, it has the plan from 1 June on. */
export type Side = readonly [plan: object, units: number | string, account?: object];

/** The invoices of June, with the book. */
export function previewSide([plan, units, account]: Side): PreviewedBook {
  const book = parseBook({
    eventSchemas: [{ name: "call", attributes: ["units"] }],
    usageMeters: [{ id: "units", schema: "call", sum: "units" }],
    pricePlans: [{ id: "pp", cycle: "MONTHLY", ...plan }],
    accounts: [{ id: "prod", plans: [{ plan: "pp", from: "2026-06-01" }], ...account }],
  });
  const event = { schemaName: "call", id: "e", timestamp: "2026-06-20T12:00:00Z", accountId: "prod" };
  const events = [{ ...event, attributes: [{ name: "units", value: units }] }];
  return [book, preview(book, events, { explain: true, from: "2026-06-01", until: "2026-07-01" }).invoices];
}

/** A plan with a price of units. */
export const usage = (price: object): object => ({ usage: [{ meter: "units", ...price }] });

export function diffAccount([a, before]: PreviewedBook, [b, after]: PreviewedBook): AccountDiff {
  const [account] = diffInvoices(before, after, { books: [a, b] }).accounts;
  if (account === undefined) throw new Error("no account");
  return account;
}

/** Each line as `TYPE difference: cause amount, cause amount`. */
function describeLines({ lines }: AccountDiff): readonly string[] {
  return lines.map(({ type, difference, causes }) => {
    const texts = Object.entries(causes).map(([cause, amount]) => `${cause} ${formatFraction(amount)}`);
    return `${type} ${formatDecimal(difference)}: ${texts.join(", ") || "none"}`;
  });
}
export const changesOf = (before: PreviewedBook, after: PreviewedBook): readonly string[] =>
  describeLines(diffAccount(before, after));
/** The changes without the books: plans with the same name and version then look like one plan. */
export const changesWithoutBooks = ([, before]: PreviewedBook, [, after]: PreviewedBook): readonly string[] =>
  diffInvoices(before, after).accounts.flatMap(describeLines);

/** Expects that causes add up to lines, and lines to the difference. */
export function expectToAddUp(lines: readonly Pick<DiffLine, "causes" | "difference">[], difference: Decimal): void {
  for (const line of lines)
    expect(compareFractions(sumFractions(Object.values(line.causes)), toFraction(line.difference))).toBe(0);
  expect(formatDecimal(sum(lines.map((line) => line.difference)))).toBe(formatDecimal(difference));
}
