/**
 * Compiles a rule to closures, once, to be evaluated many times (S3.7). No `eval`, no `new Function`.
 *
 * @module
 */
import { invariant, RatebookError } from "../errors.ts";
import { parseDecimal, isDecimalObject } from "../numbers/decimal.ts";
import { exactOfDecimal } from "../numbers/exact.ts";
import { compileArithmetic, compileRounding } from "./arithmetic.ts";
import { type Allowance, createAllowance, type FullRuleBudget, RULE_BUDGET } from "./budget.ts";
import { compileComparison } from "./comparison.ts";
import { DATE_OPERATIONS } from "./dates.ts";
import type { Operation } from "./dates.ts";
import { compileIn, compileIteration, compileList, compileTextAndLists } from "./lists.ts";
import { compileControl } from "./logic.ts";
import { constantNode } from "./node.ts";
import type { Evaluator, Node, ValueSlot } from "./node.ts";
import { toArguments, isIteration, isScalarOperator, findUserOperator } from "./operators.ts";
import type { Iteration, RuleOperator, RuleOperators } from "./operators.ts";
import { requireValidRule } from "./rule.ts";
import type { Rule } from "./rule.ts";
import { compileSlotOperation } from "./slot-operations.ts";
import { toFact, ruleFailure, describeError, toRuleValue } from "./value.ts";
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
  /** The budget of one evaluation (S3.8). */
  readonly budget?: FullRuleBudget;
}

/**
 * Compiles a rule for frames of one kind. The event path's form: decimals are {@link RuleValue}s, not Decimals.
 *
 * Compiling fails only on a malformed rule; whatever a rule computes, even from literals alone, is computed, and may
 * fail, when it is evaluated.
 *
 * @returns evaluates the rule on a frame; throws ERR_RULE_FAILED, also beyond the budget, or ERR_ARITHMETIC (S3.2, S3.8)
 * @throws {RatebookError} ERR_RULE_INVALID for a rule that {@link requireValidRule} refuses
 */
export function compile<Frame>(rule: Rule, options: CompileOptions<Frame> = {}): (frame: Frame) => RuleValue {
  const { operators, slots } = options;
  const checked = requireValidRule(rule, operators === undefined ? {} : { operators });
  // The readers are only ever called with the frames that the caller passes.
  const variables = options.variables as Scope["variables"];
  const allowance = createAllowance(options.budget ?? RULE_BUDGET);
  const { run } = compileNode(checked, { operators, variables, slots, inElement: false, allowance });
  return allowance.evaluation(run);
}

/** Compiles a part of a checked rule on its own, to measure its work; its variables read plain data. */
export function compilePart(part: Rule | undefined, allowance: Allowance, operators: RuleOperators | undefined): Node {
  return compileNode(part, { operators, variables: undefined, slots: undefined, inElement: true, allowance });
}

/** The context in which a part of a rule is compiled. */
interface Scope {
  readonly operators: RuleOperators | undefined;
  readonly variables: ((path: string) => Evaluator | undefined) | undefined;
  readonly slots: ((path: string) => ValueSlot | undefined) | undefined;
  /** Inside `map` and its like, where a variable reads the element, and the element is plain data. */
  readonly inElement: boolean;
  readonly allowance: Allowance;
}

/** Recursive: a checked rule nests at most 64 deep. */
function compileNode(rule: Rule | undefined, scope: Scope): Node {
  if (typeof rule !== "object" || rule === null) return constantNode(toRuleValue(rule));
  if (Array.isArray(rule))
    return listNode(
      (rule as readonly Rule[]).map((part) => compileNode(part, scope)),
      scope,
    );
  if (isDecimalObject(rule)) return constantNode(exactOfDecimal(parseDecimal(rule)));
  const [[operator, operand] = ["", null]] = Object.entries(rule as Readonly<Record<string, Rule>>);
  const args = toArguments(operand);
  if (isIteration(operator)) return iterationNode(operator, args, scope);
  if (operator === "var") {
    const fallback = args[1] === undefined ? undefined : compileNode(args[1], scope);
    const { slots, allowance } = scope;
    return compileVariable(compileNode(args[0], scope), fallback, {
      readers: createPathReaders(scope),
      slots,
      allowance,
    });
  }
  const nodes = args.map((arg) => compileNode(arg, scope));
  const scalar = isScalarOperator(operator) || (isChoice(operator) && nodes.every((node) => node.scalar === true));
  return { run: compileOperation(operator, nodes, scope), size: 1 + countWork(nodes), scalar };
}

function listNode(parts: readonly Node[], { allowance }: Scope): Node {
  const values = parts.map((part) => part.constant?.value);
  if (parts.every((part) => part.constant !== undefined)) return constantNode(values);
  return { run: compileList(parts, allowance), size: 1 + countWork(parts) };
}

function iterationNode(operator: Iteration, args: readonly Rule[], scope: Scope): Node {
  const inElement: Scope = { ...scope, variables: undefined, slots: undefined, inElement: true };
  const list = compileNode(args[0], scope);
  const body = compileNode(args[1], inElement);
  const initial = args[2] === undefined ? undefined : compileNode(args[2], scope);
  return {
    run: compileIteration(operator, { list, body, initial }, scope.allowance),
    size: 1 + list.size + (initial?.size ?? 0),
    scalar: isScalarOperator(operator),
  };
}

function countWork(nodes: readonly Node[]): number {
  return nodes.reduce((size, node) => size + node.size, 0);
}

/** One of the operators that give one of their arguments. */
function isChoice(operator: string): boolean {
  return ["if", "?:", "and", "or", "log"].includes(operator);
}

function compileOperation(operator: string, nodes: readonly Node[], scope: Scope): Evaluator {
  const compiled =
    compileSlotOperation(operator, nodes) ??
    compileControl(operator, nodes) ??
    compileArithmetic(operator, nodes) ??
    compileComparison(operator, nodes, scope.allowance) ??
    compileTextAndLists(operator, nodes, scope.allowance);
  return compiled ?? compileOtherOperation(operator, nodes, scope);
}

function compileOtherOperation(operator: string, nodes: readonly Node[], scope: Scope): Evaluator {
  switch (operator) {
    case "in":
      return compileIn(nodes, scope.allowance);
    case "missing":
      return compileMissing(nodes, createPathReaders(scope), scope.allowance);
    case "missing_some":
      return compileMissingSome(nodes, createPathReaders(scope), scope.allowance);
    case "round":
    case "floor":
    case "ceil":
      return compileRounding(operator, nodes);
    case "log":
      return nodes[0]?.run ?? constantNode(undefined).run;
    default:
      return compileCall(operator, nodes, scope);
  }
}

/** Reads a path by the scope's own readers, else in the frame as plain data. */
function createPathReaders({ variables, inElement }: Scope): (path: string | undefined) => Evaluator {
  if (inElement) return pathReader;
  return (path) => variables?.(path ?? "") ?? variableReader(path);
}

/** An operation that gets all its arguments evaluated: one on dates, or a user's own. */
function compileCall(operator: string, nodes: readonly Node[], scope: Scope): Evaluator {
  const own = findUserOperator(scope.operators, operator);
  const operation =
    DATE_OPERATIONS.get(operator) ?? (own === undefined ? undefined : wrapUserOperator(operator, own, scope.allowance));
  invariant(operation !== undefined, `S3.6: a checked rule has known operators only, not ${operator}`);
  const runs = nodes.map((node) => node.run);
  return (frame) => operation(runs.map((run) => run(frame)));
}

/** An operator of a user's own: a call is one step, and so is every element that is copied for it. */
function wrapUserOperator(name: string, operator: RuleOperator, allowance: Allowance): Operation {
  const countCopy = (): void => allowance.steps(1);
  return (args) => {
    allowance.steps(1);
    const facts = args.map((value) => toFact(value, countCopy));
    try {
      return toRuleValue(operator(...facts));
    } catch (error) {
      if (error instanceof RatebookError) throw error;
      throw ruleFailure(`${JSON.stringify(name)} failed: ${describeError(error)}`, error);
    }
  };
}
