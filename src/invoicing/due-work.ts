/**
 * What falls due at the start of cycles: the cycles themselves, the feature credits that their plans grant, and advance
 * charges with their refunds if the service ends sooner (S2.4, S9.5, S11.1, S13.1).
 */
import type { BillingEntitlementRateCard, FeatureConfig } from "../book/resources/rate-card.ts";
import type { Cycle, Interval } from "../calendar/cycle.ts";
import { addDuration, addDurationFromCycleStart, parseDuration } from "../calendar/duration.ts";
import { DAY_MS, formatInstant, type Instant } from "../calendar/instant.ts";
import { hasCode } from "../errors.ts";
import type { Decimal } from "../numbers/decimal.ts";
import type { Fraction } from "../numbers/fraction.ts";
import type { Steps } from "../numbers/steps.ts";
import type { CardKind, Charge, ChargeExplanation } from "../rating/charge.ts";
import {
  isAdvanceChargeDue,
  type CoveredPeriod,
  findCoveredPeriod,
  timeCard,
  type TimedCard,
  BILLING_ENTITLEMENTS,
  type PeriodicCard,
  type PeriodicCards,
} from "./charge-periods.ts";
import {
  type AccountCycle,
  cyclesInTerm,
  knownTimelines,
  NO_END,
  type PlanDecision,
  type Timeline,
} from "./timeline.ts";

/** A cycle, as known at its start, or at the decision if that was later (S9.2). */
export interface DueCycle {
  readonly due: Instant;
  readonly cycle: AccountCycle;
  /** The timeline known then. */
  readonly timeline: Timeline;
}

/** A feature credit entry granted by a billing entitlement card (S11.1). */
export interface FeatureGrant {
  /** Identifies the grant by its cause, so that it is not created twice. */
  readonly key: string;
  readonly featureId: string;
  readonly granted: Decimal;
  readonly effectiveFrom: Instant;
  readonly effectiveUntil: Instant;
  /** When the grant falls due. */
  readonly due: Instant;
  /** The start of its cycle; before `due` if the plan was decided afterwards. */
  readonly start: Instant;
}

/** The relevant cycles: an account may have thousands of others. */
interface CycleWindow {
  /** Excludes cycles that end at or before this. */
  readonly from: Instant;
  /** Excludes cycles that start at or after this. */
  readonly until: Instant;
}

const ALL_TIME: CycleWindow = { from: Number.NEGATIVE_INFINITY, until: Number.POSITIVE_INFINITY };

/** The cycles that fall due before `until`, in order, including those removed by a decision after they began. */
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
      // A backdated term that was just decided is due now: an account's first association may start in the past.
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

/** Upper bound of the days of a natural cycle. */
const DAYS_MAX: Readonly<Record<Interval, number>> = {
  WEEKLY: 7,
  MONTHLY: 34,
  QUARTERLY: 96,
  HALF_YEARLY: 188,
  ANNUALLY: 370,
};

/**
 * An instant before the start of each cycle, and of each period of several cycles that a card charges for, that ends
 * after `from`: charges from then on depend on no cycle that ends before it (S9.1).
 */
export function earliestChargeStart(decisions: readonly PlanDecision[], from: Instant): Instant {
  return from - longestPeriod(decisions);
}

/**
 * The cycles on which the charges of cycles that touch `[from, until)` depend: those, and all that share a period of
 * several cycles with them (S9.1).
 */
export function chargingWindow(
  decisions: readonly PlanDecision[],
  { from, until }: { readonly from: Instant; readonly until: Instant },
): CycleWindow {
  const longest = longestPeriod(decisions);
  return { from: from - longest, until: until + longest };
}

/** An upper bound, in milliseconds, of the length of each cycle and each period of several cycles that a card charges for. */
function longestPeriod(decisions: readonly PlanDecision[]): number {
  const lengths = decisions.map(({ plan }) => {
    if (plan === null) return 0;
    const { fixedFeeRateCards, billingEntitlementRateCards, creditGrantRateCards } = plan.details;
    const cards = [...fixedFeeRateCards, ...billingEntitlementRateCards, ...creditGrantRateCards];
    const intervals = cards.map(({ recurrenceConfig }) => recurrenceConfig?.interval ?? 1);
    // One more: the cycle in which a charge begins may itself have begun earlier.
    return (Math.max(1, ...intervals) + 1) * DAYS_MAX[plan.cycleConfig.interval];
  });
  return Math.max(0, ...lengths) * DAY_MS;
}

/**
 * The key of what is charged once per natural cycle of a run, even if the cycle is split or decided again (S9.1): the
 * plan, the card's kind and billable id, and the start of the period within its run.
 */
export function chargeOnceKey(cycle: AccountCycle, card: TimedCard, natural: Cycle): string {
  const start = Math.max(natural.start, cycle.run.start);
  return `${cycle.term.plan.planId}|${card.kind}|${card.billableId}|${formatInstant(start)}`;
}

/** A {@link chargeOnceKey} with the cycles: another period of the plan may begin on the same day. */
export function periodKey(onceKey: string, { term }: AccountCycle): string {
  const { interval, dayOffset, monthOffset } = term.plan.cycleConfig;
  return `${onceKey}|${interval}|${dayOffset}|${monthOffset ?? "NIL"}`;
}

/** A cycle in which a card's charge or grant begins. */
export interface DueCard<Card> {
  readonly due: DueCycle;
  readonly card: Card;
  readonly period: CoveredPeriod;
  readonly key: string;
  /** The key with its cycles, under which an earlier version may have stored it; absent if equal to `key`. */
  readonly fullKey?: string;
}

/**
 * The cycles in which the charges or grants of a kind of card begin; without proration, each once (S9.1). One cycle per
 * step.
 *
 * @param dues every cycle since the account's first, to know earlier charges
 */
export function* findDueCards<Card extends PeriodicCard>(
  dues: readonly DueCycle[],
  { kind, listIn }: PeriodicCards<Card>,
): Steps<readonly DueCard<Card>[]> {
  const chargedKeys = new Set<string>();
  const onceKeys = new Set<string>();
  const dueCards: DueCard<Card>[] = [];
  for (const due of dues) {
    const cards = listIn(due.cycle.term.plan.details);
    if (cards.length === 0) continue;
    yield;
    for (const card of cards) {
      const timing = timeCard(kind, card);
      const period = findCoveredPeriod(due.timeline, due.cycle, timing);
      if (period === undefined || !isAdvanceChargeDue(due.cycle, period)) continue;
      const onceKey = chargeOnceKey(due.cycle, timing, period.natural);
      if (period.prorated) {
        dueCards.push({ due, card, period, key: onceKey });
        continue;
      }
      const fullKey = periodKey(onceKey, due.cycle);
      if (chargedKeys.has(fullKey)) continue;
      chargedKeys.add(fullKey);
      // The first period that begins on a day has the key without cycles.
      dueCards.push({ due, card, period, ...(onceKeys.has(onceKey) ? { key: fullKey } : { key: onceKey, fullKey }) });
      onceKeys.add(onceKey);
    }
  }
  return dueCards;
}

/** The feature credit entries due in `[from, until)`, in order (S11.1). @param exists the keys of those to omit */
export function* findFeatureGrants(
  decisions: readonly PlanDecision[],
  from: Instant,
  until: Instant,
  exists: (key: string) => boolean = () => false,
): Steps<readonly FeatureGrant[]> {
  const cards = yield* findDueCards(
    findDueCycles(decisions, until, { ...ALL_TIME, from: earliestChargeStart(decisions, from) }),
    BILLING_ENTITLEMENTS,
  );
  return cards
    .filter(({ due }) => due.due >= from)
    .flatMap(({ due, card, key, fullKey = key }) =>
      card.featureConfigs.flatMap((config, index) => {
        const isGranted = exists(`${key}|${index}`) || exists(`${fullKey}|${index}`);
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
 * A cycle's start plus a duration: months by the cycle's day offset, if it begins on one (S11.1); {@link NO_END} beyond
 * the year 9999.
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

/** Charges due at one instant, for one cycle as known then. */
export interface AdvanceCharge {
  readonly invoiceType: "STANDARD_ADVANCED" | "AD_HOC";
  readonly invoiceDate: Instant;
  /** When it is known to be due; later than its date if it was decided later. */
  readonly due: Instant;
  readonly cycle: AccountCycle;
  /** Computes the charge, because only a few of the known ones are shown; undefined if it is nothing. */
  readonly rate: () => Charge | undefined;
}

/** A refund of unserved days: becomes a credit for any line, with priority 0 and no expiry (S9.5). */
export interface Refund {
  readonly key: string;
  readonly kind: CardKind;
  readonly billableId: string;
  /** The cycle of the refunded charge, as known when that was made. */
  readonly cycle: AccountCycle;
  /** From when it can be spent. */
  readonly at: Instant;
  /** When it is known; at `at` or later. */
  readonly due: Instant;
  /** The natural period of the shares. */
  readonly natural: Cycle;
  readonly amount: Fraction;
  readonly explanation: ChargeExplanation;
}

/**
 * Identifies a refund: what was charged, when that was due, from when it is refunded and when that is known. Plan
 * versions that share a cycle each charge their own days of it under one key, and each may be cut short (S9.5).
 */
export function refundKey(
  chargeKey: string,
  { due }: DueCycle,
  refund: { readonly at: Instant; readonly due: Instant },
): string {
  return [chargeKey, ...[due, refund.at, refund.due].map(formatInstant)].join("|");
}

/** The advance charges of an account, and the refunds. */
export interface AdvanceBilling {
  readonly charges: readonly AdvanceCharge[];
  readonly refunds: readonly Refund[];
}

/**
 * The new end of a period that was charged in advance: the start of the first part of it that a decision made after
 * `knownAt` removes; undefined if it is served completely (S9.5).
 */
export function findCut(
  decisions: readonly PlanDecision[],
  period: { readonly start: Instant; readonly end: Instant },
  knownAt: Instant,
): { readonly at: Instant; readonly decidedAt: Instant } | undefined {
  let cut: { at: Instant; decidedAt: Instant } | undefined;
  for (const { from, until, decidedAt } of decisions) {
    if (decidedAt <= knownAt || from >= period.end || until <= period.start) continue;
    const at = Math.max(from, period.start);
    if (cut === undefined || at < cut.at) cut = { at, decidedAt };
  }
  return cut;
}

/** A charge on the invoice dated at the start of a cycle. */
export function chargeAtCycleStart({ cycle, due }: DueCycle, rate: () => Charge | undefined): AdvanceCharge {
  return { invoiceType: "STANDARD_ADVANCED", invoiceDate: cycle.start, due, cycle, rate };
}
