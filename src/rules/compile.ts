/** Compiles a rule to closures, to evaluate it many times (S3.7). No `eval`, no `new Function`. */
import { invariant, RatebookError } from "../errors.ts";
import { parseDecimal, isDecimalObject } from "../numbers/decimal.ts";
import { exactOfDecimal } from "../numbers/exact.ts";
import { compileArithmetic, compileRounding, compileComparison, compileControl } from "./arithmetic.ts";
import { type Allowance, createAllowance, type EventSteps, type FullRuleBudget, RULE_BUDGET } from "./budget.ts";
import { DATE_OPERATIONS, type Operation, compileIteration, compileList, compileTextAndLists } from "./lists.ts";
import {
  constantNode,
  type Evaluator,
  type Node,
  type ValueSlot,
  toArguments,
  isIteration,
  isScalarOperator,
  findCustomOperator,
  type Iteration,
  type RuleOperator,
  type RuleOperators,
} from "./operators.ts";
import { requireValidRule, type Rule } from "./rule.ts";
import { toFact, ruleFailedError, describeError, toRuleValue, type RuleValue } from "./value.ts";
import { compileMissing, compileMissingSome, compileVariable, pathReader, variableReader } from "./variables.ts";

/** Options for compiling a rule. */
export interface CompileOptions<Frame> {
  /** Custom operators. */
  readonly operators?: RuleOperators;
  /**
   * Binds a variable path, such as `attribute.tokens`, to a reader; called once for a literal path, and in each
   * evaluation for a computed one. Without a reader the path is looked up in the frame as plain data. The path `""` is
   * the whole facts. Not used for variables in `map` and similar, which read the element.
   */
  readonly variables?: (path: string) => ((frame: Frame) => RuleValue) | undefined;
  /**
   * Binds a literal variable path to a slot that always has its value, which is faster than a reader; tried before
   * {@link variables}.
   */
  readonly slots?: (path: string) => ValueSlot | undefined;
  /** The budget for one evaluation (S3.8). */
  readonly budget?: FullRuleBudget;
  /** The event whose rules share a budget (S3.8). */
  readonly event?: EventSteps;
}

/**
 * Compiles a rule to a function of a frame, the data of one evaluation: facts, or what `variables` and `slots` read. It
 * is for processing events, so decimals are {@link RuleValue}s, not Decimals. Compiling fails only for a malformed rule;
 * everything is computed, and may fail, in the evaluation, even from literals.
 *
 * @returns evaluates the rule on a frame; throws ERR_RULE_FAILED, also beyond the budget, or ERR_ARITHMETIC (S3.2,
 * S3.8)
 * @throws {RatebookError} ERR_RULE_INVALID for a rule that {@link requireValidRule} rejects
 */
export function compile<Frame>(rule: Rule, options: CompileOptions<Frame> = {}): (frame: Frame) => RuleValue {
  const { operators, slots } = options;
  const validRule = requireValidRule(rule, operators === undefined ? {} : { operators });
  // The readers are only called with frames from the caller.
  const variables = options.variables as Scope["variables"];
  const allowance = createAllowance(options.budget ?? RULE_BUDGET, options.event);
  const { run, size } = compileNode(validRule, { operators, variables, slots, inElement: false, allowance });
  return allowance.wrapEvaluation(run, size);
}

/** Compiles a part of a checked rule separately, to measure its work; its variables read plain data. */
export function compilePart(part: Rule | undefined, allowance: Allowance, operators: RuleOperators | undefined): Node {
  return compileNode(part, { operators, variables: undefined, slots: undefined, inElement: true, allowance });
}

/** The size of an operation on dates or durations, which takes as long as ten others. */
const DATE_OPERATION_SIZE = 10;

/** The context for compiling a part of a rule. */
interface Scope {
  readonly operators: RuleOperators | undefined;
  readonly variables: ((path: string) => Evaluator | undefined) | undefined;
  readonly slots: ((path: string) => ValueSlot | undefined) | undefined;
  /** Inside `map` and similar, where a variable reads the element, which is plain data. */
  readonly inElement: boolean;
  readonly allowance: Allowance;
}

/** Recursive: a checked rule has at most 64 levels. */
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
  const isScalar =
    isScalarOperator(operator) || (returnsArgument(operator) && nodes.every((node) => node.isScalar === true));
  const ownSize = DATE_OPERATIONS.has(operator) ? DATE_OPERATION_SIZE : 1;
  return { run: compileOperation(operator, nodes, scope), size: ownSize + sumSizes(nodes), isScalar };
}

function listNode(parts: readonly Node[], { allowance }: Scope): Node {
  const values = parts.map((part) => part.constant?.value);
  if (parts.every((part) => part.constant !== undefined)) return constantNode(values);
  return { run: compileList(parts, allowance), size: 1 + sumSizes(parts) };
}

function iterationNode(operator: Iteration, args: readonly Rule[], scope: Scope): Node {
  const elementScope: Scope = { ...scope, variables: undefined, slots: undefined, inElement: true };
  const list = compileNode(args[0], scope);
  const body = compileNode(args[1], elementScope);
  const initial = args[2] === undefined ? undefined : compileNode(args[2], scope);
  return {
    run: compileIteration(operator, { list, body, initial }, scope.allowance),
    size: 1 + list.size + (initial?.size ?? 0),
    isScalar: isScalarOperator(operator),
  };
}

function sumSizes(nodes: readonly Node[]): number {
  return nodes.reduce((size, node) => size + node.size, 0);
}

/** Whether an operator returns one of its arguments. */
function returnsArgument(operator: string): boolean {
  return ["if", "?:", "and", "or", "log"].includes(operator);
}

function compileOperation(operator: string, nodes: readonly Node[], scope: Scope): Evaluator {
  const evaluator =
    compileControl(operator, nodes) ??
    compileArithmetic(operator, nodes) ??
    compileComparison(operator, nodes, scope.allowance) ??
    compileTextAndLists(operator, nodes, scope.allowance);
  if (evaluator !== undefined) return evaluator;
  switch (operator) {
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

/** Reads a path with the scope's readers, else in the frame as plain data. */
function createPathReaders({ variables, inElement }: Scope): (path: string | undefined) => Evaluator {
  if (inElement) return pathReader;
  return (path) => variables?.(path ?? "") ?? variableReader(path);
}

/** An operation whose arguments are all evaluated: a date operation or a custom one. */
function compileCall(operator: string, nodes: readonly Node[], scope: Scope): Evaluator {
  const customOperator = findCustomOperator(scope.operators, operator);
  const operation =
    DATE_OPERATIONS.get(operator) ??
    (customOperator === undefined ? undefined : wrapCustomOperator(operator, customOperator, scope.allowance));
  invariant(operation !== undefined, `S3.6: a checked rule has known operators only, not ${operator}`);
  const runs = nodes.map((node) => node.run);
  return (frame) => operation(runs.map((run) => run(frame)));
}

/** A custom operator: a call costs one step, as does every element copied for it. */
function wrapCustomOperator(name: string, operator: RuleOperator, allowance: Allowance): Operation {
  const countCopy = (): void => allowance.deductSteps(1);
  return (args) => {
    allowance.deductSteps(1);
    const facts = args.map((value) => toFact(value, countCopy));
    try {
      return toRuleValue(operator(...facts));
    } catch (error) {
      if (error instanceof RatebookError) throw error;
      throw ruleFailedError(`${JSON.stringify(name)} failed: ${describeError(error)}`, error);
    }
  };
}
