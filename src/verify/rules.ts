/** Evaluates rules with the third-party library json-logic-js, with exact decimals instead of doubles (S3). */
import { createRequire } from "node:module";

import {
  add,
  compare,
  toDecimal,
  divide,
  fractionOrZero,
  toFraction,
  type Fraction,
  isFraction,
  type JsonObject,
  multiply,
  roundToDigits,
  subtract,
  formatFraction,
  ZERO,
} from "./figures.ts";

export interface RuleEvaluator {
  /** The first operator of a rule that is not supported here. */
  readonly findUnknownOperator: (rule: unknown) => string | undefined;
  /** Evaluates a rule on facts; numbers are fractions. @throws {Error} if the rule fails */
  readonly evaluate: (rule: unknown, facts: JsonObject) => unknown;
}

/** The part of json-logic-js that is used here. */
interface JsonLogic {
  apply(rule: unknown, data: unknown): unknown;
  truthy(value: unknown): boolean;
  add_operation(name: string, operation: (this: unknown, ...values: readonly unknown[]) => unknown): void;
}
type Operation = Parameters<JsonLogic["add_operation"]>[1];
type BinaryOperation = (a: Fraction, b: Fraction) => Fraction;

const LIBRARY_OPERATORS = "var missing missing_some if ?: and or ! !! map filter reduce all some none merge";
const UNITS_MS: Readonly<Record<string, number>> = {
  MILLIS: 1,
  SECONDS: 1000,
  MINUTES: 60_000,
  HOURS: 3_600_000,
  DAYS: 86_400_000,
};
const TIMESTAMP = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(?::(\d\d)(?:[.,](\d+))?)?(?: ?(Z|UTC)|([+-]\d\d):?(\d\d)))?$/i;
const DURATION =
  /^([+-]?)P(?=.)(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+(?:[.,]\d+)?)W)?(?:(\d+(?:[.,]\d+)?)D)?(?:T(?=.)(?:(\d+(?:[.,]\d+)?)H)?(?:(\d+(?:[.,]\d+)?)M)?(?:(\d+(?:[.,]\d+)?)S)?)?$/;

/** Creates an evaluator with a private copy of json-logic-js. */
export function createRuleEvaluator(): RuleEvaluator {
  const logic = loadPrivateCopy();
  const operations = createOperations(logic);
  const knownOperators = new Set([...LIBRARY_OPERATORS.split(" "), ...Object.keys(operations)]);
  for (const [name, operation] of Object.entries(operations)) logic.add_operation(name, operation);
  const libraryTruthy = logic.truthy.bind(logic);
  logic.truthy = (value) => (isFraction(value) ? value.numerator !== 0n : libraryTruthy(value));
  const findUnknownOperator = (rule: unknown): string | undefined => {
    if (typeof rule !== "object" || rule === null || isFraction(rule)) return undefined;
    const ownUnknownOperator = Array.isArray(rule)
      ? undefined
      : Object.keys(rule).find((name) => !knownOperators.has(name));
    return (
      ownUnknownOperator ??
      Object.values(rule)
        .map(findUnknownOperator)
        .find((name) => name !== undefined)
    );
  };
  return { findUnknownOperator, evaluate: (rule, facts) => logic.apply(rule, facts) };
}

/** A rule of a book: an object, a literal, or a string that contains one (S3.6). Its numbers become fractions. */
export function toRule(value: unknown, parse: (text: string) => unknown): unknown {
  return toExactNumbers(typeof value === "string" ? parse(value) : value);
}

/** Converts numbers to fractions, also inside lists and objects. */
export function toExactNumbers(value: unknown): unknown {
  if (typeof value === "number") return toFraction(value);
  if (typeof value !== "object" || value === null || isFraction(value)) return value;
  if (Array.isArray(value)) return value.map(toExactNumbers);
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, toExactNumbers(part)]));
}

/** Loads a private copy of json-logic-js, so that operators added to it don't affect the application's copy. */
function loadPrivateCopy(): JsonLogic {
  const require = createRequire(import.meta.url);
  const path = require.resolve("json-logic-js");
  const applicationCopy = require.cache[path];
  delete require.cache[path];
  try {
    return require("json-logic-js") as JsonLogic;
  } finally {
    if (applicationCopy === undefined) delete require.cache[path];
    else require.cache[path] = applicationCopy;
  }
}

function createOperations(logic: JsonLogic): Readonly<Record<string, Operation>> {
  const foldOperation = (operation: BinaryOperation): Operation => {
    return (...values) => values.map(requireDecimal).reduce((a, b) => requireDigitLimit(operation(a, b)));
  };
  const binaryOperation = (operation: BinaryOperation): Operation => {
    return (a, b) => requireDigitLimit(operation(requireDecimal(a), requireDecimal(b)));
  };
  const orderOperation = (test: (order: number) => boolean): Operation => {
    return (a, b, c) => test(compareLoosely(a, b)) && (c === undefined || test(compareLoosely(b, c)));
  };
  const roundingOperation = (round: (x: Fraction, places: number) => Fraction): Operation => {
    return (x, places = ZERO) => round(requireDecimal(x), Number(formatFraction(requireDecimal(places))));
  };
  return {
    "+": foldOperation(add),
    "*": foldOperation(multiply),
    min: foldOperation((a, b) => (compare(b, a) < 0 ? b : a)),
    max: foldOperation((a, b) => (compare(b, a) > 0 ? b : a)),
    "-": (a, b) =>
      b === undefined
        ? subtract(ZERO, requireDecimal(a))
        : requireDigitLimit(subtract(requireDecimal(a), requireDecimal(b))),
    "/": binaryOperation((a, b) => toDecimal(divideStrictly(a, b), 34)),
    "%": binaryOperation((a, b) => subtract(a, multiply(b, roundToDigits(divideStrictly(a, b), 0, "DOWN")))),
    round: roundingOperation((x, places) => roundToDigits(x, places, "HALF_UP")),
    floor: roundingOperation((x, places) => roundToDigits(x, places, "FLOOR")),
    ceil: roundingOperation((x, places) => subtract(ZERO, roundToDigits(subtract(ZERO, x), places, "FLOOR"))),
    "==": (a, b) => looselyEqual(a, b),
    "!=": (a, b) => !looselyEqual(a, b),
    "===": (a, b) => strictlyEqual(a, b),
    "!==": (a, b) => !strictlyEqual(a, b),
    "<": orderOperation((order) => order < 0),
    "<=": orderOperation((order) => order <= 0),
    ">": (a, b) => compareLoosely(a, b) > 0,
    ">=": (a, b) => compareLoosely(a, b) >= 0,
    in: (needle, list) =>
      typeof list === "string"
        ? list !== "" && list.includes(toText(needle))
        : Array.isArray(list) && list.some((each) => strictlyEqual(each, needle)),
    cat: (...values) => values.map((value) => toText(value ?? "")).join(""),
    substr: (source, start, length) => sliceText(toText(source), start, length),
    log: (value) => value,
    var(path, fallback) {
      const value = readVariable(this, path);
      return value === undefined ? (fallback ?? null) : value;
    },
    missing_some(minimum, names) {
      const missing = logic.apply({ missing: [names] }, this) as unknown[];
      return (names as unknown[]).length - missing.length >= toDouble(minimum) ? [] : missing;
    },
    ...DATES,
  };
}

/** Dates and durations (S3.4). */
const DATES: Readonly<Record<string, Operation>> = {
  date: (text) => new Date(readInstant(text)).toISOString(),
  "date.add": (date, duration) => shiftInstant(readInstant(date), requireText(duration), 1),
  "date.sub": (date, duration) => shiftInstant(readInstant(date), requireText(duration), -1),
  "duration.between": (from, until) => formatTimeSpan(readInstant(until) - readInstant(from)),
  "duration.of": (count, unit) => formatDuration(requireDecimal(count), requireText(unit)),
  "duration.as": (duration, unit) => {
    const { months, millis } = readDuration(requireText(duration));
    if (months !== 0) throw new Error("a duration with months has no fixed length");
    return toDecimal(divideStrictly(millis, fractionOrZero(UNITS_MS[requireText(unit)])));
  },
};

/** The instant of a date, or of a timestamp with a zone, in milliseconds; finer digits are truncated (S2.2). */
export function readInstant(value: unknown): number {
  const [, date, time = "00:00", second = "00", rest = "", , hours, minutes] = TIMESTAMP.exec(requireText(value)) ?? [];
  const text = `${date ?? ""}T${time}:${second}.${`${rest}000`.slice(0, 3)}Z`;
  const instant = Date.parse(text);
  // Date.parse reads 30 February as 1 March.
  if (Number.isNaN(instant) || new Date(instant).toISOString() !== text)
    throw new Error(`${requireText(value)} is not an instant`);
  const offset = hours === undefined ? 0 : Number(hours) * 60 + Number(`${hours[0] ?? ""}${minutes ?? ""}`);
  return instant - offset * 60_000;
}

/** The decimal of a number or string (S3.2). @throws {Error} for anything else */
export function requireDecimal(value: unknown): Fraction {
  const result = typeof value === "string" || isFraction(value) ? toFraction(value) : undefined;
  if (result === undefined) throw new Error(`${toText(value)} is not a decimal`);
  return result;
}

/** The text of a value: plain decimals for numbers, otherwise as in JavaScript. */
export function toText(value: unknown): string {
  if (typeof value === "string") return value;
  if (isFraction(value)) return formatFraction(value);
  if (Array.isArray(value)) return value.map((each) => toText(each ?? "")).join(",");
  return typeof value === "object" && value !== null ? "[object Object]" : `${value as boolean | null | undefined}`;
}

function requireText(value: unknown): string {
  if (typeof value === "string") return value;
  throw new Error(`${toText(value)} is not a string`);
}

/** Throws if a decimal has more than 100 digits (S1.4). */
function requireDigitLimit(value: Fraction): Fraction {
  const exact = toDecimal(value);
  if (compare(exact, value) !== 0) throw new Error("more than 100 digits");
  return exact;
}

function divideStrictly(a: Fraction, b: Fraction): Fraction {
  if (b.numerator === 0n) throw new Error("division by zero");
  return b.numerator > 0n ? divide(a, b) : divide(subtract(ZERO, a), subtract(ZERO, b));
}

/**
 * Reads a variable (S3.3): own properties only. The rest of the path is tried as a single key first, because names may
 * contain dots.
 */
function readVariable(facts: unknown, path: unknown): unknown {
  if (path === null || path === undefined || path === "") return facts;
  const name = toText(path);
  const dot = name.indexOf(".");
  const nestedValue = dot < 0 ? undefined : readPath(readProperty(facts, name.slice(0, dot)), name.slice(dot + 1));
  return nestedValue === undefined ? readProperty(facts, name) : nestedValue;
}

function readPath(data: unknown, path: string): unknown {
  const whole = readProperty(data, path);
  const dot = path.indexOf(".");
  if (whole !== undefined || dot < 0) return whole;
  return readPath(readProperty(data, path.slice(0, dot)), path.slice(dot + 1));
}

function readProperty(data: unknown, key: string): unknown {
  if (typeof data === "string" ? false : typeof data !== "object" || data === null || isFraction(data))
    return undefined;
  const object = Object(data) as Readonly<Record<string, unknown>>;
  return Object.hasOwn(object, key) ? toExactNumbers(object[key]) : undefined;
}

function strictlyEqual(a: unknown, b: unknown): boolean {
  return isFraction(a) && isFraction(b) ? compare(a, b) === 0 : a === b;
}

function looselyEqual(a: unknown, b: unknown): boolean {
  const isComposite = (value: unknown): boolean => typeof value === "object" && value !== null && !isFraction(value);
  if ((a ?? null) === null || (b ?? null) === null) return (a ?? null) === (b ?? null);
  return isComposite(a) && isComposite(b) ? a === b : compareLoosely(a, b) === 0;
}

/**
 * Compares strings by their characters and everything else as decimals, converted as in JavaScript; NaN if unordered.
 */
function compareLoosely(a: unknown, b: unknown): number {
  const [x, y] = [toPrimitive(a), toPrimitive(b)];
  if (typeof x === "string" && typeof y === "string") return x === y ? 0 : x < y ? -1 : 1;
  const [left, right] = [toNumber(x), toNumber(y)];
  if (isFraction(left) && isFraction(right)) return compare(left, right);
  // NaN and infinities aren't decimals. Compared with an infinity, any decimal counts as 0.
  const [m, n] = [left, right].map((value) => (isFraction(value) ? 0 : value));
  return m === n ? 0 : Number(m) - Number(n);
}

/** Lists and objects as their text. */
function toPrimitive(value: unknown): unknown {
  return typeof value === "object" && value !== null && !isFraction(value) ? toText(value) : value;
}

/** Converts as JavaScript does: to a decimal, NaN or an infinity. */
function toNumber(value: unknown): Fraction | number {
  if (isFraction(value)) return value;
  if (value === undefined) return Number.NaN;
  if (typeof value !== "string") return fractionOrZero(value === true ? 1 : 0);
  const double = Number(value);
  return toFraction(value.trim()) ?? toFraction(double) ?? double;
}

/** For positions and lengths, never for amounts. */
function toDouble(value: unknown): number {
  const number = toNumber(toPrimitive(value));
  return isFraction(number) ? Number(formatFraction(number)) : number;
}

function sliceText(source: string, start: unknown, length: unknown): string {
  const rest = source.slice(Math.trunc(toDouble(start)) || 0);
  if (length === undefined) return rest;
  const count = toDouble(length) || 0;
  if (count < 0 && !isFraction(length)) return "";
  return rest.slice(0, Math.max(0, Math.trunc(count < 0 ? rest.length + count : count)));
}

function readDuration(text: string): { readonly months: number; readonly millis: Fraction } {
  const [, sign, years = "0", months = "0", ...parts] = DURATION.exec(text) ?? [];
  if (sign === undefined) throw new Error(`${text} is not a duration`);
  const presentParts = parts.filter((each) => each !== undefined);
  if (presentParts.slice(0, -1).some((each) => /[.,]/.test(each)))
    throw new Error(`only the last part of ${text} may have a fraction`);
  const lengths = [7 * 86_400_000, 86_400_000, 3_600_000, 60_000, 1000];
  const millis = lengths.reduce(
    (sum, length, index) =>
      add(sum, multiply(fractionOrZero((parts[index] ?? "0").replace(",", ".")), fractionOrZero(length))),
    ZERO,
  );
  const count = Number(years) * 12 + Number(months);
  return sign === "-" ? { months: -count, millis: subtract(ZERO, millis) } : { months: count, millis };
}

/** Adds a duration: months first, using the month's last day if needed, then exact time in whole milliseconds. */
function shiftInstant(instant: number, duration: string, sign: number): string {
  const { months, millis } = readDuration(duration);
  const date = new Date(instant);
  const day = date.getUTCDate();
  date.setUTCDate(1);
  date.setUTCMonth(date.getUTCMonth() + sign * months);
  const lastDayOfMonth = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
  date.setUTCDate(Math.min(day, lastDayOfMonth));
  const result = new Date(date.getTime() + sign * Number(roundToDigits(millis, 0, "DOWN").numerator)).toISOString();
  if (!/^\d{4}-/.test(result)) throw new Error(`${result} is not within the years 0000 to 9999`);
  return result;
}

/** In hours, minutes and seconds: 1 May to 1 June is `PT744H`. */
function formatTimeSpan(ms: number): string {
  const rest = Math.abs(ms);
  const [hours, minutes] = [Math.floor(rest / 3_600_000), Math.floor((rest % 3_600_000) / 60_000)];
  const seconds = formatFraction(divide(fractionOrZero(rest % 60_000), fractionOrZero(1000)));
  const text = `${hours === 0 ? "" : `${hours}H`}${minutes === 0 ? "" : `${minutes}M`}${seconds === "0" ? "" : `${seconds}S`}`;
  return `${ms < 0 ? "-" : ""}PT${text === "" ? "0S" : text}`;
}

function formatDuration(count: Fraction, unit: string): string {
  if (UNITS_MS[unit] === undefined) throw new Error(`${unit} is not a unit`);
  const amount = unit === "MILLIS" ? divide(count, fractionOrZero(1000)) : count;
  const digits = formatFraction(amount).replace("-", "");
  const text =
    unit === "DAYS" ? `P${digits}D` : `PT${digits}${unit === "HOURS" ? "H" : unit === "MINUTES" ? "M" : "S"}`;
  return `${amount.numerator < 0n ? "-" : ""}${text}`;
}
