/**
 * An account's plans as events ask for them: whether an event is priced, how long its cycle stays open and how much
 * overage is allowed (S6.5, S11.3, S14.1).
 *
 * @module
 */
import type { EntitlementOverageRateCard } from "../../book/model/grant-card.ts";
import type { Cycle } from "../../calendar/cycle.ts";
import type { Instant } from "../../calendar/instant.ts";
import { findOverageWindow } from "../../invoicing/arrears.ts";
import { clipToTerm } from "../../invoicing/charge-periods.ts";
import { closesAt, type GraceTerms } from "../../invoicing/grace-period.ts";
import {
  naturalPeriod,
  type AccountCycle,
  cycleAt,
  type PlanDecision,
  type Timeline,
  buildTimeline,
} from "../../invoicing/timeline.ts";
import type { Decimal } from "../../numbers/decimal.ts";

/** A stretch of an account's time in which one cycle, or no cycle, is in force: `[start, end)`, whole UTC days. */
export interface AccountPeriod {
  /** May be `-Infinity` before the first association. */
  readonly start: Instant;
  /** May be `Infinity` after the last one. */
  readonly end: Instant;
  /**
   * Until when events of this cycle are accepted, exclusive: its end plus the grace period (S6.5). Undefined where no
   * plan is in force: an event there is metered, not priced, and never too late.
   */
  readonly openUntil?: Instant | undefined;
}

/** The overage that the plan in force allows for a feature, over one billing window (S11.3, S11.7). */
export interface OverageLimit {
  readonly window: Cycle;
  /** Absent: no limit. */
  readonly maxQuantity?: Decimal | null | undefined;
}

/** Why a period takes no more changes, whatever is dated in it. */
export type Closed = "PAST_GRACE_PERIOD" | "FINAL_INVOICE";

/** One account's plans, asked event by event. */
export interface PlanClock {
  /** The cycle, or the stretch without one, that holds an instant, and until when it takes events (S6.5). */
  periodAt(at: Instant): AccountPeriod;
  /** The overage card in force at an instant, by the plans as known at `now`, or known later where none was (S11.3); undefined where there is none. */
  overageAt(featureId: string, at: Instant, now: Instant): OverageLimit | undefined;
}

/** A clock over an account's decisions. */
export function createPlanClock(decisions: readonly PlanDecision[], graceTerms: GraceTerms = {}): PlanClock {
  const timeline = buildTimeline(decisions);
  const timelineKnownAt = createTimelineLookup(decisions, timeline);
  let period: AccountPeriod = { start: 0, end: 0 };
  const periodOf = (instant: Instant): AccountPeriod => {
    const cycle = cycleAt(timeline, instant);
    if (cycle === undefined) return findGap(timeline, instant);
    return { start: cycle.start, end: cycle.end, openUntil: closesAt(cycle, graceTerms) };
  };

  return {
    periodAt(instant) {
      // Events come close to each other: most are in the period of the one before.
      if (instant < period.start || instant >= period.end) period = periodOf(instant);
      return period;
    },
    overageAt(featureId, instant, now) {
      // Where no plan was known, that of a decision that reaches back is the only one there is.
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

/** The timeline as known at an instant (S9.2). Only a book that was loaded ahead of a decision has one not known yet. */
function createTimelineLookup(decisions: readonly PlanDecision[], whole: Timeline): (now: Instant) => Timeline {
  const knownFrom = decisions.map(knownSince);
  const wholeFrom = Math.max(...knownFrom);
  let last = { count: decisions.length, timeline: whole };
  return (now) => {
    if (now >= wholeFrom) return whole;
    const known = decisions.filter((_, index) => (knownFrom[index] ?? now) <= now);
    if (known.length !== last.count) last = { count: known.length, timeline: buildTimeline(known) };
    return last.timeline;
  };
}

/** From when on a ledger that holds a decision goes by it, whatever its clock says of one that was made in it. */
export function knownSince({
  decidedAt,
  recordedAt = decidedAt,
}: Pick<PlanDecision, "decidedAt" | "recordedAt">): Instant {
  return decidedAt > recordedAt ? decidedAt : Number.NEGATIVE_INFINITY;
}

/** The stretch without a plan around an instant. */
function findGap(timeline: Timeline, instant: Instant): AccountPeriod {
  const before = timeline.filter((term) => term.until <= instant).map((term) => term.until);
  const after = timeline.filter((term) => term.from > instant).map((term) => term.from);
  return { start: Math.max(Number.NEGATIVE_INFINITY, ...before), end: Math.min(Number.POSITIVE_INFINITY, ...after) };
}

/**
 * The window in which overage counts against the card's maximum: a cycle's billing window, or all cycles before `startOffset`, which
 * are not charged (S11.7).
 */
export function overageLimitWindow(cycle: AccountCycle, { billingConfig }: EntitlementOverageRateCard): Cycle {
  const charged = findOverageWindow(cycle, billingConfig);
  if (charged !== undefined) return charged.served;
  return clipToTerm(naturalPeriod(cycle, 1, billingConfig?.startOffset ?? 1), cycle.term);
}
