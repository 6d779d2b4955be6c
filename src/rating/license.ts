/**
 * License rate cards: what the units that an account holds cost, in arrears and in advance (S10).
 *
 * Where a price is taken off another, both are held to the card's bounds first: so a cycle's charges together stay
 * within them (S7.4).
 *
 * @module
 */
import type { LicenseRateCard } from "../book/resources/rate-card.ts";
import type { Cycle } from "../calendar/cycle.ts";
import { type Share, shareOfDays } from "../calendar/proration.ts";
import { type Decimal, subtract, textOf, ZERO } from "../numbers/decimal.ts";
import { type Fraction, NOTHING, shareOf, whole } from "../numbers/fraction.ts";
import type { RuleNumber } from "../rulebook.ts";
import { ratedSlabsOf } from "./card-rates.ts";
import type { Charge, RatedPeriod } from "./charge.ts";
import { largestOf, type QuantityRun } from "./license-timeline.ts";
import type { RatedSlabs } from "./rated-slabs.ts";
import { ALL, chargeBySlabs, type Part } from "./slab-charge.ts";
import { priceThrough } from "./slabs.ts";

/** A change of quantity. */
export interface QuantityChange {
  readonly from: Decimal;
  readonly to: Decimal;
}

/**
 * Charges a cycle when it has ended (S10.2): without proration the largest daily quantity, in full; with proration, for
 * each run of days with one quantity, its price × days ÷ natural days, and the card's bounds by the days served.
 *
 * @param runs the served period in runs of days, in order
 * @param paidBefore without proration, the largest quantity that earlier pieces of the same natural cycle charged: only
 * the price above it is charged, never below 0, and nothing where no more was held (S9.1)
 * @throws {RatebookError} ERR_RATES_INVALID when the card has no rates in the currency
 */
export function rateLicenseInArrears(
  card: LicenseRateCard,
  currency: string,
  runs: readonly QuantityRun[],
  period: RatedPeriod,
  paidBefore?: Decimal,
): Charge {
  if (!card.enableProration) return chargeInFull(card, currency, largestOf(runs), period, paidBefore);
  const ratedSlabs = ratedSlabsOf(card, currency, card.id);
  return chargeBySlabs({
    ...licenseOrder(card, period, ratedSlabs),
    quantity: largestOf(runs),
    parts: runs.map((run): Part => {
      const share = shareOfDays(run, period.natural);
      return { because: `${textOf(run.quantity)} held for ${daysText(share)}`, sign: 1, share, quantity: run.quantity };
    }),
    rules: ["S10.2"],
    bounds: shareOfDays(period.served, period.natural),
  });
}

/**
 * Charges a cycle at its start, for the quantity held then (S10.3): with proration × served days ÷ natural days, else in
 * full.
 *
 * @param paidBefore as in {@link rateLicenseInArrears}
 * @throws {RatebookError} ERR_RATES_INVALID when the card has no rates in the currency
 */
export function rateLicenseInAdvance(
  card: LicenseRateCard,
  currency: string,
  quantity: Decimal,
  period: RatedPeriod,
  paidBefore?: Decimal,
): Charge {
  if (!card.enableProration) return chargeInFull(card, currency, quantity, period, paidBefore);
  const share = shareOfDays(period.served, period.natural);
  return chargeBySlabs({
    ...licenseOrder(card, period, ratedSlabsOf(card, currency, card.id)),
    quantity,
    parts: [{ because: `${textOf(quantity)} held for ${daysText(share)}`, sign: 1, share, quantity }],
    rules: ["S10.3"],
    bounds: "EACH_PART",
  });
}

/**
 * Charges an increase during a cycle that was charged in advance, at once (S10.3): the price of `to` less that of `from`,
 * never below 0, with proration × remaining days ÷ natural days, else in full.
 *
 * @param change from the largest quantity already paid in this cycle and not refunded
 * @param remaining from the update's day until the end of the cycle
 * @throws {RatebookError} ERR_RATES_INVALID when the card has no rates in the currency
 */
export function rateLicenseIncrease(
  card: LicenseRateCard,
  currency: string,
  { from, to }: QuantityChange,
  remaining: Cycle,
  period: RatedPeriod,
): Charge {
  const share = card.enableProration ? shareOfDays(remaining, period.natural) : ALL;
  return chargeDifference({ card, currency, from, to, share, period, rules: ["S10.3"] });
}

/**
 * The price of a quantity for a whole natural cycle, held to the card's bounds (S7.4).
 *
 * @throws {RatebookError} ERR_RATES_INVALID when the card has no rates in the currency
 */
export function licensePrice(card: LicenseRateCard, currency: string, quantity: Decimal): Decimal {
  return priceThrough(ratedSlabsOf(card, currency, card.id), quantity).amount;
}

/**
 * What is given back of a price that was charged in advance, for the days that are not served: × unserved days ÷ natural
 * days with proration, else nothing (S9.5, S10.3).
 *
 * @param price as charged for a whole natural cycle; what is not above 0 gives nothing back
 * @param unserved the days that were charged and will not be served, inside `period.natural`
 */
export function licenseRefund(card: LicenseRateCard, price: Decimal, unserved: Cycle, period: RatedPeriod): Fraction {
  if (!card.enableProration || price.lte(ZERO)) return NOTHING;
  const { days, of } = shareOfDays(unserved, period.natural);
  return shareOf(whole(price), days, of);
}

/** Without proration: once for a natural cycle, whichever of its pieces charges it (S9.1). */
function chargeInFull(
  card: LicenseRateCard,
  currency: string,
  quantity: Decimal,
  period: RatedPeriod,
  paidBefore: Decimal | undefined,
): Charge {
  const rules: readonly RuleNumber[] = [card.invoiceTiming === "IN_ADVANCE" ? "S10.3" : "S10.2"];
  if (paidBefore !== undefined) {
    return chargeDifference({
      card,
      currency,
      from: paidBefore,
      to: quantity,
      share: ALL,
      period,
      rules: ["S9.1", ...rules],
    });
  }
  return chargeBySlabs({
    ...licenseOrder(card, period, ratedSlabsOf(card, currency, card.id)),
    quantity,
    parts: [{ because: `${textOf(quantity)} held, in full`, sign: 1, share: ALL, quantity }],
    rules,
    bounds: "EACH_PART",
  });
}

interface Difference extends QuantityChange {
  readonly card: LicenseRateCard;
  readonly currency: string;
  readonly share: Share;
  readonly period: RatedPeriod;
  readonly rules: readonly RuleNumber[];
}

/** The price above what was paid for already; nothing where there is no more. */
function chargeDifference({ card, currency, from, to, share, period, rules }: Difference): Charge {
  const more = to.gt(from);
  const during = share.days === share.of ? "" : ` for ${daysText(share)}`;
  return chargeBySlabs({
    ...licenseOrder(card, period, ratedSlabsOf(card, currency, card.id)),
    quantity: more ? subtract(to, from) : ZERO,
    parts: more
      ? [
          { because: `${textOf(to)} held${during}`, sign: 1, share, quantity: to },
          { because: `${textOf(from)} already paid${during}`, sign: -1, share, quantity: from },
        ]
      : [],
    rules,
    bounds: "EACH_PART",
    notBelowZero: true,
  });
}

function licenseOrder(
  card: LicenseRateCard,
  period: RatedPeriod,
  ratedSlabs: RatedSlabs,
): {
  readonly kind: "LICENSE";
  readonly billableId: string;
  readonly period: RatedPeriod;
  readonly ratedSlabs: RatedSlabs;
} {
  return { kind: "LICENSE", billableId: card.id, period, ratedSlabs };
}

function daysText({ days, of }: Share): string {
  return `${days} of ${of} days`;
}
