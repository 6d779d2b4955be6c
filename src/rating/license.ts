/**
 * License rate cards: the price of an account's licenses, in arrears and in advance (S10). If one price is subtracted
 * from another, the card's limits apply to both first, so that a cycle's charges together stay within them (S7.4). All
 * functions throw ERR_RATES_INVALID if the card has no rates in the currency (S7.7).
 */
import type { LicenseRateCard } from "../book/resources/rate-card.ts";
import { type Cycle, type Share, shareOfDays } from "../calendar/cycle.ts";
import { type Decimal, subtract, formatDecimal, ZERO } from "../numbers/decimal.ts";
import type { RuleNumber } from "../rulebook.ts";
import { joinRatesInCurrency } from "./cards.ts";
import type { Charge, RefundedCharge, RatedPeriod } from "./charge.ts";
import { largestQuantity, type PaidLevel, priceLevel, type QuantityRun, raiseLevel } from "./license-timeline.ts";
import { WHOLE_SHARE, chargeBySlabs, type Part, priceBySlabs, type SlabChargeInput } from "./slab-charge.ts";

/** An increase above the charged quantity of some days. */
export interface Increase extends PaidLevel {
  /** The same for all increases that are charged together. */
  readonly to: Decimal;
  /** From the update's day on; ignored without proration. */
  readonly days: Cycle;
}

/**
 * The paid level of quantities charged one after another, each greater than those before: the highest of their prices
 * with the current card (S10.3).
 *
 * @returns undefined if none was charged
 */
export function findPaidLevel(
  card: LicenseRateCard,
  currency: string,
  quantities: readonly Decimal[],
): PaidLevel | undefined {
  const [first, ...others] = quantities;
  if (first === undefined) return undefined;
  const priceOf = (quantity: Decimal): Decimal => licensePrice(card, currency, quantity);
  return others.reduce<PaidLevel>(
    (paid, quantity) => (quantity.lte(paid.chargedQuantity) ? paid : raiseLevel(paid, quantity, priceOf)),
    { chargedQuantity: first, levelQuantity: first },
  );
}

/**
 * Charges a cycle after its end (S10.2): without proration, the largest daily quantity in full; with proration, for
 * each run of days with one quantity, its price × days ÷ natural days, and the card's limits by the days served.
 *
 * @param runs the served period in runs of days, in order
 * @param earlierCharges without proration, what earlier parts of the same natural cycle charged: only the price above
 * the paid level is charged, never below 0, and nothing if the quantity was not greater (S9.1)
 */
export function rateLicenseInArrears(
  card: LicenseRateCard,
  currency: string,
  runs: readonly QuantityRun[],
  period: RatedPeriod,
  earlierCharges?: PaidLevel,
): Charge {
  if (!card.enableProration) return chargeInFull(card, currency, largestQuantity(runs), period, earlierCharges);
  return chargeBySlabs({
    ...licenseInput(card, currency, period),
    quantity: largestQuantity(runs),
    parts: runs.map((run): Part => quantityPart(run.quantity, shareOfDays(run, period.natural))),
    rules: ["S10.2"],
    bounds: shareOfDays(period.served, period.natural),
  });
}

/**
 * Charges a cycle at its start, for the quantity at that time (S10.3): with proration × served days ÷ natural days,
 * else in full.
 *
 * @param earlierCharges as in {@link rateLicenseInArrears}
 */
export function rateLicenseInAdvance(
  card: LicenseRateCard,
  currency: string,
  quantity: Decimal,
  period: RatedPeriod,
  earlierCharges?: PaidLevel,
): Charge {
  if (!card.enableProration) return chargeInFull(card, currency, quantity, period, earlierCharges);
  return chargeBySlabs({
    ...licenseInput(card, currency, period),
    quantity,
    parts: [quantityPart(quantity, shareOfDays(period.served, period.natural))],
    rules: ["S10.3"],
    bounds: "EACH_PART",
  });
}

/**
 * Charges an increase during a cycle that was charged in advance, immediately (S10.3): its price above the paid level,
 * never below 0, with proration × remaining days ÷ natural days, else in full.
 *
 * @param increases one, or for a late update, one for each range of days with the same paid level
 */
export function rateLicenseIncrease(
  card: LicenseRateCard,
  currency: string,
  increases: readonly Increase[],
  period: RatedPeriod,
): Charge {
  const differences = increases.map(({ days, ...increase }) => ({
    ...increase,
    share: card.enableProration ? shareOfDays(days, period.natural) : WHOLE_SHARE,
  }));
  return chargeDifferences({ card, currency, differences, period, rules: ["S10.3"] });
}

/** The price of a quantity for a whole natural cycle, within the card's limits (S7.4). */
export function licensePrice(card: LicenseRateCard, currency: string, quantity: Decimal): Decimal {
  return priceBySlabs(joinRatesInCurrency(card, currency, card.id), quantity).amount;
}

/** Days for which the paid level falls from the price of one quantity to that of another. */
export interface RefundableDecrease {
  /** The quantity whose price was paid. */
  readonly from: Decimal;
  /** The quantity whose price stays paid; undefined: nothing stays paid. */
  readonly to: Decimal | undefined;
  /** Inside the natural period. */
  readonly days: Cycle;
}

/**
 * The refund of an advance charge by days: the decrease of the paid level × days ÷ natural days; nothing for days on
 * which it does not decrease (S9.5, S10.3).
 *
 * @returns undefined if nothing is refunded
 */
export function refundLicense(
  card: LicenseRateCard,
  currency: string,
  decreases: readonly RefundableDecrease[],
  period: RatedPeriod,
): RefundedCharge | undefined {
  const price = (level: Decimal | undefined): Decimal =>
    priceLevel(level, (quantity) => licensePrice(card, currency, quantity));
  const refundable = decreases.filter(({ from, to }) => price(from).gt(price(to)));
  if (!card.enableProration || refundable.length === 0) return undefined;
  const { bounded: amount, explanation } = chargeBySlabs({
    ...licenseInput(card, currency, period),
    quantity: ZERO,
    parts: refundable.flatMap(({ from, to, days }): readonly Part[] => {
      const share = shareOfDays(days, period.natural);
      const toPart = (sign: 1 | -1, quantity: Decimal, verb: string): Part => {
        const because = `quantity ${formatDecimal(quantity)} ${verb} charged for ${daysText(share)}`;
        return { because, sign, share, quantity };
      };
      return [toPart(1, from, "already"), ...(to === undefined ? [] : [toPart(-1, to, "still")])];
    }),
    rules: ["S9.5", "S10.3"],
    bounds: "EACH_PART",
  });
  return { amount, explanation };
}

/** Without proration: once per natural cycle, whichever of its parts charges it (S9.1). */
function chargeInFull(
  card: LicenseRateCard,
  currency: string,
  quantity: Decimal,
  period: RatedPeriod,
  earlierCharges: PaidLevel | undefined,
): Charge {
  const rules: readonly RuleNumber[] = [card.invoiceTiming === "IN_ADVANCE" ? "S10.3" : "S10.2"];
  if (earlierCharges !== undefined) {
    const differences = [{ ...earlierCharges, to: quantity, share: WHOLE_SHARE }];
    return chargeDifferences({ card, currency, differences, period, rules: ["S9.1", ...rules] });
  }
  return chargeBySlabs({
    ...licenseInput(card, currency, period),
    quantity,
    parts: [{ because: `quantity ${formatDecimal(quantity)}, not prorated`, sign: 1, share: WHOLE_SHARE, quantity }],
    rules,
    bounds: "EACH_PART",
  });
}

interface Difference extends PaidLevel {
  readonly to: Decimal;
  readonly share: Share;
}

interface Differences {
  readonly card: LicenseRateCard;
  readonly currency: string;
  readonly differences: readonly Difference[];
  readonly period: RatedPeriod;
  readonly rules: readonly RuleNumber[];
}

/** The prices above the paid levels, none below 0; nothing if no quantity is greater than was charged. */
function chargeDifferences({ card, currency, differences, period, rules }: Differences): Charge {
  const quantityIncreases = differences.filter(({ to, chargedQuantity }) => to.gt(chargedQuantity));
  const price = (level: Decimal | undefined): Decimal =>
    priceLevel(level, (quantity) => licensePrice(card, currency, quantity));
  // A level that is cheaper on some days does not reduce one that is more expensive on others.
  const priceIncreases = quantityIncreases.filter(({ to, levelQuantity }) => price(to).gt(price(levelQuantity)));
  const quantity = largestQuantity(
    quantityIncreases.map(({ to, chargedQuantity }) => ({ quantity: subtract(to, chargedQuantity) })),
  );
  const largest = largestQuantity(quantityIncreases.map(({ to }) => ({ quantity: to })));
  return chargeBySlabs({
    ...licenseInput(card, currency, period),
    quantity,
    ...(quantityIncreases.length > 0 && { chargedBefore: subtract(largest, quantity) }),
    parts: (priceIncreases.length > 0 ? priceIncreases : quantityIncreases).flatMap(differenceParts),
    rules,
    bounds: "EACH_PART",
    notBelowZero: true,
  });
}

function differenceParts({ to, levelQuantity, share }: Difference): readonly Part[] {
  const during = share.days === share.of ? "" : ` for ${daysText(share)}`;
  const part: Part = { because: `quantity ${formatDecimal(to)}${during}`, sign: 1, share, quantity: to };
  if (levelQuantity === undefined) return [part];
  const because = `quantity ${formatDecimal(levelQuantity)} already charged${during}`;
  return [part, { because, sign: -1, share, quantity: levelQuantity }];
}

/** What all charges of a card share. */
function licenseInput(
  card: LicenseRateCard,
  currency: string,
  period: RatedPeriod,
): Pick<SlabChargeInput, "kind" | "billableId" | "period" | "ratedSlabs"> {
  return { kind: "LICENSE", billableId: card.id, period, ratedSlabs: joinRatesInCurrency(card, currency, card.id) };
}

/** The price of a quantity for some days. */
function quantityPart(quantity: Decimal, share: Share): Part {
  return { because: `quantity ${formatDecimal(quantity)} for ${daysText(share)}`, sign: 1, share, quantity };
}

function daysText({ days, of }: Share): string {
  return `${days} of ${of} days`;
}
