/**
 * `== === != !== < <= > >= in` as terms (S3.1, S3.2): decimals compare by value, texts by characters. Comparisons with
 * JavaScript's conversions are not pushed down, except of literal texts that are decimals.
 *
 * @module
 */
import { exactOfText } from "../../numbers/exact.ts";
import type { Rule } from "../../rules/rule.ts";
import { isDecimal } from "../../rules/value.ts";
import { type InferredValue, isPlainText } from "./inferred-value.ts";
import { createNumberConstant, compareNumbers } from "./number-terms.ts";
import {
  createTruthConstant,
  joinTruths,
  negateTruth,
  NotPushable,
  type NumberTerm,
  type Order,
  type TruthTerm,
} from "./term.ts";
import { compareTexts } from "./truth-terms.ts";

/** The maximum length of a text to search: a hundred such searches are within the budget of a rule (S3.8). */
const SEARCHED_LENGTH_MAX = 512;

type InferPart = (part: Rule | undefined) => InferredValue;

/** The term of a comparison; undefined for other operators. @throws {NotPushable} with the reason */
export function inferComparison(operator: string, parts: readonly Rule[], value: InferPart): TruthTerm | undefined {
  switch (operator) {
    case "==":
    case "===":
      return inferEquality(operator, parts, value);
    case "!=":
    case "!==":
      return negateTruth(inferEquality(operator === "!=" ? "==" : "===", parts, value));
    case "<":
    case "<=":
    case ">":
    case ">=":
      return inferOrder(operator, parts, value);
    case "in":
      return inferMembership(parts, value);
    default:
      return undefined;
  }
}

function inferEquality(operator: "==" | "===", parts: readonly Rule[], value: InferPart): TruthTerm {
  const [a, b] = [value(parts[0]), value(parts[1])];
  if (parts.length < 2) throw new NotPushable("a comparison has no second operand");
  if (a.kind === "list" || b.kind === "list") throw new NotPushable("a comparison has a list as an operand");
  if (a.kind === "nothing" || b.kind === "nothing") return createTruthConstant(a.kind === b.kind);
  if (a.kind === "number" && b.kind === "number") return compareNumbers("=", a, b);
  if (a.kind === "text" && b.kind === "text") return compareTexts(a, b);
  // Values of different kinds are never strictly equal.
  if (operator === "===" && a.kind !== b.kind) return createTruthConstant(false);
  if (a.kind === "truth" || b.kind === "truth")
    throw new NotPushable("a comparison has a boolean and a value of another type");
  return compareNumbers("=", toComparableNumber(a), toComparableNumber(b));
}

function inferOrder(order: Order, parts: readonly Rule[], value: InferPart): TruthTerm {
  const [a, b, c] = parts.slice(0, 3).map((part) => toComparableNumber(value(part)));
  if (a === undefined || b === undefined) throw new NotPushable("a comparison has no second operand");
  const first = compareNumbers(order, a, b);
  // With three operands, `<` and `<=` test whether the second is between the others; `>` and `>=` ignore the third.
  if (c === undefined || !order.startsWith("<")) return first;
  return joinTruths("and", [first, compareNumbers(order, b, c)]);
}

/** The term of a decimal, or of a literal text that is one. */
function toComparableNumber(value: InferredValue): NumberTerm {
  if (value.kind === "number") return value;
  const literal =
    value.kind === "text" && value.expression.operation === "constant" ? value.expression.value : undefined;
  const exact = literal === undefined ? undefined : exactOfText(literal);
  if (exact === undefined) throw new NotPushable("a comparison orders strings, or compares a string with a number");
  return createNumberConstant(exact);
}

/** `in`: a list contains a value, or a text contains another. */
function inferMembership(parts: readonly Rule[], value: InferPart): TruthTerm {
  const [element, container] = [value(parts[0]), value(parts[1])];
  if (element.kind === "list" || element.kind === "nothing") throw new NotPushable('"in" searches for a list or null');
  if (container.kind === "list") return inferAmongLiterals(element, container.values);
  if (container.kind !== "text") throw new NotPushable('"in" searches a value that is not a list or string');
  if (element.kind !== "text") throw new NotPushable('"in" searches a string for a number or boolean');
  const { expression } = container;
  if (expression.operation === "constant" && expression.value.length > SEARCHED_LENGTH_MAX)
    throw new NotPushable('"in" searches a string that may be too long for the budget of a rule');
  if (expression.operation === "constant" && expression.value === "") return createTruthConstant(false);
  // In JSON logic the empty text contains nothing, not even itself.
  const containsPart: TruthTerm = {
    kind: "truth",
    expression: { operation: "within", part: element, whole: container },
  };
  return joinTruths("and", [
    negateTruth(compareTexts(container, { kind: "text", expression: { operation: "constant", value: "" } })),
    containsPart,
  ]);
}

function inferAmongLiterals(
  element: Extract<InferredValue, { kind: "number" | "text" | "truth" }>,
  values: readonly unknown[],
): TruthTerm {
  switch (element.kind) {
    case "number": {
      const decimals = values
        .filter((each) => isDecimal(each as never))
        .map((each) => createNumberConstant(each as never));
      return joinTruths(
        "or",
        decimals.map((each) => compareNumbers("=", element, each)),
      );
    }
    case "text": {
      // Event texts are valid Unicode, so they can't equal other literals.
      const texts = values.filter((each): each is string => typeof each === "string").filter(isPlainText);
      if (texts.length === 0) return createTruthConstant(false);
      return { kind: "truth", expression: { operation: "among texts", of: element, texts } };
    }
    case "truth":
      throw new NotPushable('"in" searches a list for a boolean');
  }
}
