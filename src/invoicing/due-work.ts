/**
 * What falls due as cycles begin: the cycles themselves, and the feature credits that their plans grant (S2.4, S11.1).
 *
 * @module
 */
import type { BillingEntitlementRateCard, FeatureConfig } from "../book/model/grant-card.ts";
import type { PricePlanDetails } from "../book/model/price-plan.ts";
import type { RecurrenceConfig } from "../book/model/rate-card.ts";
import type { Steps } from "../book/steps.ts";
import type { Cycle, Interval } from "../calendar/cycle.ts";
import { addDuration, addDurationFromCycleStart, parseDuration } from "../calendar/duration.ts";
import { DAY_MS, formatInstant, type Instant } from "../calendar/instant.ts";
import { hasCode } from "../errors.ts";
import type { Decimal } from "../numbers/decimal.ts";
import {
  beginsIn,
  type CoveredPeriod,
  findCoveredPeriod,
  type TimedCard,
  entitlementTiming,
} from "./charge-periods.ts";
import {
  type AccountCycle,
  cyclesInTerm,
  knownTimelines,
  NO_END,
  type PlanDecision,
  type Timeline,
} from "./timeline.ts";

/** A cycle at the instant when it began, or was decided if that was later, as it was known then (S9.2). */
export interface DueCycle {
  readonly due: Instant;
  readonly cycle: AccountCycle;
  /** The timeline that was known then. */
  readonly timeline: Timeline;
}

/** A feature credit entry that a billing entitlement card grants (S11.1). */
export interface FeatureGrant {
  /** Identifies the grant by its cause: the same grant is never made twice. */
  readonly key: string;
  readonly featureId: string;
  readonly granted: Decimal;
  readonly effectiveFrom: Instant;
  readonly effectiveUntil: Instant;
  /** When the grant falls due. */
  readonly due: Instant;
  /** The start of the cycle that it is made for; before `due` where the plan was decided afterwards. */
  readonly start: Instant;
}

/** Which cycles matter: an account may have thousands of others. */
export interface CycleWindow {
  /** Cycles that end by then are left out. */
  readonly from: Instant;
  /** Cycles that start then or later are left out. */
  readonly until: Instant;
}

const ALL_TIME: CycleWindow = { from: Number.NEGATIVE_INFINITY, until: Number.POSITIVE_INFINITY };

/** The cycles that fall due before `until`, in that order; also those that were decided away after they began. */
export function findDueCycles(
  decisions: readonly PlanDecision[],
  until: Instant,
  window: CycleWindow = ALL_TIME,
): readonly DueCycle[] {
  const dues: DueCycle[] = [];
  for (const { knownFrom, knownUntil, timeline } of knownTimelines(decisions)) {
    const end = Math.min(until, knownUntil);
    if (knownFrom >= end) continue;
    for (const [index, term] of timeline.entries()) {
      // A term decided just now that began before is due now: an account's first association may start in the past.
      const start = term.decidedAt === knownFrom ? Math.min(term.from, knownFrom) : knownFrom;
      if (term.until <= start || term.from >= end) continue;
      const [first, last] = [Math.max(start, window.from), Math.min(end, window.until)];
      for (const cycle of cyclesInTerm(timeline, index, first, last)) {
        if (cycle.start >= start) dues.push({ due: Math.max(cycle.start, knownFrom), cycle, timeline });
      }
    }
  }
  return dues.sort((a, b) => a.due - b.due || a.cycle.start - b.cycle.start);
}

/** Days that a natural cycle has at most; a little more than it can have. */
const DAYS_MAX: Readonly<Record<Interval, number>> = {
  WEEKLY: 7,
  MONTHLY: 34,
  QUARTERLY: 96,
  HALF_YEARLY: 188,
  ANNUALLY: 370,
};

/**
 * An instant before the start of each cycle, and of each period of several cycles that a card charges for, that ends after
 * `from`: which charges there are from then on depends on no cycle that ends before it (S9.1).
 */
export function earliestChargeStart(decisions: readonly PlanDecision[], from: Instant): Instant {
  return from - longestPeriod(decisions);
}

/**
 * The cycles on which the charges of cycles that touch `[from, until)` depend: those, and what shares a period of several
 * cycles with them (S9.1).
 */
export function chargingWindow(
  decisions: readonly PlanDecision[],
  { from, until }: { readonly from: Instant; readonly until: Instant },
): CycleWindow {
  const longest = longestPeriod(decisions);
  return { from: from - longest, until: until + longest };
}

/** At least the length of each cycle, and of each period of several cycles that a card charges for, in milliseconds. */
function longestPeriod(decisions: readonly PlanDecision[]): number {
  const lengths = decisions.map(({ plan }) => {
    if (plan === null) return 0;
    const intervals = recurringCards(plan.details).map(({ recurrenceConfig }) => recurrenceConfig?.interval ?? 1);
    // One more: the cycle that a charge begins in may itself have begun before.
    return (Math.max(1, ...intervals) + 1) * DAYS_MAX[plan.cycleConfig.interval];
  });
  return Math.max(0, ...lengths) * DAY_MS;
}

function recurringCards(
  details: PricePlanDetails,
): readonly { readonly recurrenceConfig?: RecurrenceConfig | null | undefined }[] {
  const { fixedFeeRateCards, billingEntitlementRateCards, creditGrantRateCards } = details;
  return [...fixedFeeRateCards, ...billingEntitlementRateCards, ...creditGrantRateCards];
}

/**
 * Names what is made once for a natural cycle of a run, however the cycle is cut or decided anew (S9.1): the plan, the
 * card's kind and billable, and the start of the period within its run.
 */
export function chargeOnceKey(cycle: AccountCycle, card: TimedCard, natural: Cycle): string {
  const begun = Math.max(natural.start, cycle.run.start);
  return `${cycle.term.plan.planId}|${card.kind}|${card.billableId}|${formatInstant(begun)}`;
}

/** As {@link chargeOnceKey}, told apart from a period of other cycles of the plan that begins on the same day. */
export function periodKey(cycle: AccountCycle, card: TimedCard, natural: Cycle): string {
  const { interval, dayOffset, monthOffset } = cycle.term.plan.cycleConfig;
  return [chargeOnceKey(cycle, card, natural), interval, dayOffset, monthOffset ?? "NIL"].join("|");
}

/** A cycle in which a card's charge or grant begins. */
export interface DueCard<Card> {
  readonly due: DueCycle;
  readonly card: Card;
  readonly period: CoveredPeriod;
  readonly key: string;
  /** The name with its cycles, under which an earlier version may have stored it; absent where that is `key`. */
  readonly fullKey?: string;
}

/**
 * The cycles in which the charges or grants of a kind of card begin: for what is not prorated, each once (S9.1). In steps of
 * a cycle each.
 *
 * @param dues every cycle since the account's first, so that what was made before is known
 */
export function* findDueCards<Card>(
  dues: readonly DueCycle[],
  recurringCards: (details: PricePlanDetails) => readonly Card[],
  toTiming: (card: Card) => TimedCard,
): Steps<readonly DueCard<Card>[]> {
  const made = new Set<string>();
  const named = new Set<string>();
  const found: DueCard<Card>[] = [];
  for (const due of dues) {
    const cards = recurringCards(due.cycle.term.plan.details);
    if (cards.length === 0) continue;
    yield;
    for (const card of cards) {
      const timed = toTiming(card);
      const period = findCoveredPeriod(due.timeline, due.cycle, timed);
      if (period === undefined || !beginsIn(due.cycle, period)) continue;
      const once = chargeOnceKey(due.cycle, timed, period.natural);
      if (period.prorated) {
        found.push({ due, card, period, key: once });
        continue;
      }
      const own = periodKey(due.cycle, timed, period.natural);
      if (made.has(own)) continue;
      made.add(own);
      // The name without the cycles is that of the first period that begins on the day.
      found.push({ due, card, period, ...(named.has(once) ? { key: own } : { key: once, fullKey: own }) });
      named.add(once);
    }
  }
  return found;
}

/**
 * The feature credit entries that fall due in `[from, until)`, in that order (S11.1).
 *
 * @param isMade the keys of those that are left out
 */
export function* findFeatureGrants(
  decisions: readonly PlanDecision[],
  from: Instant,
  until: Instant,
  isMade: (key: string) => boolean = () => false,
): Steps<readonly FeatureGrant[]> {
  const cards = yield* findDueCards(
    findDueCycles(decisions, until, { ...ALL_TIME, from: earliestChargeStart(decisions, from) }),
    (details) => details.billingEntitlementRateCards,
    entitlementTiming,
  );
  return cards
    .filter(({ due }) => due.due >= from)
    .flatMap(({ due, card, key, fullKey = key }) =>
      card.featureConfigs.flatMap((config, index) => {
        const isGranted = isMade(`${key}|${index}`) || isMade(`${fullKey}|${index}`);
        return isGranted ? [] : [toFeatureGrant(card, config, due, `${key}|${index}`)];
      }),
    );
}

function toFeatureGrant(
  { featureId }: BillingEntitlementRateCard,
  config: FeatureConfig,
  { due, cycle }: DueCycle,
  key: string,
): FeatureGrant {
  return {
    key,
    featureId,
    granted: config.featureCreditLimit,
    effectiveFrom: addToCycleStart(cycle, config.effectiveFrom),
    effectiveUntil: addToCycleStart(cycle, config.effectiveUntil),
    due,
    start: cycle.start,
  };
}

/**
 * A cycle's start plus a duration of a checked book: months by the cycle's day offset, where it begins on one (S11.1);
 * {@link NO_END} where that is after the year 9999.
 */
export function addToCycleStart(cycle: AccountCycle, text: string): Instant {
  const duration = parseDuration(text);
  const { interval, dayOffset } = cycle.term.plan.cycleConfig;
  try {
    return cycle.start === cycle.natural.start && interval !== "WEEKLY"
      ? addDurationFromCycleStart(cycle.start, duration, dayOffset)
      : addDuration(cycle.start, duration, 1);
  } catch (error) {
    if (hasCode(error, "ERR_DATE_INVALID")) return NO_END;
    throw error;
  }
}
