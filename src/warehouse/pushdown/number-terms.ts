/**
 * Decimals as terms: each operation of a rule (S3.2, S3.4) with the range of what it gives.
 *
 * @module
 */
import { type Exact, mantissaOf } from "../../numbers/exact.ts";
import type { PlacesRounding } from "../../numbers/exact.ts";
import {
  negateRange,
  type NumberRange,
  multiplyRanges,
  rescaleRange,
  constantRange,
  uniteRanges,
  largestMagnitude,
  addRanges,
  INT128_END,
} from "./number-range.ts";
import {
  createChoice,
  createTruthConstant,
  NotPushable,
  type NumberOperation,
  type NumberTerm,
  type Order,
  type TruthTerm,
} from "./term.ts";

/** A quotient keeps so many digits (S1.4): up to here it is exact. */
const QUOTIENT_END = 10n ** 34n;
/** Most places after the point that a term has: beyond, no integer of a database holds it anyway. */
const SCALE_MAX = 36;

/** A decimal of a range. @throws {NotPushable} where no integer of a database holds it */
export function createNumberTerm(range: NumberRange, expression: NumberOperation): NumberTerm {
  if (largestMagnitude(range) >= INT128_END || range.scale > SCALE_MAX)
    throw new NotPushable("what it computes may need more digits than a database's integers hold", true);
  if (range.least === range.most && expression.operation !== "constant")
    return { kind: "number", range, expression: { operation: "constant", value: range.least } };
  return { kind: "number", range, expression };
}

/** A decimal that is known beforehand. */
export function createNumberConstant(value: Exact): NumberTerm {
  return createNumberTerm(constantRange(value), { operation: "constant", value: BigInt(mantissaOf(value)) });
}

/** A whole number that is known beforehand, at a scale. */
function createWholeNumber(value: bigint, scale = 0): NumberTerm {
  return createNumberTerm({ scale, least: value, most: value }, { operation: "constant", value });
}

/** The same value, counted at a scale that is not smaller. */
export function rescaleTerm(term: NumberTerm, scale: number): NumberTerm {
  const places = scale - term.range.scale;
  if (places === 0) return term;
  const factor = createWholeNumber(10n ** BigInt(places));
  return createNumberTerm(rescaleRange(term.range, scale), { operation: "*", left: term, right: factor });
}

/** Two decimals at one scale. */
function alignScales(a: NumberTerm, b: NumberTerm): readonly [NumberTerm, NumberTerm] {
  const scale = Math.max(a.range.scale, b.range.scale);
  return [rescaleTerm(a, scale), rescaleTerm(b, scale)];
}

/** a + b. */
export function addTerms(a: NumberTerm, b: NumberTerm): NumberTerm {
  const [left, right] = alignScales(a, b);
  return createNumberTerm(addRanges(left.range, right.range), { operation: "+", left, right });
}

/** a − b. */
export function subtractTerms(a: NumberTerm, b: NumberTerm): NumberTerm {
  const [left, right] = alignScales(a, b);
  return createNumberTerm(addRanges(left.range, negateRange(right.range)), { operation: "-", left, right });
}

/** −a. */
export function negateTerm(a: NumberTerm): NumberTerm {
  return subtractTerms(createWholeNumber(0n), a);
}

/** a × b. */
export function multiplyTerms(left: NumberTerm, right: NumberTerm): NumberTerm {
  return createNumberTerm(multiplyRanges(left.range, right.range), { operation: "*", left, right });
}

/**
 * a ÷ b, where b is known beforehand and the quotient ends: then it is a product.
 *
 * @throws {NotPushable} for any other
 */
export function divideTerms(a: NumberTerm, b: NumberTerm): NumberTerm {
  const divisor = requireConstant(b, "divides by");
  // By 2 and 5 alone a quotient ends after as many places as the larger of their powers has.
  let [rest, places] = [divisor < 0n ? -divisor : divisor, 0];
  let [twos, fives] = [0, 0];
  for (; rest % 2n === 0n; rest /= 2n) twos++;
  for (; rest % 5n === 0n; rest /= 5n) fives++;
  if (rest !== 1n) throw new NotPushable("it divides by what gives a repeating result");
  places = Math.max(twos, fives);
  const product = multiplyTerms(a, createWholeNumber(10n ** BigInt(places) / divisor, places));
  if (largestMagnitude(product.range) >= QUOTIENT_END)
    throw new NotPushable("a quotient may have more than 34 digits", true);
  // a × 10^-i ÷ (b × 10^-j) has the places of the product, less those of the divisor.
  const scale = product.range.scale - b.range.scale;
  if (scale >= 0) return reinterpretAtScale(product, scale);
  return reinterpretAtScale(multiplyTerms(product, createWholeNumber(10n ** BigInt(-scale))), 0);
}

/** The same whole numbers, read at another scale. */
function reinterpretAtScale(term: NumberTerm, scale: number): NumberTerm {
  return createNumberTerm({ ...term.range, scale }, term.expression);
}

/** The remainder of a ÷ b with the sign of a, where b is known beforehand. @throws {NotPushable} for any other */
export function takeRemainder(a: NumberTerm, b: NumberTerm): NumberTerm {
  requireConstant(b, "takes the remainder by");
  const [left, right] = alignScales(a, b);
  const most = largestMagnitude(right.range) - 1n;
  const bounds = {
    least: left.range.least < 0n ? (left.range.least > -most ? left.range.least : -most) : 0n,
    most: left.range.most > 0n ? (left.range.most < most ? left.range.most : most) : 0n,
  };
  return createNumberTerm({ scale: left.range.scale, ...bounds }, { operation: "%", left, right });
}

function requireConstant({ expression }: NumberTerm, action: string): bigint {
  if (expression.operation !== "constant")
    throw new NotPushable(`it ${action} a number that differs from event to event`);
  if (expression.value === 0n) throw new NotPushable(`it ${action} zero, which fails`);
  return expression.value;
}

/** The least, or the greatest, of some decimals. */
export function takeExtreme(operation: "least" | "greatest", terms: readonly NumberTerm[]): NumberTerm {
  const scale = Math.max(...terms.map(({ range }) => range.scale));
  const parts = terms.map((part) => rescaleTerm(part, scale));
  const pick = (values: readonly bigint[]): bigint =>
    values.reduce((a, b) => ((operation === "least") === a < b ? a : b));
  const range = {
    scale,
    least: pick(parts.map((part) => part.range.least)),
    most: pick(parts.map((part) => part.range.most)),
  };
  return createNumberTerm(range, { operation, parts });
}

/** Rounded to so many places after the point (S3.4). */
export function roundTerm(of: NumberTerm, places: number, operation: PlacesRounding): NumberTerm {
  const drop = of.range.scale - places;
  if (drop <= 0) return of;
  const unit = 10n ** BigInt(drop);
  // Whatever the way of rounding, a value moves by less than one unit.
  const widest = { ...of.range, least: of.range.least - unit, most: of.range.most + unit };
  createNumberTerm(widest, { operation: "constant", value: 0n });
  const range = { scale: Math.max(places, 0), least: widest.least / unit - 1n, most: widest.most / unit + 1n };
  const result = createNumberTerm(range, { operation, of, unit });
  return places >= 0 ? result : multiplyTerms(result, createWholeNumber(10n ** BigInt(-places)));
}

/** One of two decimals. */
export function chooseNumber(condition: TruthTerm, then: NumberTerm, otherwise: NumberTerm): NumberTerm {
  const [left, right] = alignScales(then, otherwise);
  return createChoice(condition, left, right, (expression) =>
    createNumberTerm(uniteRanges(left.range, right.range), expression),
  );
}

/** How two decimals stand to each other; where their ranges say so, known beforehand. */
export function compareNumbers(order: Order, a: NumberTerm, b: NumberTerm): TruthTerm {
  const [left, right] = alignScales(a, b);
  if (left.expression.operation === "constant" && right.expression.operation === "constant")
    return createTruthConstant(isInOrder(order, left.expression.value, right.expression.value));
  return { kind: "truth", expression: { operation: "order", order, left, right } };
}

function isInOrder(order: Order, a: bigint, b: bigint): boolean {
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

/** The places of a rounding, where they are known beforehand. @throws {NotPushable} for any other, and for what fails */
export function requirePlaces({ expression, range }: NumberTerm): number {
  if (expression.operation !== "constant" || range.scale !== 0 || largestMagnitude(range) > 100n)
    throw new NotPushable("it rounds to places that are no whole number known beforehand");
  return Number(expression.value);
}

/** Whether a decimal is not 0. */
export function testNonZero(of: NumberTerm): TruthTerm {
  return compareNumbers("<>", of, createWholeNumber(0n));
}
