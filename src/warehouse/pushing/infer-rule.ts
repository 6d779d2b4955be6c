/**
 * A checked rule as a term: what the closures of `rules` would compute of every event whose attributes are within bounds
 * and whose dimensions are texts (S3, S17.3). Whatever might fail, depend on more than one event's fields, or compare by
 * conversions that a database does not have, is not pushed down.
 *
 * @module
 */
import { parseDecimal, isDecimalObject } from "../../numbers/decimal.ts";
import { exactOfDecimal, exactOfText } from "../../numbers/exact.ts";
import { toArguments } from "../../rules/operators.ts";
import type { Rule } from "../../rules/rule.ts";
import { isDecimal, toRuleValue, formatValue } from "../../rules/value.ts";
import { inferComparison } from "./infer-comparison.ts";
import { type Inferred, isPlainText } from "./inferred.ts";
import {
  constantNumber,
  differenceOf,
  extremeOf,
  negationOf,
  numberChoice,
  placesOf,
  productOf,
  quotientOf,
  remainderOf,
  roundedTo,
  sumOf,
} from "./number-terms.ts";
import {
  choiceOf,
  constantText,
  constantTruth,
  joinedTruth,
  notTruth,
  NotPushed,
  type NumberTerm,
  type Term,
  type TextTerm,
  type TruthTerm,
} from "./term.ts";
import { isFilled } from "./truth-terms.ts";

/** What the variables of a rule are. */
export interface VariableTerms {
  readonly schemaName: string;
  /** An attribute or a dimension that the rule may see; undefined where it sees none of that name. */
  readonly attribute: (name: string) => NumberTerm | undefined;
  readonly dimension: (name: string) => TextTerm | undefined;
}

const NOTHING: Inferred = { kind: "nothing" };

/** What a rule gives. @throws {NotPushed} with the reason */
export function inferRule(rule: Rule | undefined, variables: VariableTerms): Inferred {
  if (rule === undefined || rule === null) return NOTHING;
  if (typeof rule !== "object") return literalOf(rule);
  if (isDecimalObject(rule)) return constantNumber(exactOfDecimal(parseDecimal(rule)));
  if (Array.isArray(rule)) {
    if (rule.some((part) => typeof part === "object" && part !== null && !isDecimalObject(part)))
      throw new NotPushed("it makes a list");
    return { kind: "list", values: rule.map((part: unknown) => toRuleValue(part)) };
  }
  const [[operator, given] = ["", null]] = Object.entries(rule as Readonly<Record<string, Rule>>);
  const parts = toArguments(given);
  return operator === "var" ? variableOf(parts[0], variables) : inferOperation(operator, parts, variables);
}

/** Whether a rule gives what counts as true (S3.1). @throws {NotPushed} with the reason */
export function inferTruth(rule: Rule | undefined, variables: VariableTerms): TruthTerm {
  const truth = (part: Rule | undefined): TruthTerm => inferTruth(part, variables);
  if (typeof rule === "object" && rule !== null && !Array.isArray(rule) && !isDecimalObject(rule)) {
    const [[operator, given] = ["", null]] = Object.entries(rule as Readonly<Record<string, Rule>>);
    const parts = toArguments(given);
    // Only the truth of the operands is asked for, so they may be of different kinds.
    switch (operator) {
      case "and":
      case "or":
        // Without operands the result is null, which counts as false.
        return parts.length === 0 ? constantTruth(false) : joinedTruth(operator, parts.map(truth));
      case "!":
        return notTruth(truth(parts[0]));
      case "!!":
        return truth(parts[0]);
      case "if":
      case "?:":
        return choiceOfTruths(parts, truth);
      default:
    }
  }
  return truthOf(inferRule(rule, variables));
}

/** A rule that must give a decimal. @throws {NotPushed} with the reason */
export function inferNumber(rule: Rule | undefined, variables: VariableTerms): NumberTerm {
  return numberOf(inferRule(rule, variables));
}

function literalOf(literal: boolean | number | string): Inferred {
  if (typeof literal === "string") return textLiteral(literal);
  if (typeof literal === "boolean") return constantTruth(literal);
  const value = toRuleValue(literal);
  if (!isDecimal(value)) throw new NotPushed(`it has the literal ${formatValue(value)}`);
  return constantNumber(value);
}

/** A text that every database can be given. @throws {NotPushed} for any other */
export function textLiteral(text: string): TextTerm {
  if (!isPlainText(text)) throw new NotPushed("it has a text that is no valid Unicode, or has a NUL in it");
  return constantText(text);
}

function variableOf(path: Rule | undefined, variables: VariableTerms): Term {
  if (typeof path !== "string") throw new NotPushed("it puts the name of a variable together");
  const dot = path.indexOf(".");
  const [root, name] = [path.slice(0, Math.max(dot, 0)), path.slice(dot + 1)];
  switch (root) {
    case "attribute":
    case "attributes":
      return variables.attribute(name) ?? notThere(path);
    case "dimension":
    case "dimensions":
      return variables.dimension(name) ?? notThere(path);
    case "dependencies":
      throw new NotPushed("it reads a setting of the account");
    case "event":
      if (name === "schemaName") return textLiteral(variables.schemaName);
      if (name === "id" || name === "accountId") return { kind: "text", is: { operation: name } };
      throw new NotPushed("it reads the time of the event as a text");
    default:
      throw new NotPushed(`it reads ${formatValue(path)}`);
  }
}

function notThere(path: string): never {
  throw new NotPushed(`it reads ${formatValue(path)}, which it cannot see`);
}

function inferOperation(operator: string, parts: readonly Rule[], variables: VariableTerms): Inferred {
  const value = (part: Rule | undefined): Inferred => inferRule(part, variables);
  const number = (part: Rule | undefined): NumberTerm => numberOf(value(part));
  switch (operator) {
    case "if":
    case "?:":
      return choiceOfValues(parts, value, (part) => inferTruth(part, variables));
    case "and":
    case "or":
      return firstOrLast(operator, parts.map(value));
    case "!":
    case "!!":
      return inferTruth({ [operator]: parts }, variables);
    case "log":
      return value(parts[0]);
    case "+":
      return parts.map(number).reduce(sumOf);
    case "*":
      return parts.map(number).reduce(productOf);
    case "-":
      return parts.length === 1 ? negationOf(number(parts[0])) : differenceOf(number(parts[0]), number(parts[1]));
    default:
      return moreArithmetic(operator, parts, number) ?? comparison(operator, parts, value);
  }
}

function moreArithmetic(
  operator: string,
  parts: readonly Rule[],
  number: (part: Rule | undefined) => NumberTerm,
): NumberTerm | undefined {
  switch (operator) {
    case "/":
      return quotientOf(number(parts[0]), number(parts[1]));
    case "%":
      return remainderOf(number(parts[0]), number(parts[1]));
    case "min":
    case "max":
      return extremeOf(operator === "min" ? "least" : "greatest", parts.map(number));
    case "round":
    case "floor":
    case "ceil":
      return roundedTo(number(parts[0]), parts[1] === undefined ? 0 : placesOf(number(parts[1])), operator);
    default:
      return undefined;
  }
}

function comparison(operator: string, parts: readonly Rule[], value: (part: Rule | undefined) => Inferred): TruthTerm {
  const compared = inferComparison(operator, parts, value);
  if (compared !== undefined) return compared;
  throw new NotPushed(`it uses ${formatValue(operator)}, which no database computes as the rules have it`);
}

/** What an operand of arithmetic is: a decimal, or a literal text that is one (S3.2). */
function numberOf(value: Inferred): NumberTerm {
  if (value.kind === "number") return value;
  if (value.kind !== "text") throw new NotPushed("it computes with what is no decimal, which fails");
  if (value.is.operation !== "constant") throw new NotPushed("it computes with a text, which may be no decimal");
  const exact = exactOfText(value.is.value);
  if (exact === undefined) throw new NotPushed("it computes with what is no decimal, which fails");
  return constantNumber(exact);
}

function truthOf(value: Inferred): TruthTerm {
  switch (value.kind) {
    case "nothing":
      return constantTruth(false);
    case "list":
      return constantTruth(value.values.length > 0);
    case "number":
    case "text":
    case "truth":
      return isFilled(value);
  }
}

/** `and` and `or` give the first operand that is falsy, or truthy, else the last. */
function firstOrLast(operator: "and" | "or", values: readonly Inferred[]): Inferred {
  return values.toReversed().reduce((rest, value) => {
    const truth = truthOf(value);
    return operator === "and" ? either(truth, rest, value) : either(truth, value, rest);
  });
}

function choiceOfValues(
  parts: readonly Rule[],
  value: (part: Rule | undefined) => Inferred,
  truth: (part: Rule | undefined) => TruthTerm,
): Inferred {
  const [condition, result] = parts;
  if (parts.length === 0) return NOTHING;
  if (parts.length === 1) return value(condition);
  const rest = parts.length === 2 ? NOTHING : choiceOfValues(parts.slice(2), value, truth);
  return either(truth(condition), value(result), rest);
}

function choiceOfTruths(parts: readonly Rule[], truth: (part: Rule | undefined) => TruthTerm): TruthTerm {
  const [condition, result] = parts;
  if (parts.length === 0) return constantTruth(false);
  if (parts.length === 1) return truth(condition);
  const rest = parts.length === 2 ? constantTruth(false) : choiceOfTruths(parts.slice(2), truth);
  return choiceOf(truth(condition), truth(result), rest, (is) => ({ kind: "truth", is }));
}

/** One of two values, which must be of one kind. */
function either(condition: TruthTerm, then: Inferred, otherwise: Inferred): Inferred {
  if (condition.is.operation === "constant") return condition.is.value ? then : otherwise;
  if (then.kind === "number" && otherwise.kind === "number") return numberChoice(condition, then, otherwise);
  if (then.kind === "text" && otherwise.kind === "text")
    return choiceOf(condition, then, otherwise, (is): TextTerm => ({ kind: "text", is }));
  if (then.kind === "truth" && otherwise.kind === "truth")
    return choiceOf(condition, then, otherwise, (is): TruthTerm => ({ kind: "truth", is }));
  if (then.kind === "nothing" && otherwise.kind === "nothing") return then;
  throw new NotPushed("it gives one kind of value or another");
}
