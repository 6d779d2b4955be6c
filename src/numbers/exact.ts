/**
 * Exact decimals for processing events: a safe integer if it fits, else a mantissa with a scale; faster than the
 * {@link Decimal} of the public API, with the same results (S1). Each operation first tries doubles, whose integers are
 * exact up to 2^53, and falls back to bigint.
 */
import { RatebookError } from "../errors.ts";
import { type Decimal, decimalOfInteger, DIGITS_MAX, EXPONENT_MAX, QUOTIENT_DIGITS } from "./decimal.ts";

/**
 * `mantissa × 10^-scale`. The mantissa is a nonzero safe integer, or a bigint if that does not fit; the scale is 0 to
 * 1000. Not normalized: 1.5 and 1.50 are different objects with one value, and a scaled value may be a whole number.
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

/** How {@link roundExact} rounds: half away from zero, towards minus infinity, towards plus infinity. */
export type PlacesRounding = "round" | "floor" | "ceil";

const SAFE_MAX = Number.MAX_SAFE_INTEGER;
/** 10^0 to 10^22: the powers of ten that a double represents exactly. */
const POWERS: readonly number[] = Array.from({ length: 23 }, (_, power) => Number(`1e${power}`));
/** A smaller mantissa has at most 100 digits, which then need not be counted. */
const MANTISSA_END = 10n ** BigInt(DIGITS_MAX);
/** A quotient of this many digits has one extra digit for rounding. */
const QUOTIENT_END = 10n ** BigInt(QUOTIENT_DIGITS + 1);

/** Whether a value of a rule is an exact decimal. */
export function isExact(value: unknown): value is Exact {
  return typeof value === "number" || value instanceof Scaled;
}

/** a + b, exactly. @throws {RatebookError} ERR_ARITHMETIC beyond 100 digits (S1.4) */
export function addExact(a: Exact, b: Exact): Exact {
  if (typeof a === "number" && typeof b === "number") {
    const total = a + b;
    if (total <= SAFE_MAX && total >= -SAFE_MAX) return total;
  }
  return addScaled(a, b, 1);
}

/** a − b, exactly. @throws {RatebookError} ERR_ARITHMETIC beyond 100 digits (S1.4) */
export function subtractExact(a: Exact, b: Exact): Exact {
  if (typeof a === "number" && typeof b === "number") {
    const total = a - b;
    if (total <= SAFE_MAX && total >= -SAFE_MAX) return total;
  }
  return addScaled(a, b, -1);
}

/** a × b, exactly. @throws {RatebookError} ERR_ARITHMETIC beyond 100 digits (S1.4) */
export function multiplyExact(a: Exact, b: Exact): Exact {
  const x = typeof a === "number" ? a : a.mantissa;
  const y = typeof b === "number" ? b : b.mantissa;
  const scale = (typeof a === "number" ? 0 : a.scale) + (typeof b === "number" ? 0 : b.scale);
  if (typeof x === "number" && typeof y === "number") {
    const product = x * y;
    if (product <= SAFE_MAX && product >= -SAFE_MAX) {
      if (scale === 0) return product === 0 ? 0 : product;
      if (scale <= EXPONENT_MAX) return product === 0 ? 0 : new Scaled(product, scale);
    }
  }
  return makeExact(BigInt(x) * BigInt(y), scale);
}

/** a ÷ b, to 34 significant digits, half up (S1.4). @throws {RatebookError} ERR_ARITHMETIC if b is zero */
export function divideExact(a: Exact, b: Exact): Exact {
  if (isZeroExact(b)) throw divisionByZeroError();
  const scaleA = scaleOf(a);
  const scaleB = scaleOf(b);
  // With equal scales, or a larger one of the dividend, the quotient of the mantissas only loses places.
  const x = mantissaAtScale(a, Math.max(scaleA, scaleB));
  const y = mantissaOf(b);
  if (x === 0) return 0;
  if (typeof y === "number") {
    const scale = Math.max(scaleA - scaleB, 0);
    // A quotient with few decimal places, the usual case, is found by trial.
    for (let places = 0; places <= 6; places++) {
      const dividend = x * (POWERS[places] ?? Number.NaN);
      if (!(dividend <= SAFE_MAX && dividend >= -SAFE_MAX)) break;
      if (dividend % y === 0) return makeFromSafeInteger(dividend / y, places + scale);
    }
  }
  return divideMantissas(BigInt(mantissaOf(a)), BigInt(y), scaleA - scaleB);
}

/** The remainder of a ÷ b with the sign of a, as in JavaScript. @throws {RatebookError} ERR_ARITHMETIC if b is zero */
export function remainderExact(a: Exact, b: Exact): Exact {
  if (isZeroExact(b)) throw divisionByZeroError();
  const scale = Math.max(scaleOf(a), scaleOf(b));
  const x = mantissaAtScale(a, scale);
  const y = mantissaAtScale(b, scale);
  if (Number.isNaN(x) || Number.isNaN(y))
    return makeExact(bigMantissaAtScale(a, scale) % bigMantissaAtScale(b, scale), scale);
  const rest = x % y;
  return rest === 0 ? 0 : scale === 0 ? rest : new Scaled(rest, scale);
}

/** −a. */
export function negateExact(a: Exact): Exact {
  if (typeof a === "number") return a === 0 ? 0 : -a;
  return new Scaled(-a.mantissa, a.scale);
}

/** Negative, 0 or positive if a is less than, equal to or greater than b. */
export function compareExact(a: Exact, b: Exact): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  const scale = Math.max(scaleOf(a), scaleOf(b));
  const x = mantissaAtScale(a, scale);
  const y = mantissaAtScale(b, scale);
  if (!Number.isNaN(x) && !Number.isNaN(y)) return x - y;
  const difference = bigMantissaAtScale(a, scale) - bigMantissaAtScale(b, scale);
  return difference === 0n ? 0 : difference < 0n ? -1 : 1;
}

export function isZeroExact(a: Exact): boolean {
  const mantissa = mantissaOf(a);
  return mantissa === 0 || mantissa === 0n;
}

/** Rounds to `places` after the decimal point; negative `places` round to tens, hundreds and so on. */
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
  return makeExact(units, places);
}

/** The decimal in a JavaScript number's shortest text (S1.2). @returns undefined for NaN, infinities and numbers above 2^53 */
export function exactOfNumber(value: number): Exact | undefined {
  if (Number.isSafeInteger(value)) return value === 0 ? 0 : value;
  return toScaled(value, 2) ?? toScaled(value, 4) ?? toScaled(value, 6) ?? parseLongNumber(value);
}

/** If a decimal of at most 15 digits is nearest to a double, it is the one in the double's shortest text. */
function toScaled(value: number, scale: 2 | 4 | 6): Scaled | undefined {
  const power = scale === 2 ? 100 : scale === 4 ? 10_000 : 1_000_000;
  const mantissa = Math.round(value * power);
  const isNearest = mantissa / power === value && mantissa < SHORT_END && mantissa > -SHORT_END;
  return isNearest ? new Scaled(mantissa, scale) : undefined;
}

function parseLongNumber(value: number): Exact | undefined {
  return Math.abs(value) <= SAFE_MAX ? exactOfText(String(value)) : undefined;
}

/** The number of characters, including sign and point, that a double can always represent. */
const SHORT_TEXT_MAX = 17;
const SHORT_DIGITS_MAX = 15;
const SHORT_END = 1e15;

/**
 * The decimal in a text (S1.2), of any size within the exact range.
 *
 * @returns undefined if the text is not a decimal, or out of range
 */
export function exactOfText(text: string): Exact | undefined {
  const { length } = text;
  if (length > SHORT_TEXT_MAX || length === 0) return exactOfLongText(text);
  const first = text.charCodeAt(0);
  let mantissa = 0;
  let digits = 0;
  let point = -1;
  for (let index = first === MINUS || first === PLUS ? 1 : 0; index < length; index++) {
    const code = text.charCodeAt(index);
    if (code >= ZERO_CODE && code <= NINE_CODE) {
      mantissa = mantissa * 10 + (code - ZERO_CODE);
      digits++;
    } else if (code === POINT && point < 0) point = digits;
    else return exactOfLongText(text);
  }
  if (digits === 0 || digits > SHORT_DIGITS_MAX) return exactOfLongText(text);
  return trimFraction(first === MINUS ? -mantissa : mantissa, point < 0 ? 0 : digits - point);
}

/** Removes trailing zeros of the fraction: `1.00` becomes a whole number. */
function trimFraction(mantissa: number, places: number): Exact {
  let [digits, scale] = [mantissa, places];
  while (scale > 0 && digits % 10 === 0) {
    digits /= 10;
    scale--;
  }
  if (digits === 0) return 0;
  return scale === 0 ? digits : new Scaled(digits, scale);
}

const [PLUS, MINUS, POINT, ZERO_CODE, NINE_CODE] = [43, 45, 46, 48, 57];
const PLAIN = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,9}))?$/;

function exactOfLongText(text: string): Exact | undefined {
  if (text.length > 4 * EXPONENT_MAX) return undefined;
  const parts = PLAIN.exec(text);
  if (parts === null) return undefined;
  const [, sign = "", integer = "", fraction = "", exponent = "0"] = parts;
  const digits = integer + fraction;
  if (digits === "") return undefined;
  const mantissa = BigInt(digits);
  const scale = fraction.length - Number(exponent);
  return exactWithinBounds(sign === "-" ? -mantissa : mantissa, scale);
}

/** The plain text of the value: no exponent, no trailing zeros. */
export function formatExact(value: Exact): string {
  if (typeof value === "number") return String(value);
  const { mantissa, scale } = value;
  if (scale === 0) return String(mantissa);
  const text = String(mantissa);
  const sign = text.startsWith("-") ? "-" : "";
  const digits = text.slice(sign.length).padStart(scale + 1, "0");
  let end = digits.length;
  const point = end - scale;
  while (end > point && digits.charCodeAt(end - 1) === ZERO_CODE) end--;
  return sign + digits.slice(0, point) + (end === point ? "" : `.${digits.slice(point, end)}`);
}

/** The value as a {@link Decimal}. */
export function decimalOfExact(value: Exact): Decimal {
  return typeof value === "number" ? decimalOfInteger(value) : decimalOfInteger(value.mantissa, value.scale);
}

/** Converts a {@link Decimal}. @throws {RatebookError} ERR_ARITHMETIC beyond 100 digits */
export function exactOfDecimal(value: Decimal): Exact {
  const whole = smallWhole(value);
  if (!Number.isNaN(whole)) return whole;
  const [digits = "0", exponent = "0"] = value.toExponential().split("e");
  const [integer = "0", fraction = ""] = digits.split(".");
  return makeExact(BigInt(integer + fraction), fraction.length - Number(exponent));
}

/** A whole number below 10^15 from its groups of seven digits, highest first; NaN for any other decimal. */
export function smallWhole({ d, e, s }: Decimal): number {
  const groups = Math.floor(e / 7) + 1;
  if (e < 0 || e > 14 || d.length > groups) return Number.NaN;
  let whole = 0;
  for (let index = 0; index < groups; index++) whole = whole * 1e7 + (d[index] ?? 0);
  return whole === 0 ? 0 : s * whole;
}

/**
 * Whether a value has at most `places` digits before and after the decimal point, ignoring trailing zeros of the
 * fraction. Uses only mantissa and scale: creating a Decimal per value would take two thirds of the time of processing
 * events.
 *
 * @param places 16 or more
 */
export function isWithinPlaces(value: Exact, places: number): boolean {
  if (typeof value === "number") return true;
  const { mantissa, scale } = value;
  if (typeof mantissa === "number" && scale <= places) return true;
  const digits = BigInt(mantissa);
  const end = 10n ** BigInt(places + scale);
  return digits < end && digits > -end && (scale <= places || digits % 10n ** BigInt(scale - places) === 0n);
}

/** The mantissa of a value at its scale. */
export function mantissaOf(value: Exact): number | bigint {
  return typeof value === "number" ? value : value.mantissa;
}

/** The decimal places of the mantissa. */
export function scaleOf(value: Exact): number {
  return typeof value === "number" ? 0 : value.scale;
}

function addScaled(a: Exact, b: Exact, sign: 1 | -1): Exact {
  const scaleA = typeof a === "number" ? 0 : a.scale;
  const scaleB = typeof b === "number" ? 0 : b.scale;
  const scale = scaleA > scaleB ? scaleA : scaleB;
  const x = multiplyByPowerOfTen(typeof a === "number" ? a : a.mantissa, scale - scaleA);
  const y = multiplyByPowerOfTen(typeof b === "number" ? b : b.mantissa, scale - scaleB);
  const total = x + sign * y;
  if (total <= SAFE_MAX && total >= -SAFE_MAX) return total === 0 ? 0 : makeFromSafeInteger(total, scale);
  return makeExact(bigMantissaAtScale(a, scale) + BigInt(sign) * bigMantissaAtScale(b, scale), scale);
}

/** `mantissa × 10^places` if that is a safe integer; else NaN. */
export function multiplyByPowerOfTen(mantissa: number | bigint, places: number): number {
  if (typeof mantissa !== "number") return Number.NaN;
  if (places === 0) return mantissa;
  const result = mantissa * (POWERS[places] ?? Number.NaN);
  return result <= SAFE_MAX && result >= -SAFE_MAX ? result : Number.NaN;
}

function mantissaAtScale(value: Exact, scale: number): number {
  return multiplyByPowerOfTen(mantissaOf(value), scale - scaleOf(value));
}

function bigMantissaAtScale(value: Exact, scale: number): bigint {
  return BigInt(mantissaOf(value)) * 10n ** BigInt(scale - scaleOf(value));
}

function makeFromSafeInteger(mantissa: number, scale: number): Exact {
  if (scale === 0) return mantissa;
  return scale <= EXPONENT_MAX ? new Scaled(mantissa, scale) : makeExact(BigInt(mantissa), scale);
}

function makeExact(mantissa: bigint, scale: number): Exact {
  const exact = exactWithinBounds(mantissa, scale);
  if (exact !== undefined) return exact;
  throw outOfRangeError();
}

/** `mantissa × 10^-scale`; undefined beyond the bounds of S1.4. A negative scale multiplies the mantissa. */
function exactWithinBounds(mantissa: bigint, scale: number): Exact | undefined {
  const isWithin = scale >= 0 && scale <= EXPONENT_MAX && mantissa < MANTISSA_END && mantissa > -MANTISSA_END;
  return isWithin ? narrowMantissa(mantissa, scale) : trimZeros(mantissa, scale);
}

/** {@link exactWithinBounds} without trailing zeros of the fraction. */
function trimZeros(mantissa: bigint, scale: number): Exact | undefined {
  if (mantissa === 0n) return 0;
  const digits = mantissa < 0n ? (-mantissa).toString() : mantissa.toString();
  let zeros = 0;
  while (digits.charCodeAt(digits.length - 1 - zeros) === ZERO_CODE) zeros++;
  const exponent = digits.length - 1 - scale;
  if (digits.length - zeros > DIGITS_MAX || Math.abs(exponent) > EXPONENT_MAX) return undefined;
  const removable = Math.max(0, Math.min(scale, zeros));
  const places = scale - removable;
  const remaining = mantissa / 10n ** BigInt(removable);
  return places < 0 ? narrowMantissa(remaining * 10n ** BigInt(-places), 0) : narrowMantissa(remaining, places);
}

function narrowMantissa(mantissa: bigint, scale: number): Exact {
  const double = Number(mantissa);
  const isSafe = double <= SAFE_MAX && double >= -SAFE_MAX;
  if (isSafe && (scale === 0 || double === 0)) return double;
  return new Scaled(isSafe ? double : mantissa, scale);
}

/** dividend ÷ divisor × 10^-scale, to 34 significant digits, half up. */
function divideMantissas(dividend: bigint, divisor: bigint, scale: number): Exact {
  const numerator = dividend < 0n ? -dividend : dividend;
  const denominator = divisor < 0n ? -divisor : divisor;
  // A quotient of 35 or 36 digits: the kept ones and at least one for rounding; later digits do not matter.
  const shift = QUOTIENT_DIGITS + 1 + countDigits(denominator) - countDigits(numerator);
  const quotient = shift > 0 ? (numerator * 10n ** BigInt(shift)) / denominator : numerator / denominator;
  const surplus = shift > 0 ? (quotient < QUOTIENT_END ? 1 : 2) : countDigits(quotient) - QUOTIENT_DIGITS;
  const unit = 10n ** BigInt(surplus);
  const rounded = (quotient + unit / 2n) / unit;
  const mantissa = dividend < 0n !== divisor < 0n ? -rounded : rounded;
  const places = scale + Math.max(shift, 0) - surplus;
  const exact = rounded % 10n === 0n ? trimZeros(mantissa, places) : exactWithinBounds(mantissa, places);
  if (exact !== undefined) return exact;
  throw outOfRangeError();
}

function countDigits(positive: bigint): number {
  return positive.toString().length;
}

function divisionByZeroError(): RatebookError<"ERR_ARITHMETIC"> {
  return new RatebookError("ERR_ARITHMETIC", "division by zero", {});
}

function outOfRangeError(): RatebookError<"ERR_ARITHMETIC"> {
  return new RatebookError("ERR_ARITHMETIC", `a result needs more than ${DIGITS_MAX} significant digits`, {});
}
