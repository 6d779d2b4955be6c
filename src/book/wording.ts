/**
 * Sentences about what is wrong in a book: what was expected, what was found. One place words all that zod finds.
 *
 * @module
 */
import type * as z from "zod";

import { isDecimalObject, formatDecimal } from "../numbers/decimal.ts";

/** Most characters of a value from outside in a message. */
const QUOTED_MAX = 60;

/** A value as a message shows it: a text in quotes and cut at 60 characters, a list or object by its kind. */
export function quoteValue(value: unknown): string {
  if (typeof value === "string")
    return JSON.stringify(value.length > QUOTED_MAX ? `${value.slice(0, QUOTED_MAX)}…` : value);
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (isDecimalObject(value)) return truncateText(formatDecimal(value));
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  if (typeof value === "object") return "an object";
  if (typeof value === "number" || typeof value === "boolean" || typeof value === "bigint")
    return truncateText(String(value));
  return `a ${typeof value}`;
}

/** Texts as an enumeration in quotes: `"a", "b" or "c"`. */
export function joinWithOr(texts: readonly string[]): string {
  return joinQuoted(texts, "or");
}

/** Texts in quotes: `"a", "b" and "c"`. */
export function joinWithAnd(texts: readonly string[]): string {
  return joinQuoted(texts, "and");
}

/** `a usage meter`, `an add-on`. */
export function withArticle(noun: string): string {
  return /^(?:[aeio]|u[^s])/.test(noun) ? `an ${noun}` : `a ${noun}`;
}

/** Kinds of values as messages name them, by zod's names. */
const KIND_NAMES: ReadonlyMap<string, string> = new Map([
  ["string", "a text"],
  ["number", "a number"],
  ["int", "a whole number"],
  ["boolean", "true or false"],
  ["array", "a list"],
  ["object", "an object"],
  ["record", "an object"],
]);

/** The sentence for what zod found at a field; given to zod as its error map. */
export function describeIssue(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return describeExpected(describeKind(issue.expected, issue.input), issue.input);
    case "invalid_value":
      return describeExpected(joinWithOr(issue.values.map((value) => String(value))), issue.input);
    case "invalid_format":
      return describeExpected(
        issue.format === "regex" ? `a text that matches ${issue.pattern ?? "its pattern"}` : issue.format,
        issue.input,
      );
    case "too_small":
      return describeBound("at least", issue.minimum, issue.input);
    case "too_big":
      return describeBound("at most", issue.maximum, issue.input);
    case "unrecognized_keys":
      return `unknown field ${joinWithOr(issue.keys.slice(0, 3))}`;
    case "invalid_union":
      return describeExpected(describeKinds(issue.errors, issue.input), issue.input);
    default:
      return "not accepted";
  }
}

/** The kind of value that a field takes, in words; a number that is kept with all its digits is beyond those of a plain one. */
function describeKind(name: string, input: unknown): string {
  if (name === "number" && isDecimalObject(input)) {
    return `a whole number from ${Number.MIN_SAFE_INTEGER} to ${Number.MAX_SAFE_INTEGER}`;
  }
  return KIND_NAMES.get(name) ?? name;
}

/** The kinds of value that a field takes, in words. */
function describeKinds(errors: readonly (readonly z.core.$ZodIssue[])[], input: unknown): string {
  const kinds = errors.map(([first]) => {
    if (first?.code === "invalid_type" && first.path.length === 0) return KIND_NAMES.get(first.expected);
    // A number that is kept with all its digits is an object to a schema, which then misses or meets fields.
    if (isDecimalObject(input)) return KIND_NAMES.get("object");
    return first?.code === "invalid_type" ? KIND_NAMES.get(first.expected) : undefined;
  });
  return [...new Set(kinds.map((kind) => kind ?? "another value"))].join(" or ");
}

function describeExpected(what: string, input: unknown): string {
  return input === undefined ? `missing: expected ${what}` : `expected ${what}, got ${quoteValue(input)}`;
}

function describeBound(side: "at least" | "at most", limit: number | bigint, input: unknown): string {
  if (typeof input === "string") {
    return `expected ${side} ${limit} ${limit === 1 ? "character" : "characters"}, got ${input.length}`;
  }
  if (Array.isArray(input)) return `expected ${side} ${limit} ${limit === 1 ? "item" : "items"}, got ${input.length}`;
  return `expected ${side} ${limit}, got ${quoteValue(input)}`;
}

function joinQuoted(texts: readonly string[], word: "and" | "or"): string {
  const quotedTexts = texts.map((text) => quoteValue(text));
  const last = quotedTexts.at(-1) ?? "nothing";
  return quotedTexts.length < 2 ? last : `${quotedTexts.slice(0, -1).join(", ")} ${word} ${last}`;
}

function truncateText(text: string): string {
  return text.length > QUOTED_MAX ? `${text.slice(0, QUOTED_MAX)}…` : text;
}
