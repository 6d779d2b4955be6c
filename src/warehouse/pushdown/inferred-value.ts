/**
 * The result of a part of a rule before its use determines a kind: a term, null or a list of literals.
 *
 * @module
 */
import type { Term } from "./term.ts";

export type InferredValue =
  | Term
  | { readonly kind: "nothing" }
  | { readonly kind: "list"; readonly values: readonly unknown[] };

/** Whether a text can be part of a statement: no lone surrogates and no NUL. */
export function isPlainText(text: string): boolean {
  return !text.includes("\0") && !/[\uD800-\uDFFF]/u.test(text);
}
