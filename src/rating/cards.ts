/**
 * The charge of each kind of card but licenses, and of the minimum commitment (S7, S9, S11, S12.6, S13.3), and the cycles in
 * which a recurring charge begins (S9.1). All that read rates throw ERR_RATES_INVALID if there are none in the currency
 * (S7.7).
 */

import type { MinimumCommitment } from "../book/resources/price-plan.ts";
import type {
  RatePlan,
  RateValue,
  RecurrenceConfig,
  UsageRateCard,
  EntitlementOverageRateCard,
  BillingEntitlementRateCard,
  CreditGrantRateCard,
  FixedFeeRateCard,
} from "../book/resources/rate-card.ts";
import { type Cycle, shareOfDays } from "../calendar/cycle.ts";
import { RatebookError } from "../errors.ts";
import { type Decimal, sum, ZERO, subtract } from "../numbers/decimal.ts";
import {
  multiplyByShare,
  toFraction,
  type Fraction,
  roundFraction,
  type RoundingMode,
  subtractFractions,
} from "../numbers/fraction.ts";
import { ruleLink } from "../rulebook.ts";
import type { Charge, ChargeExplanation, QuantityTerms, RatedPeriod, RefundedCharge } from "./charge.ts";
import { type RatedSlabs, joinSlabRates } from "./rated-slabs.ts";
import { WHOLE_SHARE, chargeBySlabs } from "./slab-charge.ts";

/**
 * The entry for a currency. One is missing only if it was not checked when the plan was associated.
 *
 * @param owner the card's billable id, or the minimum commitment; named in the error
 */
export function requireCurrencyEntry<Entry extends { readonly currency: string }>(
  entries: readonly Entry[],
  currency: string,
  owner: string,
): Entry {
  const entry = entries.find((each) => each.currency === currency);
  if (entry === undefined) {
    throw new RatebookError("ERR_RATES_INVALID", `there are no rates in ${currency} for ${owner}`, {});
  }
  return entry;
}

/** A card's slabs with the rates of a currency. */
export function joinRatesInCurrency(
  card: { readonly ratePlan: RatePlan; readonly rateValues: readonly RateValue[] },
  currency: string,
  billableId: string,
): RatedSlabs {
  return joinSlabRates(card.ratePlan, requireCurrencyEntry(card.rateValues, currency, billableId));
}

/** RECURRING: repeatedly. ONE_TIME: once. */
export type RecurrenceType = "RECURRING" | "ONE_TIME";

/** The cycles that one charge covers, by number; both inclusive. */
export interface Coverage {
  readonly first: number;
  readonly last: number;
}

/**
 * Whether a charge begins in cycle `n`: RECURRING if `n > offset` and `(n − 1 − offset) mod interval = 0`, ONE_TIME if
 * `n = 1 + offset` (S9.1). Missing values are interval 1 and offset 0.
 *
 * @param n 1 is the first cycle, partial or not
 */
export function isChargedIn(recurrence: RecurrenceConfig | null | undefined, type: RecurrenceType, n: number): boolean {
  return coverageAt(recurrence, type, n)?.first === n;
}

/**
 * The cycles of the charge that covers cycle `n`: `interval` cycles for RECURRING, one for ONE_TIME; undefined if there
 * is none.
 *
 * @param n 1 is the first cycle, partial or not
 */
export function coverageAt(
  recurrence: RecurrenceConfig | null | undefined,
  type: RecurrenceType,
  n: number,
): Coverage | undefined {
  const offset = recurrence?.offset ?? 0;
  if (n <= offset) return undefined;
  switch (type) {
    case "ONE_TIME":
      return n === offset + 1 ? { first: n, last: n } : undefined;
    case "RECURRING": {
      const interval = recurrence?.interval ?? 1;
      const first = n - ((n - 1 - offset) % interval);
      return { first, last: first + interval - 1 };
    }
  }
}

/**
 * Checks that a quantity of a meter has a price.
 *
 * @throws {RatebookError} ERR_REFUSED if a price table prices its usage by groups (S18)
 */
export function requireSlabs<Card extends UsageRateCard>(card: Card): Card {
  if (!card.rateTable) return card;
  const reason = `the usage of ${card.usageMeterId} is priced by groups, so a quantity without groups has no price; preview events or usage cells`;
  throw new RatebookError("ERR_REFUSED", reason, { rule: ruleLink("S18.2") });
}

/**
 * Prices a meter's usage. In a partial cycle the card's limits are prorated by days; slabs and packages never are
 * (S7.4).
 *
 * @param quantity units in the served period; a negative one is priced as zero, with a notice (S7.5)
 * @param terms of a quantity that is no sum (S19)
 * @throws {RatebookError} ERR_REFUSED if the card has a price table
 */
export function rateUsage(
  card: UsageRateCard,
  currency: string,
  quantity: Decimal,
  period: RatedPeriod,
  { isProrated = false, describe }: QuantityTerms = {},
): Charge {
  const share = shareOfDays(period.served, period.natural);
  const because = describe ?? "usage in the billing period";
  return chargeBySlabs({
    kind: "USAGE",
    billableId: card.usageMeterId,
    period,
    ratedSlabs: joinRatesInCurrency(requireSlabs(card), currency, card.usageMeterId),
    quantity,
    parts: [{ because, sign: 1, share: isProrated ? share : WHOLE_SHARE, quantity }],
    rules: [...(describe === undefined ? [] : ["S19.1" as const]), ...(isProrated ? ["S19.4" as const] : [])],
    bounds: share,
  });
}

/**
 * Prices the overage of a billing window. As with usage, only the card's limits are prorated if the window is partial
 * (S7.4).
 *
 * @param period the served window, and the whole one
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
    ratedSlabs: joinRatesInCurrency(card, currency, card.featureId),
    quantity,
    parts: [{ because: "overage in the billing window", sign: 1, share: WHOLE_SHARE, quantity }],
    rules: ["S11.7"],
    bounds: shareOfDays(period.served, period.natural),
  });
}

/** The units of the feature that a card grants in a cycle, over all its entries. */
export function grantedUnits({ featureConfigs }: Pick<BillingEntitlementRateCard, "featureConfigs">): Decimal {
  return sum(featureConfigs.map(({ featureCreditLimit }) => featureCreditLimit));
}

/** Prices the sum of the card's featureCreditLimits. Neither grants (S11.1) nor the limits of their charge are prorated. */
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
    ratedSlabs: joinRatesInCurrency(card, currency, card.featureId),
    quantity,
    parts: [{ because: "granted feature credits", sign: 1, share: WHOLE_SHARE, quantity }],
    rules: ["S11.1"],
    bounds: WHOLE_SHARE,
  });
}

/** The amount of each grant, in major units of the currency (S12.6). */
export function creditAmountOf(card: CreditGrantRateCard, currency: string): Decimal {
  return requireCurrencyEntry(card.rateDetails.currencySlabRateDetails, currency, card.id).creditAmount;
}

/** Prices the creditAmount with the card's slabs; grants are not prorated. */
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

/** A grant's slabs include their rates; a missing order is the slab's position. */
export function toRatedSlabs({ id, rateDetails }: CreditGrantRateCard, currency: string): RatedSlabs {
  const { pricingModel, currencySlabRateDetails } = rateDetails;
  const { slabDetails } = requireCurrencyEntry(currencySlabRateDetails, currency, id);
  const slabs = slabDetails.map((slab, index) => ({ ...slab, order: slab.order ?? index + 1 }));
  return joinSlabRates({ pricingModel, slabs }, { currency, slabRates: slabs });
}

/**
 * Charges a fee: with proration the rate × served days ÷ natural days; otherwise, and always for ONE_TIME, the whole
 * rate (S9.1, S9.2). A negative rate is a discount (S9.4).
 */
export function rateFixedFee(card: FixedFeeRateCard, currency: string, period: RatedPeriod): Charge {
  const { rate } = requireCurrencyEntry(card.rateValues, currency, card.id);
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
      parts: [{ because: prorated ? "prorated fee" : "full fee", sign: 1, share, rate }],
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
  const { rate } = requireCurrencyEntry(card.rateValues, currency, card.id);
  if (!isProrated(card) || rate.lte(ZERO)) return undefined;
  const share = shareOfDays(unservedDays, period.natural);
  const because = `fee for the unused ${share.days} of ${share.of} days`;
  return {
    amount: multiplyByShare(toFraction(rate), share.days, share.of),
    explanation: { rules: ["S8.1", "S9.5"], parts: [{ because, sign: 1, share, rate }] },
  };
}

/** Whether a fee is charged by days: only a recurring one can be (S9.1). */
export function isProrated({ enableProration, type }: FixedFeeRateCard): boolean {
  return type === "RECURRING" && enableProration;
}

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
 */
export function computeTrueUp(
  commitment: MinimumCommitment,
  currency: string,
  period: RatedPeriod,
  { alreadyCharged, refunded = ZERO }: { readonly alreadyCharged: Decimal; readonly refunded?: Decimal },
  rounding: Rounding,
): TrueUp | undefined {
  const { rate } = requireCurrencyEntry(commitment.rateValues, currency, "the minimum commitment");
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
