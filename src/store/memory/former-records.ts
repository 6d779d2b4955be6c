/**
 * Reads records of snapshots of version 1, from the first release: credits had no kind, only their cause and purpose told them apart, and
 * `requested` of an entry had the name `asked`.
 *
 * @module
 */
import type { CreditKind } from "../../credits/monetary-credits.ts";
import type { CreditRecord, EntryRecord, InvoiceRecord } from "../../ledger/records.ts";

type InvoiceLine = InvoiceRecord["invoice"]["revenueInfo"];
type FormerCredit = Omit<CreditRecord, "kind">;
/** What `requested` of an entry was called. */
const FORMER_REQUESTED = "asked";
type FormerEntry = Omit<EntryRecord, "requested"> & {
  readonly [FORMER_REQUESTED]?: NonNullable<EntryRecord["requested"]>;
};

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

/** An entry, whose requested values had another name. */
export function convertEntry({ [FORMER_REQUESTED]: requested, ...entry }: FormerEntry): EntryRecord {
  return requested === undefined ? entry : { ...entry, requested };
}

function creditKind({ cause, purpose }: FormerCredit): CreditKind {
  if (cause === undefined) return "MANUAL";
  // A grant of a plan whose id is "refund" has such a cause too.
  if (cause.startsWith("refund|") && purpose === "refund of what was charged in advance and not served") {
    return "REFUND";
  }
  return cause.startsWith("negative|") && purpose === "invoice below zero" ? "NEGATIVE_INVOICE" : "PLAN";
}
