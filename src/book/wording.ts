/**
 * Converts zod issues to problems, each with a code.
 *
 * @module
 */
import type * as z from "zod";

import { isDecimalObject, formatDecimal } from "../numbers/decimal.ts";
import { joinQuoted, type ProblemCode, type ProblemParams } from "../problem-table.ts";

/** Maximum characters of an input value in a message. */
const QUOTED_MAX = 60;

/** Formats a value for a message: a text quoted and truncated to 60 characters, a list or object by its kind. */
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

/** Kinds of values in messages, by zod's names. */
const KIND_NAMES: ReadonlyMap<string, string> = new Map([
  ["string", "a string"],
  ["number", "a number"],
  ["int", "a whole number"],
  ["boolean", "true or false"],
  ["array", "a list"],
  ["object", "an object"],
  ["record", "an object"],
]);

/** A problem without its path. */
export type IssueProblem = {
  readonly [Code in ProblemCode]: { readonly code: Code; readonly params: ProblemParams<Code> };
}[ProblemCode];

/** Options for zod: {@link readIssue} needs the input, and zod's own messages are not shown. */
export const ISSUE_OPTIONS = { error: () => "", reportInput: true } as const;

/** The parameter of a zod refinement that defines its problem; the input is added to it. */
export function issueParams<Code extends ProblemCode>(
  code: Code,
  params: Omit<ProblemParams<Code>, "got"> & { readonly got?: string },
): { readonly params: Record<string, unknown> } {
  return { params: { code, ...params } };
}

/** Converts a zod issue to a problem; zod must be called with {@link ISSUE_OPTIONS}. */
export function readIssue(issue: z.core.$ZodIssue): IssueProblem {
  const { input } = issue;
  const got = quoteValue(input);
  // A schema's own message takes precedence.
  if (issue.message !== "") return { code: "NOT_ACCEPTED", params: { reason: issue.message } };
  switch (issue.code) {
    case "invalid_type":
      return expectedProblem(describeKind(issue.expected, input), input);
    case "invalid_value": {
      const options = issue.values.map(String);
      if (input === undefined) return { code: "MISSING", params: { expected: joinQuoted(options, "or") } };
      return { code: "NOT_AN_OPTION", params: { options, got } };
    }
    case "invalid_format": {
      const expected = issue.format === "regex" ? describePattern(issue.pattern ?? "") : issue.format;
      return { code: "INVALID_FORMAT", params: { expected, got } };
    }
    case "too_small":
      return { code: "OUT_OF_BOUNDS", params: { minimum: Number(issue.minimum), ...measure(input) } };
    case "too_big":
      return { code: "OUT_OF_BOUNDS", params: { maximum: Number(issue.maximum), ...measure(input) } };
    case "unrecognized_keys":
      return { code: "UNKNOWN_FIELD", params: { field: issue.keys[0] ?? "" } };
    case "invalid_union":
      return expectedProblem(describeKinds(issue.errors, input), input);
    case "custom": {
      const { code, ...params } = (issue.params ?? { code: "NOT_ACCEPTED", reason: "not accepted" }) as Record<
        string,
        unknown
      >;
      return { code, params: { got, ...params } } as IssueProblem;
    }
    default:
      return { code: "NOT_ACCEPTED", params: { reason: "not accepted" } };
  }
}

/** The expected kind of a field, in words; large numbers stored exactly count as a separate kind. */
function describeKind(name: string, input: unknown): string {
  if (name === "number" && isDecimalObject(input)) {
    return `a whole number from ${Number.MIN_SAFE_INTEGER} to ${Number.MAX_SAFE_INTEGER}`;
  }
  return KIND_NAMES.get(name) ?? name;
}

/** The expected kinds of a field, in words. */
function describeKinds(errors: readonly (readonly z.core.$ZodIssue[])[], input: unknown): string {
  const kinds = errors.map(([first]) => {
    if (first?.code === "invalid_type" && first.path.length === 0) return KIND_NAMES.get(first.expected);
    // A number stored exactly is an object to a schema, which then reports missing or unknown fields.
    if (isDecimalObject(input)) return KIND_NAMES.get("object");
    return first?.code === "invalid_type" ? KIND_NAMES.get(first.expected) : undefined;
  });
  return [...new Set(kinds.map((kind) => kind ?? "another value"))].join(" or ");
}

function expectedProblem(expected: string, input: unknown): IssueProblem {
  if (input === undefined) return { code: "MISSING", params: { expected } };
  return { code: "WRONG_TYPE", params: { expected, got: quoteValue(input) } };
}

/** The unit and the size that a bound applies to. */
function measure(input: unknown): { readonly unit?: string; readonly got: string } {
  if (typeof input === "string") return { unit: "character", got: String(input.length) };
  return Array.isArray(input) ? { unit: "item", got: String(input.length) } : { got: quoteValue(input) };
}

/** The characters that a pattern allows, by the patterns of names and ids. */
function describePattern(pattern: string): string {
  const spaces = pattern.includes(String.raw`\s`) ? "spaces, " : "";
  return `only letters, digits, ${spaces}_ and -`;
}

function truncateText(text: string): string {
  return text.length > QUOTED_MAX ? `${text.slice(0, QUOTED_MAX)}…` : text;
}
