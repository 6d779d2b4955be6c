/**
 * `if ?: and or ! !!`: what is not asked for is not evaluated.
 *
 * @module
 */
import { constantNode } from "./node.ts";
import type { Evaluator, Node } from "./node.ts";
import { truthy } from "./value.ts";
import type { RuleValue } from "./value.ts";

/** Compiles `if ?: and or ! !!`; undefined for any other name. */
export function compileControl(operator: string, nodes: readonly Node[]): Evaluator | undefined {
  switch (operator) {
    case "if":
    case "?:":
      return choice(nodes);
    case "and":
      return firstOrLast(nodes, false);
    case "or":
      return firstOrLast(nodes, true);
    case "!": {
      const [operand = constantNode(undefined)] = nodes;
      return (frame) => !truthy(operand.run(frame));
    }
    case "!!": {
      const [operand = constantNode(undefined)] = nodes;
      return (frame) => truthy(operand.run(frame));
    }
    default:
      return undefined;
  }
}

/** `if`: pairs of condition and result, then what else; null without one. */
function choice(nodes: readonly Node[]): Evaluator {
  const [condition, result, otherwise] = nodes.map((node) => node.run);
  if (nodes.length === 3 && condition !== undefined && result !== undefined && otherwise !== undefined) {
    return (frame) => (truthy(condition(frame)) ? result(frame) : otherwise(frame));
  }
  if (condition === undefined) return () => null;
  if (result === undefined) return condition;
  const rest = choice(nodes.slice(2));
  return (frame) => (truthy(condition(frame)) ? result(frame) : rest(frame));
}

/** `and` and `or`: the first value that is falsy, or truthy, else the last; undefined of none. */
function firstOrLast(nodes: readonly Node[], sought: boolean): Evaluator {
  const runs = nodes.map((node) => node.run);
  const [first, second] = runs;
  if (runs.length === 2 && first !== undefined && second !== undefined) {
    return (frame) => {
      const value = first(frame);
      return truthy(value) === sought ? value : second(frame);
    };
  }
  return (frame) => {
    let value: RuleValue = undefined;
    for (const run of runs) {
      value = run(frame);
      if (truthy(value) === sought) return value;
    }
    return value;
  };
}
