/**
 * The errors of ratebook. Expected outcomes are values; invalid input is a {@link RatebookError} with a stable code; an
 * internal error is an {@link InvariantError}, which is never caught.
 *
 * @module
 */

import type { Problem, RuleProblemCode } from "./problem-table.ts";
import type { RuleLink } from "./rulebook.ts";

export type { Problem, ProblemCode, RuleProblemCode } from "./problem-table.ts";

/** Why a value is not a supported decimal. */
export type NumberFault = "NOT_A_NUMBER" | "NOT_A_DECIMAL" | "UNSAFE_NUMBER" | "TOO_MANY_DIGITS";

/** The details of each code. Adding a code is a minor release; changing or removing one is a major one. */
export interface ErrorDetails {
  /** A text or value is not a decimal, or not within its bounds (S1.2, S1.3). */
  readonly ERR_NUMBER_INVALID: { readonly reason: NumberFault };
  /** An exact result would need more than 100 digits, or a division by zero (S1.4). */
  readonly ERR_ARITHMETIC: object;
  /** A currency code is not in ISO 4217, or has no minor unit (S1.5). */
  readonly ERR_CURRENCY_UNKNOWN: { readonly currency: string };
  /** A text is not JSON. */
  readonly ERR_JSON_INVALID: object;
  /** A text is not a date, date-time or duration as S2.2 accepts them. */
  readonly ERR_DATE_INVALID: object;
  /** A pricing cycle's interval or offsets are invalid (S6.1). `reason` is the message without the field. */
  readonly ERR_CYCLE_INVALID: { readonly field: string; readonly reason: string };
  /** A rule is malformed (S3.6). `path` is the path inside the rule; `reason` is the code of the problem. */
  readonly ERR_RULE_INVALID: { readonly path: string; readonly reason: RuleProblemCode };
  /** A rule cannot be evaluated on the facts (S3.2). */
  readonly ERR_RULE_FAILED: object;
  /** A book has problems; all of them are in `problems`. */
  readonly ERR_BOOK_INVALID: { readonly problems: readonly Problem[] };
  /** A rate plan is malformed, or a slab has no rate (S7). */
  readonly ERR_RATES_INVALID: object;
  /** The name, id or version is unknown. */
  readonly ERR_NOT_FOUND: { readonly resource: string; readonly id: string };
  /** The id, name or alias is taken, or an idempotency key was used for another request. */
  readonly ERR_TAKEN: { readonly resource: string; readonly id: string };
  /**
   * A rule rejects the operation in the current state of the resource: a status change, an edit, an overdraft. `rule`
   * links to it; absent if a database cannot be used or a package is not installed.
   */
  readonly ERR_REFUSED: { readonly rule?: RuleLink };
  /** An input of an operation is malformed or out of bounds; all problems are in `problems`. */
  readonly ERR_INPUT_INVALID: { readonly problems: readonly Problem[] };
  /** Concurrent writers won every attempt. Nothing was written; retry. */
  readonly ERR_STORE_CONFLICT: object;
  /** The database is unavailable. Nothing was written; retry later. */
  readonly ERR_STORE_UNAVAILABLE: object;
  /** External usage cannot be read completely, or changed meanwhile: nothing was decided (S17.5). */
  readonly ERR_USAGE_UNAVAILABLE: object;
  /** An option is out of bounds, or two options conflict. `reason` is the message without its name. */
  readonly ERR_OPTION_INVALID: { readonly option: string; readonly reason?: string };
}

/** The stable codes. Branch on these, never on a message. */
export type ErrorCode = keyof ErrorDetails;

/** The error class for callers to catch. */
export class RatebookError<Code extends ErrorCode = ErrorCode> extends Error {
  override readonly name: string = "RatebookError";
  readonly code: Code;
  readonly details: ErrorDetails[Code];

  constructor(code: Code, message: string, details: ErrorDetails[Code], options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.details = details;
  }

  /** The JSON form. */
  toJSON(): { readonly code: Code; readonly message: string; readonly details: ErrorDetails[Code] } {
    return { code: this.code, message: this.message, details: this.details };
  }
}

/** Creates the error for the problems of an input, with the path and the message of the first. */
export function inputError(
  problems: readonly [Problem, ...Problem[]],
  options?: ErrorOptions,
): RatebookError<"ERR_INPUT_INVALID"> {
  const [{ path, message }] = problems;
  const where = path === "$" ? "" : `${path.replace(/^\$\.?/, "")}: `;
  return new RatebookError("ERR_INPUT_INVALID", where + message, { problems }, options);
}

/** Creates the error for an option; `reason` does not include its name. */
export function optionError(option: string, reason: string): RatebookError<"ERR_OPTION_INVALID"> {
  return new RatebookError("ERR_OPTION_INVALID", `${option}: ${reason}`, { option, reason });
}

/** Whether `error` is a {@link RatebookError} with this code. */
export function hasCode<Code extends ErrorCode>(error: unknown, code: Code): error is RatebookError<Code> {
  return error instanceof RatebookError && error.code === code;
}

/** Resolves to undefined if the promise rejects with ERR_NOT_FOUND. */
export async function undefinedIfNotFound<Value>(promise: Promise<Value>): Promise<Value | undefined> {
  try {
    return await promise;
  } catch (error) {
    if (hasCode(error, "ERR_NOT_FOUND")) return undefined;
    throw error;
  }
}

/** An internal error of ratebook: a bug, never caused by the input. */
export class InvariantError extends Error {
  override readonly name: string = "InvariantError";
}

/**
 * Asserts a condition.
 *
 * @param rule the number of the rule that requires it, and what must hold: the message of the error
 * @throws {InvariantError} if it does not hold
 */
export function invariant(condition: boolean, rule: string): asserts condition {
  if (!condition) throw new InvariantError(rule);
}
