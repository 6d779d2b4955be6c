/**
 * The lines of an invoice that are compared. All others are sums of these.
 *
 * @module
 */
import { RatebookError } from "../../errors.ts";
import { CARD_LINE_TYPES, type Invoice, type InvoiceLine, SUM_LINE_TYPES } from "../../invoicing/invoice.ts";
import { add, type Decimal, minimum, subtract, sum, ZERO } from "../../numbers/decimal.ts";
import { rejection } from "../../problem-table.ts";

/** Lines by type and id. */
export type Leaves = ReadonlyMap<string, InvoiceLine>;

/**
 * The cards, true-up and credits of an invoice, by type and id.
 *
 * @throws {RatebookError} ERR_INPUT_INVALID for an unknown line type, such as a newer version's
 */
export function listLeaves(invoice: Invoice | undefined): Leaves {
  const leaves = new Map<string, InvoiceLine>();
  const visit = (line: InvoiceLine): void => {
    if (SUM_LINE_TYPES.has(line.type)) {
      line.lineItems?.forEach(visit);
      return;
    }
    const isLeaf = CARD_LINE_TYPES.has(line.type) || line.type === "TRUE_UP_AMOUNT" || line.type === "SUB_CREDITS";
    if (!isLeaf) {
      throw incomparableError(`unknown invoice line type ${line.type}; run preview again with this version`);
    }
    leaves.set(JSON.stringify([line.type, line.id ?? null]), line);
  };
  if (invoice !== undefined) visit(invoice.revenueInfo);
  return leaves;
}

/**
 * The lines of one account's invoices, in which a negative invoice counts once: what it pays of others is left out
 * (S13.4). The lines add up to the net total.
 */
export function listNetLeaves(invoices: readonly Invoice[]): ReadonlyMap<Invoice, Leaves> {
  const totals = invoices.map(({ revenueInfo }) => revenueInfo.value);
  let remaining = sum(totals.filter((total) => total.isNegative())).abs();
  return new Map(
    invoices.map((invoice) => {
      const leaves = new Map(listLeaves(invoice));
      for (const [key, line] of leaves) {
        if (line.creditKind !== "NEGATIVE_INVOICE") continue;
        const deduction = minimum(line.value.abs(), remaining);
        remaining = subtract(remaining, deduction);
        const value = add(line.value, deduction);
        if (value.isZero()) leaves.delete(key);
        else leaves.set(key, { ...line, value });
      }
      return [invoice, leaves];
    }),
  );
}

/** The rounded sum of an invoice's cards; 0 without an invoice. */
export function computeSubTotal(invoice: Invoice | undefined): Decimal {
  const cards = [...listLeaves(invoice).values()].filter(({ type }) => CARD_LINE_TYPES.has(type));
  return cards.length === 0 ? ZERO : sum(cards.map(({ value }) => value));
}

export function incomparableError(message: string): RatebookError<"ERR_INPUT_INVALID"> {
  return new RatebookError("ERR_INPUT_INVALID", message, { problems: [rejection("$", "NOT_ACCEPTED", message)] });
}
