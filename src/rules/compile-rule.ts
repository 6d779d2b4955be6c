/**
 * Rules in the public API, and the minimum work of a rule for any facts: one that always exceeds its budget is rejected
 * when saved (S3.8). Parts that read no facts are evaluated once within the budget; for all others the certain work is
 * added up.
 */
import { InvariantError, RatebookError } from "../errors.ts";
import { isDecimalObject } from "../numbers/decimal.ts";
import { type RuleBudget, resolveRuleBudget, createAllowance, describeExcess, type FullRuleBudget } from "./budget.ts";
import { compile, compilePart } from "./compile.ts";
import { type RuleOperators, minimumArguments, toArguments, isIteration } from "./operators.ts";
import { requireValidRule, parseRule, type RuleFields, type Rule } from "./rule.ts";
import { toFact, ruleFailedError, describeError, type Fact, isList, type RuleValue } from "./value.ts";

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
  rejectExcessiveRule(validRule, { budget, operators });
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

/** The limits for a rule's minimum work. */
export interface WorkLimits {
  readonly budget: FullRuleBudget;
  /** Custom operators, whose results are not known in advance. */
  readonly operators?: RuleOperators | undefined;
}

/**
 * The problem of a checked rule that always exceeds its budget; undefined if some facts may not.
 *
 * @param total the steps of the evaluations for all rules that are checked together; this call adds to them
 */
export function describeExcessWork(
  rule: Rule,
  { budget, operators }: WorkLimits,
  total: EvaluationSteps = { steps: 0 },
): string | undefined {
  const minimumWork = computeMinimumWork(rule, { budget, operators, usedSteps: { steps: 0 }, total });
  const exceededLimit =
    minimumWork.steps > budget.steps ? "steps" : minimumWork.text > budget.text ? "text" : undefined;
  return exceededLimit === undefined ? undefined : `${describeExcess(budget, exceededLimit)}, for every event`;
}

/** @throws {RatebookError} ERR_RULE_INVALID with the problem from {@link describeExcessWork} */
export function rejectExcessiveRule(rule: Rule, limits: WorkLimits): void {
  const problem = describeExcessWork(rule, limits);
  if (problem !== undefined)
    throw new RatebookError("ERR_RULE_INVALID", problem, { path: "$", reason: "RULE_WORK_EXCEEDED" });
}

/** The minimum work of an evaluation. */
interface Work {
  readonly steps: number;
  readonly text: number;
}

const NO_WORK: Work = { steps: 0, text: 0 };

/** The number of steps of evaluations. Beyond a multiple of the budget, further parts count as no work. */
export interface EvaluationSteps {
  steps: number;
}

interface MeasuringContext extends WorkLimits {
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

function sumWork(parts: readonly Rule[], context: MeasuringContext): Work {
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
  const workOutsideBody = addWork(
    computeMinimumWork(list, context),
    operator === "reduce" ? computeMinimumWork(initial, context) : NO_WORK,
  );
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

/** Whether a part reads no facts: only variables of its own loops, and no custom operators. */
function readsNoFacts(part: Rule | undefined): boolean {
  if (typeof part !== "object" || part === null || isDecimalObject(part)) return true;
  if (Array.isArray(part)) return (part as readonly Rule[]).every(readsNoFacts);
  const [[operator, operand] = ["", null]] = Object.entries(part as Readonly<Record<string, Rule>>);
  const args = toArguments(operand);
  if (["var", "missing", "missing_some"].includes(operator) || minimumArguments(operator) === undefined) return false;
  if (!isIteration(operator)) return args.every(readsNoFacts);
  const [list, body, initial] = args;
  return readsNoFacts(list) && readsNoFacts(initial) && !callsCustomOperator(body);
}

/** Whether a part contains a custom operator. */
function callsCustomOperator(part: Rule | undefined): boolean {
  if (typeof part !== "object" || part === null || isDecimalObject(part)) return false;
  if (Array.isArray(part)) return (part as readonly Rule[]).some(callsCustomOperator);
  return Object.entries(part as Readonly<Record<string, Rule>>).some(
    ([operator, operand]) => minimumArguments(operator) === undefined || toArguments(operand).some(callsCustomOperator),
  );
}
