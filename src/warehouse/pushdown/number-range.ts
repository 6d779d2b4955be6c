/**
 * The possible values of a decimal in a rule: whole numbers at one scale, within bounds. Each operation derives bounds
 * for its result, so that SQL can use integers that provably suffice.
 *
 * @module
 */
import { type Exact, mantissaOf, scaleOf } from "../../numbers/exact.ts";

/** `[least, most] × 10^-scale`, both inclusive. */
export interface NumberRange {
  readonly scale: number;
  readonly min: bigint;
  readonly max: bigint;
}

/** The exclusive bounds of 64-bit integers are ±2^63. */
export const INT64_END: bigint = 2n ** 63n;
/** Same as {@link INT64_END}, for 128 bits. */
export const INT128_END: bigint = 2n ** 127n;

export function constantRange(value: Exact): NumberRange {
  const mantissa = BigInt(mantissaOf(value));
  return { scale: scaleOf(value), min: mantissa, max: mantissa };
}

/** The largest absolute value. */
export function largestMagnitude({ min, max }: NumberRange): bigint {
  return -min > max ? -min : max;
}

/** The same values at an equal or larger scale. */
export function rescaleRange(range: NumberRange, scale: number): NumberRange {
  const factor = 10n ** BigInt(scale - range.scale);
  return { scale, min: range.min * factor, max: range.max * factor };
}

/** The range of sums. Both must have the same scale. */
export function addRanges(a: NumberRange, b: NumberRange): NumberRange {
  return { scale: a.scale, min: a.min + b.min, max: a.max + b.max };
}

export function negateRange({ scale, min, max }: NumberRange): NumberRange {
  return { scale, min: -max, max: -min };
}

export function multiplyRanges(a: NumberRange, b: NumberRange): NumberRange {
  const corners = [a.min * b.min, a.min * b.max, a.max * b.min, a.max * b.max];
  return { scale: a.scale + b.scale, ...findBounds(corners) };
}

/** The smallest range that contains both. Both must have the same scale. */
export function uniteRanges(a: NumberRange, b: NumberRange): NumberRange {
  return { scale: a.scale, ...findBounds([a.min, a.max, b.min, b.max]) };
}

function findBounds(values: readonly bigint[]): Pick<NumberRange, "min" | "max"> {
  return {
    min: values.reduce((min, value) => (value < min ? value : min)),
    max: values.reduce((max, value) => (value > max ? value : max)),
  };
}
