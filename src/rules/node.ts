/**
 * The compiled form of a rule, and the conversion of operands to decimals.
 *
 * @module
 */
import { exactOfText, Scaled } from "../numbers/exact.ts";
import type { Exact } from "../numbers/exact.ts";
import { ruleFailedError, formatValue } from "./value.ts";
import type { RuleValue } from "./value.ts";

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
  /** Present if its value is never a list or object. */
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
export function createDecimalConverter(node: Node, operator: string): DecimalConverter {
  return (value) => {
    if (typeof value === "number" || value instanceof Scaled) return value;
    const exact = typeof value === "string" ? exactOfText(value) : undefined;
    if (exact !== undefined) return exact;
    throw notDecimalError(value, node.variable, operator);
  };
}

/** Converts a value to a decimal, for an operator with unnamed operands. */
export function requireDecimal(value: RuleValue, operator: string): Exact {
  if (typeof value === "number" || value instanceof Scaled) return value;
  const exact = typeof value === "string" ? exactOfText(value) : undefined;
  if (exact !== undefined) return exact;
  throw notDecimalError(value, undefined, operator);
}

function notDecimalError(value: RuleValue, variable: string | undefined, operator: string): Error {
  const name = variable === undefined ? undefined : variable.length > 60 ? `${variable.slice(0, 60)}…` : variable;
  if (name !== undefined && (value === null || value === undefined)) {
    return ruleFailedError(`${name} is missing in ${JSON.stringify(operator)}`);
  }
  const text = name === undefined ? formatValue(value) : `${formatValue(value)} (${name})`;
  return ruleFailedError(`${text} is not a decimal in ${JSON.stringify(operator)}`);
}
