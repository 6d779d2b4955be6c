/** Exact fractions of decimals: results of proration (S8), which a card line rounds once (S1.5). */
import { add, Decimal, type DecimalRounding, divide, multiply, formatDecimal, ZERO } from "./decimal.ts";

/** `numerator / denominator`, exactly. The denominator is a whole number, 1 or more. */
export interface Fraction {
  readonly numerator: Decimal;
  readonly denominator: number;
}

/** How an amount is rounded to its minor unit: half away from zero, half to even, or towards zero (S1.5). */
export type RoundingMode = "HALF_UP" | "HALF_EVEN" | "DOWN";

/** The rounding modes in decimal.js. */
const MODES: Readonly<Record<RoundingMode, DecimalRounding>> = {
  HALF_UP: Decimal.ROUND_HALF_UP,
  HALF_EVEN: Decimal.ROUND_HALF_EVEN,
  DOWN: Decimal.ROUND_DOWN,
};

export const ZERO_FRACTION: Fraction = { numerator: ZERO, denominator: 1 };

/** A decimal as a fraction. */
export function toFraction(value: Decimal): Fraction {
  return { numerator: value, denominator: 1 };
}

/** `fraction × times ÷ parts`; the division goes into the denominator and is carried out last (S8.1). */
export function multiplyByShare(fraction: Fraction, times: number, parts: number): Fraction {
  if (times === parts) return fraction;
  return { numerator: multiply(fraction.numerator, new Decimal(times)), denominator: fraction.denominator * parts };
}

/** a + b, exactly. */
export function addFractions(a: Fraction, b: Fraction): Fraction {
  if (a.denominator === b.denominator) return { numerator: add(a.numerator, b.numerator), denominator: a.denominator };
  const common = leastCommonMultiple(a.denominator, b.denominator);
  return { numerator: add(numeratorOver(a, common), numeratorOver(b, common)), denominator: common };
}

/** The exact sum; 0 for no fractions. */
export function sumFractions(fractions: Iterable<Fraction>): Fraction {
  let total = ZERO_FRACTION;
  for (const fraction of fractions) total = addFractions(total, fraction);
  return total;
}

/** −a. */
export function negateFraction(a: Fraction): Fraction {
  return { numerator: a.numerator.isZero() ? ZERO : a.numerator.negated(), denominator: a.denominator };
}

/** Negative, 0 or positive if a is less than, equal to or greater than b. */
export function compareFractions(a: Fraction, b: Fraction): number {
  const common = leastCommonMultiple(a.denominator, b.denominator);
  return numeratorOver(a, common).comparedTo(numeratorOver(b, common));
}

/** Rounds the exact fraction once to `digits` decimal places (S1.5). */
export function roundFraction(fraction: Fraction, digits: number, mode: RoundingMode): Decimal {
  if (fraction.denominator === 1) return roundToPlaces(fraction.numerator, digits, MODES[mode]);
  const { units, rest, parts } = splitIntoUnits(fraction, digits);
  // `units` is rounded towards minus infinity, so 0 <= rest < parts.
  const isNegative = fraction.numerator.isNegative();
  const doubledRest = 2n * rest;
  let roundsUp: boolean;
  if (mode === "DOWN") roundsUp = isNegative && rest > 0n;
  else if (doubledRest !== parts) roundsUp = doubledRest > parts;
  else roundsUp = mode === "HALF_EVEN" ? units % 2n !== 0n : !isNegative;
  return decimalOfUnits(roundsUp ? units + 1n : units, digits);
}

/** The largest multiple of 10^-digits that is at most the fraction. */
export function floorFraction(fraction: Fraction, digits: number): Decimal {
  if (fraction.denominator === 1) return roundToPlaces(fraction.numerator, digits, Decimal.ROUND_FLOOR);
  return decimalOfUnits(splitIntoUnits(fraction, digits).units, digits);
}

/** a − b, exactly. */
export function subtractFractions(a: Fraction, b: Fraction): Fraction {
  return addFractions(a, negateFraction(b));
}

/** The exact decimal text if there is one, else 34 significant digits, half up. */
export function formatFraction(fraction: Fraction): string {
  return formatDecimal(decimalOfFraction(fraction));
}

/** The fraction as a decimal: exact if at most 100 digits suffice, else 34 significant digits, half up. */
export function decimalOfFraction({ numerator, denominator }: Fraction): Decimal {
  if (denominator === 1) return numerator;
  const divisor = new Decimal(denominator);
  // With 100 digits a terminating quotient is complete, which multiplying back proves. Uses whole numbers, because a
  // repeating quotient that happens to end in zeros there gives a product of more than 100 digits.
  const quotient = numerator.div(divisor);
  const places = Math.max(quotient.decimalPlaces(), numerator.decimalPlaces());
  const isExact = mantissaAtPlaces(quotient, places) * BigInt(denominator) === mantissaAtPlaces(numerator, places);
  return isExact ? quotient : divide(numerator, divisor);
}

function numeratorOver(fraction: Fraction, common: number): Decimal {
  return fraction.denominator === common
    ? fraction.numerator
    : multiply(fraction.numerator, new Decimal(common / fraction.denominator));
}

/** Rounds a decimal; returns the same object if it has no more places, and never minus zero. */
function roundToPlaces(value: Decimal, digits: number, rounding: DecimalRounding): Decimal {
  const rounded = value.decimalPlaces() <= digits ? value : value.toDecimalPlaces(digits, rounding);
  return rounded.isZero() ? ZERO : rounded;
}

/** The fraction in whole units of 10^-digits, rounded towards minus infinity, and the rest out of `parts`. */
function splitIntoUnits(fraction: Fraction, digits: number): { units: bigint; rest: bigint; parts: bigint } {
  const places = Math.max(fraction.numerator.decimalPlaces(), digits);
  const mantissa = mantissaAtPlaces(fraction.numerator, places);
  const parts = 10n ** BigInt(places - digits) * BigInt(fraction.denominator);
  let units = mantissa / parts;
  let rest = mantissa % parts;
  if (rest < 0n) {
    units -= 1n;
    rest += parts;
  }
  return { units, rest, parts };
}

/** A decimal of at most `places` places in units of 10^-places. */
function mantissaAtPlaces(value: Decimal, places: number): bigint {
  return BigInt(value.times(new Decimal(`1e${places}`)).toFixed(0));
}

function decimalOfUnits(units: bigint, digits: number): Decimal {
  return units === 0n ? ZERO : new Decimal(`${units}e-${digits}`);
}

function leastCommonMultiple(a: number, b: number): number {
  let [x, y] = [a, b];
  while (y !== 0) [x, y] = [y, x % y];
  return (a / x) * b;
}
