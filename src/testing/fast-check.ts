/**
 * fast-check, which draws the plans, books and events of `ratebook/testing`: an optional peer, loaded when it is asked for.
 *
 * @module
 */
import { createRequire } from "node:module";

import type * as Module from "fast-check";

import { RatebookError } from "../errors.ts";

/** The module, as an import gives it. */
export type FastCheck = typeof Module;

/**
 * Loads fast-check at its first call, so that the conformance suite of stores can be imported without it.
 *
 * @throws {RatebookError} ERR_REFUSED when it is not installed: the sentence says what to install
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
