/** Compiled rules compared with json-logic-js and json-logic-engine on the same facts in the same run. */
import { LogicEngine } from "json-logic-engine";
import jsonLogic from "json-logic-js";

import { compareExact, decimalOfExact } from "../../src/numbers/exact.ts";
import { compileRule, compile } from "../../src/rules/compile.ts";
import { parseRule } from "../../src/rules/rule.ts";
import { isDecimal, toRuleValue, type RuleValue } from "../../src/rules/value.ts";
import { measure, type Bench } from "../bench.ts";
import { createScenarios, type Facts, type Scenario } from "./facts.ts";

const COUNTS = { smoke: 2000, full: 1_000_000 } as const;

export const ruleBenches: readonly Bench[] = [
  {
    name: "compiled rules compared with json-logic-js and json-logic-engine",
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

function reportScenario({ name, rule, facts, minimumRatio }: Scenario): readonly string[] {
  const boundRule = compile<Facts>(parseRule(rule), { variables: (path) => readers[path] });
  const evaluations: readonly Evaluation[] = [
    { name: "compiled, variables bound", evaluate: boundRule },
    { name: "compiled, facts as plain data", evaluate: compile<Facts>(parseRule(rule)) },
    { name: "compileRule, facts as plain data, Decimals out", evaluate: compileRule(rule) },
    { name: "json-logic-js", evaluate: (fact) => jsonLogic.apply(rule, fact) },
    { name: "json-logic-engine, compiled", evaluate: buildWithEngine(rule) },
  ];
  const measurements = evaluations.map(({ name: evaluator, evaluate }) => ({
    evaluator,
    seconds: measureBest(facts, evaluate),
    exact: countExact(`${name}, ${evaluator}`, { facts, expected: boundRule, evaluate }),
  }));
  const reference = measurements.find(({ evaluator }) => evaluator === "json-logic-js")?.seconds ?? Number.NaN;
  const target = minimumRatio === undefined ? "" : ` (target of the first: ${minimumRatio} times json-logic-js)`;
  return [
    `${name}${target}`,
    ...measurements.map(
      ({ evaluator, seconds, exact }) =>
        `  ${evaluator}: ${(facts.length / seconds / 1e6).toFixed(2)} million a second, ` +
        `${(reference / seconds).toFixed(1)} times json-logic-js; ${exact} of ${facts.length} results exact`,
    ),
  ];
}

interface Evaluation {
  readonly name: string;
  readonly evaluate: (fact: Facts) => unknown;
}

/** Its rules are functions of generated code. */
function buildWithEngine(rule: Scenario["rule"]): (fact: Facts) => unknown {
  const evaluate: unknown = new LogicEngine().build(rule);
  if (typeof evaluate !== "function") throw new Error("json-logic-engine did not compile the rule");
  return evaluate as (fact: Facts) => unknown;
}

/** Each is measured several times, because the first runs include its own compilation. */
const RUNS = 3;

function measureBest(facts: readonly Facts[], evaluate: (fact: Facts) => unknown): number {
  return Math.min(...Array.from({ length: RUNS }, () => measure(() => evaluateAll(facts, evaluate))));
}

let sink: unknown;

function evaluateAll(facts: readonly Facts[], evaluate: (fact: Facts) => unknown): void {
  for (const fact of facts) sink = evaluate(fact);
}

interface Comparison {
  readonly facts: readonly Facts[];
  readonly expected: (fact: Facts) => RuleValue;
  readonly evaluate: (fact: Facts) => unknown;
}

/** Counts the results that equal the exact ones; others must differ by no more than doubles do. */
function countExact(name: string, { facts, expected, evaluate }: Comparison): number {
  let exact = 0;
  for (const fact of facts) {
    const expectedResult = expected(fact);
    const result = toRuleValue(evaluate(fact));
    if (!isDecimal(expectedResult) || !isDecimal(result)) throw new Error(`${name}: not a decimal: ${String(sink)}`);
    if (compareExact(expectedResult, result) === 0) exact++;
    else {
      const [right, actual] = [expectedResult, result].map((value) => decimalOfExact(value).toNumber());
      const difference = Math.abs((right ?? Number.NaN) - (actual ?? Number.NaN));
      if (!(difference <= 1e-9 * (1 + Math.abs(right ?? Number.NaN))))
        throw new Error(`${name}: ${actual}, not ${right}`);
    }
  }
  return exact;
}
