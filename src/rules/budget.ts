/**
 * The budget for one evaluation of a rule (S3.8): steps, and text created. Both are counted in advance.
 *
 * @module
 */
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

/** A complete budget. */
export interface FullRuleBudget {
  readonly steps: number;
  readonly text: number;
}

/** Applies defaults to a budget. @throws {RatebookError} ERR_OPTION_INVALID for values that are not whole numbers of 1 or more */
export function resolveRuleBudget(budget: RuleBudget | undefined): FullRuleBudget {
  if (budget === undefined) return RULE_BUDGET;
  if (typeof budget !== "object" || budget === null) throw badOption("ruleBudget", "expected { steps, text }", budget);
  const limit = (name: "steps" | "text"): number => {
    const { [name]: value = RULE_BUDGET[name] } = budget;
    if (Number.isSafeInteger(value) && value >= 1) return value;
    throw badOption(`ruleBudget.${name}`, "expected a whole number, 1 or more", value);
  };
  return { steps: limit("steps"), text: limit("text") };
}

function badOption(option: string, expected: string, value: unknown): RatebookError {
  const found = typeof value === "object" && value !== null ? "an object" : String(value).slice(0, 60);
  return new RatebookError("ERR_OPTION_INVALID", `${option}: ${expected}, got ${found}`, { option });
}

/**
 * The remaining budget of the current evaluation, shared by all parts of a compiled rule. If no part called
 * {@link count} during compilation, the rule has no loop and creates no text, and nothing is counted.
 */
export interface Allowance {
  /** Called during compilation: evaluations must be counted. */
  count(): void;
  /** Deducts steps. @throws {RatebookError} ERR_RULE_FAILED if fewer are left */
  steps(count: number): void;
  /** Deducts characters. @throws {RatebookError} ERR_RULE_FAILED if fewer are left */
  text(length: number): void;
  /** The remaining steps and text. */
  remaining(): FullRuleBudget;
  /** Wraps an evaluation so that it starts with the full budget, even inside another one; unchanged if nothing is counted. */
  evaluation<Frame, Value>(run: (frame: Frame) => Value): (frame: Frame) => Value;
}

/** Creates a full allowance. */
export function createAllowance(budget: FullRuleBudget): Allowance {
  let { steps, text } = budget;
  let counted = false;
  return {
    count() {
      counted = true;
    },
    steps(count) {
      if (!counted) return;
      steps -= count;
      if (!(steps >= 0)) throw budgetError(budget, "steps");
    },
    text(length) {
      if (!counted) return;
      text -= length;
      if (!(text >= 0)) throw budgetError(budget, "text");
    },
    remaining: () => ({ steps, text }),
    evaluation(run) {
      if (!counted) return run;
      return (frame) => {
        const [outerSteps, outerText] = [steps, text];
        steps = budget.steps;
        text = budget.text;
        try {
          return run(frame);
        } finally {
          // A custom operator may evaluate the rule that contains it.
          steps = outerSteps;
          text = outerText;
        }
      };
    },
  };
}

/** The end of a message about a rule that exceeds its budget. */
export function describeExcess(budget: FullRuleBudget, what: "steps" | "text"): string {
  const limit = budget[what].toLocaleString("en-US");
  return what === "steps"
    ? `the rule takes more than its budget of ${limit} steps`
    : `the rule makes more text than its budget of ${limit} characters`;
}

function budgetError(budget: FullRuleBudget, what: "steps" | "text"): RatebookError<"ERR_RULE_FAILED"> {
  return new RatebookError("ERR_RULE_FAILED", describeExcess(budget, what), {});
}
