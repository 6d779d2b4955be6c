/**
 * The edges of a price curve, where its rate changes or its price jumps or falls, and its price at one quantity.
 *
 * @module
 */
import { RatebookError } from "../errors.ts";
import { add, type Decimal, multiply, ONE, subtract, ZERO } from "../numbers/decimal.ts";
import { countPackages } from "../rating/slabs.ts";
import type { Breakpoint, PriceCurve, PricePiece } from "./price-curve.ts";

/** How the price changes above an edge: TURN is a new rate, JUMP a higher price, FALL a lower price. */
export type EdgeKind = "TURN" | "JUMP" | "FALL";

/** A quantity at which two pieces of a curve meet. */
export interface CurveEdge {
  readonly at: Breakpoint;
  readonly kind: EdgeKind;
  /** Major units, exact. The price at the edge, which belongs to the piece below. */
  readonly below: Decimal;
  /** Major units, exact. The limit of the price just above the edge. */
  readonly above: Decimal;
  /** The slab of the quantities above the edge, from 1. */
  readonly slab: number;
  /** Whether a slab begins here. Otherwise a bound starts or stops applying, or the quantity is 0. */
  readonly isSlabEdge: boolean;
}

/** The edges of a curve, in ascending order. The first is at 0. */
export function curveEdges({ atZero, pieces }: PriceCurve): readonly CurveEdge[] {
  return pieces.map((piece, index) => {
    const before = pieces[index - 1];
    const below = before?.last ?? atZero;
    const kind = piece.first.gt(below) ? "JUMP" : piece.first.lt(below) ? "FALL" : "TURN";
    const isSlabEdge = before !== undefined && before.slab !== piece.slab;
    return { at: piece.from, kind, below, above: piece.first, slab: piece.slab, isSlabEdge };
  });
}

/** The pieces in which the price falls as the quantity grows, because the rate is negative. */
export function fallingPieces({ pieces }: PriceCurve): readonly PricePiece[] {
  return pieces.filter(({ first, last }) => last.lt(first));
}

/**
 * The price of a quantity on a curve, equal to `priceQuantity` (S7).
 *
 * @param quantity units, from 0 to the end of the curve
 * @throws {RatebookError} ERR_OPTION_INVALID for a quantity below 0 or beyond the curve
 */
export function priceAtQuantity({ atZero, pieces }: PriceCurve, quantity: Decimal): Decimal {
  if (quantity.isZero()) return atZero;
  const piece = quantity.isNegative() ? undefined : pieces.find(({ until }) => isAtOrAbove(until, quantity));
  if (piece === undefined) {
    throw new RatebookError("ERR_OPTION_INVALID", `quantity: ${quantity.toFixed()} is not on the curve`, {
      option: "quantity",
    });
  }
  return priceWithinPiece(piece, quantity);
}

/** Whether a breakpoint is at or above a quantity, computed without division. */
function isAtOrAbove({ quantity: at, ratio }: Breakpoint, quantity: Decimal): boolean {
  if (ratio === undefined) return quantity.lte(at);
  const times = multiply(quantity, ratio.denominator);
  return ratio.denominator.isNegative() ? times.gte(ratio.numerator) : times.lte(ratio.numerator);
}

function priceWithinPiece(
  { shape, from, first, rate, packageSize, countedFrom }: PricePiece,
  quantity: Decimal,
): Decimal {
  if (rate.isZero()) return first;
  if (shape === "STEPS") {
    const [size, origin] = [packageSize ?? ONE, countedFrom ?? ZERO];
    // The package after those that are full at the start of the piece.
    const firstCount = add(subtract(from.quantity, origin).divToInt(size), ONE);
    return add(first, multiply(rate, subtract(countPackages(subtract(quantity, origin), size), firstCount)));
  }
  // The denominator of this breakpoint equals the rate, so it cancels.
  if (from.ratio?.denominator.eq(rate) === true) {
    return add(first, subtract(multiply(rate, quantity), from.ratio.numerator));
  }
  return add(first, multiply(rate, subtract(quantity, from.quantity)));
}
