/**
 * Computes the invoices of an account for the cycles that a range touches, both for previews and for finalizing (S13).
 */
import { formatInstant, type Instant, addDays } from "../calendar/instant.ts";
import { type CreditUse, isEffectiveIn } from "../credits/monetary-credits.ts";
import { minorUnitDigits } from "../numbers/currency.ts";
import { type Decimal, ZERO } from "../numbers/decimal.ts";
import { type Steps, runToCompletion } from "../numbers/steps.ts";
import type { Rounding } from "../rating/cards.ts";
import { findAdvanceTerms, computeAdvanceBilling, mayChargeInAdvance } from "./advance.ts";
import { type DraftSelection, type PaidDraft, payWithCredits } from "./credit-lines.ts";
import {
  type Draft,
  type DraftTerms,
  finalInstant,
  invoiceKey,
  planAdvanceDrafts,
  planStandardDraft,
} from "./draft.ts";
import { type AdvanceBilling, earliestChargeStart, chargingWindow, type DueCycle, findDueCycles } from "./due-work.ts";
import { draftsPeriod, findCreditGrants, type GrantedCredit, toRefundCredit, roundRefund } from "./granted-credits.ts";
import { INVOICE_TYPES, type Invoice, type InvoiceLine } from "./invoice.ts";
import {
  type AccountView,
  type BillingCatalog,
  closesAt,
  earliestOpenEnd,
  type AccountCycle,
  cycleAt,
  cyclesIn,
  NO_END,
  type Timeline,
} from "./timeline.ts";

/** The range and options for computing invoices. */
export interface InvoicingOptions {
  /** Invoices the cycles that touch `[from, until)`; credits that others would consume are not reserved (book.md, preview). */
  readonly from: Instant;
  readonly until: Instant;
  /** Until when due items are known, if later than `until`: a charge may follow from a later one (S9.1). */
  readonly knownUntil?: Instant | undefined;
  /** Whether lines have explanations (S13.6). */
  readonly explain?: boolean;
  /** Invoices to skip: they are final, and the credits they took are already deducted in the view. */
  readonly isFinal?: (draft: DraftTerms) => boolean;
  /** Which invoices to compute; default all. */
  readonly selection?: DraftSelection | undefined;
  /** Stops after this many; default all. */
  readonly limit?: number | undefined;
  /** Whether the view has the credits granted by plans and invoices; default false: they are computed. */
  readonly viewHasAllCredits?: boolean;
  /** The id of a credit from its cause; default the cause. */
  readonly creditId?: (cause: string) => string;
  /**
   * Whether an invoice excludes what the credit of another invoice below zero pays of it, so that the totals add up to
   * the amount payable (S13.4). Default false: as issued.
   */
  readonly countsNegativeInvoicesOnce?: boolean | undefined;
}

/** An invoice with its draft and the credits that it takes. */
export interface ComputedInvoice {
  readonly draft: Draft;
  /** Builds the invoice with its lines. */
  readonly buildInvoice: () => Invoice;
  /** Builds the invoice with its total; the lines below are built on first access, and keep the draft in memory until then. */
  readonly buildInvoiceWithLazyLines: () => Invoice;
  readonly creditUses: readonly CreditUse[];
  /** The credit that it grants once final, if its total is below zero (S13.4). */
  readonly grantedCredit?: GrantedCredit;
}

/** Computes an account's invoices, in the order in which they take credits (S12.3). */
export function computeInvoices(
  view: AccountView,
  catalog: BillingCatalog,
  options: InvoicingOptions,
): readonly Invoice[] {
  return runToCompletion(computeInvoicesInSteps(view, catalog, options)).map(({ buildInvoice }) => buildInvoice());
}

/** The totals of {@link computeInvoices}, without lines, which is faster. */
export function computeTotals(
  view: AccountView,
  catalog: BillingCatalog,
  options: InvoicingOptions,
): readonly Decimal[] {
  return runToCompletion(computePaidDrafts(view, catalog, options)).map(({ total }) => total);
}

/** Like {@link computeInvoices}, with the data for finalizing, in steps. */
export function* computeInvoicesInSteps(
  view: AccountView,
  catalog: BillingCatalog,
  options: InvoicingOptions,
): Steps<readonly ComputedInvoice[]> {
  return (yield* computePaidDrafts(view, catalog, options)).map((paid) => ({
    draft: paid.draft,
    buildInvoice: () => toInvoice(view, paid.draft, paid.tree()),
    buildInvoiceWithLazyLines: () => toInvoice(view, paid.draft, paid.lazyTree()),
    creditUses: paid.creditUses,
    ...(paid.grantedCredit === undefined ? {} : { grantedCredit: paid.grantedCredit }),
  }));
}

function* computePaidDrafts(
  view: AccountView,
  catalog: BillingCatalog,
  options: InvoicingOptions,
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
  const needsAllCycles = options.viewHasAllCredits !== true || hasRefunds;
  const dues = findDueCycles(
    view.decisions,
    horizon,
    needsAllCycles ? undefined : chargingWindow(view.decisions, options),
  );
  const isAdvanceDone =
    !needsAllCycles && (yield* isAdvanceFinal(view, dues, { isSelectedCycle, cycles, isFinal: options.isFinal }));
  const advance = isAdvanceDone
    ? NO_ADVANCE
    : yield* computeAdvanceBilling(view, dues, needsAllCycles ? undefined : isSelectedCycle);
  const advanceDrafts = planAdvanceDrafts(
    catalog,
    rounding,
    advance.charges.filter(({ cycle }) => isSelectedCycle(cycle)),
  );
  const inAdvance = { drafts: advanceDrafts, refunds: advance.refunds.map((refund) => roundRefund(refund, rounding)) };
  const standard = cycles.map((cycle) => planStandardDraft({ view, catalog, rounding, cycle }, inAdvance));
  const drafts = [...standard, ...advanceDrafts].sort(compareDrafts);
  const refunds = toRefundCredits(advance, rounding).map((credit) => ({ ...credit, id: creditId(credit.id) }));
  const openDrafts =
    options.isFinal === undefined ? drafts : drafts.filter((draft) => options.isFinal?.(draft) !== true);
  yield;
  const span = draftsPeriod(openDrafts);
  // An account may have thousands of credits, of which few are effective in the range.
  const effectiveCredits = view.credits.filter((credit) => isEffectiveIn(credit, span));
  const credits = [
    ...effectiveCredits.map((credit) => {
      const refund = hasRefunds ? refunds.find(({ id }) => id === credit.id)?.refund : undefined;
      return { ...credit, grantedAt: Number.NEGATIVE_INFINITY, ...(refund && { refund }) };
    }),
    ...(options.viewHasAllCredits === true
      ? []
      : [
          ...(yield* findCreditGrants(view, catalog, dues)).map((credit) => ({ ...credit, id: creditId(credit.id) })),
          ...refunds,
        ]),
  ];
  const { countsNegativeInvoicesOnce, selection, limit } = options;
  return yield* payWithCredits(openDrafts, credits, {
    rounding,
    explain,
    creditId,
    countsNegativeInvoicesOnce,
    selection,
    limit,
  });
}

/** The order in which invoices take credits (S12.3). */
function compareDrafts(a: DraftTerms, b: DraftTerms): number {
  return (
    a.invoiceDate - b.invoiceDate ||
    INVOICE_TYPES.indexOf(a.invoiceType) - INVOICE_TYPES.indexOf(b.invoiceType) ||
    a.finalAt - b.finalAt
  );
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
    readonly isFinal: InvoicingOptions["isFinal"];
  },
): Steps<boolean> {
  const { isSelectedCycle, cycles, isFinal } = period;
  if (isFinal === undefined || cycles.some(({ term }) => term.plan.details.minimumCommitment)) return false;
  const { terms } = yield* findAdvanceTerms(view, dues, isSelectedCycle);
  return terms.every(
    (each) => !isSelectedCycle(each.cycle) || isFinal({ ...each, finalAt: finalInstant(each.invoiceDate, each.due) }),
  );
}

/** Whether a cycle, as currently known, touches a range. */
function createCycleFilter(
  timeline: Timeline,
  { from, until }: Pick<InvoicingOptions, "from" | "until">,
): (cycle: AccountCycle) => boolean {
  return (cycle) => cycle.start < until && (cycleAt(timeline, cycle.start)?.end ?? cycle.end) > from;
}

/** The dates of the advance and AD_HOC invoices that {@link computeInvoicesInSteps} may return at any instant before `until`. */
export function* findAdvanceInvoiceTerms(
  view: AccountView,
  { from, until }: Pick<InvoicingOptions, "from" | "until">,
): Steps<readonly DraftTerms[]> {
  const { timeline } = view;
  if (!mayChargeInAdvance(view)) return [];
  const horizon = Math.max(until, ...cyclesIn(timeline, from, until).map(({ end }) => end));
  const isSelectedCycle = createCycleFilter(timeline, { from, until });
  const dues = findDueCycles(view.decisions, horizon, chargingWindow(view.decisions, { from, until }));
  const { terms } = yield* findAdvanceTerms(view, dues, isSelectedCycle);
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
  const advance = yield* findAdvanceTerms(view, dues, (cycle) => addDays(closesAt(cycle, view), 1) >= since);
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
    ...(draft.unpriced && { unpriced: draft.unpriced }),
  };
}
