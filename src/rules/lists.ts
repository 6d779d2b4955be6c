/**
 * Texts and lists: `cat substr in merge`, and the operators that go through a list: `map filter reduce all some none`.
 *
 * @module
 */
import type { Operation } from "./dates.ts";
import { constantNode } from "./node.ts";
import type { Evaluator, Node } from "./node.ts";
import type { Iteration } from "./operators.ts";
import { doubleOf, isDecimal, joined, strictlyEqual, stringOf, truthy } from "./value.ts";
import type { RuleValue } from "./value.ts";

const ABSENT = constantNode(undefined);

/** The operations on texts and lists whose arguments are all evaluated first, by name. */
export const LIST_OPERATIONS: ReadonlyMap<string, Operation> = new Map<string, Operation>([
  ["cat", (args) => joined(args, "")],
  ["substr", ([source, start, length]) => part(stringOf(source), start, length)],
  ["in", ([sought, within]) => holds(sought, within)],
  ["merge", (args) => args.flatMap((value) => (isList(value) ? value : [value]))],
  ["log", ([value]) => value],
]);

/**
 * Compiles `map filter reduce all some none`.
 *
 * @param body evaluated with the element as its facts
 * @param initial `reduce` alone: where it starts; null when absent
 */
export function compileIteration(operator: Iteration, list: Node, body: Node, initial: Node | undefined): Evaluator {
  const elements = (frame: unknown): readonly RuleValue[] => {
    const value = list.run(frame);
    return isList(value) ? value : [];
  };
  const matches = (element: RuleValue): boolean => truthy(body.run(element));
  switch (operator) {
    case "map":
      return (frame) => elements(frame).map((element) => body.run(element));
    case "filter":
      return (frame) => elements(frame).filter(matches);
    case "all":
      return (frame) => {
        const found = elements(frame);
        return found.length > 0 && found.every(matches);
      };
    case "some":
      return (frame) => elements(frame).some(matches);
    case "none":
      return (frame) => !elements(frame).some(matches);
    case "reduce":
      return reduction(elements, body.run, initial ?? constantNode(null));
  }
}

/** Compiles `in`: a list of literals is looked through without evaluating it again. */
export function compileIn(operands: readonly Node[]): Evaluator {
  const { run: sought } = operands[0] ?? ABSENT;
  const list = operands[1] ?? ABSENT;
  const constant = list.constant?.value;
  if (constant !== undefined && isList(constant) && constant.every((element) => typeof element === "string")) {
    const texts = new Set<RuleValue>(constant);
    return (frame) => texts.has(sought(frame));
  }
  return (frame) => {
    const value = sought(frame);
    return holds(value, list.run(frame));
  };
}

function reduction(elements: (frame: unknown) => readonly RuleValue[], step: Evaluator, initial: Node): Evaluator {
  return (frame) => {
    // In this order: what the list and the start are made of may fail, and the list is read first.
    const found = elements(frame);
    let accumulator = initial.run(frame);
    for (const current of found) accumulator = step({ current, accumulator });
    return accumulator;
  };
}

/** Whether a text holds a text, or a list an element. */
function holds(sought: RuleValue, within: RuleValue): boolean {
  if (typeof within === "string") return within !== "" && within.includes(stringOf(sought));
  return isList(within) && within.some((element) => strictlyEqual(element, sought));
}

/** `substr`: from `start` (from the end when negative), `length` characters, or all but the last -length. */
function part(source: string, start: RuleValue, length: RuleValue): string {
  const rest = source.slice(Math.trunc(doubleOf(start)) || 0);
  if (length === undefined) return rest;
  const count = doubleOf(length) || 0;
  // A negative text joins the length instead of lowering it in json-logic-js, and leaves nothing.
  if (count < 0 && !isDecimal(length)) return "";
  return rest.slice(0, Math.max(0, Math.trunc(count < 0 ? rest.length + count : count)));
}

function isList(value: RuleValue): value is readonly RuleValue[] {
  return Array.isArray(value);
}
