/**
 * Minimum commitments: the least that a cycle costs (S13.3).
 *
 * @module
 */
import type { MinimumCommitment } from "../book/model/grant-card.ts";
import { shareOfDays } from "../calendar/proration.ts";
import { type Decimal, ZERO } from "../numbers/decimal.ts";
import {
  type Fraction,
  roundFraction,
  type RoundingMode,
  shareOf,
  subtractFractions,
  whole,
} from "../numbers/fraction.ts";
import { inCurrency } from "./card-rates.ts";
import type { ChargeExplanation, RatedPeriod } from "./charge.ts";
import { WHOLE_SHARE } from "./slab-charge.ts";

/** How amounts become lines: the digits of the currency's minor unit, and the mode (S1.5). */
export interface Rounding {
  readonly digits: number;
  readonly mode: RoundingMode;
}

/** The amount by which a cycle's invoices fall short of its commitment. */
export interface TrueUp {
  /** Major units, rounded; above 0. */
  readonly amount: Decimal;
  /** Before it was rounded. */
  readonly exact: Fraction;
  readonly explanation: ChargeExplanation;
}

/**
 * The commitment, prorated by days in a cut cycle, less what the cycle's invoices come to; undefined where nothing is
 * lacking (S13.3).
 *
 * @param invoiced the rounded sub-totals of the cycle's STANDARD, STANDARD_ADVANCED and AD_HOC invoices together
 * @throws {RatebookError} ERR_RATES_INVALID when the commitment has no rate in the currency
 */
export function trueUp(
  commitment: MinimumCommitment,
  currency: string,
  period: RatedPeriod,
  invoiced: Decimal,
  rounding: Rounding,
): TrueUp | undefined {
  const { rate } = inCurrency(commitment.rateValues, currency, "the minimum commitment");
  const share = shareOfDays(period.served, period.natural);
  const lacking = subtractFractions(shareOf(whole(rate), share.days, share.of), whole(invoiced));
  const amount = roundFraction(lacking, rounding.digits, rounding.mode);
  if (amount.lte(ZERO)) return undefined;
  return {
    amount,
    exact: lacking,
    explanation: {
      rules: share.days === share.of ? ["S13.3"] : ["S8.1", "S13.3"],
      parts: [
        { because: "the minimum commitment of the cycle", sign: 1, share, rate },
        { because: "the sub-totals of the cycle's invoices", sign: -1, share: WHOLE_SHARE, rate: invoiced },
      ],
      least: ZERO,
    },
  };
}
