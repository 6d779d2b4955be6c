/**
 * Charges made before the service: invoices dated at a cycle's start (STANDARD_ADVANCED), increases of licenses
 * (AD_HOC), and refunds when the service ends sooner (S9.3, S9.5, S10.3, S13.1). Charges in arrears that came too late for their
 * STANDARD invoice are made the same way.
 *
 * @module
 */
import type { PricePlanDetails } from "../book/model/price-plan.ts";
import { rateBillingEntitlement } from "../rating/billing-entitlement.ts";
import { rateCreditGrant } from "../rating/credit-grant.ts";
import { fixedFeeRefund, rateFixedFee } from "../rating/fixed-fee.ts";
import type { AccountView } from "./account-view.ts";
import { type Advance, type AdvanceCharge, cutOf, type Refund, refundKey, standing } from "./advance-charge.ts";
import { lateArrears } from "./arrears.ts";
import { feeTiming, entitlementTiming, grantTiming } from "./charging.ts";
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
 * Everything charged in advance, or late, in these cycles, and given back for them.
 *
 * @param dues every cycle since the account's first, in order
 * @param isAsked whose charges are asked for; those of other cycles, and what is given back of their licenses, are left
 * out where that is of no use
 */
export function advanceOf(
  view: AccountView,
  dues: readonly DueCycle[],
  isAsked: (cycle: AccountCycle) => boolean = () => true,
): Advance {
  const timeline = timelineOf(view.decisions);
  if (!mayChargeInAdvance(view, timeline)) return { charges: [], refunds: [] };
  const fees = feesInAdvance(view, dues, isAsked);
  const licenses = licenseInAdvance(view, dues, isAsked);
  const charges = [
    ...fees.charges,
    ...licenses.charges,
    ...entitlementsInAdvance(view, dues, isAsked),
    ...grantsInAdvance(view, dues, isAsked),
    ...lateArrears(view, timeline).filter(({ cycle }) => isAsked(cycle)),
  ];
  return { charges, refunds: [...fees.refunds, ...licenses.refunds] };
}

function feesInAdvance(view: AccountView, dues: readonly DueCycle[], isAsked: IsAsked): Advance {
  const charges: AdvanceCharge[] = [];
  const refunds: Refund[] = [];
  const found = dueCards(dues, (details) => inAdvance(details.fixedFeeRateCards), feeTiming);
  for (const { due, card, period, key } of found) {
    const asCharged = { ...card, enableProration: period.prorated };
    if (isAsked(due.cycle)) charges.push(standing(due, rateFixedFee(asCharged, view.currency, period)));
    const cut = period.prorated ? cutOf(view.decisions, period.served, due.due) : undefined;
    if (cut === undefined) continue;
    const unserved = { start: cut.at, end: period.served.end };
    const back = fixedFeeRefund(asCharged, view.currency, unserved, period);
    if (back === undefined) continue;
    const given = { at: cut.at, due: Math.max(cut.at, cut.decidedAt) };
    const { natural } = period;
    refunds.push({
      key: refundKey(key, due, given),
      kind: "FIXED_FEE",
      billableId: card.id,
      cycle: due.cycle,
      ...given,
      natural,
      ...back,
    });
  }
  return { charges, refunds };
}

type IsAsked = (cycle: AccountCycle) => boolean;

function entitlementsInAdvance(view: AccountView, dues: readonly DueCycle[], isAsked: IsAsked): AdvanceCharge[] {
  const found = dueCards(dues, (details) => inAdvance(details.billingEntitlementRateCards), entitlementTiming);
  return found
    .filter(({ due }) => isAsked(due.cycle))
    .map(({ due, card, period }) => standing(due, rateBillingEntitlement(card, view.currency, period)));
}

function grantsInAdvance(view: AccountView, dues: readonly DueCycle[], isAsked: IsAsked): AdvanceCharge[] {
  const found = dueCards(dues, (details) => inAdvance(details.creditGrantRateCards), grantTiming);
  return found
    .filter(({ due }) => isAsked(due.cycle))
    .map(({ due, card, period }) => standing(due, rateCreditGrant(card, view.currency, period)));
}

function inAdvance<Card extends { readonly invoiceTiming: string }>(cards: readonly Card[]): readonly Card[] {
  return cards.filter(({ invoiceTiming }) => invoiceTiming === "IN_ADVANCE");
}
