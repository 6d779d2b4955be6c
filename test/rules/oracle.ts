/** Our results and those of json-logic-js. */
import jsonLogic from "json-logic-js";

import { Decimal } from "../../src/numbers/decimal.ts";
import { compile } from "../../src/rules/compile.ts";
import type { Rule } from "../../src/rules/rule.ts";
import { toFact } from "../../src/rules/value.ts";

/** The result of json-logic-js for a rule. */
export function theirs(rule: unknown, facts: unknown): unknown {
  return jsonLogic.apply(rule as jsonLogic.RulesLogic, facts);
}

/** Our result, with decimals as the nearest doubles. */
export function ours(rule: unknown, facts: unknown): unknown {
  return asDoubles(toFact(compile(rule as Rule)(facts)));
}

/** Decimals as doubles, in lists and objects too. */
function asDoubles(value: unknown): unknown {
  if (Decimal.isDecimal(value)) return value.toNumber();
  if (Array.isArray(value)) return value.map(asDoubles);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, asDoubles(part)]));
}
