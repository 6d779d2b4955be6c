/**
 * JSON whose numbers are the decimals that their text says (S1.2), also beyond what a double keeps.
 *
 * @module
 */
import { isSafeNumber, stringify } from "lossless-json";

import { hasCode, RatebookError } from "../errors.ts";
import { type Decimal, parseDecimal, isDecimalObject, formatDecimal } from "./decimal.ts";
import { sentenceOnJsonFault } from "./json-error.ts";
import { parseWithLongNumbers } from "./json-numbers.ts";

/**
 * A run of more than 15 digits, points aside, or a number with an exponent: only then can a double lose something. The
 * exponent must stand where JSON may have a number, so that most ids of hex digits stay on the fast path.
 */
const MANY_DIGITS = /\d(?:\.?\d){15}|(?:^|[[:,\s])-?\d[\d.]*[eE][-+\d]/;

/**
 * Parses a JSON text. A number that a double keeps is a JavaScript number, any other is a {@link Decimal}. Of a repeated
 * key the last value counts, and a `__proto__` key is a plain own key, as in JSON.parse.
 *
 * @param unkept what stands in place of a number that no decimal keeps, beyond 10^1000 or 100 digits
 * @throws {RatebookError} ERR_JSON_INVALID with the reason; also for a number that is not kept, unless `unkept` is given,
 * and for a text that holds a long number and is nested too deeply for the stack
 */
export function parseJson(text: string, unkept?: (reason: string) => unknown): unknown {
  try {
    if (!MANY_DIGITS.test(text)) return JSON.parse(text);
    const number = unkept === undefined ? jsonNumber : (digits: string) => parseNumberOr(digits, unkept);
    return parseWithLongNumbers(text, number);
  } catch (error) {
    if (error instanceof RangeError) throw invalidJson("nested too deeply", error);
    if (error instanceof SyntaxError) throw invalidJson(sentenceOnJsonFault(text), error);
    throw invalidJson(error instanceof Error ? error.message : String(error), error);
  }
}

/**
 * As {@link parseJson}, for a text that is known to hold no number of more than 15 digits, and none with an exponent.
 *
 * @throws {RatebookError} ERR_JSON_INVALID with the reason
 */
export function parsePlainJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw invalidJson(sentenceOnJsonFault(text), error);
  }
}

/** The JSON text of a value; a {@link Decimal} is a number with all its digits. */
export function stringifyJson(value: unknown, indent?: number): string {
  const text = stringify(value, undefined, indent, [
    { test: (part) => isDecimalObject(part), stringify: (part) => formatDecimal(part as Decimal) },
  ]);
  return text ?? "null";
}

/**
 * The value of a number as JSON writes it: a JavaScript number where a double keeps it, else a {@link Decimal}.
 *
 * @throws {RatebookError} ERR_NUMBER_INVALID when no decimal keeps it
 */
export function jsonNumber(text: string): number | Decimal {
  if (isSafeNumber(text)) return Number(text);
  return parseDecimal(text);
}

function parseNumberOr(text: string, unkept: (reason: string) => unknown): unknown {
  try {
    return jsonNumber(text);
  } catch (error) {
    if (!hasCode(error, "ERR_NUMBER_INVALID")) throw error;
    return unkept(error.message);
  }
}

function invalidJson(reason: string, cause: unknown): RatebookError<"ERR_JSON_INVALID"> {
  return new RatebookError("ERR_JSON_INVALID", `not JSON: ${reason}`, {}, { cause });
}
