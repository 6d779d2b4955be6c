/**
 * The budget of one evaluation of a rule (S3.8): steps, and text that it makes. All of it is counted before it is done.
 *
 * @module
 */
import { RatebookError } from "../errors.ts";

/** The steps and the text that one evaluation of a rule may take; what is left out keeps its default (S3.8). */
export interface RuleBudget {
  /** Elements visited, made or copied, and nodes of a body for each element: 1 or more. Default 10,000. */
  readonly steps?: number | undefined;
  /** Characters of text made (UTF-16 code units): 1 or more. Default 65,536. */
  readonly text?: number | undefined;
}

/** The budget of a rule whose options say nothing else. */
export const RULE_BUDGET: FullRuleBudget = { steps: 10_000, text: 65_536 };

/** A budget with nothing left out. */
export interface FullRuleBudget {
  readonly steps: number;
  readonly text: number;
}

/**
 * A budget as an option gives it, with its defaults.
 *
 * @throws {RatebookError} ERR_OPTION_INVALID for what is no whole number, 1 or more
 */
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
 * The rest of the budget of the evaluation that is under way. All parts of one compiled rule share it.
 *
 * A rule in which no part asked for {@link count} while it was compiled has no loop and makes no text: nothing of it is
 * counted then.
 */
export interface Allowance {
  /** Says, while the rule is compiled, that its evaluations are to be counted. */
  count(): void;
  /** Takes so many steps. @throws {RatebookError} ERR_RULE_FAILED when fewer are left */
  steps(count: number): void;
  /** Takes so many characters. @throws {RatebookError} ERR_RULE_FAILED when fewer are left */
  text(length: number): void;
  /** The remaining steps and text. */
  remaining(): FullRuleBudget;
  /** An evaluation that starts with the whole budget, also inside of another one; as it is where nothing is counted. */
  evaluation<Frame, Value>(run: (frame: Frame) => Value): (frame: Frame) => Value;
}

/** A whole budget. */
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
          // An operator of a user's own may evaluate the rule that it is part of.
          steps = outerSteps;
          text = outerText;
        }
      };
    },
  };
}

/** The end of a sentence on a rule that exceeds its budget. */
export function describeExcess(budget: FullRuleBudget, what: "steps" | "text"): string {
  const limit = budget[what].toLocaleString("en-US");
  return what === "steps"
    ? `the rule takes more than its budget of ${limit} steps`
    : `the rule makes more text than its budget of ${limit} characters`;
}

function budgetError(budget: FullRuleBudget, what: "steps" | "text"): RatebookError<"ERR_RULE_FAILED"> {
  return new RatebookError("ERR_RULE_FAILED", describeExcess(budget, what), {});
}
