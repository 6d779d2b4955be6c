/**
 * What an event must know of its account's plans: whether it is priced, how long its cycle stays open, what is granted
 * by then and how much overage is allowed (S6.5, S11.1, S11.3, S14.1).
 *
 * @module
 */
import type { Cycle } from "../calendar/cycle.ts";
import { DAY_MS, type Instant } from "../calendar/instant.ts";
import { overageWindow } from "../invoicing/arrears.ts";
import { type FeatureGrant, featureGrants } from "../invoicing/dues.ts";
import { naturalPeriod, type AccountCycle, cycleAt, type PlanDecision, timelineOf } from "../invoicing/timeline.ts";
import type { Decimal } from "../numbers/decimal.ts";

/** Where overage is counted, and how much of it is allowed; without a limit where none is said (S11.3). */
export interface OverageAllowance {
  /** Whole UTC days, inside the association. */
  readonly window: Cycle;
  readonly maxQuantity?: Decimal;
}

/** One account's plans, asked event by event. */
export interface PlanClock {
  /** Whether a plan is in force at an instant. */
  pricedAt(at: Instant): boolean;
  /** Until when the cycle of an event takes events: its end and grace; the instant itself outside of plans (S6.5). */
  openUntil(at: Instant): Instant;
  /** The grants that fall due up to and including an instant and were not asked for before, in order (S2.4). */
  grantsUpTo(at: Instant): readonly FeatureGrant[];
  /** The overage card in force at an instant; undefined where there is none. */
  overageAt(featureId: string, at: Instant): OverageAllowance | undefined;
}

/** How far ahead grants are worked out at once, so that an event costs only a look at the next one. */
const LOOKAHEAD = 400 * DAY_MS;

/**
 * A clock over an account's decisions.
 *
 * @param groupGraceDays the grace of the account's invoice group, where it sets one (S16.7)
 */
export function planClock(decisions: readonly PlanDecision[], groupGraceDays?: number): PlanClock {
  const timeline = timelineOf(decisions);
  const grants = decisions.some(({ plan }) => (plan?.details.billingEntitlementRateCards ?? []).length > 0);
  /** What falls due before `horizon` and was not asked for yet, in order. */
  const pending: FeatureGrant[] = [];
  let horizon = Number.NEGATIVE_INFINITY;
  let cycle: AccountCycle | undefined;

  const at = (instant: Instant): AccountCycle | undefined => {
    // Most events fall into the cycle of the event before.
    if (cycle === undefined || instant < cycle.start || instant >= cycle.end) cycle = cycleAt(timeline, instant);
    return cycle;
  };
  return {
    pricedAt: (instant) => at(instant) !== undefined,
    openUntil(instant) {
      const open = at(instant);
      return open === undefined ? instant : open.end + (groupGraceDays ?? open.term.plan.gracePeriodDays) * DAY_MS;
    },
    grantsUpTo(instant) {
      if (!grants) return [];
      if (instant >= horizon) {
        const until = instant + LOOKAHEAD;
        pending.push(...featureGrants(decisions, horizon, until));
        horizon = until;
      }
      const later = pending.findIndex(({ due }) => due > instant);
      return pending.splice(0, later < 0 ? pending.length : later);
    },
    overageAt(featureId, instant) {
      const current = at(instant);
      const card = current?.term.plan.details.entitlementOverageRateCards?.find((each) => each.featureId === featureId);
      if (current === undefined || card === undefined) return undefined;
      const window =
        overageWindow(current, card.billingConfig)?.served ?? freeWindow(current, card.billingConfig?.startOffset);
      return { window, ...(card.maxQuantity ? { maxQuantity: card.maxQuantity } : {}) };
    },
  };
}

/** The cycles before an overage card's `startOffset`: allowed up to its maximum, and not charged (S11.7). */
function freeWindow(cycle: AccountCycle, startOffset: number | null | undefined): Cycle {
  const natural = naturalPeriod(cycle, 1, startOffset ?? 1);
  return { start: Math.max(natural.start, cycle.term.from), end: Math.min(natural.end, cycle.term.until) };
}
