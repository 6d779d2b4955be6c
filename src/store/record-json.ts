/**
 * Records as JSON texts that bring back exactly what was written: a {@link Decimal} comes back as one, and a text that
 * looks like one as a text.
 *
 * A decimal is written as a text with `#` before it, and a text that begins with `#` gets one more. An
 * instant without end, which JSON cannot express, is written as a word after `#`.
 *
 * @module
 */
import { Decimal, parseDecimal, formatDecimal } from "../numbers/decimal.ts";

/** The JSON text of plain data; a property that is undefined is left out. The text holds no line break. */
export function serializeRecord(value: unknown): string {
  return JSON.stringify(markSpecialValues(value));
}

/**
 * Reads the record that {@link serializeRecord} wrote.
 *
 * @throws {SyntaxError} when the text is not JSON; RatebookError ERR_NUMBER_INVALID when a marked decimal is none
 */
export function parseRecord(text: string): unknown {
  const value: unknown = JSON.parse(text);
  // Most records hold nothing that is marked: a text that begins with `#` comes right after its quote.
  return text.includes('"#') ? unmarkSpecialValues(value) : value;
}

function markSpecialValues(value: unknown): unknown {
  if (typeof value === "string") return value.startsWith("#") ? `#${value}` : value;
  if (typeof value === "number") return Number.isFinite(value) ? value : `#${value}`;
  if (typeof value !== "object" || value === null) return value;
  if (Decimal.isDecimal(value)) return `#${formatDecimal(value)}`;
  if (Array.isArray(value)) return value.map(markSpecialValues);
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, markSpecialValues(part)]));
}

function unmarkSpecialValues(value: unknown): unknown {
  if (typeof value === "string") return value.startsWith("#") ? parseMark(value.slice(1)) : value;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(unmarkSpecialValues);
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, unmarkSpecialValues(part)]));
}

function parseMark(text: string): unknown {
  if (text.startsWith("#")) return text;
  if (text === "Infinity") return Infinity;
  if (text === "-Infinity") return -Infinity;
  return parseDecimal(text);
}
