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
  readonly least: bigint;
  readonly most: bigint;
}

/** The exclusive bounds of 64-bit integers are ±2^63. */
export const INT64_END: bigint = 2n ** 63n;
/** Same as {@link INT64_END}, for 128 bits. */
export const INT128_END: bigint = 2n ** 127n;

export function constantRange(value: Exact): NumberRange {
  const mantissa = BigInt(mantissaOf(value));
  return { scale: scaleOf(value), least: mantissa, most: mantissa };
}

/** The largest absolute value. */
export function largestMagnitude({ least, most }: NumberRange): bigint {
  return -least > most ? -least : most;
}

/** The same values at an equal or larger scale. */
export function rescaleRange(range: NumberRange, scale: number): NumberRange {
  const factor = 10n ** BigInt(scale - range.scale);
  return { scale, least: range.least * factor, most: range.most * factor };
}

/** The range of sums. Both must have the same scale. */
export function addRanges(a: NumberRange, b: NumberRange): NumberRange {
  return { scale: a.scale, least: a.least + b.least, most: a.most + b.most };
}

export function negateRange({ scale, least, most }: NumberRange): NumberRange {
  return { scale, least: -most, most: -least };
}

export function multiplyRanges(a: NumberRange, b: NumberRange): NumberRange {
  const corners = [a.least * b.least, a.least * b.most, a.most * b.least, a.most * b.most];
  return { scale: a.scale + b.scale, ...findBounds(corners) };
}

/** The smallest range that contains both. Both must have the same scale. */
export function uniteRanges(a: NumberRange, b: NumberRange): NumberRange {
  return { scale: a.scale, ...findBounds([a.least, a.most, b.least, b.most]) };
}

function findBounds(values: readonly bigint[]): Pick<NumberRange, "least" | "most"> {
  return {
    least: values.reduce((least, value) => (value < least ? value : least)),
    most: values.reduce((most, value) => (value > most ? value : most)),
  };
}
