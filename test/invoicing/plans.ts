/** Creates plans and decisions for the tests of invoicing and the ledger. */
import type { PricingCycleConfig } from "../../src/book/resources/price-plan.ts";
import { pricePlan } from "../../src/book/resources/price-plan.ts";
import { resolveCycleConfig } from "../../src/calendar/cycle.ts";
import { formatDate, type Instant, parseDate } from "../../src/calendar/instant.ts";
import {
  type AccountView,
  type AssociatedPlan,
  buildTimeline,
  type LicenseChange,
  NO_END,
  type PlanDecision,
} from "../../src/invoicing/timeline.ts";
import { Decimal, ZERO } from "../../src/numbers/decimal.ts";

/** Monthly cycles from the first. */
export const MONTHLY: PricingCycleConfig = {
  interval: "MONTHLY",
  startOffset: { dayOffset: "1", monthOffset: "NIL" },
};

/** The differences from a version 1 plan without charges. */
export interface PlanTerms {
  readonly id?: string;
  readonly version?: number;
  readonly cycle?: PricingCycleConfig;
  readonly graceDays?: number;
  readonly details?: Readonly<Record<string, unknown>> | undefined;
}

/** A plan of an account, associated on a date. */
export function planFor(date: string, { id, version, cycle, graceDays, details }: PlanTerms = {}): AssociatedPlan {
  return {
    planId: id ?? "plan",
    version: version ?? 1,
    details: pricePlan.shape.pricePlanDetails.parse({ ...details }),
    cycleConfig: resolveCycleConfig(cycle ?? MONTHLY, parseDate(date)),
    gracePeriodDays: graceDays ?? 0,
  };
}

/** A decision about `[from, until)`, by default decided at its beginning. */
export function decision(
  from: string,
  terms: (PlanTerms & { readonly until?: string; readonly decidedAt?: string }) | null = {},
  until?: string,
): PlanDecision {
  const end = terms?.until ?? until;
  return {
    from: parseDate(from),
    until: end === undefined ? NO_END : parseDate(end),
    decidedAt: parseDate(terms?.decidedAt ?? from),
    plan: terms === null ? null : planFor(from, terms),
  };
}

/** An account with these decisions, in US dollars and without usage, unless more is said. */
export function viewOf(decisions: readonly PlanDecision[], more: Partial<AccountView> = {}): AccountView {
  return {
    accountId: "acc",
    customerId: "ann",
    currency: "USD",
    netTermDays: 0,
    decisions,
    timeline: buildTimeline(decisions),
    licenseChanges: [],
    credits: [],
    usage: () => ZERO,
    usageByGroup: () => [],
    overage: () => ZERO,
    ...more,
  };
}

/** So many seats from an instant on. */
export function seatsFrom(effectiveFrom: Instant, quantity: number, licenseId = "addon.seats"): LicenseChange {
  return { licenseId, updateType: "ABSOLUTE", quantity: new Decimal(quantity), effectiveFrom };
}

/** A fee of 30 in US dollars. */
export function feeOf30(more: Readonly<Record<string, unknown>> = {}): Readonly<Record<string, unknown>> {
  return {
    fixedFeeRateCards: [{ id: "addon.fee", rateValues: [{ currency: "USD", rate: 30 }], ...more }],
  };
}

/** `2024-06-01/2024-07-01`. */
export function spanText({ start, end }: { readonly start: Instant; readonly end: Instant }): string {
  return `${formatDate(start)}/${formatDate(end)}`;
}
