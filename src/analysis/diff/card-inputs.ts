/**
 * The inputs of a card's line: quantities, prices, bounds and days. Each can be replaced separately.
 *
 * @module
 */
import type { Share } from "../../calendar/proration.ts";
import type { CitedExplanation } from "../../invoicing/explain.ts";
import { type Decimal, maximum, ZERO } from "../../numbers/decimal.ts";
import {
  addFractions,
  compareFractions,
  type Fraction,
  negateFraction,
  ZERO_FRACTION,
  multiplyByShare,
  subtractFractions,
  toFraction,
} from "../../numbers/fraction.ts";
import type { Bounds } from "../../rating/rated-slabs.ts";
import { clampToBounds } from "../../rating/slabs.ts";
import { type CardPrices, arePricesAlike, computeKnownPrice, readShownPrices } from "./card-prices.ts";

/** A quantity and the share of its price that is charged, or a fee. */
export interface CountedPart {
  readonly sign: 1 | -1;
  /** Absent for fees. */
  readonly quantity?: Decimal;
  readonly share: Share;
}

/** Bounds on the sum of the parts, prorated by a share, or on the price of each part. */
export interface CardBounds extends Bounds {
  readonly share: Share | "EACH_PART";
}

/** The inputs of one card's line. */
export interface CardInputs {
  readonly parts: readonly CountedPart[];
  /** Undefined if there is no such card. */
  readonly prices: CardPrices | undefined;
  readonly bounds: CardBounds | undefined;
  /** Whether the charge is at least 0. */
  readonly isNeverNegative: boolean;
  /** For a license increase: the largest quantity charged before. */
  readonly chargedBefore?: Decimal;
}

/** Reads the inputs from an explanation. */
export function toCardInputs({ parts, bounds, least, chargedBefore }: CitedExplanation): CardInputs {
  const partBounds = parts.find((part) => part.bounds !== undefined)?.bounds;
  return {
    parts: parts.map(({ sign, quantity, share }) => ({ sign, share, ...(quantity !== undefined && { quantity }) })),
    prices: readShownPrices(parts),
    bounds: bounds ?? (partBounds && { ...partBounds, share: "EACH_PART" }),
    isNeverNegative: least !== undefined,
    ...(chargedBefore !== undefined && { chargedBefore }),
  };
}

/** The exact amount for these inputs; 0 without prices, undefined if it needs an unknown slab. */
export function computeAmount({ parts, prices, bounds, isNeverNegative }: CardInputs): Fraction | undefined {
  if (prices === undefined) return ZERO_FRACTION;
  let total = ZERO_FRACTION;
  for (const { sign, quantity, share } of parts) {
    const price = quantity === undefined ? (prices.rate ?? ZERO) : computeKnownPrice(prices, quantity);
    if (price === undefined) return undefined;
    const boundedPrice = bounds?.share === "EACH_PART" ? clampToBounds(price, bounds) : price;
    const partAmount = multiplyByShare(toFraction(boundedPrice), share.days, share.of);
    total = addFractions(total, sign === 1 ? partAmount : negateFraction(partAmount));
  }
  if (isNeverNegative && total.numerator.isNegative()) total = ZERO_FRACTION;
  return bounds === undefined || bounds.share === "EACH_PART" ? total : clampAmount(total, bounds, bounds.share);
}

function clampAmount(amount: Fraction, { minimumRate, maximumRate }: Bounds, { days, of }: Share): Fraction {
  const low = minimumRate && multiplyByShare(toFraction(minimumRate), days, of);
  const high = maximumRate && multiplyByShare(toFraction(maximumRate), days, of);
  const raisedAmount = low !== undefined && compareFractions(amount, low) < 0 ? low : amount;
  return high !== undefined && compareFractions(raisedAmount, high) > 0 ? high : raisedAmount;
}

/**
 * The amounts after replacing the quantities, then the prices, then the bounds by those of the second side. The
 * remaining difference is due to days.
 *
 * @param isSameQuantity whether the quantities are known to be equal, however they are charged
 */
export function computeStepAmounts(
  start: CardInputs,
  end: CardInputs,
  isSameQuantity: boolean,
): readonly [afterUsage: Fraction, afterRates: Fraction, afterBounds: Fraction] {
  const isQuantityUnchanged = isSameQuantity || isSameIncrease(start, end);
  const withUsage = isQuantityUnchanged ? start : replaceQuantities(start, end);
  // Prices and bounds decide which earlier quantity counts as paid, so it changes with them unless the days change too.
  const parts = isQuantityUnchanged && haveSameDays(start, end) ? end.parts : withUsage.parts;
  const withRates = { ...withUsage, prices: end.prices, ...(!haveSamePrices(start, end) && { parts }) };
  const isOtherBound = !haveSameBounds(start.bounds, end.bounds);
  const withBounds = { ...withRates, bounds: replaceBounds(start.bounds, end.bounds), ...(isOtherBound && { parts }) };
  const [afterUsage, afterRates] = computePricedSteps(start, withUsage, withRates);
  return [afterUsage, afterRates, computeAmount(withBounds) ?? afterRates];
}

/**
 * The amounts after replacing the quantities and then the prices. If a price is unknown, the prices are replaced first,
 * or both together as prices.
 */
function computePricedSteps(
  start: CardInputs,
  withUsage: CardInputs,
  withRates: CardInputs,
): readonly [Fraction, Fraction] {
  const from = computeAmount(start) ?? ZERO_FRACTION;
  const [afterUsage, afterRates] = [computeAmount(withUsage), computeAmount(withRates)];
  if (afterUsage !== undefined) return [afterUsage, afterRates ?? afterUsage];
  const ratesAlone = computeAmount({ ...start, prices: withRates.prices });
  if (afterRates === undefined || ratesAlone === undefined) return [from, afterRates ?? from];
  return [addFractions(from, subtractFractions(afterRates, ratesAlone)), afterRates];
}

function haveSamePrices({ prices: a }: CardInputs, { prices: b }: CardInputs): boolean {
  return a !== undefined && b !== undefined && arePricesAlike(a, b);
}

/** The inputs with the quantities of the second side, unless days changed them. */
function replaceQuantities(start: CardInputs, end: CardInputs): CardInputs {
  const { isNeverNegative } = end;
  const [before, after] = [findLargestQuantity(start), findLargestQuantity(end)];
  if (isChargedInFull(start) !== isChargedInFull(end) && before !== undefined && after !== undefined) {
    const newParts = start.parts.map((part) =>
      part.quantity?.eq(before) === true ? { ...part, quantity: after } : part,
    );
    return { ...start, parts: newParts };
  }
  const isMatched =
    start.parts.length === end.parts.length && start.parts.every(({ sign }, index) => sign === end.parts[index]?.sign);
  if (!isMatched) return { ...start, parts: end.parts, isNeverNegative };
  const parts = end.parts.map((part, index) => ({ ...part, share: start.parts[index]?.share ?? part.share }));
  return { ...start, parts, isNeverNegative };
}

/** Whether two license increases are for the same quantity, whatever earlier quantity counts as paid. */
function isSameIncrease(a: CardInputs, b: CardInputs): boolean {
  if (a.chargedBefore === undefined || b.chargedBefore === undefined) return false;
  const [before, after] = [findLargestQuantity(a), findLargestQuantity(b)];
  return before !== undefined && after !== undefined && before.eq(after) && a.chargedBefore.eq(b.chargedBefore);
}

function haveSameDays(a: CardInputs, b: CardInputs): boolean {
  const shares = ({ parts }: CardInputs): ReadonlySet<string> =>
    new Set(parts.map(({ share }) => `${share.days}/${share.of}`));
  const [before, after] = [shares(a), shares(b)];
  return before.size === after.size && [...before].every((share) => after.has(share));
}

function findLargestQuantity({ parts }: CardInputs): Decimal | undefined {
  const quantities = parts.flatMap(({ sign, quantity }) => (sign === 1 && quantity !== undefined ? [quantity] : []));
  const [first, ...others] = quantities;
  return first && others.reduce((largest, each) => maximum(largest, each), first);
}

/** Whether no part is prorated. */
function isChargedInFull({ parts }: CardInputs): boolean {
  return parts.every(({ share }) => share.of === 1);
}

function haveSameBounds(a: CardBounds | undefined, b: CardBounds | undefined): boolean {
  const terms = (bounds: CardBounds | undefined): string => JSON.stringify([bounds?.minimumRate, bounds?.maximumRate]);
  return terms(a) === terms(b);
}

/** The bounds of the second side, applied the way the first side applies its own. */
function replaceBounds(start: CardBounds | undefined, end: CardBounds | undefined): CardBounds | undefined {
  if (haveSameBounds(start, end)) return start;
  return end && { ...end, ...(start !== undefined && { share: start.share }) };
}
