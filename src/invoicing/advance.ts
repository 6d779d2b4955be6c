/**
 * Charges made before the service: invoices dated at a cycle's start (STANDARD_ADVANCED), increases of licenses
 * (AD_HOC), and refunds when the service ends sooner (S9.3, S9.5, S10.3, S13.1). Charges in arrears that came too late for their
 * STANDARD invoice are made the same way.
 *
 * @module
 */
import type { PricePlanDetails } from "../book/model/price-plan.ts";
import type { FixedFeeRateCard } from "../book/model/rate-card.ts";
import type { Steps } from "../book/steps.ts";
import { rateBillingEntitlement } from "../rating/billing-entitlement.ts";
import { rateCreditGrant } from "../rating/credit-grant.ts";
import { fixedFeeRefund, rateFixedFee } from "../rating/fixed-fee.ts";
import type { AccountView } from "./account-view.ts";
import { type Advance, type AdvanceCharge, cutOf, type Refund, refundKey, standing } from "./advance-charge.ts";
import { lateArrears } from "./arrears.ts";
import {
  beginsIn,
  type CoveredPeriod,
  coveredPeriod,
  entitlementTiming,
  feeTiming,
  grantTiming,
  type TimedCard,
} from "./charging.ts";
import { dueCards, type DueCycle } from "./dues.ts";
import { licenseInAdvance } from "./license-advance.ts";
import { type AccountCycle, type Timeline, timelineOf } from "./timeline.ts";

/** Whether an account may be charged, or given something back, beside its STANDARD invoices. */
export function mayChargeInAdvance(view: AccountView, timeline: Timeline): boolean {
  const isCharged = view.decisions.some(({ plan }) => plan !== null && chargesInAdvance(plan.details));
  return isCharged || lateArrears(view, timeline).length > 0;
}

function chargesInAdvance(details: PricePlanDetails): boolean {
  const { fixedFeeRateCards, licenseRateCards, billingEntitlementRateCards, creditGrantRateCards } = details;
  const lists = [fixedFeeRateCards, licenseRateCards, billingEntitlementRateCards, creditGrantRateCards];
  return lists.some((cards) => cards.some(({ invoiceTiming }) => invoiceTiming === "IN_ADVANCE"));
}

/**
 * Everything charged in advance, or late, in these cycles, and given back for them; a charge of nothing may be among it.
 *
 * @param dues every cycle since the account's first, in order
 * @param isAsked whose charges are asked for; those of other cycles, and what is given back of their licenses, are left
 * out where that is of no use
 */
export function* advanceOf(
  view: AccountView,
  dues: readonly DueCycle[],
  isAsked: (cycle: AccountCycle) => boolean = () => true,
): Steps<Advance> {
  const timeline = timelineOf(view.decisions);
  if (!mayChargeInAdvance(view, timeline)) return { charges: [], refunds: [] };
  const fees = yield* feesInAdvance(view, dues, isAsked);
  const licenses = yield* licenseInAdvance(view, dues, isAsked);
  const charges = [
    ...fees,
    ...licenses.charges,
    ...(yield* entitlementsInAdvance(view, dues, isAsked)),
    ...(yield* grantsInAdvance(view, dues, isAsked)),
    ...lateArrears(view, timeline).filter(({ cycle }) => isAsked(cycle)),
  ];
  return { charges, refunds: [...(yield* feeRefunds(view, dues)), ...licenses.refunds] };
}

/** An invoice in advance, or a late one, by its dates alone. */
export type AdvanceTerms = Pick<AdvanceCharge, "invoiceType" | "invoiceDate" | "due" | "cycle">;

/**
 * When something may be charged in advance, or late, in these cycles, and what is given back: {@link advanceOf} without the charges.
 * There may be hundreds for each of thousands of cycles. Where all of an invoice turns out to be nothing, it is none.
 */
export function* advanceDates(
  view: AccountView,
  dues: readonly DueCycle[],
  isAsked: IsAsked,
): Steps<{ readonly terms: readonly AdvanceTerms[]; readonly refunds: readonly Refund[] }> {
  const timeline = timelineOf(view.decisions);
  if (!mayChargeInAdvance(view, timeline)) return { terms: [], refunds: [] };
  const licenses = yield* licenseInAdvance(view, dues, isAsked);
  const standingTerms: AdvanceTerms[] = [];
  for (const due of dues) {
    if (!isAsked(due.cycle) || !beginsCharge(due)) continue;
    standingTerms.push({
      invoiceType: "STANDARD_ADVANCED",
      invoiceDate: due.cycle.start,
      due: due.due,
      cycle: due.cycle,
    });
    yield;
  }
  const late = lateArrears(view, timeline).filter(({ cycle }) => isAsked(cycle));
  return {
    terms: [...standingTerms, ...licenses.charges, ...late],
    refunds: [...(yield* feeRefunds(view, dues)), ...licenses.refunds],
  };
}

/** Whether a charge in advance other than a license's begins in a cycle. */
function beginsCharge({ timeline, cycle }: DueCycle): boolean {
  const { fixedFeeRateCards, billingEntitlementRateCards, creditGrantRateCards } = cycle.term.plan.details;
  const begins = (card: TimedCard): boolean => {
    const period = coveredPeriod(timeline, cycle, card);
    return period !== undefined && beginsIn(cycle, period);
  };
  return (
    fixedFeeRateCards.some((card) => isInAdvance(card) && begins(feeTiming(card))) ||
    billingEntitlementRateCards.some((card) => isInAdvance(card) && begins(entitlementTiming(card))) ||
    creditGrantRateCards.some((card) => isInAdvance(card) && begins(grantTiming(card)))
  );
}

function* feesInAdvance(
  view: AccountView,
  dues: readonly DueCycle[],
  isAsked: IsAsked,
): Steps<readonly AdvanceCharge[]> {
  const found = yield* dueCards(dues, (details) => inAdvance(details.fixedFeeRateCards), feeTiming);
  return found
    .filter(({ due }) => isAsked(due.cycle))
    .map(({ due, card, period }) => standing(due, () => rateFixedFee(asCharged(card, period), view.currency, period)));
}

/** What is given back of fees that are charged by days. */
function* feeRefunds(view: AccountView, dues: readonly DueCycle[]): Steps<readonly Refund[]> {
  const refunds: Refund[] = [];
  const mayBeCut = dues.filter(({ due }) => view.decisions.some(({ decidedAt }) => decidedAt > due));
  const found = yield* dueCards(mayBeCut, (details) => inAdvance(details.fixedFeeRateCards), feeTiming);
  for (const { due, card, period, key } of found) {
    const cut = period.prorated ? cutOf(view.decisions, period.served, due.due) : undefined;
    if (cut === undefined) continue;
    const unserved = { start: cut.at, end: period.served.end };
    const back = fixedFeeRefund(asCharged(card, period), view.currency, unserved, period);
    if (back === undefined) continue;
    const given = { at: cut.at, due: Math.max(cut.at, cut.decidedAt) };
    const { natural } = period;
    const name = refundKey(key, due, given);
    const { cycle } = due;
    refunds.push({ key: name, kind: "FIXED_FEE", billableId: card.id, cycle, ...given, natural, ...back });
  }
  return refunds;
}

function asCharged(card: FixedFeeRateCard, { prorated }: CoveredPeriod): FixedFeeRateCard {
  return { ...card, enableProration: prorated };
}

type IsAsked = (cycle: AccountCycle) => boolean;

function* entitlementsInAdvance(
  view: AccountView,
  dues: readonly DueCycle[],
  isAsked: IsAsked,
): Steps<readonly AdvanceCharge[]> {
  const found = yield* dueCards(dues, (details) => inAdvance(details.billingEntitlementRateCards), entitlementTiming);
  return found
    .filter(({ due }) => isAsked(due.cycle))
    .map(({ due, card, period }) => standing(due, () => rateBillingEntitlement(card, view.currency, period)));
}

function* grantsInAdvance(
  view: AccountView,
  dues: readonly DueCycle[],
  isAsked: IsAsked,
): Steps<readonly AdvanceCharge[]> {
  const found = yield* dueCards(dues, (details) => inAdvance(details.creditGrantRateCards), grantTiming);
  return found
    .filter(({ due }) => isAsked(due.cycle))
    .map(({ due, card, period }) => standing(due, () => rateCreditGrant(card, view.currency, period)));
}

function inAdvance<Card extends { readonly invoiceTiming: string }>(cards: readonly Card[]): readonly Card[] {
  return cards.filter(isInAdvance);
}

function isInAdvance({ invoiceTiming }: { readonly invoiceTiming: string }): boolean {
  return invoiceTiming === "IN_ADVANCE";
}
