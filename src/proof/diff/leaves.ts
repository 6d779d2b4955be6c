/**
 * The lines of an invoice that are compared: all others are their sums.
 *
 * @module
 */
import type { Invoice, InvoiceLine } from "../../invoicing/invoice.ts";

/** The cards, the true-up and the credits of an invoice, by type and id. */
export function leavesOf(invoice: Invoice | undefined): ReadonlyMap<string, InvoiceLine> {
  const leaves = new Map<string, InvoiceLine>();
  const visit = (line: InvoiceLine): void => {
    const isLeaf =
      line.type.endsWith("_RATE_CARD_AMOUNT") || line.type === "TRUE_UP_AMOUNT" || line.type === "SUB_CREDITS";
    if (isLeaf) leaves.set(JSON.stringify([line.type, line.id ?? null]), line);
    else line.lineItems?.forEach(visit);
  };
  if (invoice !== undefined) visit(invoice.revenueInfo);
  return leaves;
}
