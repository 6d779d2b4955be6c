/**
 * Entitlement overage rate cards: the price of what was consumed beyond the feature credits (S11.7).
 *
 * @module
 */
import type { EntitlementOverageRateCard } from "../book/model/grant-card.ts";
import { shareOfDays } from "../calendar/proration.ts";
import type { Decimal } from "../numbers/decimal.ts";
import { ratedSlabsIn } from "./card-rates.ts";
import type { Charge, RatedPeriod } from "./charge.ts";
import { WHOLE_SHARE, chargeBySlabs } from "./slab-charge.ts";

/**
 * Prices the overage of a billing window, counted from 0; as with usage, only the card's bounds are prorated where the
 * window is cut (S7.4).
 *
 * @param period the window as served, and in whole
 * @throws {RatebookError} ERR_RATES_INVALID when the card has no rates in the currency
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
    parts: [{ because: "the overage of the billing window", sign: 1, share: WHOLE_SHARE, quantity }],
    rules: ["S11.7"],
    bounds: shareOfDays(period.served, period.natural),
  });
}
