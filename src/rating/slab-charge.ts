/**
 * Computes the charge of a card with slabs: prices its parts, adds them, applies the card's limits (S7.4), and records
 * everything needed to recompute it (S13.6).
 *
 * @module
 */
import type { Share } from "../calendar/proration.ts";
import { type Decimal, maximum, subtract, formatDecimal, ZERO } from "../numbers/decimal.ts";
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
import type { CardKind, Charge, ChargeExplanation, PartExplanation, RatedPeriod, SlabCharge } from "./charge.ts";
import type { Bounds, RatedSlabs } from "./rated-slabs.ts";
import { explainSlabs, clampToBounds, type PricedSlab, priceReachedSlabs, sumSlabs } from "./slabs.ts";

/** The share of a whole amount. */
export const WHOLE_SHARE: Share = { days: 1, of: 1 };

/** One quantity to price. */
export interface Part {
  /** The reason for pricing this quantity, as a sentence without its full stop. */
  readonly because: string;
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

function clampToShare(amount: Fraction, { minimumRate, maximumRate }: Bounds, { days, of }: Share): Fraction {
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

function partFraction(amount: Decimal, { sign, share }: Part): Fraction {
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
    because,
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
