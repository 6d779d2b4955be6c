/**
 * What is true of terms (S3.1).
 *
 * @module
 */
import { isNonZero } from "./number-terms.ts";
import { constantText, constantTruth, notTruth, type Term, type TextTerm, type TruthTerm } from "./term.ts";

/** Whether a value counts as true: not 0 and not the empty text. */
export function isFilled(term: Term): TruthTerm {
  switch (term.kind) {
    case "number":
      return isNonZero(term);
    case "text":
      return notTruth(sameText(term, constantText("")));
    case "truth":
      return term;
  }
}

/** Whether two texts have the same characters. */
export function sameText(left: TextTerm, right: TextTerm): TruthTerm {
  if (left.is.operation === "constant" && right.is.operation === "constant")
    return constantTruth(left.is.value === right.is.value);
  return { kind: "truth", is: { operation: "same text", left, right } };
}
