/**
 * Exact decimals of the public API (S1). Only this file imports decimal.js, whose methods silently round at their
 * precision; the functions here never do.
 */
import { Decimal as Base } from "decimal.js";

import { type NumberFault, RatebookError } from "../errors.ts";
import { quoteText } from "../problem-table.ts";

/** Maximum significant digits of an exact result (S1.4). */
export const DIGITS_MAX = 100;
/** Significant digits of a division in a rule (S1.4). */
export const QUOTIENT_DIGITS = 34;
/** Maximum digits before, and after, the decimal point of a value from an event or a book (S1.3). */
export const VALUE_DIGITS_MAX = 20;
/** Maximum power of ten, positive or negative, of an exact result; prevents huge exponents from filling memory. */
export const EXPONENT_MAX = 1000;

const settings = { rounding: Base.ROUND_HALF_UP, toExpNeg: -9e15, toExpPos: 9e15, defaults: true } as const;

/** A separate constructor (S1.4): configuring decimal.js elsewhere does not affect our results, nor vice versa. */
export const Decimal = Base.clone({ ...settings, precision: DIGITS_MAX });
/** An exact decimal. */
export type Decimal = Base;
/** The rounding modes of decimal.js. */
export type DecimalRounding = Base.Rounding;
const Wide = Base.clone({ ...settings, precision: 4 * EXPONENT_MAX });
const Quotient = Base.clone({ ...settings, precision: QUOTIENT_DIGITS });

export const ZERO: Decimal = new Decimal(0);
export const ONE: Decimal = new Decimal(1);

/** Small integers, which most events have, cached: a Decimal never changes. */
const SMALL: readonly Decimal[] = Array.from({ length: 1025 }, (_, value) => new Decimal(value));

/** decimal.js stores digits in groups of seven, counted from the decimal point. */
const GROUP = 1e7;
/** 10^0 to 10^7. */
const POWERS: readonly number[] = Array.from({ length: 8 }, (_, power) => Number(`1e${power}`));

/**
 * `value × 10^-scale` as a Decimal; small integers are shared. With at most seven digits before and after the point it
 * is built from its groups, which takes a thirtieth of the time of parsing a text.
 *
 * @param value a safe integer, or a bigint
 */
export function decimalOfInteger(value: number | bigint, scale = 0): Decimal {
  const power = POWERS[scale];
  if (typeof value === "bigint" || power === undefined) return new Decimal(`${value}e-${scale}`);
  const small = scale === 0 ? SMALL[value] : undefined;
  if (small !== undefined) return small;
  if (value === 0) return ZERO;
  const size = Math.abs(value);
  const whole = Math.floor(size / power);
  if (whole >= GROUP) return new Decimal(`${value}e-${scale}`);
  const fraction = (size - whole * power) * (GROUP / power);
  const decimal = Object.create(Decimal.prototype) as { -readonly [Name in keyof Decimal]: Decimal[Name] };
  decimal.constructor = Decimal;
  decimal.s = value < 0 ? -1 : 1;
  decimal.e = whole === 0 ? countDigits(fraction) - 8 : countDigits(whole) - 1;
  decimal.d = whole === 0 ? [fraction] : fraction === 0 ? [whole] : [whole, fraction];
  return decimal;
}

/** The number of digits of an integer above 0. */
function countDigits(value: number): number {
  let digits = 1;
  for (let rest = value; rest >= 10; rest /= 10) digits++;
  return digits;
}

/** The input forms of a decimal: a decimal text, a JavaScript number (its shortest text) or a Decimal. */
export type DecimalInput = string | number | Decimal;

/**
 * Whether a value is a decimal, even from another copy of decimal.js. Decimals are recognized by a property that any
 * data may have, but theirs is inherited, whereas JSON data has own properties.
 */
export function isDecimalObject(value: unknown): value is Decimal {
  return Base.isDecimal(value) && (value instanceof Decimal || !Object.hasOwn(value, "toStringTag"));
}

/** Whether a value is an object with fields: neither a list nor a decimal. */
export function isJsonObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isDecimalObject(value);
}

const TEXT_LENGTH_MAX = 4 * EXPONENT_MAX;
/** An optional sign, digits with an optional point, an optional exponent; nothing else (S1.2). */
const DECIMAL_TEXT = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,9})?$/;

/**
 * Parses a decimal of any size within the exact range (S1.2).
 *
 * @throws {RatebookError} ERR_NUMBER_INVALID for NaN, infinities, hex, blanks, separators, other types, and for a
 * JavaScript number above 2^53, which may differ from what was written
 */
export function parseDecimal(value: unknown): Decimal {
  if (isDecimalObject(value)) return requireInputInRange(new Decimal(value));
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw invalidNumberError("NOT_A_DECIMAL", `${value} is not a decimal`);
    if (Math.abs(value) > Number.MAX_SAFE_INTEGER) {
      throw invalidNumberError(
        "UNSAFE_NUMBER",
        `the number ${value} is above 2^53, so its last digits may be lost; write it as a string`,
      );
    }
    return value === 0 ? ZERO : new Decimal(value);
  }
  if (typeof value === "string") {
    if (value.length > TEXT_LENGTH_MAX || !DECIMAL_TEXT.test(value))
      throw invalidNumberError("NOT_A_DECIMAL", `${quoteText(value)} is not a decimal`);
    return requireInputInRange(new Decimal(value));
  }
  throw invalidNumberError("NOT_A_NUMBER", `expected a decimal, got ${describeType(value)}`);
}

function describeType(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value === "object") return Array.isArray(value) ? "a list" : "an object";
  return `a ${typeof value}`;
}

/**
 * Parses a value of an event or a book: at most 20 integer and 20 fraction digits (S1.3).
 *
 * @throws {RatebookError} ERR_NUMBER_INVALID as {@link parseDecimal}, and for more digits; never rounds
 */
export function parseValue(value: unknown): Decimal {
  const decimal = parseDecimal(value);
  if (decimal.decimalPlaces() > VALUE_DIGITS_MAX || (!decimal.isZero() && decimal.e >= VALUE_DIGITS_MAX)) {
    const text = quoteText(String(value));
    throw invalidNumberError(
      "TOO_MANY_DIGITS",
      `${text} has more than ${VALUE_DIGITS_MAX} digits before the point or ${VALUE_DIGITS_MAX} after it`,
    );
  }
  return decimal;
}

/** a + b, exactly (S1.4). @throws {RatebookError} ERR_ARITHMETIC if the result needs more than 100 digits */
export function add(a: Decimal, b: Decimal): Decimal {
  // Every sum begins with this zero, and most sums of an invoice have one or two terms.
  if (a === ZERO && b.constructor === Decimal && isNarrowSum(a, b)) return removeZeroSign(b);
  const total = smallInteger(a) + smallInteger(b);
  if (Math.abs(total) < GROUP) return decimalOfInteger(total);
  return isNarrowSum(a, b) ? removeZeroSign(a.plus(b)) : narrowResult(Wide.add(a, b));
}

/** a − b, exactly (S1.4). @throws {RatebookError} ERR_ARITHMETIC if the result needs more than 100 digits */
export function subtract(a: Decimal, b: Decimal): Decimal {
  const difference = smallInteger(a) - smallInteger(b);
  if (Math.abs(difference) < GROUP) return decimalOfInteger(difference);
  return isNarrowSum(a, b) ? removeZeroSign(a.minus(b)) : narrowResult(Wide.sub(a, b));
}

/** a × b, exactly (S1.4). @throws {RatebookError} ERR_ARITHMETIC if the result needs more than 100 digits */
export function multiply(a: Decimal, b: Decimal): Decimal {
  return isNarrowProduct(a, b) ? removeZeroSign(a.times(b)) : narrowResult(Wide.mul(a, b));
}

/** a ÷ b to 34 significant digits, half up (S1.4). @throws {RatebookError} ERR_ARITHMETIC if b is zero */
export function divide(a: Decimal, b: Decimal): Decimal {
  if (b.isZero()) throw new RatebookError("ERR_ARITHMETIC", "division by zero", {});
  return narrowResult(Quotient.div(a, b));
}

/** a ÷ b if that is an exact decimal of at most 100 digits; b is not 0. */
export function divideExactly(a: Decimal, b: Decimal): Decimal | undefined {
  const quotient = Decimal.div(a, b);
  return Wide.mul(quotient, b).eq(a) ? quotient : undefined;
}

/** The exact sum; 0 for no values. @throws {RatebookError} ERR_ARITHMETIC if the result needs more than 100 digits */
export function sum(values: Iterable<Decimal>): Decimal {
  let total = ZERO;
  for (const value of values) total = add(total, value);
  return total;
}

/** The smaller of two. */
export function minimum(a: Decimal, b: Decimal): Decimal {
  return a.lte(b) ? a : b;
}

/** The larger of two. */
export function maximum(a: Decimal, b: Decimal): Decimal {
  return a.gte(b) ? a : b;
}

/** The plain text of a decimal: no exponent, no trailing zeros, `0` for minus zero. */
export function formatDecimal(value: Decimal): string {
  return value.isZero() ? "0" : value.toFixed();
}

/** The value of a whole number below 10^7, which is one group of digits; else NaN. */
function smallInteger({ d, e, s }: Decimal): number {
  return d.length === 1 && e >= 0 && e < 7 ? s * (d[0] ?? Number.NaN) : Number.NaN;
}

/**
 * Whether addition with our constructor keeps every digit, so that no higher precision is needed: from the first digit
 * of the larger operand, plus a carry, to the last digit of the smaller one.
 */
function isNarrowSum(a: Decimal, b: Decimal): boolean {
  if (a.constructor !== Decimal) return false;
  const lowest = Math.min(a.e - 7 * a.d.length, b.e - 7 * b.d.length);
  return Math.max(a.e, b.e) + 1 - lowest <= DIGITS_MAX && Math.abs(a.e) < EXPONENT_MAX && Math.abs(b.e) < EXPONENT_MAX;
}

/** Whether multiplication with our constructor keeps every digit: a product has at most as many as both operands together. */
function isNarrowProduct(a: Decimal, b: Decimal): boolean {
  return (
    a.constructor === Decimal &&
    7 * (a.d.length + b.d.length) <= DIGITS_MAX &&
    Math.abs(a.e) + Math.abs(b.e) < EXPONENT_MAX
  );
}

function removeZeroSign(result: Decimal): Decimal {
  return result.isZero() ? ZERO : result;
}

function narrowResult(result: Base): Decimal {
  return requireInRange(new Decimal(result));
}

function requireInRange(result: Decimal): Decimal {
  if (result.isZero()) return result.isNegative() ? ZERO : result;
  if (result.precision() > DIGITS_MAX || Math.abs(result.e) > EXPONENT_MAX) {
    throw new RatebookError("ERR_ARITHMETIC", `a result needs more than ${DIGITS_MAX} significant digits`, {});
  }
  return result;
}

/** Checks an input value: one out of range is an invalid number. */
function requireInputInRange(value: Decimal): Decimal {
  if (!value.isFinite()) throw invalidNumberError("NOT_A_DECIMAL", `${value.toString()} is not a decimal`);
  if (value.precision() > DIGITS_MAX || Math.abs(value.e) > EXPONENT_MAX) {
    throw invalidNumberError(
      "TOO_MANY_DIGITS",
      `the number has more than ${DIGITS_MAX} significant digits or is beyond 10^${EXPONENT_MAX}`,
    );
  }
  return value.isZero() ? ZERO : value;
}

function invalidNumberError(reason: NumberFault, message: string): RatebookError<"ERR_NUMBER_INVALID"> {
  return new RatebookError("ERR_NUMBER_INVALID", message, { reason });
}
