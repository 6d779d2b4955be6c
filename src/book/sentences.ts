/**
 * Sentences about what is wrong in a book: what was expected, what was found. One place words all that zod finds.
 *
 * @module
 */
import type * as z from "zod";

import { isDecimalObject, formatDecimal } from "../numbers/decimal.ts";

/** Most characters of a value from outside in a message. */
const SHOWN_MAX = 60;

/** A value as a message shows it: a text in quotes and cut at 60 characters, a list or object by its kind. */
export function shown(value: unknown): string {
  if (typeof value === "string")
    return JSON.stringify(value.length > SHOWN_MAX ? `${value.slice(0, SHOWN_MAX)}…` : value);
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (isDecimalObject(value)) return cut(formatDecimal(value));
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  if (typeof value === "object") return "an object";
  if (typeof value === "number" || typeof value === "boolean" || typeof value === "bigint") return cut(String(value));
  return `a ${typeof value}`;
}

/** Texts as an enumeration in quotes: `"a", "b" or "c"`. */
export function oneOf(texts: readonly string[]): string {
  return joined(texts, "or");
}

/** Texts in quotes: `"a", "b" and "c"`. */
export function allOf(texts: readonly string[]): string {
  return joined(texts, "and");
}

/** `a usage meter`, `an add-on`. */
export function anOrA(noun: string): string {
  return /^(?:[aeio]|u[^s])/.test(noun) ? `an ${noun}` : `a ${noun}`;
}

/** Kinds of values as messages name them, by zod's names. */
const KINDS: ReadonlyMap<string, string> = new Map([
  ["string", "a text"],
  ["number", "a number"],
  ["int", "a whole number"],
  ["boolean", "true or false"],
  ["array", "a list"],
  ["object", "an object"],
  ["record", "an object"],
]);

/** The sentence for what zod found at a field; given to zod as its error map. */
export function sentenceOf(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return expected(kindOf(issue.expected, issue.input), issue.input);
    case "invalid_value":
      return expected(oneOf(issue.values.map((value) => String(value))), issue.input);
    case "invalid_format":
      return expected(
        issue.format === "regex" ? `a text that matches ${issue.pattern ?? "its pattern"}` : issue.format,
        issue.input,
      );
    case "too_small":
      return bounded("at least", issue.minimum, issue.input);
    case "too_big":
      return bounded("at most", issue.maximum, issue.input);
    case "unrecognized_keys":
      return `unknown field ${oneOf(issue.keys.slice(0, 3))}`;
    case "invalid_union":
      return expected(kindsOf(issue.errors, issue.input), issue.input);
    default:
      return "not accepted";
  }
}

/** The kind of value that a field takes, in words; a number that is kept with all its digits is beyond those of a plain one. */
function kindOf(name: string, input: unknown): string {
  if (name === "number" && isDecimalObject(input)) {
    return `a whole number from ${Number.MIN_SAFE_INTEGER} to ${Number.MAX_SAFE_INTEGER}`;
  }
  return KINDS.get(name) ?? name;
}

/** The kinds of value that a field takes, in words. */
function kindsOf(errors: readonly (readonly z.core.$ZodIssue[])[], input: unknown): string {
  const kinds = errors.map(([first]) => {
    if (first?.code === "invalid_type" && first.path.length === 0) return KINDS.get(first.expected);
    // A number that is kept with all its digits is an object to a schema, which then misses or meets fields.
    if (isDecimalObject(input)) return KINDS.get("object");
    return first?.code === "invalid_type" ? KINDS.get(first.expected) : undefined;
  });
  return [...new Set(kinds.map((kind) => kind ?? "another value"))].join(" or ");
}

function expected(what: string, input: unknown): string {
  return input === undefined ? `missing: expected ${what}` : `expected ${what}, got ${shown(input)}`;
}

function bounded(side: "at least" | "at most", bound: number | bigint, input: unknown): string {
  if (typeof input === "string") {
    return `expected ${side} ${bound} ${bound === 1 ? "character" : "characters"}, got ${input.length}`;
  }
  if (Array.isArray(input)) return `expected ${side} ${bound} ${bound === 1 ? "item" : "items"}, got ${input.length}`;
  return `expected ${side} ${bound}, got ${shown(input)}`;
}

function joined(texts: readonly string[], word: "and" | "or"): string {
  const quoted = texts.map((text) => shown(text));
  const last = quoted.at(-1) ?? "nothing";
  return quoted.length < 2 ? last : `${quoted.slice(0, -1).join(", ")} ${word} ${last}`;
}

function cut(text: string): string {
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text;
}
