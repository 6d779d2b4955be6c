/**
 * Titles of invoices on pages.
 *
 * @module
 */
import type { InvoiceType } from "../invoicing/invoice.ts";

/** The title by invoice type. A one-off invoice charges an increase or what the end of a plan makes due (S13.1). */
export const INVOICE_TITLES: Readonly<Record<InvoiceType, string>> = {
  STANDARD: "Invoice",
  STANDARD_ADVANCED: "Invoice in advance",
  AD_HOC: "One-off invoice",
};
