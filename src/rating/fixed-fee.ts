/**
 * Fixed fee rate cards: a rate that does not depend on a quantity (S9).
 *
 * @module
 */
import type { FixedFeeRateCard } from "../book/resources/rate-card.ts";
import type { Cycle } from "../calendar/cycle.ts";
import { shareOfDays } from "../calendar/proration.ts";
import { ZERO } from "../numbers/decimal.ts";
import { multiplyByShare, toFraction } from "../numbers/fraction.ts";
import { findInCurrency } from "./card-rates.ts";
import type { Charge, RefundedCharge, RatedPeriod } from "./charge.ts";
import { WHOLE_SHARE } from "./slab-charge.ts";

/**
 * Charges a fee: with proration the rate × served days ÷ natural days; otherwise, and always for ONE_TIME, the whole
 * rate (S9.1, S9.2). A negative rate is a discount (S9.4).
 *
 * @throws {RatebookError} ERR_RATES_INVALID if the card has no rate in the currency
 */
export function rateFixedFee(card: FixedFeeRateCard, currency: string, period: RatedPeriod): Charge {
  const { rate } = findInCurrency(card.rateValues, currency, card.id);
  const prorated = isProrated(card);
  const share = prorated ? shareOfDays(period.served, period.natural) : WHOLE_SHARE;
  const charged = multiplyByShare(toFraction(rate), share.days, share.of);
  return {
    kind: "FIXED_FEE",
    billableId: card.id,
    period,
    slabs: [],
    charged,
    bounded: charged,
    explanation: {
      rules: prorated ? ["S8.1", "S9.2"] : ["S9.1"],
      parts: [
        {
          because: prorated ? "prorated fee" : "full fee",
          sign: 1,
          share,
          rate,
        },
      ],
    },
    notices: [],
  };
}

/**
 * The refund of an advance fee when its association ends early: rate × unserved days ÷ natural days with proration,
 * else none (S9.5). A discount is not refunded.
 *
 * @param unservedDays charged days that will not be served, inside `period.natural`
 */
export function refundFixedFee(
  card: FixedFeeRateCard,
  currency: string,
  unservedDays: Cycle,
  period: RatedPeriod,
): RefundedCharge | undefined {
  const { rate } = findInCurrency(card.rateValues, currency, card.id);
  if (!isProrated(card) || rate.lte(ZERO)) return undefined;
  const share = shareOfDays(unservedDays, period.natural);
  const because = `fee for the unused ${share.days} of ${share.of} days`;
  return {
    amount: multiplyByShare(toFraction(rate), share.days, share.of),
    explanation: { rules: ["S8.1", "S9.5"], parts: [{ because, sign: 1, share, rate }] },
  };
}

function isProrated({ enableProration, type }: FixedFeeRateCard): boolean {
  switch (type) {
    case "RECURRING":
      return enableProration;
    case "ONE_TIME":
      return false;
  }
}
