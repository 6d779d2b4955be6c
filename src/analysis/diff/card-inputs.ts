/**
 * The inputs of a card's line: quantities, bounds, days, and prices as an explanation shows them (reached slabs only) or
 * as a plan defines them. Each can be replaced separately.
 */

import { readBillable, type PricePlanDetails } from "../../book/resources/price-plan.ts";
import type { Share } from "../../calendar/cycle.ts";
import { LIST_BY_KIND } from "../../invoicing/charge-periods.ts";
import { type CitedExplanation, cardLineType } from "../../invoicing/invoice.ts";
import { type Decimal, maximum, ZERO } from "../../numbers/decimal.ts";
import { addFractions, type Fraction, ZERO_FRACTION, subtractFractions } from "../../numbers/fraction.ts";
import {
  grantedUnits,
  requireCurrencyEntry,
  joinRatesInCurrency,
  creditAmountOf,
  toRatedSlabs,
} from "../../rating/cards.ts";
import { CARD_KINDS, type CardKind, type PartExplanation, type SlabExplanation } from "../../rating/charge.ts";
import type { Bounds, RatedSlab, RatedSlabs } from "../../rating/rated-slabs.ts";
import { clampToBounds, clampToShare, partFraction, priceReachedSlabs, sumSlabs } from "../../rating/slab-charge.ts";

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
    total = addFractions(total, partFraction(boundedPrice, { sign, share }));
  }
  if (isNeverNegative && total.numerator.isNegative()) total = ZERO_FRACTION;
  return bounds === undefined || bounds.share === "EACH_PART" ? total : clampToShare(total, bounds, bounds.share);
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

/** The prices of a card: slabs, some of which may be unknown, or a rate. */
export interface CardPrices {
  readonly pricingModel: "TIERED" | "VOLUME" | undefined;
  /** By order, ascending. */
  readonly slabs: ReadonlyMap<number, RatedSlab>;
  /** Whether all slabs are known. */
  readonly isComplete: boolean;
  /** Whether the first slab is charged at quantity 0; undefined if unknown. */
  readonly chargeAtZero: boolean | undefined;
  /** For fees. */
  readonly rate?: Decimal;
}

/** A plan's card in one currency. */
export interface PlanCard {
  readonly prices: CardPrices;
  /** The bounds of the whole card. */
  readonly bounds: Bounds | undefined;
  readonly isInAdvance: boolean;
  /** The quantity that the plan grants, in units or money; absent if the plan doesn't set it. */
  readonly quantity?: Decimal;
}

/** The prices that the explanations of a line show. */
export function readShownPrices(parts: readonly PartExplanation[]): CardPrices {
  const shownSlabs = parts.flatMap((part) => part.slabs ?? []).toSorted((a, b) => a.order - b.order);
  const rate = parts.find((part) => part.rate !== undefined)?.rate;
  const atZero = parts.filter(({ quantity }) => quantity?.isZero() === true);
  return {
    pricingModel: parts.find((part) => part.pricingModel !== undefined)?.pricingModel,
    slabs: new Map(shownSlabs.map((slab) => [slab.order, toRatedSlab(slab)])),
    isComplete: rate !== undefined,
    chargeAtZero: atZero.length === 0 ? undefined : atZero.some(({ slabs = [] }) => slabs.length > 0),
    ...(rate !== undefined && { rate }),
  };
}

/** A slab without the quantity that reached it. */
function toRatedSlab(explanation: SlabExplanation): RatedSlab {
  const { quantity: _, packages: __, amount: ___, ...slab } = explanation;
  return slab;
}

/** The card kind of a line type, and whether it is charged in advance. */
export function findLineKind(type: string): { readonly kind: CardKind; readonly isInAdvance: boolean } | undefined {
  for (const kind of CARD_KINDS) {
    for (const isInAdvance of [false, true]) if (cardLineType(kind, isInAdvance) === type) return { kind, isInAdvance };
  }
  return undefined;
}

/** A plan's card for a line; undefined if the plan has none, or none in the currency. */
export function findPlanCard(
  details: PricePlanDetails,
  { type, id }: { readonly type: string; readonly id?: string | undefined },
  currency: string,
): PlanCard | undefined {
  const { kind } = findLineKind(type) ?? {};
  const list = kind && LIST_BY_KIND[kind];
  const card = list && details[list].find((each) => readBillable(list, each) === id);
  if (card === undefined) return undefined;
  const entries = "rateDetails" in card ? card.rateDetails.currencySlabRateDetails : card.rateValues;
  if (!entries.some((each) => each.currency === currency)) return undefined;
  const isInAdvance = "invoiceTiming" in card && card.invoiceTiming === "IN_ADVANCE";
  if ("rateDetails" in card)
    return { ...toSlabPrices(toRatedSlabs(card, currency)), isInAdvance, quantity: creditAmountOf(card, currency) };
  if ("ratePlan" in card) {
    const slabs = joinRatesInCurrency(card, currency, id ?? "");
    return { ...toSlabPrices(slabs), isInAdvance, ...("featureConfigs" in card && { quantity: grantedUnits(card) }) };
  }
  const { rate } = requireCurrencyEntry(card.rateValues, currency, card.id);
  const prices = { pricingModel: undefined, slabs: new Map(), isComplete: true, chargeAtZero: undefined, rate };
  return { prices, bounds: undefined, isInAdvance };
}

function toSlabPrices({ pricingModel, slabs, chargeAtZero, bounds }: RatedSlabs): Pick<PlanCard, "prices" | "bounds"> {
  const byOrder = new Map(slabs.map((slab) => [slab.order, slab]));
  return { prices: { pricingModel, slabs: byOrder, isComplete: true, chargeAtZero }, bounds };
}

/** The card of a line: the first, in the plans that may have priced it, that matches the prices on the line. */
export function findCardByPrices(
  details: readonly PricePlanDetails[],
  shownPrices: CardPrices,
  line: { readonly type: string; readonly id?: string | undefined },
  currency: string,
): PlanCard | undefined {
  const cards = details.map((each) => findPlanCard(each, line, currency));
  return cards.find((card) => card !== undefined && arePricesAlike(card.prices, shownPrices));
}

/** Whether prices match, as far as both are known. */
export function arePricesAlike(a: CardPrices, b: CardPrices): boolean {
  if (a.rate !== undefined && b.rate !== undefined && !a.rate.eq(b.rate)) return false;
  if (a.chargeAtZero !== undefined && b.chargeAtZero !== undefined && a.chargeAtZero !== b.chargeAtZero) return false;
  if (a.pricingModel !== undefined && b.pricingModel !== undefined && a.pricingModel !== b.pricingModel) return false;
  const agrees = (one: CardPrices, other: CardPrices): boolean =>
    [...one.slabs].every(([order, slab]) => {
      const otherSlab = other.slabs.get(order);
      return otherSlab === undefined ? !other.isComplete : isSameSlab(slab, otherSlab);
    });
  return agrees(a, b) && agrees(b, a);
}

function isSameSlab(a: RatedSlab, b: RatedSlab): boolean {
  const terms = ({ startAfter, endAt, priceType, rate, packageSize, flatRate, minimumRate, maximumRate }: RatedSlab) =>
    JSON.stringify([startAfter, endAt, priceType, rate, packageSize, flatRate, minimumRate, maximumRate]);
  return terms(a) === terms(b);
}

/** Completes prices with the terms and slabs that matching prices have. */
export function mergePrices(ownPrices: CardPrices, otherPrices: CardPrices): CardPrices {
  return {
    ...ownPrices,
    pricingModel: ownPrices.pricingModel ?? otherPrices.pricingModel,
    slabs: new Map([...otherPrices.slabs, ...ownPrices.slabs].toSorted(([a], [b]) => a - b)),
    isComplete: ownPrices.isComplete || otherPrices.isComplete,
    chargeAtZero: ownPrices.chargeAtZero ?? otherPrices.chargeAtZero,
  };
}

/** The price of a quantity, before proration; undefined if it needs an unknown slab. */
export function computeKnownPrice(
  { pricingModel = "TIERED", slabs, chargeAtZero = false, rate }: CardPrices,
  quantity: Decimal,
): Decimal | undefined {
  if (slabs.size === 0 && rate !== undefined) return rate;
  if (quantity.lte(ZERO) && !chargeAtZero) return ZERO;
  const knownSlabs = findKnownSlabs([...slabs.values()], pricingModel, quantity);
  return knownSlabs && sumSlabs(priceReachedSlabs({ pricingModel, slabs: knownSlabs, chargeAtZero }, quantity));
}

/** The known slabs that price a quantity; undefined if one is missing. */
function findKnownSlabs(
  slabs: readonly RatedSlab[],
  pricingModel: "TIERED" | "VOLUME",
  quantity: Decimal,
): readonly RatedSlab[] | undefined {
  if (pricingModel === "VOLUME" && quantity.gt(ZERO)) {
    const slab = slabs.find(
      ({ startAfter, endAt }) => startAfter.lt(quantity) && (endAt === undefined || quantity.lte(endAt)),
    );
    return slab && [slab];
  }
  const gap = slabs.findIndex(({ order }, index) => order !== index + 1);
  const consecutiveSlabs = gap < 0 ? slabs : slabs.slice(0, gap);
  const last = consecutiveSlabs.at(-1);
  return last !== undefined && (last.endAt === undefined || quantity.lte(last.endAt)) ? consecutiveSlabs : undefined;
}
