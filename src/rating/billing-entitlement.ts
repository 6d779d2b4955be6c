/**
 * Billing entitlement rate cards: the price of the feature credits that a card grants (S11.1).
 *
 * @module
 */
import type { BillingEntitlementRateCard } from "../book/resources/rate-card.ts";
import { type Decimal, sum } from "../numbers/decimal.ts";
import { ratedSlabsIn } from "./card-rates.ts";
import type { Charge, RatedPeriod } from "./charge.ts";
import { WHOLE_SHARE, chargeBySlabs } from "./slab-charge.ts";

/** The units of the feature that a card grants in a cycle, over all its entries. */
export function grantedUnits({ featureConfigs }: Pick<BillingEntitlementRateCard, "featureConfigs">): Decimal {
  return sum(featureConfigs.map(({ featureCreditLimit }) => featureCreditLimit));
}

/**
 * Prices the sum of the card's featureCreditLimits. Neither grants (S11.1) nor the limits of their charge are prorated.
 *
 * @throws {RatebookError} ERR_RATES_INVALID if the card has no rates in the currency
 */
export function rateBillingEntitlement(
  card: BillingEntitlementRateCard,
  currency: string,
  period: RatedPeriod,
): Charge {
  const quantity = grantedUnits(card);
  return chargeBySlabs({
    kind: "BILLING_ENTITLEMENT",
    billableId: card.featureId,
    period,
    ratedSlabs: ratedSlabsIn(card, currency, card.featureId),
    quantity,
    parts: [{ because: "granted feature credits", sign: 1, share: WHOLE_SHARE, quantity }],
    rules: ["S11.1"],
    bounds: WHOLE_SHARE,
  });
}
