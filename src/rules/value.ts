/**
 * The values of rules, their equality, order and truthiness (S3.1, S3.2), the compiled form of a rule, and the conversion
 * of operands to decimals.
 */
import { RatebookError } from "../errors.ts";
import { type Decimal, parseDecimal, EXPONENT_MAX, isDecimalObject } from "../numbers/decimal.ts";
import {
  compareExact,
  decimalOfExact,
  exactOfDecimal,
  exactOfNumber,
  exactOfText,
  isZeroExact,
  Scaled,
  formatExact,
  type Exact,
} from "../numbers/exact.ts";
import { quoteText, truncateText } from "../problem-table.ts";
import type { Allowance } from "./budget.ts";

/**
 * A value in a rule: a decimal is an {@link Exact}; lists and objects are raw data, whose parts are converted when a
 * rule reads them, so that reading a list takes no longer than reading a text.
 */
export type RuleValue = Exact | string | boolean | null | undefined | RuleList | RuleObject;

/** A list of values or facts, converted by {@link toRuleValue}. */
export type RuleList = readonly unknown[];

/** An object in the facts. Its properties are converted when a rule reads them. */
export interface RuleObject {
  readonly [name: string]: unknown;
}

/** A value in the public API: a decimal is a {@link Decimal}. */
export type Fact = Decimal | string | boolean | null | undefined | readonly Fact[] | { readonly [name: string]: Fact };

/** Maximum nesting of lists and objects in traversals, so that none can exhaust the stack. */
export const NESTING_MAX = 64;

/**
 * Converts a fact to a value: numbers and Decimals become Exact, lists and objects stay unchanged.
 *
 * @throws {RatebookError} ERR_RULE_FAILED for NaN, infinities, numbers above 2^53
 */
export function toRuleValue(fact: unknown): RuleValue {
  switch (typeof fact) {
    case "string":
    case "boolean":
    case "undefined":
      return fact;
    case "number":
      return toExactFact(fact);
    case "bigint":
      return exactOfText(String(fact)) ?? throwFailure("a whole number in the facts is out of range");
    case "object":
      if (fact === null || fact instanceof Scaled) return fact;
      if (Array.isArray(fact)) return fact as RuleList;
      return isDecimalObject(fact) ? exactOfDecimal(parseDecimal(fact)) : (fact as RuleObject);
    case "function":
    case "symbol":
      return undefined;
  }
}

/**
 * Converts a value to a fact: exact decimals become Decimals, also in lists and objects. A list that occurs many times
 * is copied once.
 *
 * @param countCopy called for each part of a list or object before it is copied
 * @throws {RatebookError} ERR_RULE_FAILED for lists and objects nested more than 64 deep
 */
export function toFact(value: RuleValue, countCopy?: () => void): Fact {
  return isComposite(value) ? toNestedFact(value, 0, { copies: new Map(), countCopy }) : toScalarFact(value);
}

interface CopyContext {
  /** Copies by original. */
  readonly copies: Map<unknown, Fact>;
  readonly countCopy: (() => void) | undefined;
}

/** Recursive: at most 64 levels. */
function toNestedFact(value: RuleValue, depth: number, context: CopyContext): Fact {
  if (!isComposite(value)) return toScalarFact(value);
  const existingCopy = context.copies.get(value);
  if (existingCopy !== undefined) return existingCopy;
  if (depth > NESTING_MAX) throw nestingError();
  const inner = (part: unknown): Fact => {
    context.countCopy?.();
    return toNestedFact(toRuleValue(part), depth + 1, context);
  };
  const fact = isList(value)
    ? value.map(inner)
    : Object.fromEntries(Object.entries(value).map(([name, part]) => [name, inner(part)]));
  context.copies.set(value, fact);
  return fact;
}

function toScalarFact(value: Exclude<RuleValue, RuleList | RuleObject>): Fact {
  return typeof value === "number" || value instanceof Scaled ? decimalOfExact(value) : value;
}

/** Whether a value is truthy: not false, null, undefined, "", 0 and [] (S3.1, S3.4). */
export function isTruthy(value: RuleValue): boolean {
  if (typeof value !== "object" || value === null) return Boolean(value);
  if (value instanceof Scaled) return !isZeroExact(value);
  return !Array.isArray(value) || value.length > 0;
}

/** `===`: decimals by value, lists and objects by identity, everything else by kind and value. */
export function isStrictlyEqual(a: RuleValue, b: RuleValue): boolean {
  if (a === b) return true;
  return isDecimal(a) && isDecimal(b) && compareExact(a, b) === 0;
}

/** `==`: like {@link isStrictlyEqual}, after JavaScript's conversions; a decimal text equals its decimal. */
export function isLooselyEqual(a: RuleValue, b: RuleValue, allowance?: Allowance): boolean {
  if (a === b) return true;
  if (isNullish(a) || isNullish(b)) return isNullish(a) && isNullish(b);
  if (isComposite(a) && isComposite(b)) return false;
  return compareValues(a, b, allowance) === 0;
}

/**
 * Negative, 0 or positive if a is less than, equal to or greater than b: texts by characters, everything else as
 * decimals, after JavaScript's conversions. NaN if they have no order.
 *
 * @param allowance for the text of a list; required if one may be a list
 */
export function compareValues(a: RuleValue, b: RuleValue, allowance?: Allowance): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  const x = isComposite(a) ? toText(a, allowance) : a;
  const y = isComposite(b) ? toText(b, allowance) : b;
  if (typeof x === "string" && typeof y === "string") return x === y ? 0 : x < y ? -1 : 1;
  const left = toNumber(x);
  const right = toNumber(y);
  // NaN and the infinities are not decimals: compare them as doubles, with any decimal in between.
  if (!isFiniteNumber(left) || !isFiniteNumber(right)) {
    const [m, n] = [isFiniteNumber(left) ? 0 : left, isFiniteNumber(right) ? 0 : right];
    return m === n ? 0 : Number(m) - Number(n);
  }
  return compareExact(left, right);
}

/**
 * The text of a value as in JavaScript; a decimal is its plain text (S3.4).
 *
 * @param allowance for the text of a list; required if the value may be a list
 */
export function toText(value: RuleValue, allowance?: Allowance, depth = 0): string {
  if (typeof value === "string") return value;
  if (isDecimal(value)) return formatExact(value);
  if (isList(value)) return listText(value, allowance, depth);
  return typeof value === "object" && value !== null ? "[object Object]" : String(value);
}

/** The text of a value within another text: empty for null and undefined. */
export function toInnerText(value: RuleValue, allowance: Allowance | undefined, depth = 0): string {
  return isNullish(value) ? "" : toText(value, allowance, depth);
}

/** The texts of the elements, separated by commas: each element costs a step. */
function listText(list: RuleList, allowance: Allowance | undefined, depth: number): string {
  if (depth > NESTING_MAX) throw nestingError();
  const texts: string[] = [];
  for (const element of list) {
    allowance?.deductSteps(1);
    const text = toInnerText(toRuleValue(element), allowance, depth + 1);
    allowance?.deductText(text.length + (texts.length > 0 ? 1 : 0));
    texts.push(text);
  }
  return texts.join(",");
}

export function isDecimal(value: RuleValue): value is Exact {
  return typeof value === "number" || value instanceof Scaled;
}

/** A value in a message: texts are quoted and truncated to 60 characters. */
export function formatValue(value: RuleValue): string {
  if (typeof value === "string") return quoteText(value);
  if (Array.isArray(value)) return "a list";
  return isComposite(value) ? "an object" : toText(value);
}

/** The error for facts with which a rule cannot be evaluated (S3.2). */
export function ruleFailedError(message: string, cause?: unknown): RatebookError<"ERR_RULE_FAILED"> {
  return new RatebookError("ERR_RULE_FAILED", message, {}, cause === undefined ? undefined : { cause });
}

/** Maximum characters of the message of an error from a custom operator. */
const MESSAGE_MAX = 300;

/** The message of a thrown value, which may not be an Error. */
export function describeError(error: unknown): string {
  try {
    const message = String(error instanceof Error ? error.message : error);
    return message.length > MESSAGE_MAX ? `${message.slice(0, MESSAGE_MAX)}…` : message;
  } catch {
    return "unknown error";
  }
}

/** The JavaScript number nearest to a value's conversion; for positions and lengths, never for amounts. */
export function toDouble(value: RuleValue, allowance?: Allowance): number {
  const number = toNumber(isComposite(value) ? toText(value, allowance) : value);
  return typeof number === "number" ? number : Number(formatExact(number));
}

function toExactFact(fact: number): Exact {
  return (
    exactOfNumber(fact) ??
    throwFailure(
      Number.isFinite(fact)
        ? `the number ${fact} is above 2^53, so its last digits may be lost; write it as a string`
        : `${fact} is not a decimal`,
    )
  );
}

function nestingError(): RatebookError {
  return ruleFailedError(`the facts are nested more than ${NESTING_MAX} levels deep`);
}

function throwFailure(message: string): never {
  throw ruleFailedError(message);
}

function isNullish(value: RuleValue): value is null | undefined {
  return value === null || value === undefined;
}

export function isList(value: RuleValue): value is RuleList {
  return Array.isArray(value);
}

function isComposite(value: RuleValue): value is RuleList | RuleObject {
  return typeof value === "object" && value !== null && !(value instanceof Scaled);
}

function isFiniteNumber(value: Exact): boolean {
  return typeof value !== "number" || Number.isFinite(value);
}

/** Longer texts are not numbers: parsing one takes time that is not counted. */
const NUMBER_TEXT_MAX = 4 * EXPONENT_MAX;

/** JavaScript's conversion of a primitive to a number: a decimal, or NaN or an infinity, which are not rule values. */
function toNumber(value: Exact | string | boolean | null | undefined): Exact {
  if (value === undefined) return NaN;
  if (value === null || typeof value === "boolean") return value === true ? 1 : 0;
  if (typeof value !== "string") return value;
  if (value.length > NUMBER_TEXT_MAX) return NaN;
  const exact = exactOfText(value.trim());
  if (exact !== undefined) return exact;
  const double = Number(value);
  if (!Number.isFinite(double)) return double;
  return exactOfNumber(double) ?? exactOfText(String(BigInt(double))) ?? double;
}

/** Computes a value from the facts of one event, or from one element of a list. */
export type Evaluator = (frame: unknown) => RuleValue;

/** Where a variable's value is: a list that other code fills, and an index. The value is never undefined. */
export interface ValueSlot {
  readonly values: readonly RuleValue[];
  readonly index: number;
}

/** A compiled part of a rule. */
export interface Node {
  readonly run: Evaluator;
  /** The number of nodes that one evaluation visits at most once, so excluding the bodies of loops (S3.8). */
  readonly size: number;
  /** Whether its value is never a list or object; absent if unknown. */
  readonly isScalar?: boolean;
  /** Present if the value is the same for all facts. */
  readonly constant?: { readonly value: RuleValue };
  /** The variable that it reads, for messages. */
  readonly variable?: string;
}

/** A node with a constant value. A list of literals costs nothing (S3.8). */
export function constantNode(value: RuleValue): Node {
  const isComposite = typeof value === "object" && value !== null && !(value instanceof Scaled);
  return { run: () => value, size: isComposite ? 0 : 1, isScalar: !isComposite, constant: { value } };
}

/** What an operation is compiled with, besides its operands. */
export interface OperationScope {
  readonly allowance: Allowance;
  /** Creates the reader of a path; undefined is the whole facts. */
  readonly readers: (path: string | undefined) => Evaluator;
}

/** A built-in operator. */
export interface Operator {
  /** The minimum number of arguments; extra ones are ignored, as in json-logic-js. */
  readonly minimum: number;
  /** SCALAR: the result is never a list or object; ARGUMENT: it is one of the arguments. */
  readonly result: "SCALAR" | "ARGUMENT" | "ANY";
  /** How many other operations take as long. */
  readonly size: number;
  /** Absent for `var`, and for the operators that evaluate an argument for each element of a list. */
  readonly compile?: CompileOperation;
}
export type CompileOperation = (operands: readonly Node[], scope: OperationScope) => Evaluator;
/** Built-in operators by name. */
export type Operators = Readonly<Record<string, Operator>>;

/** An operator whose result is never a list or object. */
export function scalarOperator(minimum: number, compile?: CompileOperation, size = 1): Operator {
  return { minimum, result: "SCALAR", size, ...(compile && { compile }) };
}

/** An operator whose result may be a list or object. */
export function anyOperator(compile?: CompileOperation, result: "ARGUMENT" | "ANY" = "ANY"): Operator {
  return { minimum: 0, result, size: 1, ...(compile && { compile }) };
}

/** An operand that is absent. */
export const ABSENT: Node = constantNode(undefined);

/** Converts the value of one operand to a decimal (S3.2). */
export type DecimalConverter = (value: RuleValue) => Exact;

/**
 * Creates the conversion of one operand. Decimal texts are converted; anything else is an error that names the
 * operator, and the variable if the operand is one (S3.2).
 */
export function createDecimalConverter({ variable }: Node, operator: string): DecimalConverter {
  return (value) => requireDecimal(value, operator, variable);
}

/** Converts the value of an operand, perhaps of a variable, to a decimal. */
export function requireDecimal(value: RuleValue, operator: string, variable?: string): Exact {
  if (typeof value === "number" || value instanceof Scaled) return value;
  const exact = typeof value === "string" ? exactOfText(value) : undefined;
  if (exact !== undefined) return exact;
  throw notDecimalError(value, variable, operator);
}

function notDecimalError(value: RuleValue, variable: string | undefined, operator: string): Error {
  const name = variable === undefined ? undefined : truncateText(variable);
  if (name !== undefined && (value === null || value === undefined)) {
    return ruleFailedError(`${name} is missing in ${JSON.stringify(operator)}`);
  }
  const text = name === undefined ? formatValue(value) : `${formatValue(value)} (${name})`;
  return ruleFailedError(`${text} is not a decimal in ${JSON.stringify(operator)}`);
}
