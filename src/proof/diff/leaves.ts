/**
 * The lines of an invoice that are compared: all others are their sums.
 *
 * @module
 */
import { RatebookError } from "../../errors.ts";
import { CARD_LINE_TYPES, type Invoice, type InvoiceLine, SUM_LINE_TYPES } from "../../invoicing/invoice.ts";

/**
 * The cards, the true-up and the credits of an invoice, by type and id.
 *
 * @throws {RatebookError} ERR_INPUT_INVALID for a line whose type is not known: another version may have made it
 */
export function leavesOf(invoice: Invoice | undefined): ReadonlyMap<string, InvoiceLine> {
  const leaves = new Map<string, InvoiceLine>();
  const visit = (line: InvoiceLine): void => {
    if (SUM_LINE_TYPES.has(line.type)) {
      line.lineItems?.forEach(visit);
      return;
    }
    const isLeaf = CARD_LINE_TYPES.has(line.type) || line.type === "TRUE_UP_AMOUNT" || line.type === "SUB_CREDITS";
    if (!isLeaf) {
      throw incomparable(`${line.type} is no line of an invoice of this version: preview again with it`);
    }
    leaves.set(JSON.stringify([line.type, line.id ?? null]), line);
  };
  if (invoice !== undefined) visit(invoice.revenueInfo);
  return leaves;
}

/** The error for invoices that cannot be compared. */
export function incomparable(message: string): RatebookError<"ERR_INPUT_INVALID"> {
  return new RatebookError("ERR_INPUT_INVALID", message, { problems: [{ path: "$", message }] });
}
