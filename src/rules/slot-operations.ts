/**
 * Fast paths for events: operations on a variable with a slot and a constant. The variable is read directly, which
 * saves a call for it and one for the constant.
 *
 * @module
 */
import { addExact, multiplyExact, subtractExact } from "../numbers/exact.ts";
import type { Evaluator, Node, ValueSlot } from "./node.ts";
import { toDecimal } from "./node.ts";
import { isDecimal, isLooselyEqual, compareValues, type RuleValue, isStrictlyEqual } from "./value.ts";

/** Compiles an operation on a slot and a constant; undefined for other operands or operators. */
export function compileSlotOperation(operator: string, operands: readonly Node[]): Evaluator | undefined {
  const [left, right] = operands;
  const constant = right?.constant?.value;
  if (left?.slot === undefined || operands.length !== 2) return undefined;
  if (typeof constant === "string") return compileEquality(operator, left.slot, constant);
  if (typeof constant !== "number") return undefined;
  return (
    compileEquality(operator, left.slot, constant) ??
    compileOrder(operator, left.slot, constant) ??
    compileSlotArithmetic(operator, { node: left, slot: left.slot }, constant)
  );
}

function compileEquality(
  operator: string,
  { values, index }: ValueSlot,
  constant: string | number,
): Evaluator | undefined {
  const equal = operator === "==" || operator === "!=" ? isLooselyEqual : isStrictlyEqual;
  // One closure per kind: comparing values of one known kind needs no call.
  const isEqual =
    typeof constant === "string"
      ? (a: RuleValue): boolean => (typeof a === "string" ? a === constant : equal(a, constant))
      : (a: RuleValue): boolean => (typeof a === "number" ? a === constant : equal(a, constant));
  switch (operator) {
    case "==":
    case "===":
      return () => isEqual(values[index]);
    case "!=":
    case "!==":
      return () => !isEqual(values[index]);
    default:
      return undefined;
  }
}

function compileOrder(operator: string, { values, index }: ValueSlot, constant: number): Evaluator | undefined {
  switch (operator) {
    case "<":
      return () => {
        const a = values[index];
        return typeof a === "number" ? a < constant : compareValues(a, constant) < 0;
      };
    case "<=":
      return () => {
        const a = values[index];
        return typeof a === "number" ? a <= constant : compareValues(a, constant) <= 0;
      };
    case ">":
      return () => {
        const a = values[index];
        return typeof a === "number" ? a > constant : compareValues(a, constant) > 0;
      };
    case ">=":
      return () => {
        const a = values[index];
        return typeof a === "number" ? a >= constant : compareValues(a, constant) >= 0;
      };
    default:
      return undefined;
  }
}

function compileSlotArithmetic(
  operator: string,
  { node, slot: { values, index } }: { readonly node: Node; readonly slot: ValueSlot },
  constant: number,
): Evaluator | undefined {
  const decimal = toDecimal(node, operator);
  switch (operator) {
    case "+":
      return () => {
        const a = values[index];
        return addExact(isDecimal(a) ? a : decimal(a), constant);
      };
    case "-":
      return () => {
        const a = values[index];
        return subtractExact(isDecimal(a) ? a : decimal(a), constant);
      };
    case "*":
      return () => {
        const a = values[index];
        return multiplyExact(isDecimal(a) ? a : decimal(a), constant);
      };
    default:
      return undefined;
  }
}
