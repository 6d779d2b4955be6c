/** Compiled rules compared with json-logic-js on the same facts in the same run. Results are compared exactly. */
import jsonLogic from "json-logic-js";

import { Decimal } from "../../src/numbers/decimal.ts";
import { decimalOfExact } from "../../src/numbers/exact.ts";
import { compileRule } from "../../src/rules/compile-rule.ts";
import { compile } from "../../src/rules/compile.ts";
import { parseRule } from "../../src/rules/rule.ts";
import { isDecimal, toRuleValue } from "../../src/rules/value.ts";
import type { RuleValue } from "../../src/rules/value.ts";
import { measure } from "../bench.ts";
import type { Bench } from "../bench.ts";
import { createScenarios } from "./facts.ts";
import type { Facts, Scenario } from "./facts.ts";

const COUNTS = { smoke: 2000, full: 1_000_000 } as const;

export const ruleBenches: readonly Bench[] = [
  {
    name: "compiled rules compared with json-logic-js",
    run: (size) => createScenarios(COUNTS[size]).flatMap(reportScenario),
  },
];

/** Binds a path to a reader once, as metering does. */
const readers: Readonly<Record<string, (facts: Facts) => RuleValue>> = {
  "attribute.tokens": (facts) => toRuleValue(facts.attribute.tokens),
  "attribute.images": (facts) => toRuleValue(facts.attribute.images),
  "attribute.hours": (facts) => toRuleValue(facts.attribute.hours),
  "dimension.service": (facts) => facts.dimension.service,
};

function reportScenario(scenario: Scenario): readonly string[] {
  const { name, rule, facts, minimumRatio } = scenario;
  const compiledRule = compile<Facts>(parseRule(rule), { variables: (path) => readers[path] });
  const exactCount = compareResults(scenario, compiledRule);
  const jsonLogicSeconds = measure(() => evaluateAll(facts, (fact) => jsonLogic.apply(rule, fact)));
  const boundSeconds = measure(() => evaluateAll(facts, compiledRule));
  const unboundRule = compile<Facts>(parseRule(rule));
  const unboundSeconds = measure(() => evaluateAll(facts, unboundRule));
  const publicRule = compileRule(rule);
  const publicSeconds = measure(() => evaluateAll(facts, publicRule));
  const target = minimumRatio === undefined ? "no target" : `target ${minimumRatio}`;
  return [
    `${name}: ${millionsPerSecond(facts.length, boundSeconds)}, json-logic-js ${millionsPerSecond(facts.length, jsonLogicSeconds)}: ` +
      `${(jsonLogicSeconds / boundSeconds).toFixed(1)} times as fast (${target}); ` +
      `facts as plain data ${(jsonLogicSeconds / unboundSeconds).toFixed(1)} times; compileRule, Decimals out, ${(jsonLogicSeconds / publicSeconds).toFixed(1)} times`,
    `  ${exactCount} of ${facts.length} results of json-logic-js are exact`,
  ];
}

let sink: unknown;

function evaluateAll(facts: readonly Facts[], evaluate: (fact: Facts) => unknown): void {
  for (const fact of facts) sink = evaluate(fact);
}

/** Checks every result against the nearest double, and counts those for which json-logic-js is exact. */
function compareResults({ name, rule, facts }: Scenario, evaluate: (fact: Facts) => RuleValue): number {
  let exact = 0;
  for (const fact of facts) {
    const ours = evaluate(fact);
    const theirs: unknown = jsonLogic.apply(rule, fact);
    if (!isDecimal(ours) || typeof theirs !== "number") throw new Error(`${name}: not a decimal: ${String(sink)}`);
    const decimal = decimalOfExact(ours);
    if (decimal.eq(new Decimal(theirs))) exact++;
    else if (Math.abs(decimal.toNumber() - theirs) > 1e-9 * (1 + Math.abs(theirs))) {
      throw new Error(`${name}: ${decimal.toFixed()} is not ${theirs}`);
    }
  }
  return exact;
}

function millionsPerSecond(count: number, seconds: number): string {
  return `${(count / seconds / 1e6).toFixed(2)} million a second`;
}
