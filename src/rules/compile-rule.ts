/**
 * Rules at the public face.
 *
 * @module
 */
import { InvariantError, RatebookError } from "../errors.ts";
import { type RuleBudget, resolveRuleBudget } from "./budget.ts";
import { compile } from "./compile.ts";
import { rejectHeavyRule } from "./minimum-work.ts";
import type { RuleOperators } from "./operators.ts";
import { requireValidRule, parseRule } from "./rule.ts";
import type { RuleFields } from "./rule.ts";
import { toFact, ruleFailure, describeError } from "./value.ts";
import type { Fact } from "./value.ts";

/** How {@link compileRule} reads a rule. */
export interface RuleOptions {
  /** Operators of your own, beside the built-in ones; they are known to this rule alone. */
  readonly operators?: RuleOperators;
  /** The fields that the rule's variables may name; absent, any. */
  readonly fields?: RuleFields;
  /** The budget of one evaluation that goes through lists or makes text (S3.8). */
  readonly ruleBudget?: RuleBudget | undefined;
}

/**
 * Compiles a JSON logic rule, given as an object, a literal, or a text that holds one (S3).
 *
 * ```ts
 * const cost = compileRule({ "*": [{ var: "attribute.hours" }, 0.1] });
 * cost({ attribute: { hours: 3 } }); // Decimal 0.3
 * ```
 *
 * @returns evaluates the rule on facts: plain data whose numbers may be numbers, texts or Decimals. Decimals come out
 * as Decimals. Throws ERR_RULE_FAILED when the facts do not answer the rule, when it would exceed its budget (S3.8), and
 * for whatever an operator throws; ERR_ARITHMETIC beyond 100 digits and for a division by zero
 * @throws {RatebookError} ERR_RULE_INVALID with the path inside the rule and the reason (S3.6), also for a rule that no
 * facts could keep within its budget (S3.8); ERR_OPTION_INVALID for a budget that is none
 */
export function compileRule(rule: unknown, options: RuleOptions = {}): (facts: unknown) => Fact {
  const { operators } = options;
  const budget = resolveRuleBudget(options.ruleBudget);
  const checked = requireValidRule(parseRule(rule), options);
  rejectHeavyRule(checked, { budget, operators });
  const compiled = compile(checked, { budget, ...(operators === undefined ? {} : { operators }) });
  return (facts) => {
    try {
      return toFact(compiled(facts));
    } catch (error) {
      // Facts may be read through code of somebody else's, and a deep one may leave no stack.
      if (error instanceof RatebookError || error instanceof InvariantError) throw error;
      throw ruleFailure(`the rule failed: ${describeError(error)}`, error);
    }
  };
}
