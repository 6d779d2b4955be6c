/**
 * Slab arithmetic: how many units fall in each slab and what they cost (S7); and the charge of a card with slabs: prices
 * its parts, adds them, applies the card's limits (S7.4), and records everything needed to recompute it (S13.6). Amounts
 * are exact; an invoice rounds once, in the card's line (S1.5).
 */
import type { RatePlanInput, RateValueInput } from "../book/resources/rate-card.ts";
import type { Share } from "../calendar/cycle.ts";
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
  formatDecimal,
} from "../numbers/decimal.ts";
import {
  addFractions,
  compareFractions,
  type Fraction,
  negateFraction,
  ZERO_FRACTION,
  multiplyByShare,
  toFraction,
} from "../numbers/fraction.ts";
import type { RuleNumber } from "../rulebook.ts";
import type {
  SlabExplanation,
  CardKind,
  Charge,
  ChargeExplanation,
  PartExplanation,
  RatedPeriod,
  SlabCharge,
} from "./charge.ts";
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
export function priceSlab(slab: RatedSlab, quantity: Decimal): PricedSlab {
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

/** The slab that contains a quantity: startAfter < quantity <= endAt; the first one at 0 and below. */
export function findSlab(slabs: readonly RatedSlab[], quantity: Decimal): RatedSlab {
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

/** The share of a whole amount. */
export const WHOLE_SHARE: Share = { days: 1, of: 1 };

/** One quantity to price. */
export interface Part {
  /** The reason for pricing this quantity, as a sentence without its full stop; a function if only explanations need it. */
  readonly because: string | (() => string);
  /** −1 if a price already charged is subtracted. */
  readonly sign: 1 | -1;
  readonly share: Share;
  /** Units; a negative quantity is priced as zero (S7.5). */
  readonly quantity: Decimal;
}

/** A card, and the parts to price. */
export interface SlabChargeInput {
  readonly kind: CardKind;
  readonly billableId: string;
  readonly period: RatedPeriod;
  readonly ratedSlabs: RatedSlabs;
  /** Units on the card's line. */
  readonly quantity: Decimal;
  readonly parts: readonly Part[];
  /** The rules applied, ascending, besides those of S7 and S8 that follow from the slabs and shares. */
  readonly rules: readonly RuleNumber[];
  /**
   * What the card's limits apply to: the sum of the parts, with this share of the limits; or each part's price before
   * its share, so that a difference is one of limited prices.
   */
  readonly bounds: Share | "EACH_PART";
  /** Whether the charge is at least 0 (S10.3). */
  readonly notBelowZero?: boolean;
  /** As in the explanation: the quantity charged before (S10.3). */
  readonly chargedBefore?: Decimal;
}

/** A part with its price. */
interface PricedPart extends Part {
  readonly slabs: readonly PricedSlab[];
  /** Before limits. */
  readonly price: Decimal;
}

/** Computes the charge. */
export function chargeBySlabs(input: SlabChargeInput): Charge {
  const { kind, billableId, period, ratedSlabs, quantity } = input;
  const parts = input.parts.map((part): PricedPart => {
    const slabs = priceReachedSlabs(ratedSlabs, part.quantity);
    return { ...part, slabs, price: sumSlabs(slabs) };
  });
  const total = sumParts(parts, ({ price }) => price);
  const isRaisedToZero = input.notBelowZero === true && total.numerator.lt(ZERO);
  const negativeParts = parts.filter((part) => part.quantity.lt(ZERO));
  let slabs: readonly SlabCharge[] | undefined;
  let explanation: ChargeExplanation | undefined;
  return {
    kind,
    billableId,
    period,
    quantity,
    // Only lines need the slabs and the explanation. Each is computed once: a card may have thousands of slabs.
    get slabs() {
      return (slabs ??= isRaisedToZero ? [] : slabCharges(parts));
    },
    get explanation() {
      return (explanation ??= explainCharge(input, parts));
    },
    charged: isRaisedToZero ? ZERO_FRACTION : total,
    bounded: applyBounds(input, parts),
    notices: negativeParts.map(
      (part) => `${billableId}: the negative quantity ${formatDecimal(part.quantity)} was priced as zero`,
    ),
  };
}

/** The amount after limits, applied to each part's price or to the sum. */
function applyBounds(
  { ratedSlabs: { bounds }, bounds: share, notBelowZero }: SlabChargeInput,
  parts: readonly PricedPart[],
): Fraction {
  const limitsParts = bounds !== undefined && share === "EACH_PART";
  const total = sumParts(parts, ({ price }) => (limitsParts ? clampToBounds(price, bounds) : price));
  const amount = notBelowZero === true && total.numerator.lt(ZERO) ? ZERO_FRACTION : total;
  return bounds === undefined || share === "EACH_PART" ? amount : clampToShare(amount, bounds, share);
}

/** Limits an amount to a share of the bounds; both are inclusive. */
export function clampToShare(amount: Fraction, { minimumRate, maximumRate }: Bounds, { days, of }: Share): Fraction {
  let result = amount;
  if (minimumRate !== undefined) {
    const minimum = multiplyByShare(toFraction(minimumRate), days, of);
    if (compareFractions(result, minimum) < 0) result = minimum;
  }
  if (maximumRate !== undefined) {
    const maximum = multiplyByShare(toFraction(maximumRate), days, of);
    if (compareFractions(result, maximum) > 0) result = maximum;
  }
  return result;
}

function sumParts(parts: readonly PricedPart[], partPrice: (part: PricedPart) => Decimal): Fraction {
  let total = ZERO_FRACTION;
  for (const part of parts) total = addFractions(total, partFraction(partPrice(part), part));
  return total;
}

/** What a part with this price adds to a charge. */
export function partFraction(amount: Decimal, { sign, share }: Pick<Part, "sign" | "share">): Fraction {
  const shared = multiplyByShare(toFraction(amount), share.days, share.of);
  return sign === 1 ? shared : negateFraction(shared);
}

/** The parts' slabs by order: the sum of amounts, and the maximum of units minus those already paid. */
function slabCharges(parts: readonly PricedPart[]): readonly SlabCharge[] {
  const byOrder = new Map<number, { rate: Decimal; charged: Decimal; paid: Decimal; amount: Fraction }>();
  for (const part of parts) {
    for (const { order, quantity, rate, amount } of part.slabs) {
      const sum = byOrder.get(order) ?? { rate, charged: ZERO, paid: ZERO, amount: ZERO_FRACTION };
      if (part.sign === 1) sum.charged = maximum(sum.charged, quantity);
      else sum.paid = maximum(sum.paid, quantity);
      sum.amount = addFractions(sum.amount, partFraction(amount, part));
      byOrder.set(order, sum);
    }
  }
  return [...byOrder]
    .sort(([a], [b]) => a - b)
    .map(([order, { rate, charged, paid, amount }]) => ({ order, quantity: subtract(charged, paid), rate, amount }));
}

function explainCharge(
  { ratedSlabs, rules, bounds: share, notBelowZero, chargedBefore }: SlabChargeInput,
  parts: readonly PricedPart[],
): ChargeExplanation {
  const { pricingModel, bounds } = ratedSlabs;
  const limitsParts = bounds !== undefined && share === "EACH_PART";
  const explanations = parts.map(({ because, sign, share, quantity, slabs }): PartExplanation => ({
    because: typeof because === "string" ? because : because(),
    sign,
    share,
    quantity: maximum(quantity, ZERO),
    pricingModel,
    slabs: explainSlabs(ratedSlabs, slabs),
    ...(limitsParts && { bounds }),
  }));
  const appliedRules: RuleNumber[] = ["S7.2", "S7.3"];
  if (bounds !== undefined) appliedRules.push("S7.4");
  if (parts.some(({ quantity }) => quantity.lte(ZERO))) appliedRules.push("S7.5");
  if (parts.some((part) => part.share.days !== part.share.of)) appliedRules.push("S8.1");
  return {
    rules: [...appliedRules, ...rules],
    parts: explanations,
    ...(notBelowZero === true && { least: ZERO }),
    ...(chargedBefore !== undefined && { chargedBefore }),
    ...(bounds !== undefined && share !== "EACH_PART" && { bounds: { ...bounds, share } }),
  };
}
