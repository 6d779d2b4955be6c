/**
 * Exact figures, JSON, and what differs from what is expected.
 *
 * This folder is a second program. It imports nothing of the one that makes invoices and reckons with fractions of whole
 * numbers alone, so that a fault of the first would have to be made here once more to stay unseen.
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

/** How many things were looked at, and how many of them are as they should be. */
export interface Count {
  readonly verified: number;
  readonly total: number;
}

/** What accounts used. */
export interface Usage {
  readonly meterIds: ReadonlySet<string>;
  /** Units of a meter on the UTC days `[from, until)`; undefined where that cannot be told. */
  readonly between: (accountId: string, meterId: string, from: string, until: string) => Fraction | undefined;
}

/** A JSON object. */
export type Json = Readonly<Record<string, unknown>>;
/** How amounts are rounded: half away from zero, half to even, to zero; to what is not above. */
export type Mode = (typeof MODES)[number] | "FLOOR";

/** Zero. */
export const ZERO: Fraction = { over: 0n, under: 1n };
/** One. */
export const ONE: Fraction = { over: 1n, under: 1n };
const DECIMAL = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,4}))?$/;
/** The roundings that an invoice may have (S1.5). */
const MODES = ["HALF_UP", "HALF_EVEN", "DOWN"] as const;

/** The fraction that a number, a decimal text, an object of decimal.js or a fraction is; undefined for anything else. */
export function fraction(value: unknown): Fraction | undefined {
  if (isFraction(value)) return value;
  if (typeof value === "bigint") return { over: value, under: 1n };
  const said = isDecimalObject(value) ? value.toFixed() : value;
  if (typeof said !== "number" && typeof said !== "string") return undefined;
  const [, sign = "", whole = "", part = "", power = "0"] = DECIMAL.exec(`${said}`) ?? [];
  if (whole + part === "") return undefined;
  const places = part.length - Number(power);
  const digits = BigInt(`${whole}${part}`) * (sign === "-" ? -1n : 1n);
  return places > 0
    ? { over: digits, under: 10n ** BigInt(places) }
    : { over: digits * 10n ** BigInt(-places), under: 1n };
}

/** Whether a value is a fraction. */
export function isFraction(value: unknown): value is Fraction {
  return typeof value === "object" && value !== null && typeof (value as Fraction).under === "bigint";
}

function isDecimalObject(value: unknown): value is { toFixed(): string } {
  return typeof value === "object" && value !== null && typeof (value as { toFixed?: unknown }).toFixed === "function";
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

/** a ÷ b; 0 where b is not above 0. */
export function divide(a: Fraction, b: Fraction): Fraction {
  return b.over > 0n ? { over: a.over * b.under, under: a.under * b.over } : ZERO;
}

/** Below 0, 0 or above 0 as a is less than, equal to or more than b. */
export function compare(a: Fraction, b: Fraction): number {
  const difference = a.over * b.under - b.over * a.under;
  return difference < 0n ? -1 : Number(difference > 0n);
}

/** Rounded to `digits` after the point (S1.5), left of it below zero: half away from zero, half to even, to or below zero. */
export function rounded({ over, under }: Fraction, digits: number, mode: Mode): Fraction {
  const [scale, parts] = digits < 0 ? [1n, under * 10n ** BigInt(-digits)] : [10n ** BigInt(digits), under];
  const negative = over < 0n;
  const scaled = magnitude(over) * scale;
  const rest = scaled % parts;
  let units = scaled / parts;
  const even = units % 2n === 0n;
  const up = { HALF_UP: 2n * rest >= parts, HALF_EVEN: 2n * rest > parts || (2n * rest === parts && !even) };
  if (mode === "FLOOR" ? negative && rest > 0n : mode !== "DOWN" && up[mode]) units += 1n;
  const whole = negative ? -units : units;
  return digits < 0 ? { over: whole * 10n ** BigInt(-digits), under: 1n } : { over: whole, under: scale };
}

/** As a decimal: exact where that takes at most so many digits, else to 34 significant digits, half up (S1.4). */
export function decimal({ over, under }: Fraction, exactDigits = 100): Fraction {
  const shared = gcd(magnitude(over), under);
  const [top, bottom] = [over / shared, under / shared];
  let [places, rest] = [0n, bottom];
  for (let common = gcd(rest, 10n); common !== 1n; common = gcd(rest, 10n), places++) rest /= common;
  const scale = 10n ** places;
  const exact = (top * scale) / bottom;
  if (rest === 1n && lengthOf(exact) <= exactDigits) return { over: exact, under: scale };
  // So many places leave 33 or 34 digits.
  const kept = 33 - (lengthOf(top) - lengthOf(bottom));
  const cut = kept < 0 ? top / (bottom * 10n ** BigInt(-kept)) : (top * 10n ** BigInt(kept)) / bottom;
  return rounded({ over: top, under: bottom }, lengthOf(cut) < 34 ? kept + 1 : kept, "HALF_UP");
}

/** The least whole number that is not below. */
export function ceiling(value: Fraction): Fraction {
  return subtract(ZERO, rounded(subtract(ZERO, value), 0, "FLOOR"));
}

/** The larger of two. */
export function greatest(a: Fraction, b: Fraction): Fraction {
  return compare(a, b) < 0 ? b : a;
}

/** The smaller of two. */
export function least(a: Fraction, b: Fraction): Fraction {
  return compare(a, b) > 0 ? b : a;
}

/** The decimal as plain text. */
export function textOf(value: Fraction): string {
  const { over, under } = decimal(value);
  const places = String(under).length - 1;
  const digits = String(magnitude(over)).padStart(places + 1, "0");
  const part = digits.slice(digits.length - places).replace(/0+$/, "");
  const whole = digits.slice(0, digits.length - places);
  return `${over < 0n ? "-" : ""}${whole}${places === 0 || part === "" ? "" : `.${part}`}`;
}

/** A figure; 0, which then differs from what is there, where there is none. */
export function figure(value: unknown): Fraction {
  return fraction(value) ?? ZERO;
}

/** How an explanation says that it rounds; half up, which then differs from what is there, where it says none of them. */
export function modeOf(how: Json): Exclude<Mode, "FLOOR"> {
  const { mode } = record(how["rounding"]);
  return MODES.find((each) => each === mode) ?? "HALF_UP";
}

/** The sum of the figures of this name. */
export function sumOf(items: readonly Json[], name: string): Fraction {
  return items.reduce((sum, item) => add(sum, figure(item[name])), ZERO);
}

/** What was verified so far; things that differ are told one by one. */
export interface Tally {
  readonly differences: readonly Difference[];
  readonly count: () => Count;
  /** Counts one thing: right where nothing of `found` differs from what is expected. */
  readonly expect: (where: string, expected: unknown, found: unknown) => void;
}

/** A tally of nothing yet. */
export function createTally(): Tally {
  const differences: Difference[] = [];
  let [verified, total] = [0, 0];
  return {
    differences,
    count: (): Count => ({ verified, total }),
    expect(where, expected, found) {
      const before = differences.length;
      differ(where, expected, found, differences);
      total++;
      if (differences.length === before) verified++;
    },
  };
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

/** These properties, where they are there. */
export function kept(holder: Json, ...names: readonly string[]): Json {
  return Object.fromEntries(names.filter((name) => holder[name] !== undefined).map((name) => [name, holder[name]]));
}

/** A text; what is none is empty. */
export function text(value: unknown): string {
  return typeof value === "string" ? value : value === undefined ? "" : shown(value);
}

/** A value in a sentence. */
export function shown(value: unknown): string {
  const said = isFraction(value)
    ? textOf(value)
    : typeof value === "string"
      ? value
      : (JSON.stringify(value) ?? "nothing");
  return said.length > 120 ? `${said.slice(0, 120)}…` : said;
}

/** Figures are compared by value, everything else by what it says; what only one of the two has is a difference. */
function differ(where: string, expected: unknown, found: unknown, differences: Difference[]): void {
  if (isFraction(expected)) {
    const value = fraction(found) ?? quotientOf(found);
    if (value === undefined || compare(value, expected) !== 0) told();
  } else if (typeof expected !== "object" || expected === null) {
    if (expected !== found) told();
  } else {
    const [wanted, given] = [expected as Json, typeof found === "object" && found !== null ? (found as Json) : {}];
    for (const name of new Set([...Object.keys(wanted), ...Object.keys(given)])) {
      differ(`${where}, ${name}`, wanted[name], given[name], differences);
    }
  }
  function told(): void {
    differences.push({ where, expected: shown(expected), found: shown(found) });
  }
}

/** What `{numerator, denominator}` says; zero is written over 1. */
function quotientOf(found: unknown): Fraction | undefined {
  const { numerator, denominator, ...others } = record(found);
  const [over, under] = [fraction(numerator), fraction(denominator)];
  if (over === undefined || under === undefined || under.over <= 0n || Object.keys(others).length > 0) return undefined;
  return over.over === 0n && compare(under, ONE) !== 0 ? undefined : divide(over, under);
}

function gcd(a: bigint, b: bigint): bigint {
  let [x, y] = [a, b];
  while (y !== 0n) [x, y] = [y, x % y];
  return x;
}

/** Without its sign. */
export function magnitude(value: bigint): bigint {
  return value < 0n ? -value : value;
}

function lengthOf(value: bigint): number {
  return String(magnitude(value)).length;
}
