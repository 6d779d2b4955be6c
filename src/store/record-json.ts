/**
 * Serializes records as JSON texts that restore exactly what was written: a {@link Decimal} stays a Decimal, and a text
 * that looks like one stays a text. A decimal is written as a text with the prefix `#`; a text that begins with `#`
 * gets another one. An infinite instant, which JSON cannot express, is written as a word after `#`.
 */
import { Decimal, parseDecimal, formatDecimal } from "../numbers/decimal.ts";

/** The JSON text of plain data; undefined properties are omitted. The text contains no line break. */
export function serializeRecord(value: unknown): string {
  return JSON.stringify(markSpecialValues(value));
}

/**
 * Reads a record written by {@link serializeRecord}.
 *
 * @throws {SyntaxError} if the text is not JSON; RatebookError ERR_NUMBER_INVALID for an invalid marked decimal
 */
export function parseRecord(text: string): unknown {
  const value: unknown = JSON.parse(text);
  // Most records contain nothing marked: a text that begins with `#` follows its quote directly.
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
