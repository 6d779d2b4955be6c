/**
 * Finds the cycle that has a card's charge, and the days that it serves (S9.1 to S9.3). A charge covers one or more
 * natural cycles of a run of terms. The first term that has the card in the first of them determines how the period is
 * charged: in full, once, by that term; or by days, by every term for its own part. So a cycle that is split by a new
 * version of the plan is never charged twice for one day. A plan has one card per billable item and kind (S16.4).
 */
import { readBillable, CARD_LIST_NAMES, type CardList, type PricePlanDetails } from "../book/resources/price-plan.ts";
import type {
  BillingEntitlementRateCard,
  CreditGrantRateCard,
  FixedFeeRateCard,
  RecurrenceConfig,
} from "../book/resources/rate-card.ts";
import { type Cycle, cyclesElapsed, naturalCycleAt, isSameCycleConfig, intersection } from "../calendar/cycle.ts";
import { type Instant, addDays } from "../calendar/instant.ts";
import {
  rateBillingEntitlement,
  rateCreditGrant,
  rateFixedFee,
  isChargedIn,
  type Coverage,
  coverageAt,
  type RecurrenceType,
} from "../rating/cards.ts";
import type { CardKind, Charge, RatedPeriod } from "../rating/charge.ts";
import {
  type AccountCycle,
  type AssociatedPlan,
  naturalPeriod,
  type SupersededPlan,
  type Term,
  type Timeline,
} from "./timeline.ts";

/** The timing of a card's charge. */
export interface TimedCard {
  readonly kind: CardKind;
  readonly billableId: string;
  readonly invoiceTiming: string;
  readonly recurrence: RecurrenceConfig | null | undefined;
  readonly type: RecurrenceType;
  /** Whether its own plan charges it by days. Only recurring fixed fees and licenses can be (S9.1, S10, S11.1, S12.6). */
  readonly prorated: boolean;
}

/** A card with any of the fields that decide when it is charged. */
export interface PeriodicCard {
  readonly invoiceTiming?: string;
  readonly recurrenceConfig?: RecurrenceConfig | null | undefined;
  readonly type?: RecurrenceType;
  readonly enableProration?: boolean | null | undefined;
}

/** The timing of a card of a kind. */
export function timeCard(kind: CardKind, card: PeriodicCard): TimedCard {
  const { invoiceTiming = "IN_ARREARS", recurrenceConfig: recurrence, type = "RECURRING", enableProration } = card;
  const prorated = type === "RECURRING" && enableProration === true;
  return { kind, billableId: readBillable(LIST_BY_KIND[kind], card), invoiceTiming, recurrence, type, prorated };
}

/** A charge made by a cycle's term. */
export interface CoveredPeriod extends RatedPeriod {
  readonly covered: Coverage;
  /** Charged by the days served; else in full, with `served` equal to `natural`. */
  readonly prorated: boolean;
}

/** A kind of card that is charged once for one or more cycles, in advance or in arrears. */
export interface PeriodicCards<Card extends PeriodicCard> {
  readonly kind: CardKind;
  readonly listIn: (details: PricePlanDetails) => readonly Card[];
  readonly rate: (card: Card, currency: string, period: CoveredPeriod) => Charge;
}

export const FIXED_FEES: PeriodicCards<FixedFeeRateCard> = {
  kind: "FIXED_FEE",
  listIn: ({ fixedFeeRateCards }) => fixedFeeRateCards,
  rate: (card, currency, period) => rateFixedFee({ ...card, enableProration: period.prorated }, currency, period),
};

export const BILLING_ENTITLEMENTS: PeriodicCards<BillingEntitlementRateCard> = {
  kind: "BILLING_ENTITLEMENT",
  listIn: ({ billingEntitlementRateCards }) => billingEntitlementRateCards,
  rate: rateBillingEntitlement,
};

export const CREDIT_GRANTS: PeriodicCards<CreditGrantRateCard> = {
  kind: "CREDIT_GRANT",
  listIn: ({ creditGrantRateCards }) => creditGrantRateCards,
  rate: rateCreditGrant,
};

/** The charge of a card that covers a cycle, if the cycle's term makes it (S9.1, S9.2). @param card one of the cycle's plan */
export function findCoveredPeriod(timeline: Timeline, cycle: AccountCycle, card: TimedCard): CoveredPeriod | undefined {
  const { term } = cycle;
  const covered = coverageAt(card.recurrence, card.type, cycle.n);
  if (covered === undefined) return undefined;
  const natural = naturalPeriod(cycle, covered.first, covered.last);
  // No other version matters, and searching their many cards would dominate.
  if (isOnlyTerm(cycle)) {
    const { prorated } = card;
    return { covered, natural, served: prorated ? clipToTerm(natural, term) : natural, prorated };
  }
  const owner = findChargingPiece(timeline, cycle, card, covered.first);
  const isPaidBefore = findPaidThrough(timeline, cycle, card, covered.first) !== undefined;
  const isFree = !isPaidBefore && (owner === undefined || isProrated(owner.plan, card));
  if (isProrated((isFree ? owner : undefined)?.plan ?? term.plan, card)) {
    const served = findUnpaidPart(timeline, cycle, card, clipToTerm(natural, term));
    return served && { covered, natural, served, prorated: true };
  }
  const isOwner = !isPaidBefore && owner?.from === term.from;
  return isOwner ? { covered, natural, served: natural, prorated: false } : undefined;
}

/** Whether a cycle's term is its whole run, and superseded no plan on its first day. */
function isOnlyTerm({ term, run }: AccountCycle): boolean {
  return run.start === term.from && run.end === term.until && (term.superseded ?? []).length === 0;
}

/** Whether a card that is charged every cycle is charged by days in this one (S9.1). */
export function isChargedByDays(timeline: Timeline, cycle: AccountCycle, card: TimedCard): boolean {
  if (isOnlyTerm(cycle)) return card.prorated;
  return isProrated((findChargingPiece(timeline, cycle, card, cycle.n) ?? cycle.term).plan, card);
}

/** Whether an arrears charge is made in this cycle: the last it covers, or the association's last (S9.3). */
export function isArrearsChargeDue(cycle: AccountCycle, period: { readonly covered: Coverage }): boolean {
  return isLastCoveredCycle(cycle, period) || cycle.end === cycle.term.until;
}

/** Whether an arrears charge is made in this cycle only because the association ends there. */
export function isCutShort(cycle: AccountCycle, period: { readonly covered: Coverage }): boolean {
  return !isLastCoveredCycle(cycle, period) && cycle.end === cycle.term.until;
}

/**
 * Whether a cycle was closed when it became its association's last, by a decision on the day on which the next one had
 * begun (S16.1). Charges that follow from it are on no STANDARD invoice.
 *
 * @param closes when the cycle closes
 */
export function isEndedLate({ end, natural, term }: AccountCycle, closes: Instant): boolean {
  const { until, endDecidedAt } = term;
  // A decision that splits a cycle finds it open.
  return end === until && end === natural.end && endDecidedAt > closes && endDecidedAt < addDays(end, 1);
}

function isLastCoveredCycle(cycle: AccountCycle, { covered }: { readonly covered: Coverage }): boolean {
  return cycle.n === covered.last && cycle.end === cycle.natural.end;
}

/** Whether an advance charge is made in this cycle: the association's first that it covers (S9.3). */
export function isAdvanceChargeDue(cycle: AccountCycle, period: RatedPeriod): boolean {
  return cycle.start === Math.max(period.served.start, cycle.term.from);
}

/** The terms of a cycle's run that touch a period, in order. */
export function findOverlappingTerms(timeline: Timeline, cycle: AccountCycle, period: Cycle): readonly Term[] {
  const start = Math.max(period.start, cycle.run.start);
  const end = Math.min(period.end, cycle.run.end);
  return timeline.filter((term) => term.from < end && term.until > start);
}

/** The part of a period in which a term applies; empty at the period's start if there is none. */
export function clipToTerm(period: Cycle, term: Term): Cycle {
  return intersection(period, { start: term.from, end: term.until }) ?? { start: period.start, end: period.start };
}

/**
 * The plans of a term's run that were superseded on its first day, if the period has begun by then. The period is paid
 * if one of them charged it in full in advance (S9.1).
 */
export function findSupersededPlans(
  { start }: Cycle,
  { from, plan, superseded = [] }: Term,
): readonly SupersededPlan[] {
  if (from < start) return [];
  return superseded.filter(
    ({ plan: former }) => former.planId === plan.planId && isSameCycleConfig(former.cycleConfig, plan.cycleConfig),
  );
}

/** The first part that has a card, in the natural cycle in which its charge begins. */
interface ChargingPiece {
  readonly plan: AssociatedPlan;
  /** Absent for a plan that was in force on no day of it. */
  readonly from?: Instant;
}

/**
 * The first term of the run that has the card in the natural cycle in which its charge begins, or a plan superseded by
 * such a term that had charged it in full in advance.
 *
 * @param n the number of that natural cycle
 */
function findChargingPiece(
  timeline: Timeline,
  cycle: AccountCycle,
  card: TimedCard,
  n: number,
): ChargingPiece | undefined {
  const first = naturalPeriod(cycle, n, n);
  for (const term of findOverlappingTerms(timeline, cycle, first)) {
    const chargedPlan = findSupersededPlans(first, term).find(({ plan }) => isChargedInFull(plan, card, n));
    if (chargedPlan !== undefined) return { plan: chargedPlan.plan };
    const planCard = findPlanCard(term.plan, card);
    if (planCard !== undefined && isSameChargeIn(planCard, card, n)) return term;
  }
  return undefined;
}

/**
 * The part of a term's charged days that follows the cycles that other versions charged in full; undefined if there is
 * none (S9.1).
 */
function findUnpaidPart(timeline: Timeline, cycle: AccountCycle, card: TimedCard, served: Cycle): Cycle | undefined {
  if (served.start >= served.end) return undefined;
  const config = cycle.term.plan.cycleConfig;
  const n = cycle.n + cyclesElapsed(config, cycle.natural.start, naturalCycleAt(config, served.start).start);
  const last = findPaidThrough(timeline, cycle, card, n) ?? findFullCharge(timeline, cycle, card, n)?.last;
  const start = last === undefined ? served.start : Math.max(served.start, naturalPeriod(cycle, last, last).end);
  return start < served.end ? { start, end: served.end } : undefined;
}

/**
 * The last of several natural cycles charged in full at once, by a version whose card recurs differently, if one of
 * them, except the first, has a given number; undefined if there is no such charge (S9.1).
 *
 * @param n the number of that natural cycle
 * @param cache cached results for earlier cycles
 */
function findPaidThrough(
  timeline: Timeline,
  cycle: AccountCycle,
  card: TimedCard,
  n: number,
  cache = new Map<number, number | undefined>(),
): number | undefined {
  if (card.type === "ONE_TIME" || n === 1 || cache.has(n)) return cache.get(n);
  cache.set(n, undefined);
  const plans = findOverlappingTerms(timeline, cycle, cycle.run).flatMap(({ plan, superseded = [] }) => [
    plan,
    ...superseded.map((each) => each.plan),
  ]);
  const longest = Math.max(...plans.map((plan) => findPlanCard(plan, card)?.recurrence?.interval ?? 1));
  for (let start = n - 1; start > Math.max(n - longest, 0); start--) {
    const charge = findFullCharge(timeline, cycle, card, start);
    if (charge === undefined || charge.isOnce || charge.last < n) continue;
    // A charge that begins in a paid cycle is not made, although an earlier one may reach further.
    if (findPaidThrough(timeline, cycle, card, start, cache) !== undefined) continue;
    cache.set(n, charge.last);
    break;
  }
  return cache.get(n);
}

/** The last natural cycle of a charge that some version made in full, and that began in cycle `n`. */
function findFullCharge(
  timeline: Timeline,
  cycle: AccountCycle,
  card: TimedCard,
  n: number,
): { readonly last: number; readonly isOnce: boolean } | undefined {
  const owner = findChargingPiece(timeline, cycle, card, n);
  const planCard = owner && findPlanCard(owner.plan, card);
  if (planCard === undefined || planCard.prorated) return undefined;
  const covered = coverageAt(planCard.recurrence, planCard.type, n);
  return covered?.first === n ? { last: covered.last, isOnce: planCard.type === "ONE_TIME" } : undefined;
}

/**
 * Whether what one card implies for a natural cycle applies to another version's card with the same id. A recurring fee
 * and a one-time fee are two charges: the first implies nothing for the second, and the second only for the cycle in
 * which it is charged.
 */
function isSameChargeIn(planCard: TimedCard, card: TimedCard, n: number): boolean {
  if (planCard.type !== "ONE_TIME") return card.type !== "ONE_TIME";
  return card.type === "ONE_TIME" || isChargedIn(planCard.recurrence, planCard.type, n);
}

/** Whether a plan charges a card in full in advance in natural cycle `n`. */
function isChargedInFull(plan: AssociatedPlan, card: TimedCard, n: number): boolean {
  const planCard = findPlanCard(plan, card);
  if (planCard?.invoiceTiming !== "IN_ADVANCE" || planCard.prorated || !isSameChargeIn(planCard, card, n)) return false;
  return isChargedIn(planCard.recurrence, planCard.type, n);
}

/** A plan's own card for the same billable item as another version's. */
function findPlanCard({ details }: AssociatedPlan, { kind, billableId }: TimedCard): TimedCard | undefined {
  const list = LIST_BY_KIND[kind];
  const cards: readonly object[] = details[list];
  const card = cards.find((each) => readBillable(list, each) === billableId);
  return card && timeCard(kind, card);
}

/** Whether a plan has a card for the same item as another version's, and charges it by days. */
function isProrated(plan: AssociatedPlan, card: TimedCard): boolean {
  return findPlanCard(plan, card)?.prorated === true;
}

/** The fields of every card besides its prices. */
interface CardLabels {
  readonly displayName?: string | null | undefined;
  readonly tag?: string | null | undefined;
}

/** Finds the card of a kind for a meter, add-on or feature; a plan may have hundreds of a kind. */
export function createCardFinder(
  details: PricePlanDetails,
): (kind: CardKind, billableId: string) => CardLabels | undefined {
  const byKind = new Map<CardKind, ReadonlyMap<string, CardLabels>>();
  return (kind, billableId) => {
    const list = LIST_BY_KIND[kind];
    const cards = byKind.get(kind) ?? new Map(details[list].map((card) => [readBillable(list, card), card]));
    byKind.set(kind, cards);
    return cards.get(billableId);
  };
}

/** The number of cards of a plan. */
export function cardCount(details: PricePlanDetails): number {
  return CARD_LIST_NAMES.reduce((count, list) => count + details[list].length, 0);
}

/** The list of cards of each kind. */
export const LIST_BY_KIND: Readonly<Record<CardKind, CardList>> = {
  USAGE: "usageRateCards",
  FIXED_FEE: "fixedFeeRateCards",
  LICENSE: "licenseRateCards",
  BILLING_ENTITLEMENT: "billingEntitlementRateCards",
  ENTITLEMENT_OVERAGE: "entitlementOverageRateCards",
  CREDIT_GRANT: "creditGrantRateCards",
};
