/** Chart axes with round ticks, and the SVG paths of price curves. */
import type { PriceCurve, PricePiece } from "../../analysis/price-curve.ts";
import {
  add,
  type Decimal,
  parseDecimal,
  divide,
  maximum,
  minimum,
  multiply,
  subtract,
  ZERO,
  ONE,
} from "../../numbers/decimal.ts";

export interface Axis {
  readonly min: Decimal;
  readonly max: Decimal;
  /** In ascending order, within the axis. Includes 0 if the axis does. */
  readonly ticks: readonly Decimal[];
  /** The position of a value, from 0 at `min` to 1 at `max`; for drawing, never an amount. */
  readonly toPosition: (value: Decimal) => number;
}

/** An axis from 0 to a quantity. @param count the approximate number of ticks */
export function createQuantityAxis(upTo: Decimal, count: number): Axis {
  return createAxis(ZERO, upTo, chooseStep(upTo, count));
}

/** An axis that contains 0 and all amounts, and ends at round ones. */
export function createAmountAxis(amounts: readonly Decimal[], count: number): Axis {
  const [low, high] = [amounts.reduce(minimum, ZERO), amounts.reduce(maximum, ZERO)];
  const step = chooseStep(maximum(high, low.abs()), low.isZero() || high.isZero() ? count : count / 2);
  const roundDownToStep = (value: Decimal): Decimal => multiply(divide(value, step).floor(), step);
  const max = roundDownToStep(high).eq(high) ? high : add(roundDownToStep(high), step);
  return createAxis(roundDownToStep(low), max.isZero() && low.isZero() ? step : max, step);
}

function createAxis(min: Decimal, max: Decimal, step: Decimal): Axis {
  const first = divide(min, step).ceil();
  const count = Math.min(20, divide(subtract(max, min), step).floor().toNumber());
  const ticks = Array.from({ length: count + 1 }, (_, index) => multiply(add(first, parseDecimal(index)), step));
  const span = subtract(max, min);
  return { min, max, ticks, toPosition: (value) => divide(subtractRoughly(value, min), span).toNumber() };
}

/** A difference with enough digits for drawing. The exact one can have more than 100 digits. */
function subtractRoughly(value: Decimal, min: Decimal): Decimal {
  return value.toSignificantDigits(30).sub(min.toSignificantDigits(30));
}

/** A step of 1, 2 or 5 times a power of ten that gives about `count` ticks. */
function chooseStep(length: Decimal, count: number): Decimal {
  const roughStep = length.isZero() ? parseDecimal(1) : divide(length, parseDecimal(count));
  const power = parseDecimal(`1e${roughStep.e}`);
  const factor = divide(roughStep, power).toNumber();
  return multiply(parseDecimal(factor <= 1 ? 1 : factor <= 2 ? 2 : factor <= 5 ? 5 : 10), power);
}

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
