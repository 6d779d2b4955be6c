/**
 * The cards of a plan by kind and billable: one card per billable item and kind (S16.4).
 *
 * @module
 */
import type { PricePlanDetails } from "../book/model/price-plan.ts";
import type { CardKind } from "../rating/charge.ts";

/** The fields of every card apart from its prices. */
export interface CardFace {
  readonly displayName?: string | null | undefined;
  readonly tag?: string | null | undefined;
}

/** The card of this kind for this meter, add-on or feature, if the plan has one. */
export function cardOf(details: PricePlanDetails, kind: CardKind, billableId: string): CardFace | undefined {
  switch (kind) {
    case "USAGE":
      return details.usageRateCards.find((card) => card.usageMeterId === billableId);
    case "FIXED_FEE":
      return details.fixedFeeRateCards.find((card) => card.id === billableId);
    case "LICENSE":
      return details.licenseRateCards.find((card) => card.id === billableId);
    case "BILLING_ENTITLEMENT":
      return details.billingEntitlementRateCards.find((card) => card.featureId === billableId);
    case "ENTITLEMENT_OVERAGE":
      return details.entitlementOverageRateCards.find((card) => card.featureId === billableId);
    case "CREDIT_GRANT":
      return details.creditGrantRateCards.find((card) => card.id === billableId);
  }
}
