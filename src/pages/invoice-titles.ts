/**
 * What invoices are called on pages.
 *
 * @module
 */
import type { InvoiceType } from "../invoicing/invoice.ts";

/** The title of each type of invoice; one at once is for an increase, or for what an end of a plan makes due (S13.1). */
export const INVOICE_TITLES: Readonly<Record<InvoiceType, string>> = {
  STANDARD: "Invoice",
  STANDARD_ADVANCED: "Invoice in advance",
  AD_HOC: "One-off invoice",
};
