/**
 * Compiles a rule to closures, once, to be evaluated many times (S3.7). No `eval`, no `new Function`.
 *
 * @module
 */
import { invariant, RatebookError } from "../errors.ts";
import { decimalOf, isDecimalObject } from "../numbers/decimal.ts";
import { exactOfDecimal } from "../numbers/exact.ts";
import { compileArithmetic, compileRounding } from "./arithmetic.ts";
import { compileComparison } from "./comparison.ts";
import { compileControl } from "./control.ts";
import { DATE_OPERATIONS } from "./dates.ts";
import type { Operation } from "./dates.ts";
import { compileIn, compileIteration, LIST_OPERATIONS } from "./lists.ts";
import { constantNode } from "./node.ts";
import type { Evaluator, Node, ValueSlot } from "./node.ts";
import { argumentsOf, isIteration, ownOperator } from "./operators.ts";
import type { RuleOperator, RuleOperators } from "./operators.ts";
import { checkedRule } from "./rule.ts";
import type { Rule } from "./rule.ts";
import { compileSlotOperation } from "./slot-operations.ts";
import { factOf, failure, ruleValueOf } from "./value.ts";
import type { RuleValue } from "./value.ts";
import { compileMissing, compileMissingSome, compileVariable, pathReader, variableReader } from "./variables.ts";

/** How a rule is compiled. */
export interface CompileOptions<Frame> {
  /** Operators beside the built-in ones. */
  readonly operators?: RuleOperators;
  /**
   * Binds a variable path, such as `attribute.tokens`, to a reader; called once for a literal path, and once for each
   * evaluation of a computed one. Without a reader the path is looked up in the frame as plain data. The path `""` is
   * the whole of the facts. Not asked for the variables of `map` and its like, which read the element.
   */
  readonly variables?: (path: string) => ((frame: Frame) => RuleValue) | undefined;
  /**
   * Binds a literal variable path to a slot that always holds its value, which is quicker than a reader; asked before
   * {@link variables}.
   */
  readonly slots?: (path: string) => ValueSlot | undefined;
}

/**
 * Compiles a rule for frames of one kind. The event path's form: decimals are {@link RuleValue}s, not Decimals.
 *
 * Compiling fails only on a malformed rule; whatever a rule computes, even from literals alone, is computed, and may
 * fail, when it is evaluated.
 *
 * @returns evaluates the rule on a frame; throws ERR_RULE_FAILED or ERR_ARITHMETIC (S3.2)
 * @throws {RatebookError} ERR_RULE_INVALID for a rule that {@link checkedRule} refuses
 */
export function compile<Frame>(rule: Rule, options: CompileOptions<Frame> = {}): (frame: Frame) => RuleValue {
  const { operators, slots } = options;
  const checked = checkedRule(rule, operators === undefined ? {} : { operators });
  // The readers are only ever called with the frames that the caller passes.
  const variables = options.variables as Scope["variables"];
  return nodeOf(checked, { operators, variables, slots, inElement: false }).run;
}

/** What a part of a rule is compiled in. */
interface Scope {
  readonly operators: RuleOperators | undefined;
  readonly variables: ((path: string) => Evaluator | undefined) | undefined;
  readonly slots: ((path: string) => ValueSlot | undefined) | undefined;
  /** Inside `map` and its like, where a variable reads the element, and the element is plain data. */
  readonly inElement: boolean;
}

/** Recursive: a checked rule nests at most 64 deep. */
function nodeOf(rule: Rule | undefined, scope: Scope): Node {
  if (typeof rule !== "object" || rule === null) return constantNode(ruleValueOf(rule));
  if (Array.isArray(rule)) return listNode((rule as readonly Rule[]).map((part) => nodeOf(part, scope)));
  if (isDecimalObject(rule)) return constantNode(exactOfDecimal(decimalOf(rule)));
  const [[operator, given] = ["", null]] = Object.entries(rule as Readonly<Record<string, Rule>>);
  const args = argumentsOf(given);
  if (operator !== "var") return { run: operationOf(operator, args, scope) };
  const fallback = args[1] === undefined ? undefined : nodeOf(args[1], scope);
  return compileVariable(nodeOf(args[0], scope), fallback, { readers: readersOf(scope), slots: scope.slots });
}

function listNode(parts: readonly Node[]): Node {
  const values = parts.map((part) => part.constant?.value);
  if (parts.every((part) => part.constant !== undefined)) return constantNode(values);
  return { run: (frame) => parts.map((part) => part.run(frame)) };
}

function operationOf(operator: string, args: readonly Rule[], scope: Scope): Evaluator {
  if (isIteration(operator)) {
    const inElement: Scope = { ...scope, variables: undefined, slots: undefined, inElement: true };
    const initial = args[2] === undefined ? undefined : nodeOf(args[2], scope);
    return compileIteration(operator, nodeOf(args[0], scope), nodeOf(args[1], inElement), initial);
  }
  const nodes = args.map((arg) => nodeOf(arg, scope));
  const compiled =
    compileSlotOperation(operator, nodes) ??
    compileControl(operator, nodes) ??
    compileArithmetic(operator, nodes) ??
    compileComparison(operator, nodes);
  return compiled ?? otherOperation(operator, nodes, scope);
}

function otherOperation(operator: string, nodes: readonly Node[], scope: Scope): Evaluator {
  switch (operator) {
    case "in":
      return compileIn(nodes);
    case "missing":
      return compileMissing(nodes, readersOf(scope));
    case "missing_some":
      return compileMissingSome(nodes, readersOf(scope));
    case "round":
    case "floor":
    case "ceil":
      return compileRounding(operator, nodes);
    default:
      return called(operator, nodes, scope);
  }
}

/** Reads a path by the scope's own readers, else in the frame as plain data. */
function readersOf({ variables, inElement }: Scope): (path: string | undefined) => Evaluator {
  if (inElement) return pathReader;
  return (path) => variables?.(path ?? "") ?? variableReader(path);
}

/** An operation that gets all its arguments evaluated: a built-in one, or a user's own. */
function called(operator: string, nodes: readonly Node[], scope: Scope): Evaluator {
  const own = ownOperator(scope.operators, operator);
  const builtIn = LIST_OPERATIONS.get(operator) ?? DATE_OPERATIONS.get(operator);
  const operation = builtIn ?? (own === undefined ? undefined : ownOperation(operator, own));
  invariant(operation !== undefined, `S3.6: a checked rule has known operators only, not ${operator}`);
  const runs = nodes.map((node) => node.run);
  return (frame) => operation(runs.map((run) => run(frame)));
}

function ownOperation(name: string, operator: RuleOperator): Operation {
  return (args) => {
    const facts = args.map((value) => factOf(value));
    try {
      return ruleValueOf(operator(...facts));
    } catch (error) {
      if (error instanceof RatebookError) throw error;
      throw failure(`${JSON.stringify(name)} failed: ${error instanceof Error ? error.message : String(error)}`, error);
    }
  };
}
