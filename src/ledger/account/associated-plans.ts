/**
 * Plan versions as accounts have them, with overrides applied and cycle configs derived, explicit or retained; the
 * associations of a book as decisions; and lookups by instant: whether an event is priced, how long its cycle stays open and
 * how much overage is allowed (S6.3, S6.5, S11.3, S16.1, S16.2).
 */
import type { Account, PlanAssociation } from "../../book/resources/account.ts";
import { sortByDecision, applyOverride } from "../../book/resources/override.ts";
import type { PricePlan } from "../../book/resources/price-plan.ts";
import type { EntitlementOverageRateCard } from "../../book/resources/rate-card.ts";
import { type CycleConfig, resolveCycleConfig, type Cycle } from "../../calendar/cycle.ts";
import type { Instant } from "../../calendar/instant.ts";
import { invariant } from "../../errors.ts";
import { findOverageWindow } from "../../invoicing/arrears.ts";
import { clipToTerm } from "../../invoicing/charge-periods.ts";
import {
  type AssociatedPlan,
  cycleAt,
  NO_END,
  type PlanDecision,
  buildTimeline,
  closesAt,
  type GraceTerms,
  naturalPeriod,
  type AccountCycle,
  type Timeline,
} from "../../invoicing/timeline.ts";
import type { Decimal } from "../../numbers/decimal.ts";

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

/** A period with one cycle or no cycle in force: `[start, end)`, whole UTC days. */
export interface AccountPeriod {
  /** May be `-Infinity` before the first association. */
  readonly start: Instant;
  /** May be `Infinity` after the last one. */
  readonly end: Instant;
  /**
   * Until when events of this cycle are accepted, exclusive: its end plus the grace period (S6.5). Undefined without a
   * plan: such events are metered, not priced, and never too late.
   */
  readonly openUntil?: Instant | undefined;
}

/** The overage that the plan allows for a feature in one billing window (S11.3, S11.7). */
export interface OverageLimit {
  readonly window: Cycle;
  /** Absent: unlimited. */
  readonly maxQuantity?: Decimal | null | undefined;
}

/** Why a period accepts no more changes. */
export type ClosedReason = "PAST_GRACE_PERIOD" | "FINAL_INVOICE";

/** Looks up an account's plans by instant. */
export interface PlanLookup {
  /** The cycle, or the period without one, that contains an instant, and until when it accepts events (S6.5). */
  periodAt(at: Instant): AccountPeriod;
  /**
   * The overage card in force at an instant by the plans known at `now`; if none was known, by a later decision that
   * covers the instant (S11.3). Undefined if there is none.
   */
  overageAt(featureId: string, at: Instant, now: Instant): OverageLimit | undefined;
}

/** Creates the lookup from an account's decisions. */
export function createPlanLookup(
  decisions: readonly PlanDecision[],
  graceTerms: GraceTerms = {},
  timeline: Timeline = buildTimeline(decisions),
): PlanLookup {
  const timelineKnownAt = createTimelineLookup(decisions, timeline);
  let period: AccountPeriod = { start: 0, end: 0 };
  const periodOf = (instant: Instant): AccountPeriod => {
    const cycle = cycleAt(timeline, instant);
    if (cycle === undefined) return findGap(timeline, instant);
    return { start: cycle.start, end: cycle.end, openUntil: closesAt(cycle, graceTerms) };
  };

  return {
    periodAt(instant) {
      // Consecutive events are mostly in the same period.
      if (instant < period.start || instant >= period.end) period = periodOf(instant);
      return period;
    },
    overageAt(featureId, instant, now) {
      // If no plan was known, a later backdated decision is the only one that applies.
      const current = cycleAt(timelineKnownAt(now), instant) ?? cycleAt(timeline, instant);
      const card = current?.term.plan.details.entitlementOverageRateCards.find((each) => each.featureId === featureId);
      if (current === undefined || card === undefined) return undefined;
      return {
        window: overageLimitWindow(current, card),
        ...(card.maxQuantity ? { maxQuantity: card.maxQuantity } : {}),
      };
    },
  };
}

/**
 * Looks up the timeline as known at an instant (S9.2). It differs from the whole timeline only for a book loaded before
 * its own decisions.
 */
function createTimelineLookup(decisions: readonly PlanDecision[], fullTimeline: Timeline): (now: Instant) => Timeline {
  const knownFrom = decisions.map(knownSince);
  const fullFrom = Math.max(...knownFrom);
  let last = { count: decisions.length, timeline: fullTimeline };
  return (now) => {
    if (now >= fullFrom) return fullTimeline;
    const knownDecisions = decisions.filter((_, index) => (knownFrom[index] ?? now) <= now);
    if (knownDecisions.length !== last.count)
      last = { count: knownDecisions.length, timeline: buildTimeline(knownDecisions) };
    return last.timeline;
  };
}

/** From when on a ledger applies a decision. A decision made in the ledger applies at once, whatever the clock says. */
export function knownSince({
  decidedAt,
  recordedAt = decidedAt,
}: Pick<PlanDecision, "decidedAt" | "recordedAt">): Instant {
  return decidedAt > recordedAt ? decidedAt : Number.NEGATIVE_INFINITY;
}

/** The period without a plan around an instant. */
function findGap(timeline: Timeline, instant: Instant): AccountPeriod {
  const before = timeline.filter((term) => term.until <= instant).map((term) => term.until);
  const after = timeline.filter((term) => term.from > instant).map((term) => term.from);
  return { start: Math.max(Number.NEGATIVE_INFINITY, ...before), end: Math.min(Number.POSITIVE_INFINITY, ...after) };
}

/**
 * The window in which overage counts against the card's maximum: the cycle's billing window, or all cycles before
 * `startOffset`, which are not charged (S11.7).
 */
export function overageLimitWindow(cycle: AccountCycle, { billingConfig }: EntitlementOverageRateCard): Cycle {
  const charged = findOverageWindow(cycle, billingConfig);
  if (charged !== undefined) return charged.served;
  return clipToTerm(naturalPeriod(cycle, 1, billingConfig?.startOffset ?? 1), cycle.term);
}
