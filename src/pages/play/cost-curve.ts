/** What the items of plans cost by quantity: points of their cost curves, and the curves as shapes. */
import { planCurves, type CardCurve } from "../../analysis/plan-curves.ts";
import { curveEdges, priceAtQuantity } from "../../analysis/price-curve.ts";
import type { Book } from "../../book/resources/book.ts";
import { RatebookError } from "../../errors.ts";
import { minorUnitDigits } from "../../numbers/currency.ts";
import { add, Decimal, divide, maximum, minimum, ONE, parseDecimal, subtract, ZERO } from "../../numbers/decimal.ts";
import { priceBySlabs } from "../../rating/slab-charge.ts";
import {
  createAmountAxis,
  createQuantityAxis,
  drawCurvePath,
  type Point,
  describeJumps,
  describeSlabs,
  formatCost,
  formatQuantity,
} from "../chart/curves.ts";
import { toPrintable } from "../printable.ts";
import { itemKey, withSymbol } from "./play-periods.ts";
import { readDecimal } from "./typed-usage.ts";

/** The maximum number of plans with curves. */
const PLANS_MAX = 10;
/** The largest quantity to which curves extend. */
const QUANTITY_MAX = 1e15;

export function computeCurves(book: Book, quantities: ReadonlyMap<string, Decimal>): ReadonlyMap<string, CardCosts> {
  const names = new Map(
    [...book.usageMeters, ...book.addOns, ...book.features].map(({ id, displayName }) => [id, displayName]),
  );
  const costs = book.pricePlans.slice(0, PLANS_MAX).flatMap(({ id, pricePlanDetails }) => {
    if ((pricePlanDetails.supportedCurrencies ?? []).length === 0) return [];
    try {
      const { cards, currency } = planCurves(pricePlanDetails, { names });
      const extend = (card: CardCurve, quantity: Decimal): CardCurve => {
        const upTo = quantity.toSignificantDigits(1, Decimal.ROUND_UP);
        const { cards: longer } = planCurves(pricePlanDetails, { names, upTo });
        return longer[cards.indexOf(card)] ?? card;
      };
      return cards.map(
        (card) =>
          [
            curveKey(id, itemKey(card.kind, card.id)),
            computeCardCosts(card, { currency, quantities, extend }),
          ] as const,
      );
    } catch (error) {
      // Missing rates of a currency are reported when the plan is priced.
      if (error instanceof RatebookError) return [];
      throw error;
    }
  });
  return new Map(costs);
}

/** The key of a curve. @param key of the item */
export function curveKey(planId: string, key: string): string {
  return `${planId} ${key}`;
}

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
  /** Of the item. */
  readonly key: string;
  readonly name: string;
  /** The prices in sentences. */
  readonly description: string;
  /** The largest quantity of the curve. */
  readonly upTo: string;
  /** The typed quantity, otherwise half of the curve's range. */
  readonly quantity: string;
  /** At slab edges and just above them. */
  readonly edges: readonly CostPoint[];
  /**
   * The price at a decimal text, undefined if it is invalid or negative, and the curve up to the plan's largest quantity, or
   * more if the text is larger.
   */
  readonly at: (quantity: string) => { readonly cost: CostPoint | undefined; readonly picture: CurvePicture };
}

/** The maximum number of edges shown. */
const EDGES_MAX = 12;

interface CostContext {
  readonly currency: string;
  /** Typed usage of meters and quantities of licenses, by id. */
  readonly quantities: ReadonlyMap<string, Decimal>;
  /** The curve up to a larger quantity. */
  readonly extend: (card: CardCurve, quantity: Decimal) => CardCurve;
}

function computeCardCosts(card: CardCurve, { currency, quantities, extend }: CostContext): CardCosts {
  const digits = minorUnitDigits(currency);
  const costAt = (quantity: Decimal | undefined): CostPoint | undefined => {
    try {
      return quantity && computeCost(card, quantity, currency);
    } catch (error) {
      // The price needs too many digits.
      if (error instanceof RatebookError) return undefined;
      throw error;
    }
  };
  return {
    key: itemKey(card.kind, card.id),
    name: toPrintable(card.name),
    description: [...describeSlabs(card, digits), ...describeJumps(card, digits).map(({ sentence }) => sentence)].join(
      ". ",
    ),
    upTo: card.upTo.toFixed(),
    quantity: (quantities.get(card.id) ?? divide(card.upTo, parseDecimal(2)).ceil()).toFixed(),
    edges: findEdgeQuantities(card).map((quantity) => computeCost(card, quantity, currency)),
    at: (text) => {
      const typed = readDecimal(text);
      const quantity = typed?.isNegative() === true ? undefined : typed;
      const isBeyond = quantity !== undefined && quantity.gt(card.upTo) && quantity.lte(QUANTITY_MAX);
      const shownCard = isBeyond ? extend(card, quantity) : card;
      return { cost: costAt(quantity), picture: drawCurve(shownCard, currency, quantity) };
    },
  };
}

function findEdgeQuantities({ card, upTo }: CardCurve): readonly Decimal[] {
  const slabEdges = curveEdges(card).filter(({ isSlabEdge }) => isSlabEdge);
  const quantities = slabEdges.flatMap(({ at: { quantity } }) => [quantity, add(quantity.floor(), ONE)]);
  const distinctQuantities = new Map([ONE, ...quantities, upTo].map((quantity) => [quantity.toFixed(), quantity]));
  return [...distinctQuantities.values()].filter((quantity) => quantity.lte(upTo)).slice(0, EDGES_MAX);
}

function computeCost({ slabs, total, upTo }: CardCurve, quantity: Decimal, currency: string): CostPoint {
  const digits = minorUnitDigits(currency);
  const toAmountText = (amount: Decimal): string => withSymbol(formatCost(amount, digits), currency);
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

/** The size of the picture, and the margins of the plot, in pixels. */
export const CURVE_SIZE = { width: 404, height: 150, left: 56, right: 8, top: 10, bottom: 24 } as const;

interface Tick {
  /** Pixels from the left or from the top. */
  readonly at: number;
  readonly label: string;
}

interface CurvePicture {
  readonly path: string;
  readonly amounts: readonly Tick[];
  readonly quantities: readonly Tick[];
  /** The point of the quantity; absent if it is beyond the curve. */
  readonly point?: Point;
}

function drawCurve({ card, slabs, upTo }: CardCurve, currency: string, quantity?: Decimal): CurvePicture {
  const { width, height, left, right, top, bottom } = CURVE_SIZE;
  const amounts = [card.atZero, ...card.pieces.flatMap(({ first, last }) => [first, last])];
  const [xAxis, yAxis] = [createQuantityAxis(upTo, 3), createAmountAxis(amounts, 3)];
  const toX = (at: Decimal): number => left + xAxis.toPosition(at) * (width - left - right);
  const toY = (amount: Decimal): number => top + (1 - yAxis.toPosition(amount)) * (height - top - bottom);
  const toPoint = (at: Decimal, amount: Decimal): Point => ({ x: toX(at), y: toY(amount) });
  const isShown = quantity !== undefined && minimum(quantity, upTo).eq(quantity) && quantity.gte(ZERO);
  return {
    path: drawCurvePath(card, toPoint),
    amounts: yAxis.ticks.map((tick) => ({ at: toY(tick), label: withSymbol(formatQuantity(tick), currency) })),
    quantities: xAxis.ticks.map((tick) => ({ at: toX(tick), label: formatQuantity(tick) })),
    ...(isShown ? { point: toPoint(quantity, priceBySlabs(slabs, quantity).amount) } : {}),
  };
}
