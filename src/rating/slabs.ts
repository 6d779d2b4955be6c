/**
 * Slab arithmetic: how many units fall in each slab and what they cost (S7). Amounts are exact; an invoice rounds once,
 * in the card's line (S1.5).
 *
 * @module
 */
import type { RatePlanInput, RateValueInput } from "../book/resources/rate-card.ts";
import { RatebookError } from "../errors.ts";
import {
  add,
  type Decimal,
  type DecimalInput,
  parseDecimal,
  maximum,
  minimum,
  multiply,
  ONE,
  subtract,
  ZERO,
} from "../numbers/decimal.ts";
import type { SlabExplanation } from "./charge.ts";
import { type Bounds, isCheckedDecimal, type RatedSlabs, joinSlabRates, type RatedSlab } from "./rated-slabs.ts";

/** One slab's part of a price. */
export interface PricedSlab {
  /** 1 for the first slab. */
  readonly order: number;
  /** Units in the slab: for VOLUME the whole quantity (S7.2). */
  readonly quantity: Decimal;
  /** Major units: per slab, unit or package. */
  readonly rate: Decimal;
  /** Exact, including the slab's flat rate and limits. */
  readonly amount: Decimal;
}

/** A quantity priced with slabs, exact and unrounded. */
export interface PricedQuantity {
  /** After the card's limits (S7.4). */
  readonly amount: Decimal;
  /** The reached slabs, in order; they add up to `amount − adjustment`. */
  readonly slabs: readonly PricedSlab[];
  /** The difference made by the card's limits; 0 if none. */
  readonly adjustment: Decimal;
}

/**
 * Prices one quantity with a card's slabs (S7).
 *
 * @param quantity units consumed in the cycle, a number, a decimal text or a Decimal; a negative one is priced as zero
 * (S7.5)
 * @throws {RatebookError} ERR_RATES_INVALID if the slabs or their rates are malformed, ERR_NUMBER_INVALID if the
 * quantity is not a decimal, ERR_ARITHMETIC if the exact amount needs more than 100 digits, in this order
 */
export function priceQuantity(
  ratePlan: RatePlanInput,
  rateValue: RateValueInput,
  quantity: DecimalInput,
): PricedQuantity {
  return priceBySlabs(
    joinSlabRates(ratePlan, rateValue),
    isCheckedDecimal(quantity) ? quantity : parseDecimal(quantity),
  );
}

/** Like {@link priceQuantity}, with checked slabs, for many quantities of one card. */
export function priceBySlabs(ratedSlabs: RatedSlabs, quantity: Decimal): PricedQuantity {
  const slabs = priceReachedSlabs(ratedSlabs, quantity);
  const price = sumSlabs(slabs);
  if (ratedSlabs.bounds === undefined) return { amount: price, slabs, adjustment: ZERO };
  const amount = clampToBounds(price, ratedSlabs.bounds);
  return { amount, slabs, adjustment: subtract(amount, price) };
}

/** The exact sum of slabs; 0 if there are none. */
export function sumSlabs(slabs: readonly { readonly amount: Decimal }[]): Decimal {
  const [first, ...others] = slabs;
  let total = first === undefined ? ZERO : first.amount;
  for (const { amount } of others) total = add(total, amount);
  return total;
}

/**
 * The slabs that a quantity reaches, priced, in order (S7.2, S7.5): every slab up to it for TIERED, the one that
 * contains it for VOLUME, none at zero or below unless the first is charged at zero.
 */
export function priceReachedSlabs(ratedSlabs: RatedSlabs, quantity: Decimal): PricedSlab[] {
  const [first] = ratedSlabs.slabs;
  if (first === undefined) return [];
  if (quantity.lte(ZERO)) return ratedSlabs.chargeAtZero ? [priceSlab(first, ZERO)] : [];
  if (ratedSlabs.pricingModel === "VOLUME") return [priceSlab(findSlab(ratedSlabs.slabs, quantity), quantity)];
  const slabs: PricedSlab[] = [];
  for (const slab of ratedSlabs.slabs) {
    const { startAfter, endAt } = slab;
    if (endAt === undefined || quantity.lte(endAt)) {
      slabs.push(priceSlab(slab, slab.order === 1 ? quantity : subtract(quantity, startAfter)));
      break;
    }
    slabs.push(priceSlab(slab, slab.order === 1 ? endAt : subtract(endAt, startAfter)));
  }
  return slabs;
}

/** Everything needed to recompute the reached slabs manually (S13.6). */
export function explainSlabs(ratedSlabs: RatedSlabs, slabs: readonly PricedSlab[]): SlabExplanation[] {
  return slabs.map(({ order, quantity, amount }) => {
    const slab = slabAt(ratedSlabs, order);
    return slab.packageSize === undefined
      ? { ...slab, quantity, amount }
      : { ...slab, quantity, packages: countPackages(quantity, slab.packageSize), amount };
  });
}

/** The slab with this order. */
function slabAt(ratedSlabs: RatedSlabs, order: number): RatedSlab {
  const slab = ratedSlabs.slabs[order - 1];
  if (slab === undefined) throw new RatebookError("ERR_RATES_INVALID", `there is no slab ${order}`, {});
  return slab;
}

/** Prices a slab (S7.3, S7.4): price, then flat rate, then the slab's limits. All slabs are priced here. */
function priceSlab(slab: RatedSlab, quantity: Decimal): PricedSlab {
  const { order, rate } = slab;
  let amount = priceBeforeBounds(slab, quantity);
  if (slab.flatRate !== undefined) amount = add(amount, slab.flatRate);
  return { order, quantity, rate, amount: clampToBounds(amount, slab) };
}

function priceBeforeBounds(slab: RatedSlab, quantity: Decimal): Decimal {
  switch (slab.priceType) {
    case "PER_UNIT":
      return multiply(slab.rate, quantity);
    case "FLAT":
      return slab.rate;
    case "PACKAGE":
      return multiply(slab.rate, countPackages(quantity, slab.packageSize ?? ONE));
  }
}

/** The number of packages for the units: a started package counts (S7.3). */
export function countPackages(quantity: Decimal, packageSize: Decimal): Decimal {
  const full = quantity.divToInt(packageSize);
  const rest = subtract(quantity, multiply(full, packageSize));
  // A quotient with too many digits is rounded: then the remainder is out of range.
  if (rest.isNegative() || rest.gte(packageSize)) {
    throw new RatebookError("ERR_ARITHMETIC", "the number of packages has more than 100 significant digits", {});
  }
  return rest.isZero() ? full : add(full, ONE);
}

/** Limits an amount; both bounds are inclusive. */
export function clampToBounds(amount: Decimal, { minimumRate, maximumRate }: Bounds): Decimal {
  const raised = minimumRate === undefined ? amount : maximum(amount, minimumRate);
  return maximumRate === undefined ? raised : minimum(raised, maximumRate);
}

/** The slab that contains a quantity above 0: startAfter < quantity <= endAt. */
function findSlab(slabs: readonly RatedSlab[], quantity: Decimal): RatedSlab {
  let low = 0;
  let high = slabs.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    const endAt = slabs[middle]?.endAt;
    if (endAt !== undefined && quantity.gt(endAt)) low = middle + 1;
    else high = middle;
  }
  const slab = slabs[low];
  if (slab === undefined) throw new RatebookError("ERR_RATES_INVALID", "a rate plan needs at least one slab", {});
  return slab;
}
