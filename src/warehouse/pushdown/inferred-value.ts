/**
 * What a part of a rule may be before its use says more: a term, nothing, or a list of literals.
 *
 * @module
 */
import type { Term } from "./term.ts";

/** A value of a rule: a term, null, or a list of literals. */
export type InferredValue =
  | Term
  | { readonly kind: "nothing" }
  | { readonly kind: "list"; readonly values: readonly unknown[] };

/** Whether a text can stand in a statement: no lone surrogates, no NUL. */
export function isPlainText(text: string): boolean {
  return !text.includes("\0") && !/[\uD800-\uDFFF]/u.test(text);
}
