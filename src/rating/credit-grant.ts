import type { CreditGrantRateCard, RatePlanInput, RateValueInput } from "../book/resources/rate-card.ts";
import type { Decimal } from "../numbers/decimal.ts";
import { findInCurrency } from "./card-rates.ts";
import type { Charge, RatedPeriod } from "./charge.ts";
import { type RatedSlabs, joinSlabRates } from "./rated-slabs.ts";
import { WHOLE_SHARE, chargeBySlabs } from "./slab-charge.ts";

/**
 * The amount of each grant, in major units of the currency (S12.6).
 *
 * @throws {RatebookError} ERR_RATES_INVALID if the card grants nothing in the currency
 */
export function creditAmountOf(card: CreditGrantRateCard, currency: string): Decimal {
  return findDetails(card, currency).creditAmount;
}

/**
 * Prices the creditAmount with the card's slabs; grants are not prorated.
 *
 * @throws {RatebookError} ERR_RATES_INVALID if the card grants nothing in the currency, or its slabs are malformed
 */
export function rateCreditGrant(card: CreditGrantRateCard, currency: string, period: RatedPeriod): Charge {
  const quantity = creditAmountOf(card, currency);
  return chargeBySlabs({
    kind: "CREDIT_GRANT",
    billableId: card.id,
    period,
    ratedSlabs: toRatedSlabs(card, currency),
    quantity,
    parts: [{ because: "granted credit", sign: 1, share: WHOLE_SHARE, quantity }],
    rules: ["S12.6"],
    bounds: WHOLE_SHARE,
  });
}

type Details = CreditGrantRateCard["rateDetails"]["currencySlabRateDetails"][number];

function findDetails(card: CreditGrantRateCard, currency: string): Details {
  return findInCurrency(card.rateDetails.currencySlabRateDetails, currency, card.id);
}

/** A grant's slabs include their rates; a missing order is the slab's position. */
export function toRatedSlabs(card: CreditGrantRateCard, currency: string): RatedSlabs {
  const slabs: RatePlanInput["slabs"][number][] = [];
  const slabRates: RateValueInput["slabRates"][number][] = [];
  for (const [index, slab] of findDetails(card, currency).slabDetails.entries()) {
    const order = slab.order ?? index + 1;
    const { startAfter, endAt, priceType, slabConfig, rate, slabRateConfig } = slab;
    slabs.push({ order, startAfter, endAt, priceType, slabConfig });
    slabRates.push({ order, rate, slabRateConfig });
  }
  return joinSlabRates({ pricingModel: card.rateDetails.pricingModel, slabs }, { currency, slabRates });
}
