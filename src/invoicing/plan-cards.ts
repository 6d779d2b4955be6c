/**
 * The cards of a plan by kind and billable id: one card per billable item and kind (S16.4).
 *
 * @module
 */
import type { PricePlanDetails } from "../book/resources/price-plan.ts";
import type { CardKind } from "../rating/charge.ts";

/** The fields of every card besides its prices. */
export interface CardLabels {
  readonly displayName?: string | null | undefined;
  readonly tag?: string | null | undefined;
}

/** The card of this kind for this meter, add-on or feature, if the plan has one. */
export function findCard(details: PricePlanDetails, kind: CardKind, billableId: string): CardLabels | undefined {
  return readCards(details, kind).find(([id]) => id === billableId)?.[1];
}

/** Like {@link findCard}, for many cards: a plan may have hundreds of a kind. */
export function createCardFinder(
  details: PricePlanDetails,
): (kind: CardKind, billableId: string) => CardLabels | undefined {
  const byKind = new Map<CardKind, ReadonlyMap<string, CardLabels>>();
  return (kind, billableId) => {
    let cards = byKind.get(kind);
    if (cards === undefined) byKind.set(kind, (cards = new Map(readCards(details, kind))));
    return cards.get(billableId);
  };
}

/** The number of cards of a plan. */
export function cardCount(details: PricePlanDetails): number {
  const { usageRateCards, fixedFeeRateCards, licenseRateCards } = details;
  const { billingEntitlementRateCards, entitlementOverageRateCards, creditGrantRateCards } = details;
  const priced = usageRateCards.length + fixedFeeRateCards.length + licenseRateCards.length;
  return priced + billingEntitlementRateCards.length + entitlementOverageRateCards.length + creditGrantRateCards.length;
}

function readCards(details: PricePlanDetails, kind: CardKind): readonly (readonly [billableId: string, CardLabels])[] {
  switch (kind) {
    case "USAGE":
      return details.usageRateCards.map((card) => [card.usageMeterId, card]);
    case "FIXED_FEE":
      return details.fixedFeeRateCards.map((card) => [card.id, card]);
    case "LICENSE":
      return details.licenseRateCards.map((card) => [card.id, card]);
    case "BILLING_ENTITLEMENT":
      return details.billingEntitlementRateCards.map((card) => [card.featureId, card]);
    case "ENTITLEMENT_OVERAGE":
      return details.entitlementOverageRateCards.map((card) => [card.featureId, card]);
    case "CREDIT_GRANT":
      return details.creditGrantRateCards.map((card) => [card.id, card]);
  }
}
