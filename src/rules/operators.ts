/**
 * The operators with their minimum numbers of arguments, the compiled form of a rule, and the conversion of operands to
 * decimals.
 */

import { exactOfText, Scaled, type Exact } from "../numbers/exact.ts";
import { type Fact, ruleFailedError, formatValue, type RuleValue } from "./value.ts";

/**
 * A custom operator. It gets evaluated arguments, with decimals as Decimals, and returns a fact. It must be pure: a
 * rule may be evaluated any number of times.
 */
export type RuleOperator = (...args: readonly Fact[]) => unknown;

/** Custom operators by name. Built-in names are reserved. */
export type RuleOperators = Readonly<Record<string, RuleOperator>>;

/** Every built-in operator, by its minimum number of arguments; extra ones are ignored, as in json-logic-js. */
const OPERATORS: readonly (readonly [number, string])[] = [
  [0, "var missing missing_some if ?: and or ! !! log == === != !== < <= > >="],
  [0, "map filter reduce all some none merge in cat substr"],
  [1, "+ * - min max round floor ceil date"],
  [2, "/ % date.add date.sub duration.between duration.of duration.as"],
];
const ARGUMENTS_MIN: ReadonlyMap<string, number> = new Map(
  OPERATORS.flatMap(([count, names]) => names.split(" ").map((name): [string, number] => [name, count])),
);

/** The operators whose results are never lists or objects. */
const SCALAR_OPERATORS: ReadonlySet<string> = new Set(
  (
    "! !! == === != !== < <= > >= all some none in cat substr + * - / % min max round floor ceil " +
    "date date.add date.sub duration.between duration.of duration.as"
  ).split(" "),
);

/** Whether an operator's result is never a list or an object. */
export function isScalarOperator(operator: string): boolean {
  return SCALAR_OPERATORS.has(operator);
}

/** The operators whose second argument is evaluated for each element of a list. */
const ITERATIONS = ["map", "filter", "reduce", "all", "some", "none"] as const;
export type Iteration = (typeof ITERATIONS)[number];

/** The minimum number of arguments of a built-in operator; undefined if there is no such operator. */
export function minimumArguments(operator: string): number | undefined {
  return ARGUMENTS_MIN.get(operator);
}

/** Whether an operator's second argument reads the elements of a list. */
export function isIteration(operator: string): operator is Iteration {
  return (ITERATIONS as readonly string[]).includes(operator);
}

/** A custom operator with this name; own properties only. */
export function findCustomOperator(operators: RuleOperators | undefined, name: string): RuleOperator | undefined {
  return operators !== undefined && Object.hasOwn(operators, name) ? operators[name] : undefined;
}

/** The arguments of an operation: `{"!": x}` is short for `{"!": [x]}`. */
export function toArguments<Part>(value: Part | readonly Part[]): readonly Part[] {
  return Array.isArray(value) ? (value as readonly Part[]) : [value as Part];
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
  const name = variable === undefined ? undefined : variable.length > 60 ? `${variable.slice(0, 60)}…` : variable;
  if (name !== undefined && (value === null || value === undefined)) {
    return ruleFailedError(`${name} is missing in ${JSON.stringify(operator)}`);
  }
  const text = name === undefined ? formatValue(value) : `${formatValue(value)} (${name})`;
  return ruleFailedError(`${text} is not a decimal in ${JSON.stringify(operator)}`);
}
