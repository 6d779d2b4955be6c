/**
 * What values a decimal of a rule can have: whole numbers at one scale, between bounds. Every operation gives bounds that
 * hold whatever its operands are within theirs, so that SQL can compute in integers that are known to suffice.
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

/** Integers of 64 and of 128 bits reach so far, exclusive, to either side. */
export const INT64_END: bigint = 2n ** 63n;
/** As {@link INT64_END}, for 128 bits. */
export const INT128_END: bigint = 2n ** 127n;

/** The range of one value. */
export function constantRange(value: Exact): NumberRange {
  const mantissa = BigInt(mantissaOf(value));
  return { scale: scaleOf(value), least: mantissa, most: mantissa };
}

/** How far from 0 a range reaches. */
export function largestMagnitude({ least, most }: NumberRange): bigint {
  return -least > most ? -least : most;
}

/** The same values, counted at a scale that is not smaller. */
export function rescaleRange(range: NumberRange, scale: number): NumberRange {
  const factor = 10n ** BigInt(scale - range.scale);
  return { scale, least: range.least * factor, most: range.most * factor };
}

/** The range of sums. Both at one scale. */
export function addRanges(a: NumberRange, b: NumberRange): NumberRange {
  return { scale: a.scale, least: a.least + b.least, most: a.most + b.most };
}

/** The range of the values with the other sign. */
export function negateRange({ scale, least, most }: NumberRange): NumberRange {
  return { scale, least: -most, most: -least };
}

/** The range of products. */
export function multiplyRanges(a: NumberRange, b: NumberRange): NumberRange {
  const corners = [a.least * b.least, a.least * b.most, a.most * b.least, a.most * b.most];
  return { scale: a.scale + b.scale, ...findBounds(corners) };
}

/** The smallest range that holds both. Both at one scale. */
export function uniteRanges(a: NumberRange, b: NumberRange): NumberRange {
  return { scale: a.scale, ...findBounds([a.least, a.most, b.least, b.most]) };
}

function findBounds(values: readonly bigint[]): Pick<NumberRange, "least" | "most"> {
  return {
    least: values.reduce((least, value) => (value < least ? value : least)),
    most: values.reduce((most, value) => (value > most ? value : most)),
  };
}
