/**
 * Draws the invoices of an account for the cycles that a range touches: what a preview shows and what finalizing writes
 * come from here (S13).
 *
 * @module
 */
import { type Steps, runToCompletion } from "../book/steps.ts";
import { DAY_MS, formatInstant, type Instant } from "../calendar/instant.ts";
import { type CreditUse, isEffectiveIn } from "../credits/monetary-credits.ts";
import { minorUnitDigits } from "../numbers/currency.ts";
import { type Decimal, ZERO } from "../numbers/decimal.ts";
import type { Rounding } from "../rating/commitment.ts";
import type { AccountView, BillingCatalog } from "./account-view.ts";
import type { AdvanceBilling } from "./advance-charge.ts";
import { advanceDates, computeAdvanceBilling, mayChargeInAdvance } from "./advance.ts";
import { type DraftsAsked, type PaidDraft, payWithCredits } from "./credit-lines.ts";
import { draftsPeriod } from "./credit-pool.ts";
import { type Draft, type DraftTerms, finalInstant, invoiceKey, plannedInAdvance, plannedStandard } from "./draft.ts";
import { earliestChargeStart, chargingWindow, type DueCycle, findDueCycles } from "./due-work.ts";
import { closesAt, earliestOpenEnd } from "./grace-period.ts";
import { findCreditGrants, type GrantedCredit, toRefundCredit, refundedCharge } from "./granted-credits.ts";
import { INVOICE_TYPES, type Invoice, type InvoiceLine } from "./invoice.ts";
import { type AccountCycle, cycleAt, cyclesIn, NO_END, type Timeline } from "./timeline.ts";

/** The range and options of drawing. */
export interface DrawOptions {
  /** The cycles that touch `[from, until)` are drawn; what others would consume is left (book.md, preview). */
  readonly from: Instant;
  readonly until: Instant;
  /** Up to when what falls due is known, where that is later than `until`: a charge may follow from a later one (S9.1). */
  readonly knownUntil?: Instant | undefined;
  /** Whether lines carry explanations (S13.6). */
  readonly explain?: boolean;
  /** Invoices that are not drawn: they are final, and what they took is gone from the view's credits. */
  readonly isFinal?: (draft: DraftTerms) => boolean;
  /** Which invoices are wanted; default all. */
  readonly accepts?: DraftsAsked | undefined;
  /** Stops when it has drawn so many of these; default all. */
  readonly most?: number | undefined;
  /** Whether the view's credits hold what plans and invoices granted, too; default false: they are worked out. */
  readonly creditsAreWhole?: boolean;
  /** The id of a credit by what caused it; default the cause. */
  readonly creditId?: (cause: string) => string;
  /**
   * Whether what the credit of an invoice below zero pays of another one is left out of that one: the totals then add up to what is
   * paid in all (S13.4). Default false: invoices are as they are issued.
   */
  readonly belowZeroOnce?: boolean | undefined;
}

/** An invoice with what it was drawn from, and what it takes of credits. */
export interface DrawnInvoice {
  readonly draft: Draft;
  /** Makes it, with its lines. */
  readonly invoice: () => Invoice;
  /** Makes it, with its total; the lines below that are made when they are read first. Until then it holds on to the draft. */
  readonly invoiceWithLazyLines: () => Invoice;
  readonly taken: readonly CreditUse[];
  /** The credit that it grants once it is final: its total is below zero (S13.4). */
  readonly granted?: GrantedCredit;
}

/** Draws an account's invoices, in the order in which they take credits (S12.3). */
export function drawInvoices(view: AccountView, catalog: BillingCatalog, options: DrawOptions): readonly Invoice[] {
  return runToCompletion(drawDrafts(view, catalog, options)).map(({ invoice }) => invoice());
}

/** The totals of what {@link drawInvoices} draws, without its lines: that takes less time. */
export function drawTotals(view: AccountView, catalog: BillingCatalog, options: DrawOptions): readonly Decimal[] {
  return runToCompletion(drawPaidDrafts(view, catalog, options)).map(({ total }) => total);
}

/** As {@link drawInvoices}, with what finalizing must know of each, in steps. */
export function* drawDrafts(
  view: AccountView,
  catalog: BillingCatalog,
  options: DrawOptions,
): Steps<readonly DrawnInvoice[]> {
  return (yield* drawPaidDrafts(view, catalog, options)).map((paid) => ({
    draft: paid.draft,
    invoice: () => toInvoice(view, paid.draft, paid.tree()),
    invoiceWithLazyLines: () => toInvoice(view, paid.draft, paid.lazyTree()),
    taken: paid.taken,
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
  // A cycle that was cut since it was charged is shown with what is left of it.
  const isTouched = createCycleFilter(timeline, options);
  // What was charged before is read again where a refund of it may pay, and is to be explained.
  const hasRefunds = explain && view.credits.some(({ kind, left }) => kind === "REFUND" && left.gt(ZERO));
  const isWhole = options.creditsAreWhole !== true || hasRefunds;
  const dues = findDueCycles(view.decisions, horizon, isWhole ? undefined : chargingWindow(view.decisions, options));
  const isOver = !isWhole && (yield* isAdvanceFinal(view, dues, { isTouched, cycles, isFinal: options.isFinal }));
  const advance = isOver ? NO_ADVANCE : yield* computeAdvanceBilling(view, dues, isWhole ? undefined : isTouched);
  const early = plannedInAdvance(
    catalog,
    rounding,
    advance.charges.filter(({ cycle }) => isTouched(cycle)),
  );
  const ahead = { drafts: early, refunds: advance.refunds.map((refund) => refundedCharge(refund, rounding)) };
  const standard = cycles.map((cycle) => plannedStandard({ view, catalog, rounding, timeline, cycle }, ahead));
  const drafts = [...standard, ...early].sort(
    (a, b) =>
      a.invoiceDate - b.invoiceDate ||
      INVOICE_TYPES.indexOf(a.invoiceType) - INVOICE_TYPES.indexOf(b.invoiceType) ||
      a.finalAt - b.finalAt,
  );
  const refunds = toRefundCredits(advance, rounding).map((credit) => ({ ...credit, id: creditId(credit.id) }));
  const open = options.isFinal === undefined ? drafts : drafts.filter((draft) => options.isFinal?.(draft) !== true);
  yield;
  const span = draftsPeriod(open);
  // An account may have thousands of credits, and a draw is of a few cycles.
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
  const { belowZeroOnce, accepts, most } = options;
  return yield* payWithCredits(open, credits, { rounding, explain, creditId, belowZeroOnce, accepts, most });
}

const NO_ADVANCE: AdvanceBilling = { charges: [], refunds: [] };

/**
 * Whether all invoices in advance of the touched cycles are final, and no true-up counts them (S13.3): finding that out by their dates
 * takes far less time than looking at each card.
 */
function* isAdvanceFinal(
  view: AccountView,
  dues: readonly DueCycle[],
  touched: {
    readonly isTouched: (cycle: AccountCycle) => boolean;
    readonly cycles: readonly AccountCycle[];
    readonly isFinal: DrawOptions["isFinal"];
  },
): Steps<boolean> {
  const { isTouched, cycles, isFinal } = touched;
  if (isFinal === undefined || cycles.some(({ term }) => term.plan.details.minimumCommitment)) return false;
  const { terms } = yield* advanceDates(view, dues, isTouched);
  return terms.every(
    (each) => !isTouched(each.cycle) || isFinal({ ...each, finalAt: finalInstant(each.invoiceDate, each.due) }),
  );
}

/** Whether a cycle, as its account has it by now, touches a range. */
function createCycleFilter(
  timeline: Timeline,
  { from, until }: Pick<DrawOptions, "from" | "until">,
): (cycle: AccountCycle) => boolean {
  return (cycle) => cycle.start < until && (cycleAt(timeline, cycle.start)?.end ?? cycle.end) > from;
}

/** The dates of the invoices in advance and AD_HOC ones that {@link drawDrafts} may draw at any instant before `until`. */
export function* datesInAdvance(
  view: AccountView,
  { from, until }: Pick<DrawOptions, "from" | "until">,
): Steps<readonly DraftTerms[]> {
  const { timeline } = view;
  if (!mayChargeInAdvance(view, timeline)) return [];
  const horizon = Math.max(until, ...cyclesIn(timeline, from, until).map(({ end }) => end));
  const isTouched = createCycleFilter(timeline, { from, until });
  const dues = findDueCycles(view.decisions, horizon, chargingWindow(view.decisions, { from, until }));
  const { terms } = yield* advanceDates(view, dues, isTouched);
  const touched = terms.filter(({ cycle }) => isTouched(cycle));
  const dated = touched.map(({ due, ...each }) => ({ ...each, finalAt: finalInstant(each.invoiceDate, due) }));
  return [...new Map(dated.map((each) => [invoiceKey(each), each])).values()];
}

/** The dues of an account before `until`, except invoices in arrears. */
export interface DueItems {
  /** Credits that cards grant and refunds; their ids are derived from their causes (S9.5, S10.3, S12.6). */
  readonly credits: readonly GrantedCredit[];
  /** When invoices in advance become final; some may turn out to be none. */
  readonly advanceFinalAt: readonly Instant[];
}

/** The dues of an account in `[since, until)`; some may be older. */
export function* findDueBefore(
  view: AccountView,
  catalog: BillingCatalog,
  { since, until }: { readonly since: Instant; readonly until: Instant },
): Steps<DueItems> {
  const { decisions } = view;
  // A decision that is made since may make dues of any time before.
  const isNew = decisions.some(({ decidedAt }) => decidedAt >= since);
  const openFrom = earliestOpenEnd(decisions, view, since - DAY_MS);
  const window = { from: earliestChargeStart(decisions, openFrom), until: Number.POSITIVE_INFINITY };
  const dues = findDueCycles(decisions, until, isNew ? undefined : window);
  // Nothing of a cycle falls due once it is closed, but what is given back of a fee for several cycles.
  const advance = yield* advanceDates(view, dues, (cycle) => closesAt(cycle, view) + DAY_MS >= since);
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

/** What tells an invoice in advance or AD_HOC from another one of its date (S9.5, S10.3). */
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
    dueDate: formatInstant(Math.min(draft.invoiceDate + view.netTermDays * DAY_MS, NO_END)),
    ...invoiceOrigin(draft),
    ...(draft.usage.length > 0 ? { usageInfo: { type: "TOTAL_USAGE", lineItems: draft.usage } as const } : {}),
    revenueInfo,
    notices: draft.notices,
  };
}
