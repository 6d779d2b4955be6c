/**
 * The minimum work of a rule for any facts: a rule that always exceeds its budget is rejected when saved (S3.8). Parts
 * that read no facts are evaluated once within the budget; for all others the certain work is added up.
 *
 * @module
 */
import { RatebookError } from "../errors.ts";
import { isDecimalObject } from "../numbers/decimal.ts";
import { createAllowance, describeExcess, type FullRuleBudget } from "./budget.ts";
import { compilePart } from "./compile.ts";
import { minimumArguments, toArguments, isIteration, type RuleOperators } from "./operators.ts";
import type { Rule } from "./rule.ts";
import { isList, type RuleValue } from "./value.ts";

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
  const exceeded = minimumWork.steps > budget.steps ? "steps" : minimumWork.text > budget.text ? "text" : undefined;
  return exceeded === undefined ? undefined : `${describeExcess(budget, exceeded)}, for every event`;
}

/** @throws {RatebookError} ERR_RULE_INVALID with the problem from {@link describeExcessWork} */
export function rejectHeavyRule(rule: Rule, limits: WorkLimits): void {
  const problem = describeExcessWork(rule, limits);
  if (problem !== undefined)
    throw new RatebookError("ERR_RULE_INVALID", problem, { path: "$", reason: "RULE_WORK_EXCEEDED" });
}

/** The minimum work of an evaluation. */
interface Work {
  readonly steps: number;
  readonly text: number;
}

const NONE: Work = { steps: 0, text: 0 };

/** Counts the steps of evaluations. Beyond some budgets there are no more, and the work of further parts stays unknown. */
export interface EvaluationSteps {
  steps: number;
}

interface Weighing extends WorkLimits {
  /** For this rule. */
  readonly usedSteps: EvaluationSteps;
  /** For all rules that are checked together. */
  readonly total: EvaluationSteps;
}

/** Maximum steps, and characters, of one evaluation for measuring. */
const EVALUATION_MAX = 1_000_000;
/** Maximum of all evaluations of one rule, in budgets. */
const SPENT_MAX = 3;
/** Maximum of all evaluations of all rules checked together, in budgets: a book may have thousands of rules. */
const TOTAL_MAX = 20;

/** Recursive: a checked rule has at most 64 levels. */
function computeMinimumWork(rule: Rule | undefined, weighing: Weighing): Work {
  if (typeof rule !== "object" || rule === null || isDecimalObject(rule)) return NONE;
  if (isClosed(rule)) return evaluateClosedPart(rule, weighing).work;
  if (Array.isArray(rule)) return sumWork(rule as readonly Rule[], weighing);
  const [[operator, operand] = ["", null]] = Object.entries(rule as Readonly<Record<string, Rule>>);
  const args = toArguments(operand);
  switch (operator) {
    case "if":
    case "?:":
      return computeChoiceWork(args, weighing);
    case "and":
    case "or":
    case "var":
      // Later arguments are not always evaluated.
      return computeMinimumWork(args[0], weighing);
    default:
      return isIteration(operator) ? computeLoopWork(operator, args, weighing) : sumWork(args, weighing);
  }
}

function sumWork(parts: readonly Rule[], weighing: Weighing): Work {
  return parts.map((part) => computeMinimumWork(part, weighing)).reduce(addWork, NONE);
}

/** The condition, and the branch with less work. */
function computeChoiceWork(args: readonly Rule[], weighing: Weighing): Work {
  const results: Work[] = [];
  let conditions = NONE;
  let at = 0;
  for (; at + 1 < args.length; at += 2) {
    conditions = addWork(conditions, computeMinimumWork(args[at], weighing));
    results.push(addWork(conditions, computeMinimumWork(args[at + 1], weighing)));
  }
  results.push(addWork(conditions, computeMinimumWork(args[at], weighing)));
  return {
    steps: Math.min(...results.map(({ steps }) => steps)),
    text: Math.min(...results.map(({ text }) => text)),
  };
}

/** A loop over a known list with an unknown body or initial value. */
function computeLoopWork(operator: string, [list, body, initial]: readonly Rule[], weighing: Weighing): Work {
  const around = addWork(
    computeMinimumWork(list, weighing),
    operator === "reduce" ? computeMinimumWork(initial, weighing) : NONE,
  );
  if (!isClosed(list) || !["map", "filter", "reduce"].includes(operator)) return around;
  const { value } = evaluateClosedPart(list, weighing);
  if (!isList(value)) return around;
  const each = computeMinimumWork(body, weighing);
  const { size } = compilePart(body, createAllowance(weighing.budget), weighing.operators);
  const steps = value.length * (each.steps + size + (operator === "map" ? 2 : 1));
  return addWork(around, { steps, text: value.length * each.text });
}

function addWork(a: Work, b: Work): Work {
  return { steps: a.steps + b.steps, text: a.text + b.text };
}

/** Evaluates a part that reads no facts: its work, and its value unless it fails, as it would for every event. */
function evaluateClosedPart(
  part: Rule | undefined,
  { budget, usedSteps, total }: Weighing,
): { work: Work; value?: RuleValue } {
  const limits = { steps: Math.min(budget.steps, EVALUATION_MAX), text: Math.min(budget.text, EVALUATION_MAX) };
  if (usedSteps.steps > SPENT_MAX * limits.steps || total.steps > TOTAL_MAX * limits.steps) return { work: NONE };
  const allowance = createAllowance(limits);
  const node = compilePart(part, allowance, undefined);
  const usedWork = (): Work => {
    const left = allowance.remaining();
    const work = { steps: limits.steps - left.steps, text: limits.text - left.text };
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
function isClosed(part: Rule | undefined): boolean {
  if (typeof part !== "object" || part === null || isDecimalObject(part)) return true;
  if (Array.isArray(part)) return (part as readonly Rule[]).every(isClosed);
  const [[operator, operand] = ["", null]] = Object.entries(part as Readonly<Record<string, Rule>>);
  const args = toArguments(operand);
  if (["var", "missing", "missing_some"].includes(operator) || minimumArguments(operator) === undefined) return false;
  if (!isIteration(operator)) return args.every(isClosed);
  const [list, body, initial] = args;
  return isClosed(list) && isClosed(initial) && !callsCustomOperator(body);
}

/** Whether a part contains a custom operator. */
function callsCustomOperator(part: Rule | undefined): boolean {
  if (typeof part !== "object" || part === null || isDecimalObject(part)) return false;
  if (Array.isArray(part)) return (part as readonly Rule[]).some(callsCustomOperator);
  return Object.entries(part as Readonly<Record<string, Rule>>).some(
    ([operator, operand]) => minimumArguments(operator) === undefined || toArguments(operand).some(callsCustomOperator),
  );
}
