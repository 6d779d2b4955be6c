/**
 * Which cycle carries a card's charge, and the days that it serves (S9.1 to S9.3).
 *
 * A charge covers one or more natural cycles of a run of terms. The first term that has the card in the first of them
 * says how the period is charged: whole, once, by that term; or by days, by every term for its own part. So a cycle
 * that is cut by a new version of the plan is never charged twice for one day.
 *
 * @module
 */
import type { BillingEntitlementRateCard, CreditGrantRateCard } from "../book/model/grant-card.ts";
import type { FixedFeeRateCard, RecurrenceConfig } from "../book/model/rate-card.ts";
import type { Cycle } from "../calendar/cycle.ts";
import { DAY_MS, type Instant } from "../calendar/instant.ts";
import { intersection } from "../calendar/proration.ts";
import type { CardKind, RatedPeriod } from "../rating/charge.ts";
import { type Coverage, coverageAt, type RecurrenceType } from "../rating/recurrence.ts";
import { cardOf } from "./cards.ts";
import { type AccountCycle, naturalPeriod, type Term, type Timeline } from "./timeline.ts";

/** A card, as far as the timing of its charge goes. */
export interface TimedCard {
  readonly kind: CardKind;
  readonly billableId: string;
  readonly recurrence?: RecurrenceConfig | null | undefined;
  readonly type?: RecurrenceType;
}

/** The timing of a fixed fee. */
export function feeTiming({ id, recurrenceConfig, type }: FixedFeeRateCard): TimedCard {
  return { kind: "FIXED_FEE", billableId: id, recurrence: recurrenceConfig, type };
}

/** The timing of an entitlement. */
export function entitlementTiming({ featureId, recurrenceConfig }: BillingEntitlementRateCard): TimedCard {
  return { kind: "BILLING_ENTITLEMENT", billableId: featureId, recurrence: recurrenceConfig };
}

/** The timing of a credit grant. */
export function grantTiming({ id, recurrenceConfig, type }: CreditGrantRateCard): TimedCard {
  return { kind: "CREDIT_GRANT", billableId: id, recurrence: recurrenceConfig, type };
}

/** A charge that a cycle's term makes. */
export interface CoveredPeriod extends RatedPeriod {
  readonly covered: Coverage;
  /** Charged by the days served; else whole, with `served` the same as `natural`. */
  readonly prorated: boolean;
}

/** The charge of a card that covers a cycle, if the cycle's term makes it (S9.1, S9.2). */
export function coveredPeriod(timeline: Timeline, cycle: AccountCycle, card: TimedCard): CoveredPeriod | undefined {
  const covered = coverageAt(card.recurrence, card.type ?? "RECURRING", cycle.n);
  if (covered === undefined) return undefined;
  const natural = naturalPeriod(cycle, covered.first, covered.last);
  const owner = ownerOf(timeline, cycle, card, naturalPeriod(cycle, covered.first, covered.first));
  if (isProrated(owner ?? cycle.term, card))
    return { covered, natural, served: within(natural, cycle.term), prorated: true };
  return owner?.from === cycle.term.from ? { covered, natural, served: natural, prorated: false } : undefined;
}

/** Whether a card that is charged every cycle is charged by days in this one (S9.1). */
export function chargedByDays(timeline: Timeline, cycle: AccountCycle, card: TimedCard): boolean {
  return isProrated(ownerOf(timeline, cycle, card, cycle.natural) ?? cycle.term, card);
}

/** Whether a charge in arrears is made in this cycle: the last it covers, or the association's last (S9.3). */
export function endsIn(cycle: AccountCycle, period: { readonly covered: Coverage }): boolean {
  return isCoveredUp(cycle, period) || cycle.end === cycle.term.until;
}

/** Whether a charge in arrears is made in this cycle only because the association ends there. */
export function isCutShort(cycle: AccountCycle, period: { readonly covered: Coverage }): boolean {
  return !isCoveredUp(cycle, period) && cycle.end === cycle.term.until;
}

/**
 * Whether a cycle was closed when it became its association's last: by a decision that came on the day on which the next
 * one had begun (S16.1). What is charged because of it is on no STANDARD invoice.
 *
 * @param closes when the cycle closes
 */
export function isEndedLate({ end, natural, term }: AccountCycle, closes: Instant): boolean {
  const { until, endDecidedAt } = term;
  // A decision that cuts a cycle finds it open.
  return end === until && end === natural.end && endDecidedAt > closes && endDecidedAt < end + DAY_MS;
}

function isCoveredUp(cycle: AccountCycle, { covered }: { readonly covered: Coverage }): boolean {
  return cycle.n === covered.last && cycle.end === cycle.natural.end;
}

/** Whether a charge in advance is made in this cycle: the association's first that it covers (S9.3). */
export function beginsIn(cycle: AccountCycle, period: RatedPeriod): boolean {
  return cycle.start === Math.max(period.natural.start, cycle.term.from);
}

/** The terms of a cycle's run that touch a period, in order. */
export function termsOfRun(timeline: Timeline, cycle: AccountCycle, period: Cycle): readonly Term[] {
  const start = Math.max(period.start, cycle.run.start);
  const end = Math.min(period.end, cycle.run.end);
  return timeline.filter((term) => term.from < end && term.until > start);
}

/** The part of a period in which a term applies; empty at the period's start where there is none. */
export function within(period: Cycle, term: Term): Cycle {
  return intersection(period, { start: term.from, end: term.until }) ?? { start: period.start, end: period.start };
}

/**
 * The first term of the run that has the card in the natural cycle in which its charge begins. A fee that recurs in one version
 * and is charged once in a later one is two charges: the first says nothing of the second.
 */
function ownerOf(timeline: Timeline, cycle: AccountCycle, card: TimedCard, first: Cycle): Term | undefined {
  return termsOfRun(timeline, cycle, first).find((term) => {
    const own = cardOf(term.plan.details, card.kind, card.billableId);
    return own !== undefined && (card.type !== "ONE_TIME" || ("type" in own && own.type === "ONE_TIME"));
  });
}

/** Only fixed fees that recur, and licenses, are ever prorated (S9.1, S10, S11.1, S12.6). */
function isProrated(term: Term, { kind, billableId }: TimedCard): boolean {
  const { fixedFeeRateCards, licenseRateCards } = term.plan.details;
  if (kind === "FIXED_FEE") {
    const card = fixedFeeRateCards.find(({ id }) => id === billableId);
    return card?.type === "RECURRING" && card.enableProration;
  }
  if (kind === "LICENSE") return licenseRateCards.find(({ id }) => id === billableId)?.enableProration ?? false;
  return false;
}
