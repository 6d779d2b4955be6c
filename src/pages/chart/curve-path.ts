/**
 * The SVG path of a price curve.
 *
 * @module
 */
import type { PriceCurve, PricePiece } from "../../analysis/price-curve.ts";
import { add, type Decimal, divide, multiply, ONE, ZERO } from "../../numbers/decimal.ts";

/** A point in pixels. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/**
 * The maximum number of steps drawn separately. More would be closer than a line's width, so one line through their
 * corners is drawn instead.
 */
const STEPS_DRAWN_MAX = 120;

/** The SVG path of a curve, interrupted where the price jumps. */
export function drawCurvePath(curve: PriceCurve, toPoint: (quantity: Decimal, amount: Decimal) => Point): string {
  let path = "";
  let end: Point | undefined;
  for (const piece of curve.pieces) {
    for (const [from, to] of splitIntoStrokes(piece, toPoint)) {
      const isJoined = end !== undefined && Math.abs(end.x - from.x) < 0.05 && Math.abs(end.y - from.y) < 0.05;
      path += `${isJoined ? "" : `M${formatPoint(from)}`}L${formatPoint(to)}`;
      end = to;
    }
  }
  return path;
}

function splitIntoStrokes(
  { shape, from, until, first, last, rate, packageSize, countedFrom }: PricePiece,
  toPoint: (quantity: Decimal, amount: Decimal) => Point,
): readonly (readonly [Point, Point])[] {
  const line = [[toPoint(from.quantity, first), toPoint(until.quantity, last)] as const];
  if (shape === "LINE") return line;
  const [size, origin] = [packageSize ?? ONE, countedFrom ?? ZERO];
  const before = divide(from.quantity.sub(origin), size).floor();
  const count = divide(until.quantity.sub(origin), size).ceil().sub(before).toNumber();
  if (count > STEPS_DRAWN_MAX) return line;
  return Array.from({ length: count }, (_, index) => {
    const end = add(origin, multiply(size, before.add(index + 1)));
    const start = index === 0 ? from.quantity : add(origin, multiply(size, before.add(index)));
    const amount = add(first, multiply(rate, ONE.mul(index)));
    return [toPoint(start, amount), toPoint(end.gt(until.quantity) ? until.quantity : end, amount)] as const;
  });
}

/** Coordinates with one decimal place. */
function formatPoint({ x, y }: Point): string {
  return `${x.toFixed(1)} ${y.toFixed(1)}`;
}
