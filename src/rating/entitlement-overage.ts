/**
 * Entitlement overage rate cards: the price of consumption beyond the feature credits (S11.7).
 *
 * @module
 */
import type { EntitlementOverageRateCard } from "../book/resources/rate-card.ts";
import { shareOfDays } from "../calendar/proration.ts";
import type { Decimal } from "../numbers/decimal.ts";
import { ratedSlabsIn } from "./card-rates.ts";
import type { Charge, RatedPeriod } from "./charge.ts";
import { WHOLE_SHARE, chargeBySlabs } from "./slab-charge.ts";

/**
 * Prices the overage of a billing window. As with usage, only the card's limits are prorated if the window is partial
 * (S7.4).
 *
 * @param period the served window, and the whole one
 * @throws {RatebookError} ERR_RATES_INVALID if the card has no rates in the currency
 */
export function rateOverage(
  card: EntitlementOverageRateCard,
  currency: string,
  quantity: Decimal,
  period: RatedPeriod,
): Charge {
  return chargeBySlabs({
    kind: "ENTITLEMENT_OVERAGE",
    billableId: card.featureId,
    period,
    ratedSlabs: ratedSlabsIn(card, currency, card.featureId),
    quantity,
    parts: [{ because: "overage in the billing window", sign: 1, share: WHOLE_SHARE, quantity }],
    rules: ["S11.7"],
    bounds: shareOfDays(period.served, period.natural),
  });
}
