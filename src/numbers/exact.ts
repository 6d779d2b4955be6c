/**
 * Exact decimals inside the event path: a safe integer where it fits, a mantissa with a scale beyond, faster than the
 * {@link Decimal} of the public face and with the same results (S1).
 *
 * @module
 */
import { RatebookError } from "../errors.ts";
import { Decimal, DIGITS_MAX, EXPONENT_MAX, QUOTIENT_DIGITS, textOf } from "./decimal.ts";

/**
 * `mantissa × 10^-scale`. The mantissa is a safe integer, or a bigint where that does not fit; the scale is 0 or more.
 * Not normal: 1.0 and 1.00 are different objects of one value.
 */
export class Scaled {
  readonly mantissa: number | bigint;
  readonly scale: number;

  constructor(mantissa: number | bigint, scale: number) {
    this.mantissa = mantissa;
    this.scale = scale;
  }
}

/** An exact decimal: a JavaScript number is always a safe integer (never a fraction, NaN or minus zero). */
export type Exact = number | Scaled;

const SAFE_MAX = Number.MAX_SAFE_INTEGER;
/** 10^0 to 10^22: the powers of ten that a double holds exactly. */
const POWERS: readonly number[] = Array.from({ length: 23 }, (_, power) => Number(`1e${power}`));

/** Whether a value of a rule is an exact decimal. */
export function isExact(value: unknown): value is Exact {
  return typeof value === "number" || value instanceof Scaled;
}

/** a + b, exactly. @throws {RatebookError} ERR_ARITHMETIC beyond 100 digits (S1.4) */
export function addExact(a: Exact, b: Exact): Exact {
  if (typeof a === "number" && typeof b === "number") {
    const total = a + b;
    if (total <= SAFE_MAX && total >= -SAFE_MAX) return total;
    return make(BigInt(a) + BigInt(b), 0);
  }
  return addScaled(a, b, 1);
}

/** a − b, exactly. @throws {RatebookError} ERR_ARITHMETIC beyond 100 digits (S1.4) */
export function subtractExact(a: Exact, b: Exact): Exact {
  if (typeof a === "number" && typeof b === "number") {
    const total = a - b;
    if (total <= SAFE_MAX && total >= -SAFE_MAX) return total;
    return make(BigInt(a) - BigInt(b), 0);
  }
  return addScaled(a, b, -1);
}

/** a × b, exactly. @throws {RatebookError} ERR_ARITHMETIC beyond 100 digits (S1.4) */
export function multiplyExact(a: Exact, b: Exact): Exact {
  if (typeof a === "number" && typeof b === "number") {
    const product = a * b;
    if (product <= SAFE_MAX && product >= -SAFE_MAX) return product === 0 ? 0 : product;
    return make(BigInt(a) * BigInt(b), 0);
  }
  const x = mantissaOf(a);
  const y = mantissaOf(b);
  const scale = scaleOf(a) + scaleOf(b);
  if (typeof x === "number" && typeof y === "number") {
    const product = x * y;
    if (product <= SAFE_MAX && product >= -SAFE_MAX) return product === 0 ? 0 : fits(product, scale);
  }
  return make(BigInt(x) * BigInt(y), scale);
}

/** a ÷ b, to 34 significant digits, half up (S1.4). @throws {RatebookError} ERR_ARITHMETIC when b is zero */
export function divideExact(a: Exact, b: Exact): Exact {
  const divisor = BigInt(mantissaOf(b));
  if (divisor === 0n) throw new RatebookError("ERR_ARITHMETIC", "division by zero", {});
  if (typeof a === "number" && typeof b === "number") {
    const quotient = a / b;
    if (Number.isInteger(quotient) && quotient <= SAFE_MAX && quotient >= -SAFE_MAX && quotient * b === a) {
      return quotient === 0 ? 0 : quotient;
    }
  }
  const dividend = BigInt(mantissaOf(a));
  return quotientOf(dividend, divisor, scaleOf(a) - scaleOf(b));
}

/** The remainder of a ÷ b with the sign of a, as in JavaScript. @throws {RatebookError} ERR_ARITHMETIC when b is zero */
export function remainderExact(a: Exact, b: Exact): Exact {
  if (isZeroExact(b)) throw new RatebookError("ERR_ARITHMETIC", "division by zero", {});
  if (typeof a === "number" && typeof b === "number") {
    const rest = a % b;
    return rest === 0 ? 0 : rest;
  }
  const scale = Math.max(scaleOf(a), scaleOf(b));
  return make(raised(a, scale) % raised(b, scale), scale);
}

/** −a. */
export function negateExact(a: Exact): Exact {
  return subtractExact(0, a);
}

/** Below 0, 0 or above 0 as a is less than, equal to or more than b, by value. */
export function compareExact(a: Exact, b: Exact): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  const scale = Math.max(scaleOf(a), scaleOf(b));
  const x = raisedNumber(a, scale);
  const y = raisedNumber(b, scale);
  if (x !== undefined && y !== undefined) return x - y;
  const difference = raised(a, scale) - raised(b, scale);
  return difference === 0n ? 0 : difference < 0n ? -1 : 1;
}

/** Whether the value is 0. */
export function isZeroExact(a: Exact): boolean {
  const mantissa = mantissaOf(a);
  return mantissa === 0 || mantissa === 0n;
}

/**
 * The decimal that a JavaScript number's shortest text says.
 *
 * @returns undefined for NaN, infinities and numbers above 2^53
 */
export function exactOfNumber(value: number): Exact | undefined {
  if (Number.isInteger(value)) return value <= SAFE_MAX && value >= -SAFE_MAX ? (value === 0 ? 0 : value) : undefined;
  if (!Number.isFinite(value)) return undefined;
  // A decimal of at most 15 digits that divides back to the double is its shortest text.
  for (let scale = 1; scale <= 6; scale++) {
    const power = POWERS[scale] ?? 1;
    const mantissa = Math.round(value * power);
    if (mantissa / power === value && mantissa < 1e15 && mantissa > -1e15) return new Scaled(mantissa, scale);
  }
  return exactOfText(String(value));
}

const PLAIN = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,9}))?$/;

/**
 * The decimal that a text says (S1.2), of any size within the exact range.
 *
 * @returns undefined when the text is no decimal, or is out of range
 */
export function exactOfText(text: string): Exact | undefined {
  if (text.length > 4 * EXPONENT_MAX) return undefined;
  const parts = PLAIN.exec(text);
  if (parts === null) return undefined;
  const [, sign = "", integer = "", fraction = "", exponent = "0"] = parts;
  const digits = integer + fraction;
  if (digits === "") return undefined;
  const scale = fraction.length - Number(exponent);
  if (digits.length <= 15) {
    const mantissa = Number(digits);
    if (mantissa === 0) return 0;
    const signed = sign === "-" ? -mantissa : mantissa;
    if (scale === 0) return signed;
    if (scale > 0 && scale <= EXPONENT_MAX) return new Scaled(signed, scale);
  }
  const mantissa = BigInt(digits);
  try {
    return make(sign === "-" ? -mantissa : mantissa, scale);
  } catch {
    return undefined;
  }
}

/** The plain text of the value: no exponent, no trailing zeros. */
export function textOfExact(value: Exact): string {
  return typeof value === "number" ? String(value) : textOf(decimalOfExact(value));
}

/** The value as a {@link Decimal}. */
export function decimalOfExact(value: Exact): Decimal {
  return typeof value === "number" ? new Decimal(value) : new Decimal(`${value.mantissa}e${-value.scale}`);
}

/** A {@link Decimal} as an exact value of the event path. */
export function exactOfDecimal(value: Decimal): Exact {
  if (value.isInteger() && value.abs().lte(SAFE_MAX)) return value.isZero() ? 0 : Number(textOf(value));
  const scale = Math.max(value.decimalPlaces(), 0);
  return make(BigInt(value.times(new Decimal(`1e${scale}`)).toFixed(0)), scale);
}

/** The integer that, at 10^-scale, is the value. */
export function mantissaOf(value: Exact): number | bigint {
  return typeof value === "number" ? value : value.mantissa;
}

/** The number of digits after the point that the mantissa counts. */
export function scaleOf(value: Exact): number {
  return typeof value === "number" ? 0 : value.scale;
}

function addScaled(a: Exact, b: Exact, sign: 1 | -1): Exact {
  const scale = Math.max(scaleOf(a), scaleOf(b));
  const x = raisedNumber(a, scale);
  const y = raisedNumber(b, scale);
  if (x !== undefined && y !== undefined) {
    const total = x + sign * y;
    if (total <= SAFE_MAX && total >= -SAFE_MAX) return total === 0 ? 0 : fits(total, scale);
  }
  return make(raised(a, scale) + BigInt(sign) * raised(b, scale), scale);
}

/** The mantissa at a larger scale, where that is a safe integer. */
function raisedNumber(value: Exact, scale: number): number | undefined {
  const mantissa = mantissaOf(value);
  if (typeof mantissa !== "number") return undefined;
  const power = POWERS[scale - scaleOf(value)];
  if (power === undefined) return undefined;
  const result = mantissa * power;
  return result <= SAFE_MAX && result >= -SAFE_MAX ? result : undefined;
}

function raised(value: Exact, scale: number): bigint {
  return BigInt(mantissaOf(value)) * 10n ** BigInt(scale - scaleOf(value));
}

function fits(mantissa: number, scale: number): Exact {
  return scale <= EXPONENT_MAX ? new Scaled(mantissa, scale) : make(BigInt(mantissa), scale);
}

/** The normal form of `mantissa × 10^-scale`, with the bounds of S1.4. A negative scale raises the mantissa. */
function make(mantissa: bigint, scale: number): Exact {
  if (mantissa === 0n) return 0;
  const digits = mantissa < 0n ? (-mantissa).toString() : mantissa.toString();
  let zeros = 0;
  while (digits.charCodeAt(digits.length - 1 - zeros) === 48) zeros++;
  const significant = digits.length - zeros;
  const exponent = digits.length - 1 - scale;
  if (significant > DIGITS_MAX || exponent > EXPONENT_MAX || exponent < -EXPONENT_MAX) {
    throw new RatebookError("ERR_ARITHMETIC", `a result needs more than ${DIGITS_MAX} significant digits`, {});
  }
  let normal = mantissa;
  let places = scale;
  if (places > 0 && zeros > 0) {
    const cut = Math.min(places, zeros);
    normal /= 10n ** BigInt(cut);
    places -= cut;
  } else if (places < 0) {
    normal *= 10n ** BigInt(-places);
    places = 0;
  }
  const asNumber = Number(normal);
  const safe = asNumber <= SAFE_MAX && asNumber >= -SAFE_MAX;
  if (places === 0) return safe ? asNumber : new Scaled(normal, 0);
  return new Scaled(safe ? asNumber : normal, places);
}

/** dividend ÷ divisor × 10^-scale, to 34 significant digits, half up. */
function quotientOf(dividend: bigint, divisor: bigint, scale: number): Exact {
  if (dividend === 0n) return 0;
  const negative = dividend < 0n !== divisor < 0n;
  const numerator = dividend < 0n ? -dividend : dividend;
  const denominator = divisor < 0n ? -divisor : divisor;
  // Enough extra digits for 34 in the quotient and one more to round by; the rest decides nothing but "exactly half".
  const shift = Math.max(0, QUOTIENT_DIGITS + 2 + denominator.toString().length - numerator.toString().length);
  const quotient = (numerator * 10n ** BigInt(shift)) / denominator;
  const extra = quotient.toString().length - QUOTIENT_DIGITS;
  const result = extra > 0 ? (quotient + 5n * 10n ** BigInt(extra - 1)) / 10n ** BigInt(extra) : quotient;
  const places = scale + shift - Math.max(extra, 0);
  return make(negative ? -result : result, places);
}

/** How {@link roundExact} rounds: half away from zero, towards minus infinity, towards plus infinity. */
export type PlacesRounding = "round" | "floor" | "ceil";

/** Rounds to `places` after the point; below zero, to powers of ten. */
export function roundExact(value: Exact, places: number, rounding: PlacesRounding): Exact {
  const drop = scaleOf(value) - places;
  if (drop <= 0) return value;
  const mantissa = BigInt(mantissaOf(value));
  const unit = 10n ** BigInt(drop);
  let units = mantissa / unit;
  const rest = mantissa % unit;
  if (rest !== 0n) {
    if (rounding === "floor") units -= rest < 0n ? 1n : 0n;
    else if (rounding === "ceil") units += rest > 0n ? 1n : 0n;
    else if (2n * (rest < 0n ? -rest : rest) >= unit) units += rest < 0n ? -1n : 1n;
  }
  return make(units, places);
}
