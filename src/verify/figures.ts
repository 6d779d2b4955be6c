/**
 * Exact figures, JSON, and what differs from what is expected.
 *
 * This folder is a second program. It imports nothing of the one that makes invoices and reckons with fractions of whole
 * numbers alone, so that a fault of the first would have to be made here once more to stay unseen. `amounts` reckons
 * invoices, `rules` evaluates the rules of a book, and `cells` meters events by them.
 *
 * @module
 */

/** `over ÷ under`; `under` is above 0. */
export interface Fraction {
  readonly over: bigint;
  readonly under: bigint;
}

/** Something that is not what it should be. */
export interface Difference {
  /** The account, the invoice, the line and the figure. */
  readonly where: string;
  readonly expected: string;
  readonly found: string;
}

/** A JSON object. */
export type Json = Readonly<Record<string, unknown>>;
/** How amounts are rounded (S1.5): half away from zero, half to even, to zero; and to what is not above. */
export type Mode = "HALF_UP" | "HALF_EVEN" | "DOWN" | "FLOOR";

/** Zero. */
export const ZERO: Fraction = { over: 0n, under: 1n };
/** One. */
export const ONE: Fraction = { over: 1n, under: 1n };

/** The fraction that a number, a decimal text, an object of decimal.js or `{numerator, denominator}` is. */
export function fraction(value: unknown): Fraction | undefined {
  if (isFraction(value)) return value;
  if (typeof value === "number" || typeof value === "string") return ofText(`${value}`);
  if (typeof value !== "object" || value === null) return undefined;
  if ("toFixed" in value && typeof value.toFixed === "function") return ofText(String(value.toFixed()));
  const { numerator, denominator, ...others } = value as Json;
  const [over, under] = [numerator, denominator].map(fraction);
  const isQuotient = over !== undefined && under !== undefined && under.over > 0n && Object.keys(others).length === 0;
  // Zero is written over 1.
  return isQuotient && (over.over !== 0n || compare(under, ONE) === 0) ? divide(over, under) : undefined;
}

function ofText(said: string): Fraction | undefined {
  const [, sign, whole = "", part = "", power = "0"] =
    /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,4}))?$/.exec(said) ?? [];
  if (whole + part === "") return undefined;
  const places = part.length - Number(power);
  const digits = BigInt(whole + part) * 10n ** BigInt(Math.max(0, -places));
  return { over: sign === "-" ? -digits : digits, under: 10n ** BigInt(Math.max(0, places)) };
}

/** Whether a value is a fraction. */
export function isFraction(value: unknown): value is Fraction {
  return typeof value === "object" && value !== null && typeof (value as Fraction).under === "bigint";
}

/** a + b. */
export function add(a: Fraction, b: Fraction): Fraction {
  if (a.under === b.under) return { over: a.over + b.over, under: a.under };
  const shared = gcd(a.under, b.under);
  return { over: a.over * (b.under / shared) + b.over * (a.under / shared), under: (a.under / shared) * b.under };
}

/** a − b. */
export function subtract(a: Fraction, b: Fraction): Fraction {
  return add(a, { over: -b.over, under: b.under });
}

/** a × b. */
export function multiply(a: Fraction, b: Fraction): Fraction {
  return { over: a.over * b.over, under: a.under * b.under };
}

/** a ÷ b; 0 where b is 0. */
export function divide(a: Fraction, b: Fraction): Fraction {
  if (b.over === 0n) return ZERO;
  const sign = b.over < 0n ? -1n : 1n;
  return { over: sign * a.over * b.under, under: sign * a.under * b.over };
}

/** Below 0, 0 or above 0 as a is less than, equal to or more than b. */
export function compare(a: Fraction, b: Fraction): number {
  const difference = a.over * b.under - b.over * a.under;
  return difference < 0n ? -1 : Number(difference > 0n);
}

/** The larger of two. */
export function greatest(a: Fraction, b: Fraction): Fraction {
  return compare(a, b) < 0 ? b : a;
}

/** The smaller of two. */
export function least(a: Fraction, b: Fraction): Fraction {
  return compare(a, b) > 0 ? b : a;
}

/** Rounded to `digits` after the point, left of it below zero (S1.5). */
export function rounded({ over, under }: Fraction, digits: number, mode: Mode): Fraction {
  const [scale, parts] = digits < 0 ? [1n, under * 10n ** BigInt(-digits)] : [10n ** BigInt(digits), under];
  const negative = over < 0n;
  const scaled = (negative ? -over : over) * scale;
  const [units, rest] = [scaled / parts, scaled % parts];
  const isUp = {
    HALF_UP: 2n * rest >= parts,
    HALF_EVEN: 2n * rest > parts || (2n * rest === parts && units % 2n === 1n),
    DOWN: false,
    FLOOR: negative && rest > 0n,
  }[mode];
  const size = isUp ? units + 1n : units;
  return { over: (negative ? -size : size) * 10n ** BigInt(Math.max(0, -digits)), under: scale };
}

/** As a decimal: exact where that takes at most so many digits, else to 34 significant digits, half up (S1.4). */
export function decimal({ over, under }: Fraction, exactDigits = 100): Fraction {
  const shared = gcd(over < 0n ? -over : over, under);
  const [top, bottom] = [over / shared, under / shared];
  let [places, rest] = [0n, bottom];
  for (let common = gcd(rest, 10n); common !== 1n; common = gcd(rest, 10n), places++) rest /= common;
  const exact = { over: (top * 10n ** places) / bottom, under: 10n ** places };
  if (rest === 1n && lengthOf(exact.over) <= exactDigits) return exact;
  // So many places leave 33 or 34 digits.
  const kept = 33 - (lengthOf(top) - lengthOf(bottom));
  const cut = rounded({ over: top, under: bottom }, kept, "DOWN");
  const units = multiply(cut, { over: 10n ** BigInt(Math.max(0, kept)), under: 10n ** BigInt(Math.max(0, -kept)) });
  return rounded({ over: top, under: bottom }, lengthOf(units.over / units.under) < 34 ? kept + 1 : kept, "HALF_UP");
}

/** The decimal as plain text. */
export function textOf(value: Fraction): string {
  const { over, under } = decimal(value);
  const places = String(under).length - 1;
  const digits = String(over < 0n ? -over : over).padStart(places + 1, "0");
  const part = digits.slice(digits.length - places).replace(/0+$/, "");
  const whole = digits.slice(0, digits.length - places);
  return `${over < 0n ? "-" : ""}${whole}${places === 0 || part === "" ? "" : `.${part}`}`;
}

/** Parses JSON; numbers become fractions of exactly what they say. @throws {SyntaxError} */
export function parseJson(json: string): unknown {
  // Numbers are put into quotes before they can become doubles; a letter in front tells them from texts.
  const quoted = json.replace(
    /("(?:[^"\\]|\\.)*")(\s*:)?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g,
    (token: string, words: string | undefined, colon: string | undefined) =>
      words === undefined ? `"n${token}"` : colon === undefined ? `"t${words.slice(1)}` : token,
  );
  return JSON.parse(quoted, (_, value: unknown) =>
    typeof value !== "string" ? value : value.startsWith("t") ? value.slice(1) : (fraction(value.slice(1)) ?? value),
  );
}

/** An object, empty where it is none. */
export function record(value: unknown): Json {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

/** A list of objects, empty where it is none. */
export function list(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.map(record) : [];
}

/** A text; what is none is empty. */
export function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** A value in a sentence. */
export function shown(value: unknown): string {
  const plain = (_: string, part: unknown): unknown => (isFraction(part) ? textOf(part) : part);
  const said = isFraction(value) ? textOf(value) : typeof value === "string" ? value : JSON.stringify(value, plain);
  return said === undefined ? "nothing" : said.length > 120 ? `${said.slice(0, 120)}…` : said;
}

function gcd(a: bigint, b: bigint): bigint {
  let [x, y] = [a, b];
  while (y !== 0n) [x, y] = [y, x % y];
  return x;
}

function lengthOf(value: bigint): number {
  return String(value < 0n ? -value : value).length;
}

/** A count of things that were looked at: how many are as they should be, of how many, and what is not. */
export interface Tally {
  verified: number;
  total: number;
  readonly differences: Difference[];
}

/** Looks at one thing; `name` says which figure of it. */
export interface Look {
  /** Figures are compared by value, everything else as it is. */
  readonly expect: (name: string, expected: unknown, found: unknown) => void;
  /** A figure that is given; one that is missing is told, and 0. */
  readonly read: (holder: Json, name: string) => Fraction;
  /** Looks at another thing, which is counted by itself: a line below this one. */
  readonly below: (name: string, looks: (on: Look) => void) => void;
}

/** A tally of nothing yet. */
export function createTally(): Tally {
  return { verified: 0, total: 0, differences: [] };
}

/** Counts one thing: verified where nothing that `looks` expects differs. */
export function look(tally: Tally, where: string, looks: (on: Look) => void): void {
  let isRight = true;
  const expect = (name: string, expected: unknown, found: unknown): void => {
    const given = isFraction(expected) ? fraction(found) : found;
    if (isFraction(expected) && isFraction(given) ? compare(expected, given) === 0 : expected === given) return;
    isRight = false;
    tally.differences.push({ where: `${where}${name}`, expected: shown(expected), found: shown(found) });
  };
  const read = (holder: Json, name: string): Fraction => {
    const found = fraction(holder[name]);
    if (found === undefined) expect(`, ${name}`, "a decimal", holder[name]);
    return found ?? ZERO;
  };
  looks({ expect, read, below: (name, looks) => look(tally, `${where}${name}`, looks) });
  tally.total++;
  if (isRight) tally.verified++;
}

/** The days of a period of whole UTC days; −1 of anything else. */
export function daysOf(period: unknown): number {
  const ends = [record(period)["from"], record(period)["until"]].map(text);
  const [from = NaN, until = NaN] = ends.map(Date.parse);
  return ends.every((each) => /^\d{4}-\d\d-\d\dT00:00:00\.000Z$/.test(each)) ? (until - from) / 86_400_000 : -1;
}

/** The numbers that a sentence names. */
export function numbersIn(sentence: unknown): readonly string[] {
  return text(sentence).match(/\d+(?:\.\d+)?/g) ?? [];
}

/** A figure; 0, which then differs from what is there, where there is none. */
export function figure(value: unknown): Fraction {
  return fraction(value) ?? ZERO;
}

/** A whole number; −1 for any other. */
export function whole(value: number): Fraction {
  return { over: BigInt(Number.isInteger(value) ? value : -1), under: 1n };
}

/** The sum of the figures of this name. */
export function sumOf<Name extends string>(
  items: readonly { readonly [Key in Name]?: unknown }[],
  name: Name,
): Fraction {
  return items.reduce<Fraction>((sum, item) => add(sum, figure(item[name])), ZERO);
}
