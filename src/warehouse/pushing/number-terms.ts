/**
 * Decimals as terms: each operation of a rule (S3.2, S3.4) with the range of what it gives.
 *
 * @module
 */
import { type Exact, mantissaOf } from "../../numbers/exact.ts";
import type { PlacesRounding } from "../../numbers/exact.ts";
import {
  negatedRange,
  type NumberRange,
  productRange,
  rangeAt,
  rangeOfConstant,
  rangeOfEither,
  reachOf,
  sumRange,
  WIDE_END,
} from "./number-range.ts";
import {
  choiceOf,
  constantTruth,
  NotPushed,
  type NumberOperation,
  type NumberTerm,
  type Order,
  type TruthTerm,
} from "./term.ts";

/** A quotient keeps so many digits (S1.4): up to here it is exact. */
const QUOTIENT_END = 10n ** 34n;
/** Most places after the point that a term has: beyond, no integer of a database holds it anyway. */
const SCALE_MAX = 36;

/** A decimal of a range. @throws {NotPushed} where no integer of a database holds it */
export function numberTerm(range: NumberRange, is: NumberOperation): NumberTerm {
  if (reachOf(range) >= WIDE_END || range.scale > SCALE_MAX)
    throw new NotPushed("what it computes may need more digits than a database's integers hold", true);
  if (range.least === range.most && is.operation !== "constant")
    return { kind: "number", range, is: { operation: "constant", value: range.least } };
  return { kind: "number", range, is };
}

/** A decimal that is known beforehand. */
export function constantNumber(value: Exact): NumberTerm {
  return numberTerm(rangeOfConstant(value), { operation: "constant", value: BigInt(mantissaOf(value)) });
}

/** A whole number that is known beforehand, at a scale. */
function wholeNumber(value: bigint, scale = 0): NumberTerm {
  return numberTerm({ scale, least: value, most: value }, { operation: "constant", value });
}

/** The same value, counted at a scale that is not smaller. */
export function raisedTo(term: NumberTerm, scale: number): NumberTerm {
  const places = scale - term.range.scale;
  if (places === 0) return term;
  const factor = wholeNumber(10n ** BigInt(places));
  return numberTerm(rangeAt(term.range, scale), { operation: "*", left: term, right: factor });
}

/** Two decimals at one scale. */
function aligned(a: NumberTerm, b: NumberTerm): readonly [NumberTerm, NumberTerm] {
  const scale = Math.max(a.range.scale, b.range.scale);
  return [raisedTo(a, scale), raisedTo(b, scale)];
}

/** a + b. */
export function sumOf(a: NumberTerm, b: NumberTerm): NumberTerm {
  const [left, right] = aligned(a, b);
  return numberTerm(sumRange(left.range, right.range), { operation: "+", left, right });
}

/** a − b. */
export function differenceOf(a: NumberTerm, b: NumberTerm): NumberTerm {
  const [left, right] = aligned(a, b);
  return numberTerm(sumRange(left.range, negatedRange(right.range)), { operation: "-", left, right });
}

/** −a. */
export function negationOf(a: NumberTerm): NumberTerm {
  return differenceOf(wholeNumber(0n), a);
}

/** a × b. */
export function productOf(left: NumberTerm, right: NumberTerm): NumberTerm {
  return numberTerm(productRange(left.range, right.range), { operation: "*", left, right });
}

/**
 * a ÷ b, where b is known beforehand and the quotient ends: then it is a product.
 *
 * @throws {NotPushed} for any other
 */
export function quotientOf(a: NumberTerm, b: NumberTerm): NumberTerm {
  const divisor = constantOf(b, "divides by");
  // By 2 and 5 alone a quotient ends after as many places as the larger of their powers has.
  let [rest, places] = [divisor < 0n ? -divisor : divisor, 0];
  let [twos, fives] = [0, 0];
  for (; rest % 2n === 0n; rest /= 2n) twos++;
  for (; rest % 5n === 0n; rest /= 5n) fives++;
  if (rest !== 1n) throw new NotPushed("it divides by what gives a repeating result");
  places = Math.max(twos, fives);
  const product = productOf(a, wholeNumber(10n ** BigInt(places) / divisor, places));
  if (reachOf(product.range) >= QUOTIENT_END) throw new NotPushed("a quotient may have more than 34 digits", true);
  // a × 10^-i ÷ (b × 10^-j) has the places of the product, less those of the divisor.
  const scale = product.range.scale - b.range.scale;
  if (scale >= 0) return atScale(product, scale);
  return atScale(productOf(product, wholeNumber(10n ** BigInt(-scale))), 0);
}

/** The same whole numbers, read at another scale. */
function atScale(term: NumberTerm, scale: number): NumberTerm {
  return numberTerm({ ...term.range, scale }, term.is);
}

/** The remainder of a ÷ b with the sign of a, where b is known beforehand. @throws {NotPushed} for any other */
export function remainderOf(a: NumberTerm, b: NumberTerm): NumberTerm {
  constantOf(b, "takes the remainder by");
  const [left, right] = aligned(a, b);
  const most = reachOf(right.range) - 1n;
  const bounds = {
    least: left.range.least < 0n ? (left.range.least > -most ? left.range.least : -most) : 0n,
    most: left.range.most > 0n ? (left.range.most < most ? left.range.most : most) : 0n,
  };
  return numberTerm({ scale: left.range.scale, ...bounds }, { operation: "%", left, right });
}

function constantOf({ is }: NumberTerm, doing: string): bigint {
  if (is.operation !== "constant") throw new NotPushed(`it ${doing} a number that differs from event to event`);
  if (is.value === 0n) throw new NotPushed(`it ${doing} zero, which fails`);
  return is.value;
}

/** The least, or the greatest, of some decimals. */
export function extremeOf(operation: "least" | "greatest", given: readonly NumberTerm[]): NumberTerm {
  const scale = Math.max(...given.map(({ range }) => range.scale));
  const parts = given.map((part) => raisedTo(part, scale));
  const pick = (values: readonly bigint[]): bigint =>
    values.reduce((a, b) => ((operation === "least") === a < b ? a : b));
  const range = {
    scale,
    least: pick(parts.map((part) => part.range.least)),
    most: pick(parts.map((part) => part.range.most)),
  };
  return numberTerm(range, { operation, parts });
}

/** Rounded to so many places after the point (S3.4). */
export function roundedTo(of: NumberTerm, places: number, operation: PlacesRounding): NumberTerm {
  const drop = of.range.scale - places;
  if (drop <= 0) return of;
  const unit = 10n ** BigInt(drop);
  // Whatever the way of rounding, a value moves by less than one unit.
  const widest = { ...of.range, least: of.range.least - unit, most: of.range.most + unit };
  numberTerm(widest, { operation: "constant", value: 0n });
  const range = { scale: Math.max(places, 0), least: widest.least / unit - 1n, most: widest.most / unit + 1n };
  const rounded = numberTerm(range, { operation, of, unit });
  return places >= 0 ? rounded : productOf(rounded, wholeNumber(10n ** BigInt(-places)));
}

/** One of two decimals. */
export function numberChoice(condition: TruthTerm, then: NumberTerm, otherwise: NumberTerm): NumberTerm {
  const [left, right] = aligned(then, otherwise);
  return choiceOf(condition, left, right, (is) => numberTerm(rangeOfEither(left.range, right.range), is));
}

/** How two decimals stand to each other; where their ranges say so, known beforehand. */
export function orderOfNumbers(order: Order, a: NumberTerm, b: NumberTerm): TruthTerm {
  const [left, right] = aligned(a, b);
  if (left.is.operation === "constant" && right.is.operation === "constant")
    return constantTruth(isOrdered(order, left.is.value, right.is.value));
  return { kind: "truth", is: { operation: "order", order, left, right } };
}

function isOrdered(order: Order, a: bigint, b: bigint): boolean {
  switch (order) {
    case "=":
      return a === b;
    case "<>":
      return a !== b;
    case "<":
      return a < b;
    case "<=":
      return a <= b;
    case ">":
      return a > b;
    case ">=":
      return a >= b;
  }
}

/** The places of a rounding, where they are known beforehand. @throws {NotPushed} for any other, and for what fails */
export function placesOf({ is, range }: NumberTerm): number {
  if (is.operation !== "constant" || range.scale !== 0 || reachOf(range) > 100n)
    throw new NotPushed("it rounds to places that are no whole number known beforehand");
  return Number(is.value);
}

/** Whether a decimal is not 0. */
export function isNonZero(of: NumberTerm): TruthTerm {
  return orderOfNumbers("<>", of, wholeNumber(0n));
}
