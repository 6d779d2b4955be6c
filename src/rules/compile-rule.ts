/**
 * Rules in the public API.
 *
 * @module
 */
import { InvariantError, RatebookError } from "../errors.ts";
import { type RuleBudget, resolveRuleBudget } from "./budget.ts";
import { compile } from "./compile.ts";
import { rejectExcessiveRule } from "./minimum-work.ts";
import type { RuleOperators } from "./operators.ts";
import { requireValidRule, parseRule } from "./rule.ts";
import type { RuleFields } from "./rule.ts";
import { toFact, ruleFailedError, describeError } from "./value.ts";
import type { Fact } from "./value.ts";

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
