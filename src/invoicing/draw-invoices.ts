import { formatInstant, type Instant, addDays } from "../calendar/instant.ts";
import { type CreditUse, isEffectiveIn } from "../credits/monetary-credits.ts";
import { minorUnitDigits } from "../numbers/currency.ts";
import { type Decimal, ZERO } from "../numbers/decimal.ts";
/**
 * Draws the invoices of an account for the cycles that a range touches, both for previews and for finalizing (S13).
 *
 * @module
 */
import { type Steps, runToCompletion } from "../numbers/steps.ts";
import type { Rounding } from "../rating/commitment.ts";
import type { AccountView, BillingCatalog } from "./account-view.ts";
import type { AdvanceBilling } from "./advance-charge.ts";
import { advanceDates, computeAdvanceBilling, mayChargeInAdvance } from "./advance.ts";
import { type DraftsAsked, type PaidDraft, payWithCredits } from "./credit-lines.ts";
import { draftsPeriod } from "./credit-pool.ts";
import {
  type Draft,
  type DraftTerms,
  finalInstant,
  invoiceKey,
  planAdvanceDrafts,
  planStandardDraft,
} from "./draft.ts";
import { earliestChargeStart, chargingWindow, type DueCycle, findDueCycles } from "./due-work.ts";
import { closesAt, earliestOpenEnd } from "./grace-period.ts";
import { findCreditGrants, type GrantedCredit, toRefundCredit, refundedCharge } from "./granted-credits.ts";
import { INVOICE_TYPES, type Invoice, type InvoiceLine } from "./invoice.ts";
import { type AccountCycle, cycleAt, cyclesIn, NO_END, type Timeline } from "./timeline.ts";

/** The range and options for drawing invoices. */
export interface DrawOptions {
  /** Draws the cycles that touch `[from, until)`; credits that others would consume are not reserved (book.md, preview). */
  readonly from: Instant;
  readonly until: Instant;
  /** Until when due items are known, if later than `until`: a charge may follow from a later one (S9.1). */
  readonly knownUntil?: Instant | undefined;
  /** Whether lines have explanations (S13.6). */
  readonly explain?: boolean;
  /** Invoices to skip: they are final, and the credits they took are already deducted in the view. */
  readonly isFinal?: (draft: DraftTerms) => boolean;
  /** Which invoices to draw; default all. */
  readonly accepts?: DraftsAsked | undefined;
  /** Stops after this many; default all. */
  readonly limit?: number | undefined;
  /** Whether the view's credits include those granted by plans and invoices; default false: they are computed. */
  readonly creditsAreWhole?: boolean;
  /** The id of a credit from its cause; default the cause. */
  readonly creditId?: (cause: string) => string;
  /**
   * Whether an invoice excludes what the credit of another invoice below zero pays of it, so that the totals add up to
   * the amount payable (S13.4). Default false: as issued.
   */
  readonly belowZeroOnce?: boolean | undefined;
}

/** An invoice with its draft and the credits that it takes. */
export interface DrawnInvoice {
  readonly draft: Draft;
  /** Builds the invoice with its lines. */
  readonly invoice: () => Invoice;
  /** Builds the invoice with its total; the lines below are built on first access, and keep the draft in memory until then. */
  readonly invoiceWithLazyLines: () => Invoice;
  readonly creditUses: readonly CreditUse[];
  /** The credit that it grants once final, if its total is below zero (S13.4). */
  readonly granted?: GrantedCredit;
}

/** Draws an account's invoices, in the order in which they take credits (S12.3). */
export function drawInvoices(view: AccountView, catalog: BillingCatalog, options: DrawOptions): readonly Invoice[] {
  return runToCompletion(drawDrafts(view, catalog, options)).map(({ invoice }) => invoice());
}

/** The totals of {@link drawInvoices}, without lines, which is faster. */
export function drawTotals(view: AccountView, catalog: BillingCatalog, options: DrawOptions): readonly Decimal[] {
  return runToCompletion(drawPaidDrafts(view, catalog, options)).map(({ total }) => total);
}

/** Like {@link drawInvoices}, with the data for finalizing, in steps. */
export function* drawDrafts(
  view: AccountView,
  catalog: BillingCatalog,
  options: DrawOptions,
): Steps<readonly DrawnInvoice[]> {
  return (yield* drawPaidDrafts(view, catalog, options)).map((paid) => ({
    draft: paid.draft,
    invoice: () => toInvoice(view, paid.draft, paid.tree()),
    invoiceWithLazyLines: () => toInvoice(view, paid.draft, paid.lazyTree()),
    creditUses: paid.creditUses,
    ...(paid.granted === undefined ? {} : { granted: paid.granted }),
  }));
}

function* drawPaidDrafts(
  view: AccountView,
  catalog: BillingCatalog,
  options: DrawOptions,
): Steps<readonly PaidDraft[]> {
  const { explain = false, creditId = (cause) => cause } = options;
  const { timeline } = view;
  const rounding = accountRounding(view, catalog);
  const cycles = cyclesIn(timeline, options.from, options.until);
  const horizon = Math.max(options.knownUntil ?? options.until, ...cycles.map(({ end }) => end));
  // A cycle that was cut short after its charge is shown with what is left of it.
  const isSelectedCycle = createCycleFilter(timeline, options);
  // Earlier charges are needed if a refund of them may pay and must be explained.
  const hasRefunds = explain && view.credits.some(({ kind, left }) => kind === "REFUND" && left.gt(ZERO));
  const isWhole = options.creditsAreWhole !== true || hasRefunds;
  const dues = findDueCycles(view.decisions, horizon, isWhole ? undefined : chargingWindow(view.decisions, options));
  const isAdvanceDone =
    !isWhole && (yield* isAdvanceFinal(view, dues, { isSelectedCycle, cycles, isFinal: options.isFinal }));
  const advance = isAdvanceDone
    ? NO_ADVANCE
    : yield* computeAdvanceBilling(view, dues, isWhole ? undefined : isSelectedCycle);
  const advanceDrafts = planAdvanceDrafts(
    catalog,
    rounding,
    advance.charges.filter(({ cycle }) => isSelectedCycle(cycle)),
  );
  const ahead = { drafts: advanceDrafts, refunds: advance.refunds.map((refund) => refundedCharge(refund, rounding)) };
  const standard = cycles.map((cycle) => planStandardDraft({ view, catalog, rounding, timeline, cycle }, ahead));
  const drafts = [...standard, ...advanceDrafts].sort(
    (a, b) =>
      a.invoiceDate - b.invoiceDate ||
      INVOICE_TYPES.indexOf(a.invoiceType) - INVOICE_TYPES.indexOf(b.invoiceType) ||
      a.finalAt - b.finalAt,
  );
  const refunds = toRefundCredits(advance, rounding).map((credit) => ({ ...credit, id: creditId(credit.id) }));
  const open = options.isFinal === undefined ? drafts : drafts.filter((draft) => options.isFinal?.(draft) !== true);
  yield;
  const span = draftsPeriod(open);
  // An account may have thousands of credits, and a draw has few cycles.
  const effective = view.credits.filter((credit) => isEffectiveIn(credit, span));
  const credits = [
    ...effective.map((credit) => {
      const refund = hasRefunds ? refunds.find(({ id }) => id === credit.id)?.refund : undefined;
      return { ...credit, grantedAt: Number.NEGATIVE_INFINITY, ...(refund && { refund }) };
    }),
    ...(options.creditsAreWhole === true
      ? []
      : [
          ...(yield* findCreditGrants(view, catalog, dues)).map((credit) => ({ ...credit, id: creditId(credit.id) })),
          ...refunds,
        ]),
  ];
  const { belowZeroOnce, accepts, limit } = options;
  return yield* payWithCredits(open, credits, { rounding, explain, creditId, belowZeroOnce, accepts, limit });
}

const NO_ADVANCE: AdvanceBilling = { charges: [], refunds: [] };

/**
 * Whether all advance invoices of the touched cycles are final, and no true-up counts them (S13.3): checking their
 * dates is much faster than checking each card.
 */
function* isAdvanceFinal(
  view: AccountView,
  dues: readonly DueCycle[],
  period: {
    readonly isSelectedCycle: (cycle: AccountCycle) => boolean;
    readonly cycles: readonly AccountCycle[];
    readonly isFinal: DrawOptions["isFinal"];
  },
): Steps<boolean> {
  const { isSelectedCycle, cycles, isFinal } = period;
  if (isFinal === undefined || cycles.some(({ term }) => term.plan.details.minimumCommitment)) return false;
  const { terms } = yield* advanceDates(view, dues, isSelectedCycle);
  return terms.every(
    (each) => !isSelectedCycle(each.cycle) || isFinal({ ...each, finalAt: finalInstant(each.invoiceDate, each.due) }),
  );
}

/** Whether a cycle, as currently known, touches a range. */
function createCycleFilter(
  timeline: Timeline,
  { from, until }: Pick<DrawOptions, "from" | "until">,
): (cycle: AccountCycle) => boolean {
  return (cycle) => cycle.start < until && (cycleAt(timeline, cycle.start)?.end ?? cycle.end) > from;
}

/** The dates of the advance and AD_HOC invoices that {@link drawDrafts} may draw at any instant before `until`. */
export function* datesInAdvance(
  view: AccountView,
  { from, until }: Pick<DrawOptions, "from" | "until">,
): Steps<readonly DraftTerms[]> {
  const { timeline } = view;
  if (!mayChargeInAdvance(view, timeline)) return [];
  const horizon = Math.max(until, ...cyclesIn(timeline, from, until).map(({ end }) => end));
  const isSelectedCycle = createCycleFilter(timeline, { from, until });
  const dues = findDueCycles(view.decisions, horizon, chargingWindow(view.decisions, { from, until }));
  const { terms } = yield* advanceDates(view, dues, isSelectedCycle);
  const selectedTerms = terms.filter(({ cycle }) => isSelectedCycle(cycle));
  const dated = selectedTerms.map(({ due, ...each }) => ({ ...each, finalAt: finalInstant(each.invoiceDate, due) }));
  return [...new Map(dated.map((each) => [invoiceKey(each), each])).values()];
}

/** The due items of an account before `until`, except invoices in arrears. */
export interface DueItems {
  /** Credits granted by cards and refunds; their ids derive from their causes (S9.5, S10.3, S12.6). */
  readonly credits: readonly GrantedCredit[];
  /** When advance invoices become final; some may not exist. */
  readonly advanceFinalAt: readonly Instant[];
}

/** The due items of an account in `[since, until)`; some may be older. */
export function* findDueBefore(
  view: AccountView,
  catalog: BillingCatalog,
  { since, until }: { readonly since: Instant; readonly until: Instant },
): Steps<DueItems> {
  const { decisions } = view;
  // A decision made since then may create due items of any earlier time.
  const isNew = decisions.some(({ decidedAt }) => decidedAt >= since);
  const openFrom = earliestOpenEnd(decisions, view, addDays(since, -1));
  const window = { from: earliestChargeStart(decisions, openFrom), until: Number.POSITIVE_INFINITY };
  const dues = findDueCycles(decisions, until, isNew ? undefined : window);
  // Nothing of a closed cycle falls due, except refunds of a fee for several cycles.
  const advance = yield* advanceDates(view, dues, (cycle) => addDays(closesAt(cycle, view), 1) >= since);
  const credits = [
    ...(yield* findCreditGrants(view, catalog, dues)),
    ...toRefundCredits(advance, accountRounding(view, catalog)),
  ];
  return {
    credits: credits.filter(({ grantedAt }) => grantedAt < until),
    advanceFinalAt: advance.terms.map(({ invoiceDate, due }) => finalInstant(invoiceDate, due)),
  };
}

function toRefundCredits(advance: Pick<AdvanceBilling, "refunds">, rounding: Rounding): readonly GrantedCredit[] {
  return advance.refunds.map((refund) => toRefundCredit(refund, rounding));
}

function accountRounding(view: AccountView, catalog: BillingCatalog): Rounding {
  return { mode: catalog.rounding, digits: minorUnitDigits(view.currency) };
}

/** Distinguishes advance or AD_HOC invoices with the same date (S9.5, S10.3). */
function invoiceOrigin({
  invoiceType,
  invoiceDate,
  finalAt,
  cycle,
}: Draft): Pick<Invoice, "dueSince" | "planDecidedAt"> {
  const isLate = invoiceType !== "STANDARD" && finalAt > invoiceDate;
  return {
    ...(isLate ? { dueSince: formatInstant(finalAt) } : {}),
    ...(isLate || invoiceType === "AD_HOC" ? { planDecidedAt: formatInstant(cycle.term.decidedAt) } : {}),
  };
}

function toInvoice(view: AccountView, draft: Draft, revenueInfo: InvoiceLine): Invoice {
  return {
    accountId: view.accountId,
    customerId: view.customerId,
    invoiceType: draft.invoiceType,
    status: "DRAFT",
    currency: view.currency,
    pricePlanId: draft.cycle.term.plan.planId,
    pricePlanVersion: draft.cycle.term.plan.version,
    startDate: formatInstant(draft.cycle.start),
    endDate: formatInstant(draft.cycle.end),
    invoiceDate: formatInstant(draft.invoiceDate),
    dueDate: formatInstant(Math.min(addDays(draft.invoiceDate, view.netTermDays), NO_END)),
    ...invoiceOrigin(draft),
    ...(draft.usage.length > 0 ? { usageInfo: { type: "TOTAL_USAGE", lineItems: draft.usage } as const } : {}),
    revenueInfo,
    notices: draft.notices,
  };
}
