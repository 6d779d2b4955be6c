/**
 * The inputs of one card's line, taken apart: quantities, prices, bounds and days, each to be replaced alone.
 *
 * @module
 */
import type { Share } from "../../calendar/proration.ts";
import type { CitedExplanation } from "../../invoicing/explain.ts";
import { type Decimal, greatest, ZERO } from "../../numbers/decimal.ts";
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
import type { Bounds } from "../../rating/prepared-slabs.ts";
import { clampToBounds } from "../../rating/slabs.ts";
import { type CardPrices, arePricesAlike, computeKnownPrice, readShownPrices } from "./card-prices.ts";

/** A quantity with the share of its price that is charged, or a fee. */
export interface CountedPart {
  readonly sign: 1 | -1;
  /** Absent for a fee. */
  readonly quantity?: Decimal;
  readonly share: Share;
}

/** Bounds that hold the sum of the parts, to a share of them, or the price of each part. */
export interface CardBounds extends Bounds {
  readonly share: Share | "EACH_PART";
}

/** The inputs of one card's line. */
export interface CardInputs {
  readonly parts: readonly CountedPart[];
  /** Undefined where there is no such card. */
  readonly prices: CardPrices | undefined;
  readonly bounds: CardBounds | undefined;
  /** Whether the charge is not taken below 0. */
  readonly isNeverNegative: boolean;
  /** Of an increase of a license: the largest quantity that was charged before. */
  readonly chargedBefore?: Decimal;
}

/** The inputs that an explanation holds. */
export function toCardInputs({ parts, bounds, least, chargedBefore }: CitedExplanation): CardInputs {
  const each = parts.find((part) => part.bounds !== undefined)?.bounds;
  return {
    parts: parts.map(({ sign, quantity, share }) => ({ sign, share, ...(quantity !== undefined && { quantity }) })),
    prices: readShownPrices(parts),
    bounds: bounds ?? (each && { ...each, share: "EACH_PART" }),
    isNeverNegative: least !== undefined,
    ...(chargedBefore !== undefined && { chargedBefore }),
  };
}

/** The exact amount that inputs come to: 0 without prices, undefined where a slab is needed that is not known. */
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
 * The amounts after the quantities, the prices and the bounds of the second side have been put in, one after another. What is
 * left to the second side's amount is made by days.
 *
 * @param isSameQuantity whether the quantities are known to be the same, however they are charged
 */
export function computeStepAmounts(
  start: CardInputs,
  end: CardInputs,
  isSameQuantity: boolean,
): readonly [used: Fraction, rated: Fraction, bounded: Fraction] {
  const areSeatsSame = isSameQuantity || isSameIncrease(start, end);
  const withUsage = areSeatsSame ? start : replaceQuantities(start, end);
  // Which earlier quantity counts as paid follows from prices and bounds: it changes with them, unless the days change, too.
  const parts = areSeatsSame && haveSameDays(start, end) ? end.parts : withUsage.parts;
  const withRates = { ...withUsage, prices: end.prices, ...(!haveSamePrices(start, end) && { parts }) };
  const isOtherBound = !haveSameBounds(start.bounds, end.bounds);
  const withBounds = { ...withRates, bounds: replaceBounds(start.bounds, end.bounds), ...(isOtherBound && { parts }) };
  const [first, last] = computePricedSteps(start, withUsage, withRates);
  return [first, last, computeAmount(withBounds) ?? last];
}

/**
 * The amounts with the quantities and then the prices of the second side. Without the books a price may be unknown: the new
 * prices are then put in first, or both at once, as prices.
 */
function computePricedSteps(
  start: CardInputs,
  withUsage: CardInputs,
  withRates: CardInputs,
): readonly [Fraction, Fraction] {
  const from = computeAmount(start) ?? ZERO_FRACTION;
  const [first, last] = [computeAmount(withUsage), computeAmount(withRates)];
  if (first !== undefined) return [first, last ?? first];
  const ratesAlone = computeAmount({ ...start, prices: withRates.prices });
  if (last === undefined || ratesAlone === undefined) return [from, last ?? from];
  return [addFractions(from, subtractFractions(last, ratesAlone)), last];
}

function haveSamePrices({ prices: a }: CardInputs, { prices: b }: CardInputs): boolean {
  return a !== undefined && b !== undefined && arePricesAlike(a, b);
}

/** The inputs with the quantities of the second side, as far as they were not changed by days. */
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

/** Whether an increase of a license is one of the same seats, whatever earlier quantity counts as paid. */
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
  return first && others.reduce((largest, each) => greatest(largest, each), first);
}

/** Whether no part of it is charged by days. */
function isChargedInFull({ parts }: CardInputs): boolean {
  return parts.every(({ share }) => share.of === 1);
}

function haveSameBounds(a: CardBounds | undefined, b: CardBounds | undefined): boolean {
  const terms = (bounds: CardBounds | undefined): string => JSON.stringify([bounds?.minimumRate, bounds?.maximumRate]);
  return terms(a) === terms(b);
}

/** The bounds of the second side, as those of the first are applied. */
function replaceBounds(start: CardBounds | undefined, end: CardBounds | undefined): CardBounds | undefined {
  if (haveSameBounds(start, end)) return start;
  return end && { ...end, ...(start !== undefined && { share: start.share }) };
}
