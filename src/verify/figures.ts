/**
 * Exact fractions, JSON, and reports of differences.
 *
 * This folder is an independent second implementation. It imports nothing of the code that creates invoices and
 * calculates only with fractions of bigints, so an error there goes unnoticed only if it is repeated here. `amounts`
 * recalculates invoices, `rules` evaluates the rules of a book, and `metering` meters events with them.
 */

/** `numerator ÷ denominator`; the denominator is positive. */
export interface Fraction {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

/** A value that differs from the expected one. */
export interface Difference {
  /** The account, the invoice, the line and the figure. */
  readonly where: string;
  readonly expected: string;
  readonly found: string;
}

export type JsonObject = Readonly<Record<string, unknown>>;
/** How amounts are rounded (S1.5): half away from zero, half to even, towards zero, or down. */
export type RoundingMode = "HALF_UP" | "HALF_EVEN" | "DOWN" | "FLOOR";

export const ZERO: Fraction = { numerator: 0n, denominator: 1n };
export const ONE: Fraction = { numerator: 1n, denominator: 1n };

/**
 * Converts a number, a decimal string, a decimal.js object or a `{numerator, denominator}`; undefined for anything
 * else.
 */
export function toFraction(value: unknown): Fraction | undefined {
  if (isFraction(value)) return value;
  if (typeof value === "number" || typeof value === "string") return parseDecimalText(`${value}`);
  if (typeof value !== "object" || value === null) return undefined;
  if ("toFixed" in value && typeof value.toFixed === "function") return parseDecimalText(String(value.toFixed()));
  const { numerator, denominator, ...others } = value as JsonObject;
  const [top, bottom] = [numerator, denominator].map(toFraction);
  const isQuotient =
    top !== undefined && bottom !== undefined && bottom.numerator > 0n && Object.keys(others).length === 0;
  // Zero must have the denominator 1.
  return isQuotient && (top.numerator !== 0n || compare(bottom, ONE) === 0) ? divide(top, bottom) : undefined;
}

function parseDecimalText(decimalText: string): Fraction | undefined {
  const [, sign, integerDigits = "", fractionDigits = "", exponent = "0"] =
    /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,4}))?$/.exec(decimalText) ?? [];
  if (integerDigits + fractionDigits === "") return undefined;
  const places = fractionDigits.length - Number(exponent);
  const digits = BigInt(integerDigits + fractionDigits) * 10n ** BigInt(Math.max(0, -places));
  return { numerator: sign === "-" ? -digits : digits, denominator: 10n ** BigInt(Math.max(0, places)) };
}

export function isFraction(value: unknown): value is Fraction {
  return typeof value === "object" && value !== null && typeof (value as Fraction).denominator === "bigint";
}

export function add(a: Fraction, b: Fraction): Fraction {
  if (a.denominator === b.denominator) return { numerator: a.numerator + b.numerator, denominator: a.denominator };
  const divisor = gcd(a.denominator, b.denominator);
  return {
    numerator: a.numerator * (b.denominator / divisor) + b.numerator * (a.denominator / divisor),
    denominator: (a.denominator / divisor) * b.denominator,
  };
}

export function subtract(a: Fraction, b: Fraction): Fraction {
  return add(a, { numerator: -b.numerator, denominator: b.denominator });
}

export function multiply(a: Fraction, b: Fraction): Fraction {
  return { numerator: a.numerator * b.numerator, denominator: a.denominator * b.denominator };
}

/** a ÷ b; 0 if b is 0. */
export function divide(a: Fraction, b: Fraction): Fraction {
  if (b.numerator === 0n) return ZERO;
  const sign = b.numerator < 0n ? -1n : 1n;
  return { numerator: sign * a.numerator * b.denominator, denominator: sign * a.denominator * b.numerator };
}

/** Negative, 0 or positive as a is less than, equal to or greater than b. */
export function compare(a: Fraction, b: Fraction): number {
  const difference = a.numerator * b.denominator - b.numerator * a.denominator;
  return difference < 0n ? -1 : Number(difference > 0n);
}

export function maxFraction(a: Fraction, b: Fraction): Fraction {
  return compare(a, b) < 0 ? b : a;
}

export function minFraction(a: Fraction, b: Fraction): Fraction {
  return compare(a, b) > 0 ? b : a;
}

/** Rounds to `digits` decimal places; negative `digits` are left of the point (S1.5). */
export function roundToDigits({ numerator, denominator }: Fraction, digits: number, mode: RoundingMode): Fraction {
  const [scale, divisor] =
    digits < 0 ? [1n, denominator * 10n ** BigInt(-digits)] : [10n ** BigInt(digits), denominator];
  const isNegative = numerator < 0n;
  const scaledValue = (isNegative ? -numerator : numerator) * scale;
  const [units, rest] = [scaledValue / divisor, scaledValue % divisor];
  const roundsUp = {
    HALF_UP: 2n * rest >= divisor,
    HALF_EVEN: 2n * rest > divisor || (2n * rest === divisor && units % 2n === 1n),
    DOWN: false,
    FLOOR: isNegative && rest > 0n,
  }[mode];
  const size = roundsUp ? units + 1n : units;
  return { numerator: (isNegative ? -size : size) * 10n ** BigInt(Math.max(0, -digits)), denominator: scale };
}

/** Whether a number has at most `digits` digits before and after the point (S1.3, S1.6). */
export function hasAtMostDigits({ numerator, denominator }: Fraction, digits: number): boolean {
  const size = 10n ** BigInt(digits);
  return (
    (numerator < 0n ? -numerator : numerator) < size * denominator &&
    roundToDigits({ numerator, denominator }, digits, "DOWN").numerator * denominator === numerator * size
  );
}

/** Converts to a decimal: exact with up to `exactDigits` digits, otherwise 34 significant digits, half up (S1.4). */
export function toDecimal({ numerator, denominator }: Fraction, exactDigits = 100): Fraction {
  const divisor = gcd(numerator < 0n ? -numerator : numerator, denominator);
  const [top, bottom] = [numerator / divisor, denominator / divisor];
  let [places, rest] = [0n, bottom];
  for (let common = gcd(rest, 10n); common !== 1n; common = gcd(rest, 10n), places++) rest /= common;
  const exact = { numerator: (top * 10n ** places) / bottom, denominator: 10n ** places };
  if (rest === 1n && countDigits(exact.numerator) <= exactDigits) return exact;
  // This many decimal places give 33 or 34 significant digits.
  const fractionDigits = 33 - (countDigits(top) - countDigits(bottom));
  const truncatedQuotient = roundToDigits({ numerator: top, denominator: bottom }, fractionDigits, "DOWN");
  const units = multiply(truncatedQuotient, {
    numerator: 10n ** BigInt(Math.max(0, fractionDigits)),
    denominator: 10n ** BigInt(Math.max(0, -fractionDigits)),
  });
  return roundToDigits(
    { numerator: top, denominator: bottom },
    countDigits(units.numerator / units.denominator) < 34 ? fractionDigits + 1 : fractionDigits,
    "HALF_UP",
  );
}

/** The decimal as plain text. */
export function formatFraction(value: Fraction): string {
  const { numerator, denominator } = toDecimal(value);
  const places = String(denominator).length - 1;
  const digits = String(numerator < 0n ? -numerator : numerator).padStart(places + 1, "0");
  const fractionDigits = digits.slice(digits.length - places).replace(/0+$/, "");
  const integerDigits = digits.slice(0, digits.length - places);
  return `${numerator < 0n ? "-" : ""}${integerDigits}${places === 0 || fractionDigits === "" ? "" : `.${fractionDigits}`}`;
}

/** Parses JSON with numbers as exact fractions. @throws {SyntaxError} */
export function parseJson(json: string): unknown {
  // Numbers are quoted before JSON.parse, so that they don't become doubles; a prefix letter distinguishes them from
  // strings.
  const quotedJson = json.replace(
    /("(?:[^"\\]|\\.)*")(\s*:)?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g,
    (token: string, stringToken: string | undefined, colon: string | undefined) =>
      stringToken === undefined ? `"n${token}"` : colon === undefined ? `"t${stringToken.slice(1)}` : token,
  );
  return JSON.parse(quotedJson, (_, value: unknown) =>
    typeof value !== "string" ? value : value.startsWith("t") ? value.slice(1) : (toFraction(value.slice(1)) ?? value),
  );
}

/** The value if it is an object, otherwise an empty one. */
export function asObject(value: unknown): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}

/** The objects of a list; empty for anything else. */
export function asList(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.map(asObject) : [];
}

/** The value if it is a string, otherwise "". */
export function asText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** A value for use in a sentence. */
export function formatValue(value: unknown): string {
  const plain = (_: string, part: unknown): unknown => (isFraction(part) ? formatFraction(part) : part);
  const valueText = isFraction(value)
    ? formatFraction(value)
    : typeof value === "string"
      ? value
      : JSON.stringify(value, plain);
  return valueText === undefined ? "nothing" : valueText.length > 120 ? `${valueText.slice(0, 120)}…` : valueText;
}

function gcd(a: bigint, b: bigint): bigint {
  let [x, y] = [a, b];
  while (y !== 0n) [x, y] = [y, x % y];
  return x;
}

function countDigits(value: bigint): number {
  return String(value < 0n ? -value : value).length;
}

/** The number of things verified, the number without differences, and the differences. */
export interface Tally {
  verified: number;
  total: number;
  readonly differences: Difference[];
}

/** Verifies one thing; `name` says which figure of it. */
export interface Check {
  /** Compares figures by value and everything else by identity. */
  readonly expect: (name: string, expected: unknown, found: unknown) => void;
  /** Reads a figure. A missing one is reported and read as 0. */
  readonly readFigure: (holder: JsonObject, name: string) => Fraction;
  /** Verifies a line below this one, which is counted separately. */
  readonly checkNested: (name: string, runChecks: (check: Check) => void) => void;
}

export function createTally(): Tally {
  return { verified: 0, total: 0, differences: [] };
}

/** Counts one thing as verified unless `runChecks` reports a difference. */
export function runCheck(tally: Tally, where: string, runChecks: (check: Check) => void): void {
  let isCorrect = true;
  const expect = (name: string, expected: unknown, found: unknown): void => {
    const comparable = isFraction(expected) ? toFraction(found) : found;
    if (isFraction(expected) && isFraction(comparable) ? compare(expected, comparable) === 0 : expected === comparable)
      return;
    isCorrect = false;
    tally.differences.push({ where: `${where}${name}`, expected: formatValue(expected), found: formatValue(found) });
  };
  const readFigure = (holder: JsonObject, name: string): Fraction => {
    const result = toFraction(holder[name]);
    if (result === undefined) expect(`, ${name}`, "a decimal", holder[name]);
    return result ?? ZERO;
  };
  runChecks({ expect, readFigure, checkNested: (name, runChecks) => runCheck(tally, `${where}${name}`, runChecks) });
  tally.total++;
  if (isCorrect) tally.verified++;
}

/** The number of days in a period of whole UTC days; −1 for anything else. */
export function countDays(period: unknown): number {
  const ends = [asObject(period)["from"], asObject(period)["until"]].map(asText);
  const [from = NaN, until = NaN] = ends.map(Date.parse);
  return ends.every((each) => /^\d{4}-\d\d-\d\dT00:00:00\.000Z$/.test(each)) ? (until - from) / 86_400_000 : -1;
}

/** The numbers in a sentence. */
export function findNumbers(sentence: unknown): readonly string[] {
  return asText(sentence).match(/\d+(?:\.\d+)?/g) ?? [];
}

/** A figure, or 0 if it is missing, which is then reported as a difference. */
export function fractionOrZero(value: unknown): Fraction {
  return toFraction(value) ?? ZERO;
}

/** A whole number as a fraction; −1 for other numbers. */
export function toWholeFraction(value: number): Fraction {
  return { numerator: BigInt(Number.isInteger(value) ? value : -1), denominator: 1n };
}

/** The sum of the figures with this name. */
export function sumFigures<Name extends string>(
  items: readonly { readonly [Key in Name]?: unknown }[],
  name: Name,
): Fraction {
  return items.reduce<Fraction>((sum, item) => add(sum, fractionOrZero(item[name])), ZERO);
}
