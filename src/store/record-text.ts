/**
 * Records as JSON texts that bring back exactly what was written: a {@link Decimal} comes back as one, and a text that
 * looks like one as a text.
 *
 * A decimal is written as a text with `#` before it, and a text that begins with `#` gets one more. An
 * instant without end, which JSON cannot express, is written as a word after `#`.
 *
 * @module
 */
import { Decimal, decimalOf, textOf } from "../numbers/decimal.ts";

/** The JSON text of plain data; a property that is undefined is left out. The text holds no line break. */
export function recordText(value: unknown): string {
  return JSON.stringify(marked(value));
}

/**
 * Reads the record that {@link recordText} wrote.
 *
 * @throws {SyntaxError} when the text is not JSON; RatebookError ERR_NUMBER_INVALID when a marked decimal is none
 */
export function recordOf(text: string): unknown {
  const value: unknown = JSON.parse(text);
  // Most records hold nothing that is marked: a text that begins with `#` comes right after its quote.
  return text.includes('"#') ? unmarked(value) : value;
}

function marked(value: unknown): unknown {
  if (typeof value === "string") return value.startsWith("#") ? `#${value}` : value;
  if (typeof value === "number") return Number.isFinite(value) ? value : `#${value}`;
  if (typeof value !== "object" || value === null) return value;
  if (Decimal.isDecimal(value)) return `#${textOf(value)}`;
  if (Array.isArray(value)) return value.map(marked);
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, marked(part)]));
}

function unmarked(value: unknown): unknown {
  if (typeof value === "string") return value.startsWith("#") ? meaningOf(value.slice(1)) : value;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(unmarked);
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, unmarked(part)]));
}

function meaningOf(text: string): unknown {
  if (text.startsWith("#")) return text;
  if (text === "Infinity") return Infinity;
  if (text === "-Infinity") return -Infinity;
  return decimalOf(text);
}
