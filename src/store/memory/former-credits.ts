/**
 * Reads credits and invoices of snapshots from before credits had kinds, when only the cause and purpose told them
 * apart.
 *
 * @module
 */
import type { CreditKind } from "../../credits/monetary-credits.ts";
import type { CreditRecord, InvoiceRecord } from "../../ledger/records.ts";

type InvoiceLine = InvoiceRecord["invoice"]["revenueInfo"];
type FormerCredit = Omit<CreditRecord, "kind">;

/** Adds the kind to each credit of a snapshot, and to each credit in the lines of an invoice. */
export function addCreditKinds(
  credits: readonly FormerCredit[],
  invoices: readonly InvoiceRecord[],
): { readonly credits: readonly CreditRecord[]; readonly invoices: readonly InvoiceRecord[] } {
  const withKinds = credits.map((credit) => ({ ...credit, kind: creditKind(credit) }));
  const kinds = new Map(withKinds.map(({ id, kind }) => [id, kind]));
  const convertLine = (line: InvoiceLine): InvoiceLine => ({
    ...line,
    ...(line.type === "SUB_CREDITS" ? { creditKind: kinds.get(line.id ?? "") ?? "MANUAL" } : {}),
    ...(line.lineItems === undefined ? {} : { lineItems: line.lineItems.map(convertLine) }),
  });
  return {
    credits: withKinds,
    invoices: invoices.map((record) => {
      const { invoice } = record;
      return { ...record, invoice: { ...invoice, revenueInfo: convertLine(invoice.revenueInfo) } };
    }),
  };
}

function creditKind({ cause, purpose }: FormerCredit): CreditKind {
  if (cause === undefined) return "MANUAL";
  // A grant of a plan whose id is "refund" has such a cause too.
  if (cause.startsWith("refund|") && purpose === "refund of what was charged in advance and not served") {
    return "REFUND";
  }
  return cause.startsWith("negative|") && purpose === "invoice below zero" ? "NEGATIVE_INVOICE" : "PLAN";
}
