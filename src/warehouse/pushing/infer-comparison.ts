/**
 * `== === != !== < <= > >= in` as terms (S3.1, S3.2): decimals by value, texts by their characters. What JavaScript would
 * convert is not pushed down, but for a literal text that is a decimal.
 *
 * @module
 */
import { exactOfText } from "../../numbers/exact.ts";
import type { Rule } from "../../rules/rule.ts";
import { isDecimal } from "../../rules/value.ts";
import { type Inferred, isPlainText } from "./inferred.ts";
import { constantNumber, orderOfNumbers } from "./number-terms.ts";
import {
  constantTruth,
  joinedTruth,
  notTruth,
  NotPushed,
  type NumberTerm,
  type Order,
  type TruthTerm,
} from "./term.ts";
import { sameText } from "./truth-terms.ts";

/** Texts of an event are no longer: a hundred searches in such a text are within the budget of a rule (S3.8). */
const SEARCHED_MAX = 512;

type ValueOf = (part: Rule | undefined) => Inferred;

/** What a comparison says; undefined for any other operator. @throws {NotPushed} with the reason */
export function inferComparison(operator: string, parts: readonly Rule[], value: ValueOf): TruthTerm | undefined {
  switch (operator) {
    case "==":
    case "===":
      return equality(operator, parts, value);
    case "!=":
    case "!==":
      return notTruth(equality(operator === "!=" ? "==" : "===", parts, value));
    case "<":
    case "<=":
    case ">":
    case ">=":
      return ordered(operator, parts, value);
    case "in":
      return membership(parts, value);
    default:
      return undefined;
  }
}

function equality(operator: "==" | "===", parts: readonly Rule[], value: ValueOf): TruthTerm {
  const [a, b] = [value(parts[0]), value(parts[1])];
  if (parts.length < 2) throw new NotPushed("it compares with nothing");
  if (a.kind === "list" || b.kind === "list") throw new NotPushed("it compares a list");
  if (a.kind === "nothing" || b.kind === "nothing") return constantTruth(a.kind === b.kind);
  if (a.kind === "number" && b.kind === "number") return orderOfNumbers("=", a, b);
  if (a.kind === "text" && b.kind === "text") return sameText(a, b);
  // Values of different kinds are never strictly equal.
  if (operator === "===" && a.kind !== b.kind) return constantTruth(false);
  if (a.kind === "truth" || b.kind === "truth") throw new NotPushed("it compares a truth value with another value");
  return orderOfNumbers("=", comparable(a), comparable(b));
}

function ordered(order: Order, parts: readonly Rule[], value: ValueOf): TruthTerm {
  const [a, b, c] = parts.slice(0, 3).map((part) => comparable(value(part)));
  if (a === undefined || b === undefined) throw new NotPushed("it compares with nothing");
  const first = orderOfNumbers(order, a, b);
  // Of three operands, `<` and `<=` ask whether the second is between the others; `>` and `>=` ignore the third.
  if (c === undefined || !order.startsWith("<")) return first;
  return joinedTruth("and", [first, orderOfNumbers(order, b, c)]);
}

/** A decimal, or a literal text that is one. */
function comparable(value: Inferred): NumberTerm {
  if (value.kind === "number") return value;
  const literal = value.kind === "text" && value.is.operation === "constant" ? value.is.value : undefined;
  const exact = literal === undefined ? undefined : exactOfText(literal);
  if (exact === undefined) throw new NotPushed("it compares a text by its order, or with a decimal");
  return constantNumber(exact);
}

/** `in`: among the literals of a list, or a part of a text. */
function membership(parts: readonly Rule[], value: ValueOf): TruthTerm {
  const [sought, within] = [value(parts[0]), value(parts[1])];
  if (sought.kind === "list" || sought.kind === "nothing") throw new NotPushed("it looks for what is no single value");
  if (within.kind === "list") return amongLiterals(sought, within.values);
  if (within.kind !== "text") throw new NotPushed("it looks for a value in what is no list and no text");
  if (sought.kind !== "text") throw new NotPushed("it looks for the text of a decimal");
  const { is } = within;
  if (is.operation === "constant" && is.value.length > SEARCHED_MAX)
    throw new NotPushed("it searches a text that is so long that it may be beyond the budget of a rule");
  if (is.operation === "constant" && is.value === "") return constantTruth(false);
  // By JSON logic the empty text contains nothing, not even the empty text.
  const held: TruthTerm = { kind: "truth", is: { operation: "within", part: sought, whole: within } };
  return joinedTruth("and", [
    notTruth(sameText(within, { kind: "text", is: { operation: "constant", value: "" } })),
    held,
  ]);
}

function amongLiterals(
  sought: Extract<Inferred, { kind: "number" | "text" | "truth" }>,
  values: readonly unknown[],
): TruthTerm {
  switch (sought.kind) {
    case "number": {
      const decimals = values.filter((each) => isDecimal(each as never)).map((each) => constantNumber(each as never));
      return joinedTruth(
        "or",
        decimals.map((each) => orderOfNumbers("=", sought, each)),
      );
    }
    case "text": {
      // The texts of events are valid Unicode, so they equal no literal that is not.
      const texts = values.filter((each): each is string => typeof each === "string").filter(isPlainText);
      if (texts.length === 0) return constantTruth(false);
      return { kind: "truth", is: { operation: "among texts", of: sought, texts } };
    }
    case "truth":
      throw new NotPushed("it looks for a truth value in a list");
  }
}
