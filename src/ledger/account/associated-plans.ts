import type { Account, PlanAssociation } from "../../book/resources/account.ts";
import { sortByDecision, applyOverride } from "../../book/resources/override.ts";
import type { PricePlan } from "../../book/resources/price-plan.ts";
import { type CycleConfig, resolveCycleConfig } from "../../calendar/cycle.ts";
import type { Instant } from "../../calendar/instant.ts";
import { invariant } from "../../errors.ts";
import { type AssociatedPlan, cycleAt, NO_END, type PlanDecision, buildTimeline } from "../../invoicing/timeline.ts";

/** Finds one version of a plan. */
export type FindPlan = (planId: string, version: number) => PricePlan | undefined;

/** A lookup over a book's plans. */
export function findPlanIn(plans: readonly PricePlan[]): FindPlan {
  const byVersion = new Map(plans.map((plan) => [`${plan.id}|${plan.version}`, plan]));
  return (planId, version) => byVersion.get(`${planId}|${version}`);
}

/** An association of a book as a decision; it always has a plan. */
type BookDecision = PlanDecision & { readonly plan: AssociatedPlan };

/** The associations of an account in a book as decisions, in the order of decision (S9.2, S16.1). */
export function toDecisions(account: Pick<Account, "pricePlans">, findPlan: FindPlan): readonly BookDecision[] {
  const decisions: BookDecision[] = [];
  for (const { association, decidedAt } of sortByDecision(account.pricePlans)) {
    const plan = findPlan(association.pricePlanId, association.version);
    invariant(plan !== undefined, "S16.1: an association of a checked book names a plan of it");
    decisions.push(toBookDecision({ ...association, decidedAt }, plan, decisions));
  }
  return decisions;
}

/** A plan without overrides, associated on a date. */
export function associateOn(plan: PricePlan, date: Instant): AssociatedPlan {
  return createAssociatedPlan(plan, plan.pricePlanDetails, {
    cycleConfig: associationCycleConfig(plan.pricePlanDetails, date),
  });
}

function toBookDecision(
  association: PlanAssociation & { readonly decidedAt: Instant },
  plan: PricePlan,
  before: readonly PlanDecision[],
): BookDecision {
  const { effectiveFrom, effectiveUntil, decidedAt, pricePlanDetailsOverride, retainStartOffsets } = association;
  const details = applyOverride(plan.pricePlanDetails, pricePlanDetailsOverride);
  // A cycle in the override takes precedence over the retained one (reference, migration).
  const overridden = (pricePlanDetailsOverride?.pricingCycleConfig ?? null) !== null;
  const retained = retainStartOffsets && !overridden ? cycleAt(buildTimeline(before), effectiveFrom) : undefined;
  return {
    from: effectiveFrom,
    until: effectiveUntil ?? NO_END,
    decidedAt,
    plan: createAssociatedPlan(
      plan,
      details,
      retained?.term.plan ?? { cycleConfig: associationCycleConfig(details, effectiveFrom) },
    ),
  };
}

/** The cycle config of an association, and its grace period if it differs from the plan's; both may be retained (S16.5). */
export type AssociatedCycles = Pick<AssociatedPlan, "cycleConfig"> & Partial<Pick<AssociatedPlan, "gracePeriodDays">>;

/** A plan version with its override applied and its cycles. */
export function createAssociatedPlan(
  plan: PricePlan,
  details: AssociatedPlan["details"],
  { cycleConfig, gracePeriodDays = planGracePeriodDays(details) }: AssociatedCycles,
): AssociatedPlan {
  return { planId: plan.id, version: plan.version, details, cycleConfig, gracePeriodDays };
}

/** The cycles of an association as stored. The grace period is included only if it differs from the plan's. */
export function toStoredCycles(
  { cycleConfig, gracePeriodDays }: AssociatedCycles,
  details: AssociatedPlan["details"],
): AssociatedCycles {
  return gracePeriodDays === undefined || gracePeriodDays === planGracePeriodDays(details)
    ? { cycleConfig }
    : { cycleConfig, gracePeriodDays };
}

function planGracePeriodDays({ pricingCycleConfig }: AssociatedPlan["details"]): number {
  return pricingCycleConfig?.gracePeriod ?? 0;
}

function associationCycleConfig(details: AssociatedPlan["details"], date: Instant): CycleConfig {
  const config = details.pricingCycleConfig ?? null;
  invariant(config !== null, "S16.1: an associated plan has a pricingCycleConfig");
  return resolveCycleConfig(config, date);
}
