/** JSON with exact decimals (S1.2), even those that a double cannot represent. */
import { isSafeNumber, stringify } from "lossless-json";

import { hasCode, RatebookError } from "../errors.ts";
import { Decimal, parseDecimal, isDecimalObject, formatDecimal } from "./decimal.ts";
import { describeJsonFault } from "./json-text.ts";
import { runToCompletion, type Steps } from "./steps.ts";

/**
 * More than 15 digits, ignoring points, or a number with an exponent: only then may a double be inexact. The exponent
 * must be where JSON allows a number, so that most ids of hex digits do not match.
 */
const MANY_DIGITS = /\d(?:\.?\d){15}|(?:^|[[:,\s])-?\d[\d.]*[eE][-+\d]/;

/**
 * Parses a JSON text. A number that a double can represent is a JavaScript number, any other a {@link Decimal}. Of a
 * duplicate key the last value counts, and a `__proto__` key is an ordinary own key, as in JSON.parse.
 *
 * @param replaceUnrepresentable creates the replacement of a number beyond 10^1000 or 100 digits
 * @throws {RatebookError} ERR_JSON_INVALID with the reason; also for such a number without `replaceUnrepresentable`, and
 * for a text with a long number that is nested too deeply for the stack
 */
export function parseJson(text: string, replaceUnrepresentable?: (reason: string) => unknown): unknown {
  return runToCompletion(parseJsonInSteps(text, replaceUnrepresentable));
}

/** Like {@link parseJson}, in steps: converting a hundred thousand long numbers takes hundreds of milliseconds. */
export function* parseJsonInSteps(text: string, replaceUnrepresentable?: (reason: string) => unknown): Steps<unknown> {
  try {
    if (!MANY_DIGITS.test(text)) return JSON.parse(text);
    const number =
      replaceUnrepresentable === undefined
        ? jsonNumber
        : (digits: string) => parseNumberOr(digits, replaceUnrepresentable);
    // Numbers that are not representable are rejected or replaced afterwards, in the order of the fields.
    return yield* parseWithLongNumbers(text, numberIfRepresentable, (converted, digits) => converted ?? number(digits));
  } catch (error) {
    if (error instanceof RangeError) throw invalidJsonError("nested too deeply", error);
    if (error instanceof SyntaxError) throw invalidJsonError(describeJsonFault(text), error);
    throw invalidJsonError(error instanceof Error ? error.message : String(error), error);
  }
}

/**
 * Like {@link parseJson}, for a text without numbers of more than 15 digits or with an exponent.
 *
 * @throws {RatebookError} ERR_JSON_INVALID with the reason
 */
export function parsePlainJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw invalidJsonError(describeJsonFault(text), error);
  }
}

/** Serializes a value as JSON; a {@link Decimal} becomes a number with all its digits. */
export function stringifyJson(value: unknown, indent?: number): string {
  const text = stringify(value, undefined, indent, [
    { test: (part) => isDecimalObject(part), stringify: (part) => formatDecimal(part as Decimal) },
  ]);
  return text ?? "null";
}

/**
 * The value of a JSON number: a JavaScript number if a double can represent it, else a {@link Decimal}.
 *
 * @throws {RatebookError} ERR_NUMBER_INVALID if no decimal can
 */
export function jsonNumber(text: string): number | Decimal {
  if (isSafeNumber(text)) return Number(text);
  return parseDecimal(text);
}

function parseNumberOr(text: string, replaceUnrepresentable: (reason: string) => unknown): unknown {
  try {
    return jsonNumber(text);
  } catch (error) {
    if (!hasCode(error, "ERR_NUMBER_INVALID")) throw error;
    return replaceUnrepresentable(error.message);
  }
}

/** The value of a JSON number; undefined if no decimal can represent it. */
function numberIfRepresentable(text: string): number | Decimal | undefined {
  return parseNumberOr(text, () => undefined) as number | Decimal | undefined;
}

function invalidJsonError(reason: string, cause: unknown): RatebookError<"ERR_JSON_INVALID"> {
  return new RatebookError("ERR_JSON_INVALID", `not JSON: ${reason}`, {}, { cause });
}

/** Characters per piece: longer texts are slow to build. */
const PIECE_LENGTH = 16_384;

/** A list or object being written. */
interface OpenValue {
  /** Undefined for a list. */
  readonly keys: readonly string[] | undefined;
  readonly values: Readonly<Record<string | number, unknown>>;
  readonly length: number;
  /** The index of the next part. */
  next: number;
  /** Whether no part has been written yet. */
  isEmpty: boolean;
}

/** The text of `stringifyJson`, in pieces of a few thousand characters. The value must not contain itself. */
export function* jsonPieces(value: unknown): Generator<string, void, undefined> {
  const open: OpenValue[] = [];
  // The items of a list usually have the same fields.
  const fieldTexts = new Map<string, string>();
  let text = "";
  let part = plainPart(value);
  for (;;) {
    const container = openValue(part);
    if (container === undefined) {
      text += scalarText(part);
    } else {
      open.push(container);
      text += container.keys === undefined ? "[" : "{";
    }
    let last = open.at(-1);
    while (last !== undefined && !moveToNext(last)) {
      text += last.keys === undefined ? "]" : "}";
      open.pop();
      last = open.at(-1);
    }
    if (last === undefined) break;
    if (text.length >= PIECE_LENGTH) {
      yield text;
      text = "";
    }
    if (!last.isEmpty) text += ",";
    last.isEmpty = false;
    const key = last.keys === undefined ? last.next : (last.keys[last.next] ?? "");
    if (typeof key === "string") text += fieldText(key, fieldTexts);
    part = plainPart(last.values[key]);
    last.next++;
  }
  yield text;
}

/** Moves to the next part that has a text; false if there is none. */
function moveToNext(value: OpenValue): boolean {
  const { keys, values, length } = value;
  if (keys === undefined) return value.next < length;
  while (value.next < length && isAbsent(plainPart(values[keys[value.next] ?? ""]))) value.next++;
  return value.next < length;
}

function fieldText(key: string, texts: Map<string, string>): string {
  const cachedText = texts.get(key);
  if (cachedText !== undefined) return cachedText;
  const text = `${JSON.stringify(key)}:`;
  // Ids as keys may be many, each used once.
  if (texts.size < 1000) texts.set(key, text);
  return text;
}

/** A list or object to write part by part; undefined for other values. */
function openValue(part: unknown): OpenValue | undefined {
  if (typeof part !== "object" || part === null || isScalarObject(part)) return undefined;
  const values = part as OpenValue["values"];
  const keys = Array.isArray(part) ? undefined : Object.keys(part);
  return { keys, values, length: Array.isArray(part) ? part.length : (keys?.length ?? 0), next: 0, isEmpty: true };
}

/** Applies an object's `toJSON`, if it has one. */
function plainPart(part: unknown): unknown {
  if (typeof part !== "object" || part === null || isScalarObject(part)) return part;
  const { toJSON } = part as { readonly toJSON?: unknown };
  return typeof toJSON === "function" ? plainPart(toJSON.call(part)) : part;
}

function isAbsent(part: unknown): boolean {
  return part === undefined || typeof part === "function" || typeof part === "symbol";
}

function isScalarObject(part: object): boolean {
  return part instanceof Decimal || part instanceof Date || isDecimalObject(part);
}

function scalarText(part: unknown): string {
  if (typeof part === "object" && part !== null && isDecimalObject(part)) return formatDecimal(part);
  return isAbsent(part) ? "null" : typeof part === "bigint" ? part.toString() : JSON.stringify(part);
}

const [QUOTE, BACKSLASH, MINUS, PLUS, POINT, ZERO, NINE, LARGE_E, SMALL_E] = [
  0x22, 0x5c, 0x2d, 0x2b, 0x2e, 0x30, 0x39, 0x45, 0x65,
];
/** Any number with this many digits can be represented by a double. */
const DIGITS_MAX = 15;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/;
/** A placeholder is 1 + the index of the digits, divided by this. */
const SCALE = 1e300;
/** Placeholders are less than this. Numbers without an exponent and of at most 15 digits are zero or at least 1e-15. */
const PLACEHOLDER_MAX = 1e-200;

/** Numbers converted in one step. */
const NUMBERS_OF_STEP = 2_000;
/** Characters searched for numbers in one step; a longer string or number is one step. */
const CHARACTERS_OF_STEP = 1_000_000;

/**
 * Parses a JSON text, in steps.
 *
 * @param convert converts a number of more than 15 digits or with an exponent
 * @param finish returns the value of a converted number; called in the order of the fields of the value
 * @throws {SyntaxError} for invalid JSON; {RangeError} if nested too deeply for the stack
 */
export function* parseWithLongNumbers<Converted>(
  text: string,
  convert: (digits: string) => Converted,
  finish: (converted: Converted | undefined, digits: string) => unknown,
): Steps<unknown> {
  const numbers: string[] = [];
  const withoutNumbers = yield* withPlaceholders(text, numbers);
  const value: unknown = JSON.parse(withoutNumbers);
  if (numbers.length === 0) return value;
  const converted: Converted[] = [];
  for (const number of numbers) {
    converted.push(convert(number));
    if (converted.length % NUMBERS_OF_STEP === 0) yield;
  }
  const restoreNumber = (number: number): unknown => {
    const index = Math.round(number * SCALE) - 1;
    return finish(converted[index], numbers[index] ?? "");
  };
  return isPlaceholder(value) ? restoreNumber(value) : (restore(value, restoreNumber), value);
}

function* withPlaceholders(text: string, numbers: string[]): Steps<string> {
  const pieces: string[] = [];
  let copied = 0;
  let at = 0;
  let nextStep = CHARACTERS_OF_STEP;
  while (at < text.length) {
    if (at >= nextStep) {
      yield;
      nextStep = at + CHARACTERS_OF_STEP;
    }
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfText(text, at);
    else if (code !== MINUS && !isDigit(code)) at++;
    else {
      const start = at;
      let digits = 0;
      let hasExponent = false;
      for (; ; at++) {
        const part = text.charCodeAt(at);
        if (isDigit(part)) digits++;
        else if (part === SMALL_E || part === LARGE_E) hasExponent = true;
        else if (part !== POINT && part !== MINUS && part !== PLUS) break;
      }
      if (!hasExponent && digits <= DIGITS_MAX) continue;
      const number = text.slice(start, at);
      // Invalid numbers stay, for the parser to reject.
      if (!NUMBER.test(number)) continue;
      numbers.push(number);
      pieces.push(text.slice(copied, start), `${numbers.length}e-300`);
      copied = at;
    }
  }
  pieces.push(text.slice(copied));
  return pieces.join("");
}

/** Replaces placeholders by the converted numbers. */
function restore(value: unknown, restoreNumber: (placeholder: number) => unknown): void {
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const item: unknown = value[index];
      if (isPlaceholder(item)) value[index] = restoreNumber(item);
      else if (typeof item === "object") restore(item, restoreNumber);
    }
    return;
  }
  const fields = value as Record<string, unknown>;
  for (const key in fields) {
    const field = fields[key];
    if (!isPlaceholder(field)) {
      if (typeof field === "object") restore(field, restoreNumber);
    } else if (key === "__proto__") {
      // An assignment would set the prototype.
      Object.defineProperty(fields, key, {
        value: restoreNumber(field),
        enumerable: true,
        configurable: true,
        writable: true,
      });
    } else fields[key] = restoreNumber(field);
  }
}

function isPlaceholder(value: unknown): value is number {
  return typeof value === "number" && value > 0 && value < PLACEHOLDER_MAX;
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE;
}

/** The index after the closing quote of the string whose opening quote is here. */
function endOfText(text: string, start: number): number {
  let at = start + 1;
  for (;;) {
    const end = text.indexOf('"', at);
    if (end < 0) return text.length;
    let escapes = end;
    while (text.charCodeAt(escapes - 1) === BACKSLASH && escapes > start + 1) escapes--;
    if ((end - escapes) % 2 === 0) return end + 1;
    at = end + 1;
  }
}
