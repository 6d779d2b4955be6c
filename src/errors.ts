/**
 * The one error class family of ratebook.
 *
 * Three kinds of "no", never mixed: an expected outcome is a value; bad input is a {@link RatebookError} with a stable
 * code; a broken promise of our own is an {@link InvariantError}, never caught.
 *
 * @module
 */

import type { Problem } from "./problem-table.ts";
import type { RuleLink } from "./rulebook.ts";

export type { Problem, ProblemCode } from "./problem-table.ts";

/** Why a value is not a decimal that can be represented. */
export type NumberFault = "NOT_A_NUMBER" | "NOT_A_DECIMAL" | "UNSAFE_NUMBER" | "TOO_MANY_DIGITS";

/** What each code carries. Adding a row is a minor release; changing or removing one is a major one. */
export interface ErrorDetails {
  /** A text or value is not a decimal, or not within its bounds (S1.2, S1.3). */
  readonly ERR_NUMBER_INVALID: { readonly reason: NumberFault };
  /** An exact result would need more digits than are kept, or a division by zero was asked for (S1.4). */
  readonly ERR_ARITHMETIC: object;
  /** A currency code is not in ISO 4217, or has no minor unit (S1.5). */
  readonly ERR_CURRENCY_UNKNOWN: { readonly currency: string };
  /** A text is not JSON. */
  readonly ERR_JSON_INVALID: object;
  /** A text is not a date, date-time or duration as S2.2 accepts them. */
  readonly ERR_DATE_INVALID: object;
  /** A pricing cycle's interval or offsets are not ones that S6.1 knows. `reason` is the message without the field. */
  readonly ERR_CYCLE_INVALID: { readonly field: string; readonly reason: string };
  /** A rule is not a well-formed JSON logic rule (S3.6). `path` is the path inside the rule. */
  readonly ERR_RULE_INVALID: { readonly path: string };
  /** A rule was evaluated on facts that it cannot answer for (S3.2). */
  readonly ERR_RULE_FAILED: object;
  /** A book has problems; all of them are in `problems`. */
  readonly ERR_BOOK_INVALID: { readonly problems: readonly Problem[] };
  /** A rate plan is malformed, or a slab has no rate (S7). */
  readonly ERR_RATES_INVALID: object;
  /** The name, id or version is unknown. */
  readonly ERR_NOT_FOUND: { readonly resource: string; readonly id: string };
  /** The id, name or alias is taken, or an idempotency key was used for something else. */
  readonly ERR_TAKEN: { readonly resource: string; readonly id: string };
  /**
   * A rule refuses the operation in the state that the resource is in: a move, an edit, an overdraft. `rule` is where it
   * stands; a database that cannot be used, or a package that is not installed, is refused without one.
   */
  readonly ERR_REFUSED: { readonly rule?: RuleLink };
  /** An input of an operation is malformed or out of its bounds; all of its faults are in `problems`. */
  readonly ERR_INPUT_INVALID: { readonly problems: readonly Problem[] };
  /** Other writers won every race; nothing was written: try again. */
  readonly ERR_STORE_CONFLICT: object;
  /** The store cannot be reached; nothing was written: try again later. */
  readonly ERR_STORE_UNAVAILABLE: object;
  /** Usage that lives elsewhere cannot be read to its end, or changed meanwhile: nothing was decided on a part of it (S17.5). */
  readonly ERR_USAGE_UNAVAILABLE: object;
  /** An option of a call is out of its bounds, or two options contradict each other. `reason` is the message without its name. */
  readonly ERR_OPTION_INVALID: { readonly option: string; readonly reason?: string };
}

/** The stable codes, as a union. Branch on these, never on a message. */
export type ErrorCode = keyof ErrorDetails;

/** The one class that callers catch. */
export class RatebookError<Code extends ErrorCode = ErrorCode> extends Error {
  override readonly name: string = "RatebookError";
  readonly code: Code;
  readonly details: ErrorDetails[Code];

  constructor(code: Code, message: string, details: ErrorDetails[Code], options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.details = details;
  }

  /** The wire form. */
  toJSON(): { readonly code: Code; readonly message: string; readonly details: ErrorDetails[Code] } {
    return { code: this.code, message: this.message, details: this.details };
  }
}

/** The error for the problems of an input; the message is the first of them. */
export function inputError(
  problems: readonly [Problem, ...Problem[]],
  options?: ErrorOptions,
): RatebookError<"ERR_INPUT_INVALID"> {
  const [{ path, message }] = problems;
  const where = path === "$" ? "" : `${path.replace(/^\$\.?/, "")}: `;
  return new RatebookError("ERR_INPUT_INVALID", where + message, { problems }, options);
}

/** The error for an option; `reason` does not repeat its name. */
export function optionError(option: string, reason: string): RatebookError<"ERR_OPTION_INVALID"> {
  return new RatebookError("ERR_OPTION_INVALID", `${option}: ${reason}`, { option, reason });
}

/** Whether `error` is a {@link RatebookError} with this code. */
export function hasCode<Code extends ErrorCode>(error: unknown, code: Code): error is RatebookError<Code> {
  return error instanceof RatebookError && error.code === code;
}

/** What a read gives; undefined where what it asks for is unknown. */
export async function undefinedIfNotFound<Value>(promise: Promise<Value>): Promise<Value | undefined> {
  try {
    return await promise;
  } catch (error) {
    if (hasCode(error, "ERR_NOT_FOUND")) return undefined;
    throw error;
  }
}

/** A promise of ratebook itself that did not hold: a bug of ours, never of the input. */
export class InvariantError extends Error {
  override readonly name: string = "InvariantError";
}

/**
 * States what must hold here.
 *
 * @param rule names the rule of the semantics it comes from
 * @throws {InvariantError} when it does not hold
 */
export function invariant(holds: boolean, rule: string): asserts holds {
  if (!holds) throw new InvariantError(rule);
}
