/** The cost curve of one item as shapes: its path, the ticks of its axes, and the point of a quantity. */
import type { CardCurve } from "../../analysis/plan-curves.ts";
import { type Decimal, minimum, ZERO } from "../../numbers/decimal.ts";
import { priceBySlabs } from "../../rating/slab-charge.ts";
import { createAmountAxis, createQuantityAxis, drawCurvePath, type Point } from "../chart/curve-drawing.ts";
import { formatQuantity } from "../chart/curve-text.ts";
import { withSymbol } from "./play-periods.ts";

/** The size of the picture, and the margins of the plot, in pixels. */
export const CURVE_SIZE = { width: 404, height: 150, left: 56, right: 8, top: 10, bottom: 24 } as const;

interface Tick {
  /** Pixels from the left or from the top. */
  readonly at: number;
  readonly label: string;
}

export interface CurvePicture {
  readonly path: string;
  readonly amounts: readonly Tick[];
  readonly quantities: readonly Tick[];
  /** The point of the quantity; absent if it is beyond the curve. */
  readonly point?: Point;
}

export function drawCurve({ card, slabs, upTo }: CardCurve, currency: string, quantity?: Decimal): CurvePicture {
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
