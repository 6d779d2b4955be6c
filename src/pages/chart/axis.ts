/**
 * Chart axes with round ticks.
 *
 * @module
 */
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
