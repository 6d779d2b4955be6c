/**
 * Parses the values of an event's fields (S1.3, S4.1).
 *
 * @module
 */
import { RatebookError } from "../errors.ts";
import type { DecimalInput } from "../numbers/decimal.ts";
import { isDecimalObject, parseValue } from "../numbers/decimal.ts";
import type { Exact } from "../numbers/exact.ts";
import { exactOfDecimal, exactOfNumber, exactOfText, Scaled, formatExact } from "../numbers/exact.ts";

const POWERS: readonly number[] = Array.from({ length: 16 }, (_, power) => Number(`1e${power}`));

/** Whether a value has a type that can represent a decimal. */
export function isDecimalInput(value: unknown): value is DecimalInput {
  return typeof value === "number" || typeof value === "string" || isDecimalObject(value);
}

/**
 * The exact value of an attribute, within S1.3; undefined if it is invalid.
 *
 * @param scales the decimal places of the last fraction at each position, tried first and updated
 */
export function parseAttributeValue(value: DecimalInput, scales: number[], index: number): Exact | undefined {
  if (typeof value === "number") {
    if (Number.isSafeInteger(value)) return value === 0 ? 0 : value;
    const scale = scales[index] ?? 0;
    const power = POWERS[scale] ?? 1;
    const mantissa = Math.round(value * power);
    // A decimal of at most 15 digits that divides back to the same double is the one in its text.
    if (mantissa / power === value && mantissa < 1e15 && mantissa > -1e15) return new Scaled(mantissa, scale);
  }
  const exact = parseExactValue(value);
  if (typeof exact === "object" && exact.scale < POWERS.length) scales[index] = exact.scale;
  return exact;
}

function parseExactValue(value: DecimalInput): Exact | undefined {
  if (typeof value === "number") {
    if (Number.isSafeInteger(value)) return value === 0 ? 0 : value;
    const exact = exactOfNumber(value);
    return exact !== undefined && (typeof exact === "number" || exact.scale <= 20) ? exact : parseCheckedValue(value);
  }
  if (typeof value === "string") {
    const exact = exactOfText(value);
    if (typeof exact === "number") return exact;
    // A mantissa of at most 15 digits with at most 20 decimal places is within the bounds.
    return exact !== undefined && typeof exact.mantissa === "number" && exact.scale <= 20
      ? exact
      : parseCheckedValue(value);
  }
  return parseCheckedValue(value);
}

function parseCheckedValue(value: DecimalInput): Exact | undefined {
  try {
    return exactOfDecimal(parseValue(value));
  } catch (error) {
    if (error instanceof RatebookError) return undefined;
    throw error;
  }
}

/** The plain decimal text of a numeric dimension; undefined if it is not a decimal within S1.3. */
export function formatDimensionValue(value: DecimalInput): string | undefined {
  const exact = parseExactValue(value);
  return exact === undefined ? undefined : formatExact(exact);
}
