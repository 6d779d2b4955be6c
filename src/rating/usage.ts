/**
 * Usage rate cards: the price of a meter's units in a cycle (S7).
 *
 * @module
 */
import type { UsageRateCard } from "../book/resources/rate-card.ts";
import { shareOfDays } from "../calendar/proration.ts";
import type { Decimal } from "../numbers/decimal.ts";
import { ratedSlabsIn } from "./card-rates.ts";
import type { Charge, RatedPeriod } from "./charge.ts";
import { WHOLE_SHARE, chargeBySlabs } from "./slab-charge.ts";

/**
 * Prices a meter's usage. In a partial cycle the card's limits are prorated by days; slabs and packages never are
 * (S7.4).
 *
 * @param quantity units in the served period; a negative one is priced as zero, with a notice (S7.5)
 * @throws {RatebookError} ERR_RATES_INVALID if the card has no rates in the currency
 */
export function rateUsage(card: UsageRateCard, currency: string, quantity: Decimal, period: RatedPeriod): Charge {
  return chargeBySlabs({
    kind: "USAGE",
    billableId: card.usageMeterId,
    period,
    ratedSlabs: ratedSlabsIn(card, currency, card.usageMeterId),
    quantity,
    parts: [{ because: "usage in the billing period", sign: 1, share: WHOLE_SHARE, quantity }],
    rules: [],
    bounds: shareOfDays(period.served, period.natural),
  });
}
