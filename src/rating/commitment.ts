/**
 * Minimum commitments: the minimum charge of a cycle (S13.3).
 *
 * @module
 */
import type { MinimumCommitment } from "../book/resources/price-plan.ts";
import { shareOfDays } from "../calendar/proration.ts";
import { type Decimal, subtract, ZERO } from "../numbers/decimal.ts";
import {
  type Fraction,
  roundFraction,
  type RoundingMode,
  multiplyByShare,
  subtractFractions,
  toFraction,
} from "../numbers/fraction.ts";
import { findInCurrency } from "./card-rates.ts";
import type { ChargeExplanation, RatedPeriod } from "./charge.ts";
import { WHOLE_SHARE } from "./slab-charge.ts";

/** How amounts are rounded: the digits of the currency's minor unit, and the mode (S1.5). */
export interface Rounding {
  readonly digits: number;
  readonly mode: RoundingMode;
}

/** The amount by which a cycle's invoices fall short of its commitment. */
export interface TrueUp {
  /** Major units, rounded; above 0. */
  readonly amount: Decimal;
  /** Before rounding. */
  readonly exact: Fraction;
  readonly explanation: ChargeExplanation;
}

/**
 * The commitment, prorated by days in a partial cycle, minus the invoices that charge for the cycle; undefined if they
 * reach it (S13.3).
 *
 * @param charges.alreadyCharged the total of the rounded sub-totals of these invoices
 * @param charges.refunded refunds of these invoices; default none
 * @throws {RatebookError} ERR_RATES_INVALID if the commitment has no rate in the currency
 */
export function computeTrueUp(
  commitment: MinimumCommitment,
  currency: string,
  period: RatedPeriod,
  { alreadyCharged, refunded = ZERO }: { readonly alreadyCharged: Decimal; readonly refunded?: Decimal },
  rounding: Rounding,
): TrueUp | undefined {
  const { rate } = findInCurrency(commitment.rateValues, currency, "the minimum commitment");
  const share = shareOfDays(period.served, period.natural);
  const netCharges = subtract(alreadyCharged, refunded);
  const shortfall = subtractFractions(multiplyByShare(toFraction(rate), share.days, share.of), toFraction(netCharges));
  const amount = roundFraction(shortfall, rounding.digits, rounding.mode);
  if (amount.lte(ZERO)) return undefined;
  return {
    amount,
    exact: shortfall,
    explanation: {
      rules: share.days === share.of ? ["S13.3"] : ["S8.1", "S13.3"],
      parts: [
        { because: "minimum commitment of the billing period", sign: 1, share, rate },
        { because: "charges in the billing period", sign: -1, share: WHOLE_SHARE, rate: alreadyCharged },
        ...(refunded.isZero()
          ? []
          : [{ because: "refunds for unused days", sign: 1, share: WHOLE_SHARE, rate: refunded } as const]),
      ],
      least: ZERO,
    },
  };
}
