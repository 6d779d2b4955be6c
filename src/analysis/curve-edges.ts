/**
 * A price curve at one quantity, and at its edges: where it turns, jumps and falls.
 *
 * @module
 */
import { RatebookError } from "../errors.ts";
import { add, type Decimal, multiply, ONE, subtract, ZERO } from "../numbers/decimal.ts";
import { countPackages } from "../rating/slabs.ts";
import type { Breakpoint, PriceCurve, PricePiece } from "./price-curve.ts";

/** What a price does above an edge: it goes on at another rate, is higher at once, or is lower at once. */
export type EdgeKind = "TURN" | "JUMP" | "FALL";

/** A quantity at which two pieces of a curve meet. */
export interface CurveEdge {
  readonly at: Breakpoint;
  readonly kind: EdgeKind;
  /** Major units, exact: the price at the edge, which belongs to the piece below it. */
  readonly below: Decimal;
  /** Major units, exact: the price of the least quantities above the edge. */
  readonly above: Decimal;
  /** The slab of the quantities above the edge; 1 for the first. */
  readonly slab: number;
  /** Whether another slab begins here; else a bound begins or ceases to hold, or, at 0, the first unit is used. */
  readonly isSlabEdge: boolean;
}

/** The edges of a curve, ascending; the first is at 0, where the price of nothing meets that of the first units. */
export function curveEdges({ atZero, pieces }: PriceCurve): readonly CurveEdge[] {
  return pieces.map((piece, index) => {
    const before = pieces[index - 1];
    const below = before?.last ?? atZero;
    const kind = piece.first.gt(below) ? "JUMP" : piece.first.lt(below) ? "FALL" : "TURN";
    const isSlabEdge = before !== undefined && before.slab !== piece.slab;
    return { at: piece.from, kind, below, above: piece.first, slab: piece.slab, isSlabEdge };
  });
}

/** The pieces within which the price falls as the quantity grows: a rate below zero. */
export function fallingPieces({ pieces }: PriceCurve): readonly PricePiece[] {
  return pieces.filter(({ first, last }) => last.lt(first));
}

/**
 * The price of a quantity, read off its curve: exactly what `priceQuantity` says (S7).
 *
 * @param quantity units, 0 up to where the curve ends
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

/** Whether a breakpoint is at or above a quantity, without a quotient. */
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
    // The first quantities of the piece are in the package after those that are full at its start.
    const firstCount = add(subtract(from.quantity, origin).divToInt(size), ONE);
    return add(first, multiply(rate, subtract(countPackages(subtract(quantity, origin), size), firstCount)));
  }
  // The denominator of a breakpoint is the rate of the slab that turns there, so that it cancels.
  if (from.ratio?.denominator.eq(rate) === true) {
    return add(first, subtract(multiply(rate, quantity), from.ratio.numerator));
  }
  return add(first, multiply(rate, subtract(quantity, from.quantity)));
}
