/**
 * JSON whose numbers are the decimals that their text says (S1.2), also beyond what a double keeps.
 *
 * @module
 */
import { isSafeNumber, parse, stringify } from "lossless-json";

import { RatebookError } from "../errors.ts";
import { Decimal } from "./decimal.ts";

/** A run of more than 15 digits, points aside: only then can a double lose something. */
const MANY_DIGITS = /\d(?:\.?\d){15}|\d[eE]/;

/**
 * Parses a JSON text. A number that a double keeps is a JavaScript number, any other is a {@link Decimal}.
 *
 * @throws {RatebookError} ERR_JSON_INVALID with the reason
 */
export function parseJson(text: string): unknown {
  try {
    if (!MANY_DIGITS.test(text)) return JSON.parse(text);
    // A `__proto__` key must stay a plain own key, as JSON.parse has it; lossless-json would set the prototype.
    JSON.parse(text);
    return parse(text, undefined, { parseNumber });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new RatebookError("ERR_JSON_INVALID", `not JSON: ${reason}`, {}, { cause: error });
  }
}

/** The JSON text of a value; a {@link Decimal} is a number with all its digits. */
export function stringifyJson(value: unknown, indent?: number): string {
  const text = stringify(value, undefined, indent, [
    { test: (part) => Decimal.isDecimal(part), stringify: (part) => (part as Decimal).toFixed() },
  ]);
  return text ?? "null";
}

function parseNumber(text: string): unknown {
  return isSafeNumber(text) ? Number(text) : new Decimal(text);
}
