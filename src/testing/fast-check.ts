/**
 * fast-check, which generates the plans, books and events of `ratebook/testing`. It is an optional peer dependency,
 * loaded on first use.
 */
import { createRequire } from "node:module";

import type * as Module from "fast-check";
import type { Arbitrary } from "fast-check";

import { RatebookError } from "../errors.ts";

/** The module's exports. */
export type FastCheck = typeof Module;

/**
 * Loads fast-check on the first call, so that the conformance suite of stores works without it.
 *
 * @throws {RatebookError} ERR_REFUSED if it is not installed, with what to install
 */
export function fastCheck(load: (name: string) => unknown = createRequire(import.meta.url)): FastCheck {
  try {
    return load("fast-check") as FastCheck;
  } catch (error) {
    if ((error as { readonly code?: unknown }).code !== "MODULE_NOT_FOUND") throw error;
    throw new RatebookError(
      "ERR_REFUSED",
      "the arbitraries and laws of ratebook/testing need the package fast-check, which is not installed: npm install --save-dev fast-check@4",
      {},
      { cause: error },
    );
  }
}

/** A value to test a law with, or an arbitrary of such values. */
export type ValueOrArbitrary<Value> = Value | Arbitrary<Value>;

/** An arbitrary of only this value, or the given one. */
export function toArbitrary<Value extends object>(subject: ValueOrArbitrary<Value>): Arbitrary<Value> {
  return "generate" in subject && typeof subject.generate === "function"
    ? subject
    : fastCheck().constant(subject as Value);
}
