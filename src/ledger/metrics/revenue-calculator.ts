/**
 * The charge of a plan for one whole cycle with given quantities: a preview (S13.5) of a temporary account. Nothing is
 * rated here: the quantities become the usage of that account, whose invoices are computed as usual.
 */
import { type Cycle, type CycleConfig, cycleIndexAt, naturalCycle } from "../../calendar/cycle.ts";
import { type Day, dayOf, formatDate, type Instant } from "../../calendar/instant.ts";
import { invariant } from "../../errors.ts";
import { findOverageWindow } from "../../invoicing/arrears.ts";
import { createCardFinder, isArrearsChargeDue } from "../../invoicing/charge-periods.ts";
import { computeInvoicesInSteps } from "../../invoicing/compute-invoices.ts";
import { findDueCycles } from "../../invoicing/due-work.ts";
import { findCreditGrants } from "../../invoicing/granted-credits.ts";
import { type Invoice, netTotal } from "../../invoicing/invoice.ts";
import {
  type AccountView,
  type BillingCatalog,
  type LicenseChange,
  type AccountCycle,
  type AssociatedPlan,
  cycleAt,
  NO_END,
  buildTimeline,
} from "../../invoicing/timeline.ts";
import { type Decimal, formatDecimal, ZERO } from "../../numbers/decimal.ts";
import { runToCompletion, type Steps } from "../../numbers/steps.ts";
import { requireSlabs } from "../../rating/cards.ts";

/** A plan, and the quantities used in one cycle. */
export interface RevenueCase {
  /** Must have prices in the currency. */
  readonly plan: AssociatedPlan;
  readonly currency: string;
  /** Must end before {@link NO_END}. */
  readonly cycle: ChargedCycle;
  /** Units by meter. */
  readonly usage: ReadonlyMap<string, Decimal>;
  /** Units beyond the entitlements, by feature. */
  readonly overage: ReadonlyMap<string, Decimal>;
  /** In order of arrival. */
  readonly licenseChanges: readonly LicenseChange[];
  /** Whether lines have explanations (S13.6). */
  readonly explain: boolean;
}

/** An invoice of the plan, without account and customer. */
export type CalculatedInvoice = Pick<
  Invoice,
  "invoiceType" | "currency" | "startDate" | "endDate" | "invoiceDate" | "usageInfo" | "revenueInfo" | "notices"
>;

/** The charges of a plan for a cycle. */
export interface CalculatedRevenue {
  readonly currency: string;
  /** The charged natural cycle, half open. */
  readonly cycle: Cycle;
  readonly cycleNumber: number;
  /**
   * The sum of the invoices after the credits that the plan grants. What a negative invoice pays of another is not
   * subtracted twice (S13.4).
   */
  readonly totalAmount: Decimal;
  /** In the order in which they take credits. */
  readonly invoices: readonly CalculatedInvoice[];
  /** Sentences about quantities that are not charged. */
  readonly notices: readonly string[];
}

/** The charged natural cycle. */
export interface ChargedCycle extends Cycle {
  /** The start of the plan's cycle number 1. */
  readonly planStart: Instant;
}

/** The natural cycle that contains `at`, numbered `cycleNumber`. */
export function findChargedCycle(cycleConfig: CycleConfig, at: Instant, cycleNumber: number): ChargedCycle {
  const index = cycleIndexAt(cycleConfig, at);
  return {
    ...naturalCycle(cycleConfig, index),
    planStart: naturalCycle(cycleConfig, index - (cycleNumber - 1)).start,
  };
}

/**
 * Computes the invoices of one whole natural cycle, number `cycleNumber` of the plan, as if earlier cycles left no usage
 * or credits. One draft or invoice per step.
 *
 * @throws {RatebookError} ERR_REFUSED for usage that a price table prices by groups (S18)
 */
export function* calculateRevenue(catalog: BillingCatalog, revenueCase: RevenueCase): Steps<CalculatedRevenue> {
  for (const card of revenueCase.plan.details.usageRateCards)
    if (revenueCase.usage.get(card.usageMeterId)?.isZero() === false) requireSlabs(card);
  const view = createCalculatorView(catalog, revenueCase);
  const cycle = cycleAt(view.timeline, revenueCase.cycle.start);
  invariant(cycle !== undefined, "S13.5: the calculated plan is in force in the cycle");
  const range = { from: cycle.start, until: cycle.end };
  const options = { ...range, explain: revenueCase.explain, viewHasAllCredits: true };
  const invoices: Invoice[] = [];
  for (const { buildInvoice } of yield* computeInvoicesInSteps(view, catalog, options)) {
    invoices.push(buildInvoice());
    yield;
  }
  const calculatedInvoices = invoices.map(
    ({ invoiceType, currency, startDate, endDate, invoiceDate, usageInfo, revenueInfo, notices }) => ({
      invoiceType,
      currency,
      startDate,
      endDate,
      invoiceDate,
      ...(usageInfo === undefined ? {} : { usageInfo }),
      revenueInfo,
      notices,
    }),
  );
  return {
    currency: revenueCase.currency,
    cycle: cycle.natural,
    cycleNumber: cycle.n,
    totalAmount: netTotal(invoices),
    invoices: calculatedInvoices,
    notices: describeUncharged(catalog, revenueCase, cycle),
  };
}

/** An account with only this plan, and all usage on the first day of the cycle. */
function createCalculatorView(
  catalog: BillingCatalog,
  { plan, currency, cycle, licenseChanges, ...quantities }: RevenueCase,
): AccountView {
  const day = dayOf(cycle.start);
  const decisions = [{ from: cycle.planStart, until: NO_END, decidedAt: cycle.planStart, plan }];
  const view: AccountView = {
    accountId: "",
    customerId: "",
    currency,
    netTermDays: 0,
    decisions,
    timeline: buildTimeline(decisions),
    licenseChanges,
    credits: [],
    usage: usageOnDay(quantities.usage, day),
    usageByGroup: () => [],
    overage: usageOnDay(quantities.overage, day),
  };
  const dues = findDueCycles(view.decisions, cycle.end);
  const granted = runToCompletion(findCreditGrants(view, catalog, dues)).filter(
    ({ effectiveFrom }) => effectiveFrom === cycle.start,
  );
  return { ...view, credits: granted };
}

function usageOnDay(quantities: ReadonlyMap<string, Decimal>, day: Day): AccountView["usage"] {
  return (meterOrFeatureId, from, until) =>
    from <= day && day < until ? (quantities.get(meterOrFeatureId) ?? ZERO) : ZERO;
}

/** Notices about quantities that are not charged in this cycle, so that the total is not mistaken for a complete one. */
function describeUncharged(
  catalog: BillingCatalog,
  { plan: { details }, usage, overage, licenseChanges }: RevenueCase,
  cycle: AccountCycle,
): readonly string[] {
  const notices: string[] = [];
  const cardFor = createCardFinder(details);
  for (const [id, quantity] of usage) {
    if (quantity.isZero() || cardFor("USAGE", id) !== undefined) continue;
    notices.push(describeUnpriced(quantity, catalog.meters.get(id) ?? id));
  }
  for (const id of new Set(licenseChanges.map(({ licenseId }) => licenseId))) {
    if (cardFor("LICENSE", id) !== undefined) continue;
    notices.push(
      `the licenses of ${catalog.addOns.get(id) ?? id} are not charged: the plan has no price for this license`,
    );
  }
  for (const [id, quantity] of overage) {
    if (quantity.isZero()) continue;
    const name = catalog.features.get(id) ?? id;
    const card = details.entitlementOverageRateCards.find(({ featureId }) => featureId === id);
    if (card === undefined) {
      notices.push(describeUnpriced(quantity, name));
      continue;
    }
    const window = findOverageWindow(cycle, card.billingConfig);
    if (window !== undefined && isArrearsChargeDue(cycle, window)) continue;
    const when =
      window === undefined ? "it is charged in a later cycle" : `it is charged on ${formatDate(window.served.end)}`;
    notices.push(`the overage of ${name} is not charged in cycle ${cycle.n}: ${when}`);
  }
  return notices;
}

function describeUnpriced(quantity: Decimal, name: string): string {
  return `${formatDecimal(quantity)} units of ${name} are not charged: the plan has no price for them`;
}
