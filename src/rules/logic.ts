/**
 * `if ?: and or ! !!`: only the required operands are evaluated.
 *
 * @module
 */
import { constantNode } from "./node.ts";
import type { Evaluator, Node } from "./node.ts";
import { isTruthy } from "./value.ts";
import type { RuleValue } from "./value.ts";

/** Compiles `if ?: and or ! !!`; undefined for any other name. */
export function compileControl(operator: string, nodes: readonly Node[]): Evaluator | undefined {
  switch (operator) {
    case "if":
    case "?:":
      return compileIf(nodes);
    case "and":
      return compileAndOr(nodes, false);
    case "or":
      return compileAndOr(nodes, true);
    case "!": {
      const [operand = constantNode(undefined)] = nodes;
      return (frame) => !isTruthy(operand.run(frame));
    }
    case "!!": {
      const [operand = constantNode(undefined)] = nodes;
      return (frame) => isTruthy(operand.run(frame));
    }
    default:
      return undefined;
  }
}

/** `if`: pairs of condition and result, then the alternative; null without one. */
function compileIf(nodes: readonly Node[]): Evaluator {
  const [condition, result, otherwise] = nodes.map((node) => node.run);
  if (nodes.length === 3 && condition !== undefined && result !== undefined && otherwise !== undefined) {
    return (frame) => (isTruthy(condition(frame)) ? result(frame) : otherwise(frame));
  }
  if (condition === undefined) return () => null;
  if (result === undefined) return condition;
  const rest = compileIf(nodes.slice(2));
  return (frame) => (isTruthy(condition(frame)) ? result(frame) : rest(frame));
}

/** `and` and `or`: the first falsy or truthy value, else the last; undefined without operands. */
function compileAndOr(nodes: readonly Node[], stopsAt: boolean): Evaluator {
  const runs = nodes.map((node) => node.run);
  const [first, second] = runs;
  if (runs.length === 2 && first !== undefined && second !== undefined) {
    return (frame) => {
      const value = first(frame);
      return isTruthy(value) === stopsAt ? value : second(frame);
    };
  }
  return (frame) => {
    let value: RuleValue = undefined;
    for (const run of runs) {
      value = run(frame);
      if (isTruthy(value) === stopsAt) return value;
    }
    return value;
  };
}
