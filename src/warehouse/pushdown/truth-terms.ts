/**
 * Conditions on terms (S3.1).
 *
 * @module
 */
import { testNonZero } from "./number-terms.ts";
import {
  createTextConstant,
  createTruthConstant,
  negateTruth,
  type Term,
  type TextTerm,
  type TruthTerm,
} from "./term.ts";

/** Whether a value counts as true: neither 0 nor the empty text. */
export function testTruthy(term: Term): TruthTerm {
  switch (term.kind) {
    case "number":
      return testNonZero(term);
    case "text":
      return negateTruth(compareTexts(term, createTextConstant("")));
    case "truth":
      return term;
  }
}

export function compareTexts(left: TextTerm, right: TextTerm): TruthTerm {
  if (left.expression.operation === "constant" && right.expression.operation === "constant")
    return createTruthConstant(left.expression.value === right.expression.value);
  return { kind: "truth", expression: { operation: "same text", left, right } };
}
