/**
 * Draws the invoices of an account for the cycles that a range touches: what a preview shows and what finalizing writes
 * come from here (S13).
 *
 * @module
 */
import { DAY_MS, formatInstant, type Instant } from "../calendar/instant.ts";
import { minorUnitDigits } from "../numbers/currency.ts";
import type { Rounding } from "../rating/commitment.ts";
import type { AccountView, BillingCatalog } from "./account-view.ts";
import { advanceOf } from "./advance.ts";
import { payWithCredits } from "./credit-lines.ts";
import { advanceDrafts, type Draft, standardDraft } from "./draft.ts";
import { dueCycles } from "./dues.ts";
import { creditGrants, refundCredit } from "./granted-credits.ts";
import { INVOICE_TYPES, type Invoice, type InvoiceStatus } from "./invoice.ts";
import { cyclesIn, timelineOf } from "./timeline.ts";

/** What is drawn, and how. */
export interface DrawOptions {
  /** The cycles that touch `[from, until)` are drawn; what others would consume is left (book.md, preview). */
  readonly from: Instant;
  readonly until: Instant;
  /** Whether lines carry explanations (S13.6). */
  readonly explain?: boolean;
  /** The status of an invoice; default DRAFT. */
  readonly statusOf?: (draft: Draft) => InvoiceStatus;
}

/** Draws an account's invoices, in the order in which they take credits (S12.3). */
export function drawInvoices(view: AccountView, catalog: BillingCatalog, options: DrawOptions): readonly Invoice[] {
  const timeline = timelineOf(view.decisions);
  const rounding: Rounding = { mode: catalog.rounding, digits: minorUnitDigits(view.currency) };
  const cycles = cyclesIn(timeline, options.from, options.until);
  const horizon = Math.max(options.until, ...cycles.map(({ end }) => end));
  const dues = dueCycles(view.decisions, horizon);
  const advance = advanceOf(view, dues);
  const touched = advance.charges.filter(({ cycle }) => cycle.start < options.until && cycle.end > options.from);
  const early = advanceDrafts(catalog, rounding, touched);
  const standard = cycles.map((cycle) => standardDraft({ view, catalog, rounding, timeline, cycle }, early));
  const drafts = [...standard.filter((draft) => draft !== undefined), ...early].sort(
    (a, b) =>
      a.invoiceDate - b.invoiceDate || INVOICE_TYPES.indexOf(a.invoiceType) - INVOICE_TYPES.indexOf(b.invoiceType),
  );
  const credits = [
    ...view.credits.map((credit) => ({ ...credit, grantedAt: Number.NEGATIVE_INFINITY })),
    ...creditGrants(view, dues),
    ...advance.refunds.map((refund) => refundCredit(refund, rounding)),
  ];
  return payWithCredits(drafts, credits, { rounding, explain: options.explain ?? false }).map(
    ({ draft, revenueInfo }) => ({
      accountId: view.accountId,
      customerId: view.customerId,
      invoiceType: draft.invoiceType,
      status: options.statusOf?.(draft) ?? "DRAFT",
      currency: view.currency,
      pricePlanId: draft.cycle.term.plan.planId,
      pricePlanVersion: draft.cycle.term.plan.version,
      startDate: formatInstant(draft.cycle.start),
      endDate: formatInstant(draft.cycle.end),
      invoiceDate: formatInstant(draft.invoiceDate),
      dueDate: formatInstant(draft.invoiceDate + view.netTermDays * DAY_MS),
      ...(draft.usage.length > 0 ? { usageInfo: { type: "TOTAL_USAGE", lineItems: draft.usage } as const } : {}),
      revenueInfo,
      notices: draft.notices,
    }),
  );
}
