/**
 * Rules at the public face.
 *
 * @module
 */
import { compile } from "./compile.ts";
import type { RuleOperators } from "./operators.ts";
import { checkedRule, parseRule } from "./rule.ts";
import type { RuleFields } from "./rule.ts";
import { factOf } from "./value.ts";
import type { Fact } from "./value.ts";

/** How {@link compileRule} reads a rule. */
export interface RuleOptions {
  /** Operators of your own, beside the built-in ones; they are known to this rule alone. */
  readonly operators?: RuleOperators;
  /** The fields that the rule's variables may name; absent, any. */
  readonly fields?: RuleFields;
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
 * as Decimals. Throws ERR_RULE_FAILED when the facts do not answer the rule, ERR_ARITHMETIC beyond 100 digits and for
 * a division by zero
 * @throws {RatebookError} ERR_RULE_INVALID with the path inside the rule and the reason (S3.6)
 */
export function compileRule(rule: unknown, options: RuleOptions = {}): (facts: unknown) => Fact {
  const { operators } = options;
  const compiled = compile(checkedRule(parseRule(rule), options), operators === undefined ? {} : { operators });
  return (facts) => factOf(compiled(facts));
}
