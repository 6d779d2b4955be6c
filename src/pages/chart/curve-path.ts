/**
 * The line of a price curve on a picture.
 *
 * @module
 */
import { add, type Decimal, divide, multiply, ONE, ZERO } from "../../numbers/decimal.ts";
import type { PriceCurve, PricePiece } from "../../proof/price-curve.ts";

/** A point of a picture, in pixels. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** More steps than this in one run are closer than a line is wide: they are drawn as the line through their corners. */
const STEPS_MAX = 120;

/** The path of a curve as SVG writes it, broken where the price jumps. */
export function curvePath(curve: PriceCurve, at: (quantity: Decimal, amount: Decimal) => Point): string {
  let path = "";
  let end: Point | undefined;
  for (const piece of curve.pieces) {
    for (const [from, to] of strokesOf(piece, at)) {
      const joins = end !== undefined && Math.abs(end.x - from.x) < 0.05 && Math.abs(end.y - from.y) < 0.05;
      path += `${joins ? "" : `M${placed(from)}`}L${placed(to)}`;
      end = to;
    }
  }
  return path;
}

function strokesOf(
  { shape, from, until, first, last, rate, packageSize, countedFrom }: PricePiece,
  at: (quantity: Decimal, amount: Decimal) => Point,
): readonly (readonly [Point, Point])[] {
  const line = [[at(from.quantity, first), at(until.quantity, last)] as const];
  if (shape === "LINE") return line;
  const [size, origin] = [packageSize ?? ONE, countedFrom ?? ZERO];
  const before = divide(from.quantity.sub(origin), size).floor();
  const count = divide(until.quantity.sub(origin), size).ceil().sub(before).toNumber();
  if (count > STEPS_MAX) return line;
  return Array.from({ length: count }, (_, index) => {
    const end = add(origin, multiply(size, before.add(index + 1)));
    const start = index === 0 ? from.quantity : add(origin, multiply(size, before.add(index)));
    const amount = add(first, multiply(rate, ONE.mul(index)));
    return [at(start, amount), at(end.gt(until.quantity) ? until.quantity : end, amount)] as const;
  });
}

/** Coordinates with a tenth of a pixel. */
export function placed({ x, y }: Point): string {
  return `${x.toFixed(1)} ${y.toFixed(1)}`;
}
