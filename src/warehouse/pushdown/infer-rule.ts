/**
 * Converts a checked rule to a term that gives the same result as the core for every event whose attributes are in
 * range and whose dimensions are texts (S3, S17.3). A rule is not pushed down if it can fail, depends on other events,
 * or compares with conversions that databases don't have.
 */
import { isDecimalObject, isJsonObject, parseDecimal } from "../../numbers/decimal.ts";
import { exactOfDecimal, exactOfText, type PlacesRounding } from "../../numbers/exact.ts";
import { type Rule, toArguments } from "../../rules/rule.ts";
import { formatValue, isDecimal, toRuleValue } from "../../rules/value.ts";
import {
  addTerms,
  chooseNumber,
  compareNumbers,
  createNumberConstant,
  divideTerms,
  multiplyTerms,
  negateTerm,
  requirePlaces,
  roundTerm,
  subtractTerms,
  takeExtreme,
  takeRemainder,
  testNonZero,
  createChoice,
  createText,
  createTextConstant,
  createTruth,
  createTruthConstant,
  type InferredValue,
  isPlainText,
  joinTruths,
  negateTruth,
  NotPushableError,
  type NumberTerm,
  type Order,
  type Term,
  type TextTerm,
  type TruthTerm,
} from "./term.ts";

/** The variables of a rule. */
export interface VariableTerms {
  readonly schemaName: string;
  /** The term of an attribute or a dimension; undefined if the rule can't read it. */
  readonly attribute: (name: string) => NumberTerm | undefined;
  readonly dimension: (name: string) => TextTerm | undefined;
}

const NULL_VALUE: InferredValue = { kind: "nothing" };

/** The term of a rule's result. @throws {NotPushableError} with the reason */
export function inferRule(rule: Rule | undefined, variables: VariableTerms): InferredValue {
  if (rule === undefined || rule === null) return NULL_VALUE;
  if (typeof rule !== "object") return inferLiteral(rule);
  if (isDecimalObject(rule)) return createNumberConstant(exactOfDecimal(parseDecimal(rule)));
  if (Array.isArray(rule)) {
    if (rule.some((part) => typeof part === "object" && part !== null && !isDecimalObject(part)))
      throw new NotPushableError("a list has computed elements");
    return { kind: "list", values: rule.map((part: unknown) => toRuleValue(part)) };
  }
  const [[operator, argument] = ["", null]] = Object.entries(rule as Readonly<Record<string, Rule>>);
  const parts = toArguments(argument);
  return operator === "var" ? inferVariable(parts[0], variables) : inferOperation(operator, parts, variables);
}

/** Whether the result counts as true (S3.1). @throws {NotPushableError} with the reason */
export function inferTruth(rule: Rule | undefined, variables: VariableTerms): TruthTerm {
  const truth = (part: Rule | undefined): TruthTerm => inferTruth(part, variables);
  if (!isJsonObject(rule)) return toTruthTerm(inferRule(rule, variables));
  const [[operator, argument] = ["", null]] = Object.entries(rule as Readonly<Record<string, Rule>>);
  const parts = toArguments(argument);
  // Only the truth of the operands matters, so their kinds may differ.
  switch (operator) {
    case "and":
    case "or":
      // Without operands the result is null, which counts as false.
      return parts.length === 0 ? createTruthConstant(false) : joinTruths(operator, parts.map(truth));
    case "!":
      return negateTruth(truth(parts[0]));
    case "!!":
      return truth(parts[0]);
    case "if":
    case "?:":
      return toTruthTerm(inferIf(parts, truth, truth));
    default:
      return toTruthTerm(inferRule(rule, variables));
  }
}

/** The term of a rule that must return a decimal. @throws {NotPushableError} with the reason */
export function inferNumber(rule: Rule | undefined, variables: VariableTerms): NumberTerm {
  return toNumberTerm(inferRule(rule, variables));
}

function inferLiteral(literal: boolean | number | string): InferredValue {
  if (typeof literal === "string") return createTextLiteral(literal);
  if (typeof literal === "boolean") return createTruthConstant(literal);
  const value = toRuleValue(literal);
  if (!isDecimal(value)) throw new NotPushableError(`the literal ${formatValue(value)} is not supported`);
  return createNumberConstant(value);
}

/** A text literal that every database accepts. @throws {NotPushableError} for any other */
export function createTextLiteral(text: string): TextTerm {
  if (!isPlainText(text)) throw new NotPushableError("a string is not valid Unicode or contains NUL");
  return createTextConstant(text);
}

function inferVariable(path: Rule | undefined, variables: VariableTerms): Term {
  if (typeof path !== "string") throw new NotPushableError("the name of a variable is computed");
  const dot = path.indexOf(".");
  const [root, name] = [path.slice(0, Math.max(dot, 0)), path.slice(dot + 1)];
  switch (root) {
    case "attribute":
    case "attributes":
      return variables.attribute(name) ?? rejectUndefinedVariable(path);
    case "dimension":
    case "dimensions":
      return variables.dimension(name) ?? rejectUndefinedVariable(path);
    case "dependencies":
      throw new NotPushableError("it uses a setting of the account");
    case "event":
      if (name === "schemaName") return createTextLiteral(variables.schemaName);
      if (name === "id") return createText(() => "id");
      if (name === "accountId") return createText(() => "account_id");
      throw new NotPushableError("it uses the time of the event as a string");
    default:
      throw new NotPushableError(`it uses ${formatValue(path)}`);
  }
}

function rejectUndefinedVariable(path: string): never {
  throw new NotPushableError(`it uses ${formatValue(path)}, which is not defined here`);
}

/** How the operands of an operator are inferred. */
interface Operands {
  readonly parts: readonly Rule[];
  readonly value: InferPart;
  readonly truth: (part: Rule | undefined) => TruthTerm;
  readonly number: (part: Rule | undefined) => NumberTerm;
}
type InferPart = (part: Rule | undefined) => InferredValue;
type InferOperator = (operands: Operands) => InferredValue;

function inferOperation(operator: string, parts: readonly Rule[], variables: VariableTerms): InferredValue {
  const infer = Object.hasOwn(OPERATORS, operator) ? OPERATORS[operator] : undefined;
  if (infer === undefined)
    throw new NotPushableError(`databases compute ${formatValue(operator)} differently from the rules`);
  const value: InferPart = (part) => inferRule(part, variables);
  const truth = (part: Rule | undefined): TruthTerm => inferTruth(part, variables);
  return infer({ parts, value, truth, number: (part) => toNumberTerm(value(part)) });
}

const inferConditional: InferOperator = ({ parts, value, truth }) => inferIf(parts, value, truth);
const inferExtreme =
  (operation: "least" | "greatest"): InferOperator =>
  ({ parts, number }) =>
    takeExtreme(operation, parts.map(number));
const inferRounding =
  (operation: PlacesRounding): InferOperator =>
  ({ parts, number }) =>
    roundTerm(number(parts[0]), parts[1] === undefined ? 0 : requirePlaces(number(parts[1])), operation);

/**
 * The operators with the same result in every database. Decimals compare by value, texts by characters (S3.1, S3.2).
 * Comparisons with JavaScript's conversions are not pushed down, except of literal texts that are decimals.
 */
const OPERATORS: Readonly<Record<string, InferOperator>> = {
  if: inferConditional,
  "?:": inferConditional,
  and: ({ parts, value }) => inferAndOr("and", parts.map(value)),
  or: ({ parts, value }) => inferAndOr("or", parts.map(value)),
  "!": ({ parts, truth }) => negateTruth(truth(parts[0])),
  "!!": ({ parts, truth }) => truth(parts[0]),
  log: ({ parts, value }) => value(parts[0]),
  "+": ({ parts, number }) => parts.map(number).reduce(addTerms),
  "*": ({ parts, number }) => parts.map(number).reduce(multiplyTerms),
  "-": ({ parts, number }) =>
    parts.length === 1 ? negateTerm(number(parts[0])) : subtractTerms(number(parts[0]), number(parts[1])),
  "/": ({ parts, number }) => divideTerms(number(parts[0]), number(parts[1])),
  "%": ({ parts, number }) => takeRemainder(number(parts[0]), number(parts[1])),
  min: inferExtreme("least"),
  max: inferExtreme("greatest"),
  round: inferRounding("round"),
  floor: inferRounding("floor"),
  ceil: inferRounding("ceil"),
  "==": (operands) => inferEquality("==", operands),
  "===": (operands) => inferEquality("===", operands),
  "!=": (operands) => negateTruth(inferEquality("==", operands)),
  "!==": (operands) => negateTruth(inferEquality("===", operands)),
  "<": (operands) => inferOrder("<", operands),
  "<=": (operands) => inferOrder("<=", operands),
  ">": (operands) => inferOrder(">", operands),
  ">=": (operands) => inferOrder(">=", operands),
  in: inferMembership,
};

/** The term of an operand of arithmetic: a decimal, or a literal text that is one (S3.2). */
function toNumberTerm(value: InferredValue): NumberTerm {
  if (value.kind === "number") return value;
  if (value.kind !== "text") throw new NotPushableError("it always fails: an operand is not a number");
  if (value.constant === undefined) throw new NotPushableError("an operand is a string, which might not be a number");
  const exact = exactOfText(value.constant);
  if (exact === undefined) throw new NotPushableError("it always fails: an operand is not a number");
  return createNumberConstant(exact);
}

function toTruthTerm(value: InferredValue): TruthTerm {
  switch (value.kind) {
    case "nothing":
      return createTruthConstant(false);
    case "list":
      return createTruthConstant(value.values.length > 0);
    case "number":
      return testNonZero(value);
    case "text":
      return negateTruth(compareTexts(value, createTextConstant("")));
    case "truth":
      return value;
  }
}

/** `and` returns the first falsy operand, `or` the first truthy one, otherwise the last; null without operands. */
function inferAndOr(operator: "and" | "or", values: readonly InferredValue[]): InferredValue {
  if (values.length === 0) return NULL_VALUE;
  return values.toReversed().reduce((rest, value) => {
    const truth = toTruthTerm(value);
    return operator === "and" ? chooseTerm(truth, rest, value) : chooseTerm(truth, value, rest);
  });
}

/** `if`: pairs of condition and result, then the alternative, else null. */
function inferIf(
  parts: readonly Rule[],
  infer: InferPart,
  truth: (part: Rule | undefined) => TruthTerm,
): InferredValue {
  const [condition, result] = parts;
  if (parts.length === 0) return infer(null);
  if (parts.length === 1) return infer(condition);
  const rest = inferIf(parts.slice(2), infer, truth);
  return chooseTerm(truth(condition), infer(result), rest);
}

/** Chooses between two values of the same kind. */
function chooseTerm(condition: TruthTerm, then: InferredValue, otherwise: InferredValue): InferredValue {
  if (condition.constant !== undefined) return condition.constant ? then : otherwise;
  if (then.kind === "number" && otherwise.kind === "number") return chooseNumber(condition, then, otherwise);
  if (then.kind === "text" && otherwise.kind === "text") return createChoice(condition, then, otherwise, createText);
  if (then.kind === "truth" && otherwise.kind === "truth") return createChoice(condition, then, otherwise, createTruth);
  if (then.kind === "nothing" && otherwise.kind === "nothing") return then;
  throw new NotPushableError("its results have different types");
}

/** The maximum length of a text to search: a hundred such searches are within the budget of a rule (S3.8). */
const SEARCHED_LENGTH_MAX = 512;

function inferEquality(operator: "==" | "===", { parts, value }: Operands): TruthTerm {
  const [a, b] = [value(parts[0]), value(parts[1])];
  if (parts.length < 2) throw new NotPushableError("a comparison has no second operand");
  if (a.kind === "list" || b.kind === "list") throw new NotPushableError("a comparison has a list as an operand");
  if (a.kind === "nothing" || b.kind === "nothing") return createTruthConstant(a.kind === b.kind);
  if (a.kind === "number" && b.kind === "number") return compareNumbers("=", a, b);
  if (a.kind === "text" && b.kind === "text") return compareTexts(a, b);
  // Values of different kinds are never strictly equal.
  if (operator === "===" && a.kind !== b.kind) return createTruthConstant(false);
  if (a.kind === "truth" || b.kind === "truth")
    throw new NotPushableError("a comparison has a boolean and a value of another type");
  return compareNumbers("=", toComparableNumber(a), toComparableNumber(b));
}

function inferOrder(order: Order, { parts, value }: Operands): TruthTerm {
  const [a, b, c] = parts.slice(0, 3).map((part) => toComparableNumber(value(part)));
  if (a === undefined || b === undefined) throw new NotPushableError("a comparison has no second operand");
  const first = compareNumbers(order, a, b);
  // With three operands, `<` and `<=` test whether the second is between the others; `>` and `>=` ignore the third.
  if (c === undefined || !order.startsWith("<")) return first;
  return joinTruths("and", [first, compareNumbers(order, b, c)]);
}

/** The term of a decimal, or of a literal text that is one. */
function toComparableNumber(value: InferredValue): NumberTerm {
  if (value.kind === "number") return value;
  const literal = value.kind === "text" ? value.constant : undefined;
  const exact = literal === undefined ? undefined : exactOfText(literal);
  if (exact === undefined)
    throw new NotPushableError("a comparison orders strings, or compares a string with a number");
  return createNumberConstant(exact);
}

function compareTexts(left: TextTerm, right: TextTerm): TruthTerm {
  if (left.constant !== undefined && right.constant !== undefined)
    return createTruthConstant(left.constant === right.constant);
  return createTruth((sql) => `(${left.sql(sql)} = ${right.sql(sql)})`);
}

/** `in`: a list contains a value, or a text contains another. */
function inferMembership({ parts, value }: Operands): TruthTerm {
  const [element, container] = [value(parts[0]), value(parts[1])];
  if (element.kind === "list" || element.kind === "nothing")
    throw new NotPushableError('"in" searches for a list or null');
  if (container.kind === "list") return inferAmongLiterals(element, container.values);
  if (container.kind !== "text") throw new NotPushableError('"in" searches a value that is not a list or string');
  if (element.kind !== "text") throw new NotPushableError('"in" searches a string for a number or boolean');
  const { constant } = container;
  if (constant !== undefined && constant.length > SEARCHED_LENGTH_MAX)
    throw new NotPushableError('"in" searches a string that may be too long for the budget of a rule');
  if (constant === "") return createTruthConstant(false);
  // In JSON logic the empty text contains nothing, not even itself.
  const isFilled = negateTruth(compareTexts(container, createTextConstant("")));
  return joinTruths("and", [isFilled, createTruth((sql) => sql.contains(container.sql(sql), element.sql(sql)))]);
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
      return createTruth((sql) => `(${element.sql(sql)} in (${texts.map(sql.quoteText).join(", ")}))`);
    }
    case "truth":
      throw new NotPushableError('"in" searches a list for a boolean');
  }
}
