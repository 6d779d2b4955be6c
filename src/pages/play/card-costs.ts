/**
 * The price of a card at a quantity: total, average per unit, and of the next unit.
 *
 * @module
 */
import { curveEdges, priceAtQuantity } from "../../analysis/curve-edges.ts";
import type { CardCurve, PlanCurves } from "../../analysis/plan-curves.ts";
import { RatebookError } from "../../errors.ts";
import { minorUnitDigits } from "../../numbers/currency.ts";
import { add, type Decimal, parseDecimal, divide, maximum, ONE, subtract } from "../../numbers/decimal.ts";
import { priceBySlabs } from "../../rating/slabs.ts";
import { formatCost, formatQuantity } from "../chart/curve-text.ts";
import { toPrintable } from "../printable.ts";

export interface CostPoint {
  readonly quantity: string;
  /** The price of the card alone. */
  readonly amount: string;
  /** Per unit; absent at 0. */
  readonly average?: string;
  /** The price of one more unit. */
  readonly next: string;
  /** The price of the whole cycle; absent beyond the curve. */
  readonly total?: string;
}

/** A card whose price depends on a quantity. */
export interface CardCosts {
  readonly name: string;
  readonly currency: string;
  /** The largest quantity of the curve. */
  readonly upTo: string;
  /** The typed quantity, otherwise half of the curve's range. */
  readonly quantity: string;
  /** At slab edges and just above them. */
  readonly edges: readonly CostPoint[];
  /** The price at a decimal text; undefined if it is invalid or negative. */
  readonly costAt: (quantity: string) => CostPoint | undefined;
}

/** The maximum number of edges shown. */
const EDGES_MAX = 12;

/** The costs of each card of a plan. @param quantitiesById typed usage of meters and quantities of licenses, by id */
export function computeCardCosts(
  { cards, currency }: PlanCurves,
  quantitiesById: ReadonlyMap<string, Decimal>,
): readonly CardCosts[] {
  const digits = minorUnitDigits(currency);
  return cards.map((card) => ({
    name: toPrintable(card.name),
    currency,
    upTo: card.upTo.toFixed(),
    quantity: (quantitiesById.get(card.id) ?? divide(card.upTo, parseDecimal(2)).ceil()).toFixed(),
    edges: findEdgeQuantities(card).map((quantity) => computeCost(card, quantity, digits)),
    costAt: (text) => {
      try {
        const quantity = parseDecimal(text.trim());
        return quantity.isNegative() ? undefined : computeCost(card, quantity, digits);
      } catch (error) {
        // The text is not a number, or its price needs too many digits.
        if (error instanceof RatebookError) return undefined;
        throw error;
      }
    },
  }));
}

function findEdgeQuantities({ card, upTo }: CardCurve): readonly Decimal[] {
  const slabEdges = curveEdges(card).filter(({ isSlabEdge }) => isSlabEdge);
  const quantities = slabEdges.flatMap(({ at: { quantity } }) => [quantity, add(quantity.floor(), ONE)]);
  const distinctQuantities = new Map([ONE, ...quantities, upTo].map((quantity) => [quantity.toFixed(), quantity]));
  return [...distinctQuantities.values()].filter((quantity) => quantity.lte(upTo)).slice(0, EDGES_MAX);
}

function computeCost({ slabs, total, upTo }: CardCurve, quantity: Decimal, digits: number): CostPoint {
  const toAmountText = (amount: Decimal): string => formatCost(amount, digits);
  const { amount } = priceBySlabs(slabs, quantity);
  const next = subtract(priceBySlabs(slabs, add(quantity, ONE)).amount, amount);
  return {
    quantity: formatQuantity(quantity),
    amount: toAmountText(amount),
    ...(quantity.isZero() ? {} : { average: toAmountText(divide(amount, quantity)) }),
    next: toAmountText(next),
    ...(maximum(quantity, upTo).eq(upTo) ? { total: toAmountText(priceAtQuantity(total, quantity)) } : {}),
  };
}
