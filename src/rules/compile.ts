/**
 * Compiles a rule to closures, to evaluate it many times (S3.7), without `eval` and `new Function`; rules in the public
 * API; and the minimum work of a rule for any facts: one that always exceeds its budget is rejected when saved (S3.8).
 */
import { invariant, RatebookError, InvariantError } from "../errors.ts";
import { parseDecimal, isDecimalObject } from "../numbers/decimal.ts";
import { exactOfDecimal } from "../numbers/exact.ts";
import {
  type Allowance,
  createAllowance,
  type EventSteps,
  type FullRuleBudget,
  RULE_BUDGET,
  type RuleBudget,
  resolveRuleBudget,
  describeExcess,
} from "./budget.ts";
import { compileCall, compileIteration, compileList, isIteration, type Iteration, type Operation } from "./lists.ts";
import { OPERATORS } from "./operators.ts";
import {
  toArguments,
  findCustomOperator,
  type RuleOperator,
  type RuleOperators,
  requireValidRule,
  type Rule,
  parseRule,
  type RuleFields,
} from "./rule.ts";
import {
  constantNode,
  type Evaluator,
  type Node,
  type ValueSlot,
  toFact,
  ruleFailedError,
  describeError,
  toRuleValue,
  type RuleValue,
  type Fact,
  isList,
} from "./value.ts";
import { compileVariable, pathReader, variableReader } from "./variables.ts";

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
  const { result = "ANY", size = 1, compile } = OPERATORS.get(operator) ?? {};
  const isScalar = result === "SCALAR" || (result === "ARGUMENT" && nodes.every((node) => node.isScalar === true));
  const run =
    compile?.(nodes, { allowance: scope.allowance, readers: createPathReaders(scope) }) ??
    compileCustom(operator, nodes, scope);
  return { run, size: size + sumSizes(nodes), isScalar };
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
    isScalar: OPERATORS.get(operator)?.result === "SCALAR",
  };
}

function sumSizes(nodes: readonly Node[]): number {
  return nodes.reduce((size, node) => size + node.size, 0);
}

/** Reads a path with the scope's readers, else in the frame as plain data. */
function createPathReaders({ variables, inElement }: Scope): (path: string | undefined) => Evaluator {
  if (inElement) return pathReader;
  return (path) => variables?.(path ?? "") ?? variableReader(path);
}

function compileCustom(name: string, nodes: readonly Node[], { operators, allowance }: Scope): Evaluator {
  const operator = findCustomOperator(operators, name);
  invariant(operator !== undefined, `S3.6: a checked rule has known operators only, not ${name}`);
  return compileCall(nodes, wrapCustomOperator(name, operator, allowance));
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

/** Options for {@link compileRule}. */
export interface RuleOptions {
  /** Custom operators, in addition to the built-in ones, for this rule only. */
  readonly operators?: RuleOperators;
  /** The fields that the rule's variables may use; default any. */
  readonly fields?: RuleFields;
  /** The budget for one evaluation that iterates over lists or creates text (S3.8). */
  readonly ruleBudget?: RuleBudget | undefined;
}

/**
 * Compiles a JSON logic rule: an object, a literal, or a text that contains one (S3).
 *
 * ```ts
 * const cost = compileRule({ "*": [{ var: "attribute.hours" }, 0.1] });
 * cost({ attribute: { hours: 3 } }); // Decimal 0.3
 * ```
 *
 * @returns evaluates the rule on facts: plain data whose numbers may be numbers, texts or Decimals. Decimals are
 * returned as Decimals. Throws ERR_RULE_FAILED if the rule cannot be evaluated on the facts, if it exceeds its budget
 * (S3.8), and for whatever an operator throws; ERR_ARITHMETIC beyond 100 digits and for a division by zero
 * @throws {RatebookError} ERR_RULE_INVALID with the path inside the rule and the reason (S3.6), also for a rule that
 * exceeds its budget for all facts (S3.8); ERR_OPTION_INVALID for an invalid budget
 */
export function compileRule(rule: unknown, options: RuleOptions = {}): (facts: unknown) => Fact {
  const { operators } = options;
  const budget = resolveRuleBudget(options.ruleBudget);
  const validRule = requireValidRule(parseRule(rule), options);
  const excess = describeExcessWork(validRule, { budget, operators });
  if (excess !== undefined)
    throw new RatebookError("ERR_RULE_INVALID", excess, { path: "$", reason: "RULE_WORK_EXCEEDED" });
  const evaluate = compile(validRule, { budget, ...(operators === undefined ? {} : { operators }) });
  return (facts) => {
    try {
      return toFact(evaluate(facts));
    } catch (error) {
      // Facts may run foreign code, and deep ones may exhaust the stack.
      if (error instanceof RatebookError || error instanceof InvariantError) throw error;
      throw ruleFailedError(`the rule failed: ${describeError(error)}`, error);
    }
  };
}

/**
 * The problem of a checked rule that always exceeds its budget; undefined if some facts may not.
 *
 * @param total the steps of the evaluations for all rules that are checked together; this call adds to them
 */
export function describeExcessWork(
  rule: Rule,
  { budget, operators }: Pick<MeasuringContext, "budget" | "operators">,
  total: EvaluationSteps = { steps: 0 },
): string | undefined {
  const minimumWork = computeMinimumWork(rule, { budget, operators, usedSteps: { steps: 0 }, total });
  const exceeded = (["steps", "text"] as const).find((limit) => minimumWork[limit] > budget[limit]);
  return exceeded && `${describeExcess(budget, exceeded)}, for every event`;
}

/** The minimum work of an evaluation, in the same measures as a budget. */
type Work = FullRuleBudget;
const NO_WORK: Work = { steps: 0, text: 0 };

/** The number of steps of evaluations. Beyond a multiple of the budget, further parts count as no work. */
type EvaluationSteps = Record<"steps", number>;

interface MeasuringContext {
  readonly budget: FullRuleBudget;
  /** Custom operators, whose results are not known in advance. */
  readonly operators?: RuleOperators | undefined;
  /** For this rule. */
  readonly usedSteps: EvaluationSteps;
  /** For all rules that are checked together. */
  readonly total: EvaluationSteps;
}

/** Maximum steps, and characters, of one evaluation for measuring. */
const EVALUATION_MAX = 1_000_000;
/** Maximum steps of all evaluations of one rule, as a multiple of the budget. */
const RULE_EVALUATIONS_MAX = 3;
/** Maximum steps for all rules checked together, as a multiple of the budget: a book may have thousands of rules. */
const TOTAL_EVALUATIONS_MAX = 20;

/** Recursive: a checked rule has at most 64 levels. */
function computeMinimumWork(rule: Rule | undefined, context: MeasuringContext): Work {
  if (typeof rule !== "object" || rule === null || isDecimalObject(rule)) return NO_WORK;
  if (readsNoFacts(rule)) return evaluatePartWithoutFacts(rule, context).work;
  if (Array.isArray(rule)) return sumWork(rule as readonly Rule[], context);
  const [[operator, operand] = ["", null]] = Object.entries(rule as Readonly<Record<string, Rule>>);
  const args = toArguments(operand);
  switch (operator) {
    case "if":
    case "?:":
      return computeChoiceWork(args, context);
    case "and":
    case "or":
    case "var":
      // Later arguments are not always evaluated.
      return computeMinimumWork(args[0], context);
    default:
      return isIteration(operator) ? computeLoopWork(operator, args, context) : sumWork(args, context);
  }
}

function sumWork(parts: readonly (Rule | undefined)[], context: MeasuringContext): Work {
  return parts.map((part) => computeMinimumWork(part, context)).reduce(addWork, NO_WORK);
}

/** The condition, and the branch with less work. */
function computeChoiceWork(args: readonly Rule[], context: MeasuringContext): Work {
  const results: Work[] = [];
  let conditions = NO_WORK;
  let at = 0;
  for (; at + 1 < args.length; at += 2) {
    conditions = addWork(conditions, computeMinimumWork(args[at], context));
    results.push(addWork(conditions, computeMinimumWork(args[at + 1], context)));
  }
  results.push(addWork(conditions, computeMinimumWork(args[at], context)));
  return {
    steps: Math.min(...results.map(({ steps }) => steps)),
    text: Math.min(...results.map(({ text }) => text)),
  };
}

/** A loop over a known list with an unknown body or initial value. */
function computeLoopWork(operator: string, [list, body, initial]: readonly Rule[], context: MeasuringContext): Work {
  const workOutsideBody = sumWork(operator === "reduce" ? [list, initial] : [list], context);
  if (!readsNoFacts(list) || !["map", "filter", "reduce"].includes(operator)) return workOutsideBody;
  const { value } = evaluatePartWithoutFacts(list, context);
  if (!isList(value)) return workOutsideBody;
  const bodyWork = computeMinimumWork(body, context);
  const { size } = compilePart(body, createAllowance(context.budget), context.operators);
  const steps = value.length * (bodyWork.steps + size + (operator === "map" ? 2 : 1));
  return addWork(workOutsideBody, { steps, text: value.length * bodyWork.text });
}

function addWork(a: Work, b: Work): Work {
  return { steps: a.steps + b.steps, text: a.text + b.text };
}

/** Evaluates a part that reads no facts: its work, and its value unless it fails, as it would for every event. */
function evaluatePartWithoutFacts(
  part: Rule | undefined,
  { budget, usedSteps, total }: MeasuringContext,
): { work: Work; value?: RuleValue } {
  const limits = { steps: Math.min(budget.steps, EVALUATION_MAX), text: Math.min(budget.text, EVALUATION_MAX) };
  if (usedSteps.steps > RULE_EVALUATIONS_MAX * limits.steps || total.steps > TOTAL_EVALUATIONS_MAX * limits.steps)
    return { work: NO_WORK };
  const allowance = createAllowance(limits);
  const node = compilePart(part, allowance, undefined);
  const usedWork = (): Work => {
    const remainingBudget = allowance.remaining();
    const work = { steps: limits.steps - remainingBudget.steps, text: limits.text - remainingBudget.text };
    const steps = Math.min(work.steps, limits.steps);
    usedSteps.steps += steps;
    total.steps += steps;
    return work;
  };
  try {
    const value = node.run({});
    return { work: usedWork(), value };
  } catch (error) {
    if (!(error instanceof RatebookError)) throw error;
    return { work: usedWork() };
  }
}

/**
 * Whether a part reads no facts: only variables of its own loops, and no custom operators.
 *
 * @param inElement whether variables read the element of a loop
 */
function readsNoFacts(part: Rule | undefined, inElement = false): boolean {
  if (typeof part !== "object" || part === null || isDecimalObject(part)) return true;
  if (Array.isArray(part)) return (part as readonly Rule[]).every((each) => readsNoFacts(each, inElement));
  const [[operator, operand] = ["", null]] = Object.entries(part as Readonly<Record<string, Rule>>);
  const args = toArguments(operand);
  if (!OPERATORS.has(operator)) return false;
  if (!inElement && ["var", "missing", "missing_some"].includes(operator)) return false;
  if (inElement || !isIteration(operator)) return args.every((each) => readsNoFacts(each, inElement));
  const [list, body, initial] = args;
  return readsNoFacts(list) && readsNoFacts(initial) && readsNoFacts(body, true);
}
