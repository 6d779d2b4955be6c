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
import type { Bounds } from "../../rating/rated-slabs.ts";
import { clampToBounds } from "../../rating/slabs.ts";
import { type CardPrices, isSamePrice, priceOf, pricesShown } from "./card-prices.ts";

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
  readonly notBelowZero: boolean;
  /** Of an increase of a license: the largest quantity that was charged before. */
  readonly chargedBefore?: Decimal;
}

/** The inputs that an explanation holds. */
export function inputsOf({ parts, bounds, least, chargedBefore }: CitedExplanation): CardInputs {
  const each = parts.find((part) => part.bounds !== undefined)?.bounds;
  return {
    parts: parts.map(({ sign, quantity, share }) => ({ sign, share, ...(quantity !== undefined && { quantity }) })),
    prices: pricesShown(parts),
    bounds: bounds ?? (each && { ...each, share: "EACH_PART" }),
    notBelowZero: least !== undefined,
    ...(chargedBefore !== undefined && { chargedBefore }),
  };
}

/** The exact amount that inputs come to: 0 without prices, undefined where a slab is needed that is not known. */
export function amountOf({ parts, prices, bounds, notBelowZero }: CardInputs): Fraction | undefined {
  if (prices === undefined) return ZERO_FRACTION;
  let total = ZERO_FRACTION;
  for (const { sign, quantity, share } of parts) {
    const price = quantity === undefined ? (prices.rate ?? ZERO) : priceOf(prices, quantity);
    if (price === undefined) return undefined;
    const bounded = bounds?.share === "EACH_PART" ? clampToBounds(price, bounds) : price;
    const shared = multiplyByShare(toFraction(bounded), share.days, share.of);
    total = addFractions(total, sign === 1 ? shared : negateFraction(shared));
  }
  if (notBelowZero && total.numerator.isNegative()) total = ZERO_FRACTION;
  return bounds === undefined || bounds.share === "EACH_PART" ? total : heldTo(total, bounds, bounds.share);
}

function heldTo(amount: Fraction, { minimumRate, maximumRate }: Bounds, { days, of }: Share): Fraction {
  const low = minimumRate && multiplyByShare(toFraction(minimumRate), days, of);
  const high = maximumRate && multiplyByShare(toFraction(maximumRate), days, of);
  const raised = low !== undefined && compareFractions(amount, low) < 0 ? low : amount;
  return high !== undefined && compareFractions(raised, high) > 0 ? high : raised;
}

/**
 * The amounts after the quantities, the prices and the bounds of the second side have been put in, one after another. What is
 * left to the second side's amount is made by days.
 *
 * @param isSameQuantity whether the quantities are known to be the same, however they are charged
 */
export function amountsBetween(
  start: CardInputs,
  end: CardInputs,
  isSameQuantity: boolean,
): readonly [used: Fraction, rated: Fraction, bounded: Fraction] {
  const areSeatsSame = isSameQuantity || isSameIncrease(start, end);
  const used = areSeatsSame ? start : withQuantities(start, end);
  // Which earlier quantity counts as paid follows from prices and bounds: it changes with them, unless the days change, too.
  const parts = areSeatsSame && isSameDays(start, end) ? end.parts : used.parts;
  const rated = { ...used, prices: end.prices, ...(!isSamePriceIn(start, end) && { parts }) };
  const isOtherBound = !isSameBound(start.bounds, end.bounds);
  const bounded = { ...rated, bounds: boundsIn(start.bounds, end.bounds), ...(isOtherBound && { parts }) };
  const [first, last] = pricedSteps(start, used, rated);
  return [first, last, amountOf(bounded) ?? last];
}

/**
 * The amounts with the quantities and then the prices of the second side. Without the books a price may be unknown: the new
 * prices are then put in first, or both at once, as prices.
 */
function pricedSteps(start: CardInputs, used: CardInputs, rated: CardInputs): readonly [Fraction, Fraction] {
  const from = amountOf(start) ?? ZERO_FRACTION;
  const [first, last] = [amountOf(used), amountOf(rated)];
  if (first !== undefined) return [first, last ?? first];
  const priced = amountOf({ ...start, prices: rated.prices });
  if (last === undefined || priced === undefined) return [from, last ?? from];
  return [addFractions(from, subtractFractions(last, priced)), last];
}

function isSamePriceIn({ prices: a }: CardInputs, { prices: b }: CardInputs): boolean {
  return a !== undefined && b !== undefined && isSamePrice(a, b);
}

/** The inputs with the quantities of the second side, as far as they were not changed by days. */
function withQuantities(start: CardInputs, end: CardInputs): CardInputs {
  const { notBelowZero } = end;
  const [before, after] = [largestIn(start), largestIn(end)];
  if (isWhole(start) !== isWhole(end) && before !== undefined && after !== undefined) {
    const replaced = start.parts.map((part) =>
      part.quantity?.eq(before) === true ? { ...part, quantity: after } : part,
    );
    return { ...start, parts: replaced };
  }
  const isMatched =
    start.parts.length === end.parts.length && start.parts.every(({ sign }, index) => sign === end.parts[index]?.sign);
  if (!isMatched) return { ...start, parts: end.parts, notBelowZero };
  const parts = end.parts.map((part, index) => ({ ...part, share: start.parts[index]?.share ?? part.share }));
  return { ...start, parts, notBelowZero };
}

/** Whether an increase of a license is one of the same seats, whatever earlier quantity counts as paid. */
function isSameIncrease(a: CardInputs, b: CardInputs): boolean {
  if (a.chargedBefore === undefined || b.chargedBefore === undefined) return false;
  const [before, after] = [largestIn(a), largestIn(b)];
  return before !== undefined && after !== undefined && before.eq(after) && a.chargedBefore.eq(b.chargedBefore);
}

function isSameDays(a: CardInputs, b: CardInputs): boolean {
  const shares = ({ parts }: CardInputs): ReadonlySet<string> =>
    new Set(parts.map(({ share }) => `${share.days}/${share.of}`));
  const [before, after] = [shares(a), shares(b)];
  return before.size === after.size && [...before].every((share) => after.has(share));
}

function largestIn({ parts }: CardInputs): Decimal | undefined {
  const quantities = parts.flatMap(({ sign, quantity }) => (sign === 1 && quantity !== undefined ? [quantity] : []));
  const [first, ...others] = quantities;
  return first && others.reduce((largest, each) => greatest(largest, each), first);
}

/** Whether no part of it is charged by days. */
function isWhole({ parts }: CardInputs): boolean {
  return parts.every(({ share }) => share.of === 1);
}

function isSameBound(a: CardBounds | undefined, b: CardBounds | undefined): boolean {
  const terms = (bounds: CardBounds | undefined): string => JSON.stringify([bounds?.minimumRate, bounds?.maximumRate]);
  return terms(a) === terms(b);
}

/** The bounds of the second side, as those of the first are applied. */
function boundsIn(start: CardBounds | undefined, end: CardBounds | undefined): CardBounds | undefined {
  if (isSameBound(start, end)) return start;
  return end && { ...end, ...(start !== undefined && { share: start.share }) };
}
