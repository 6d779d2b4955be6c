/** The budget for one evaluation of a rule (S3.8): steps, and text created. Both are counted in advance. */
import { RatebookError } from "../errors.ts";

/** The maximum steps and text of one evaluation of a rule; omitted fields have defaults (S3.8). */
export interface RuleBudget {
  /** Elements visited, created or copied, and nodes of a body per element: 1 or more. Default 10,000. */
  readonly steps?: number | undefined;
  /** Characters of text created (UTF-16 code units): 1 or more. Default 65,536. */
  readonly text?: number | undefined;
}

/** The default budget. */
export const RULE_BUDGET: FullRuleBudget = { steps: 10_000, text: 65_536 };

/** The steps of all rules of one event together, as a multiple of the steps of one rule (S3.8). */
const EVENT_STEPS_FACTOR = 5;

/** The remaining steps for the rules of the event being metered. */
export interface EventSteps {
  remainingSteps: number;
}

/** The number of steps for all rules of one event together. */
export function computeEventSteps({ steps }: FullRuleBudget): number {
  return EVENT_STEPS_FACTOR * steps;
}

/** A complete budget. */
export interface FullRuleBudget {
  readonly steps: number;
  readonly text: number;
}

/** Applies defaults to a budget. @throws {RatebookError} ERR_OPTION_INVALID for values that are not whole numbers of 1 or more */
export function resolveRuleBudget(budget: RuleBudget | undefined): FullRuleBudget {
  if (budget === undefined) return RULE_BUDGET;
  if (typeof budget !== "object" || budget === null)
    throw invalidBudgetError("ruleBudget", "expected { steps, text }", budget);
  const limit = (name: "steps" | "text"): number => {
    const { [name]: value = RULE_BUDGET[name] } = budget;
    if (Number.isSafeInteger(value) && value >= 1) return value;
    throw invalidBudgetError(`ruleBudget.${name}`, "expected a whole number, 1 or more", value);
  };
  return { steps: limit("steps"), text: limit("text") };
}

function invalidBudgetError(option: string, expected: string, value: unknown): RatebookError {
  const actual = typeof value === "object" && value !== null ? "an object" : String(value).slice(0, 60);
  return new RatebookError("ERR_OPTION_INVALID", `${option}: ${expected}, got ${actual}`, { option });
}

/**
 * The remaining budget of the current evaluation, shared by all parts of a compiled rule. If no part calls
 * {@link enableCounting} during compilation, the rule has no loop and creates no text, and nothing is counted.
 */
export interface Allowance {
  /** Called during compilation by every part whose evaluation uses budget. */
  enableCounting(): void;
  /** Deducts steps. @throws {RatebookError} ERR_RULE_FAILED if fewer are left */
  deductSteps(count: number): void;
  /** Deducts characters. @throws {RatebookError} ERR_RULE_FAILED if fewer are left */
  deductText(length: number): void;
  /** The remaining steps and text. */
  remaining(): FullRuleBudget;
  /**
   * Wraps an evaluation so that it starts with the full budget, even inside another one; unchanged if nothing is counted.
   *
   * @param size the number of nodes of the rule, which count for the event
   */
  wrapEvaluation<Frame, Value>(run: (frame: Frame) => Value, size: number): (frame: Frame) => Value;
}

/**
 * Creates a full allowance.
 *
 * @param event the event whose steps the evaluations also use
 */
export function createAllowance(budget: FullRuleBudget, event?: EventSteps): Allowance {
  let { steps, text } = budget;
  /** By how much the remaining steps of the event fall short of the rule's budget. */
  let unavailableSteps = 0;
  let isCounting = false;
  const deductFromEvent = (count: number): void => {
    if (event === undefined) return;
    event.remainingSteps -= count;
    if (event.remainingSteps < 0) throw eventBudgetError(budget);
  };
  return {
    enableCounting() {
      isCounting = true;
    },
    deductSteps(count) {
      if (!isCounting) return;
      steps -= count;
      if (steps >= 0) return;
      throw steps + unavailableSteps >= 0 ? eventBudgetError(budget) : budgetError(budget, "steps");
    },
    deductText(length) {
      if (!isCounting) return;
      text -= length;
      if (!(text >= 0)) throw budgetError(budget, "text");
    },
    remaining: () => ({ steps, text }),
    wrapEvaluation(run, size) {
      if (!isCounting && event === undefined) return run;
      if (!isCounting) {
        return (frame) => {
          deductFromEvent(size);
          return run(frame);
        };
      }
      return (frame) => {
        deductFromEvent(size);
        const [outerSteps, outerText, outerUnavailableSteps] = [steps, text, unavailableSteps];
        const stepsMax = Math.min(budget.steps, event?.remainingSteps ?? budget.steps);
        unavailableSteps = budget.steps - stepsMax;
        steps = stepsMax;
        text = budget.text;
        try {
          return run(frame);
        } finally {
          if (event !== undefined) event.remainingSteps -= stepsMax - Math.max(steps, 0);
          // A custom operator may evaluate the rule that contains it.
          steps = outerSteps;
          text = outerText;
          unavailableSteps = outerUnavailableSteps;
        }
      };
    },
  };
}

/** The end of a message about a rule that exceeds its budget. */
export function describeExcess(budget: FullRuleBudget, what: "steps" | "text"): string {
  const limit = budget[what].toLocaleString("en-US");
  return what === "steps"
    ? `the rule exceeds its budget of ${limit} steps`
    : `the rule exceeds its budget of ${limit} characters of text`;
}

function eventBudgetError(budget: FullRuleBudget): RatebookError<"ERR_RULE_FAILED"> {
  const limit = computeEventSteps(budget).toLocaleString("en-US");
  return new RatebookError(
    "ERR_RULE_FAILED",
    `the rules of the event take more than their budget of ${limit} steps`,
    {},
  );
}

function budgetError(budget: FullRuleBudget, what: "steps" | "text"): RatebookError<"ERR_RULE_FAILED"> {
  return new RatebookError("ERR_RULE_FAILED", describeExcess(budget, what), {});
}
