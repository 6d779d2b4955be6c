import fc from "fast-check";
import { expect, test } from "vitest";

import { RatebookError } from "../../src/errors.ts";
import { Decimal, formatDecimal } from "../../src/numbers/decimal.ts";
import { compileRule, compile } from "../../src/rules/compile.ts";
import { checkRule, parseRule } from "../../src/rules/rule.ts";
import { decimalText } from "../numbers/arbitraries.ts";

/** decimal.js with more digits than any result here needs, and with the 34 of a division. */
const Wide = Decimal.clone({ precision: 1000 });
const Quotient = Decimal.clone({ precision: 34, rounding: Decimal.ROUND_HALF_UP });

/** A rule, and the result of decimal.js for the same facts. */
interface Expectation {
  readonly rule: unknown;
  readonly value: Decimal;
}

const operand: fc.Arbitrary<Expectation> = fc
  .tuple(decimalText(8, 6), fc.constantFrom("text", "decimal", "variable"))
  .map(([text, form]) => {
    const value = new Wide(text);
    if (form === "variable") return { rule: { var: `facts.${text}` }, value };
    return { rule: form === "text" ? text : new Decimal(text), value };
  });

const { expression } = fc.letrec<{ expression: Expectation }>((tie) => {
  const pair = fc.tuple(tie("expression"), tie("expression"));
  const binary = (operator: string, compute: (a: Decimal, b: Decimal) => Decimal): fc.Arbitrary<Expectation> =>
    pair.map(([a, b]) => ({ rule: { [operator]: [a.rule, b.rule] }, value: compute(a.value, b.value) }));
  return {
    expression: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      operand,
      binary("+", (a, b) => a.plus(b)),
      binary("-", (a, b) => a.minus(b)),
      binary("*", (a, b) => a.times(b)),
      binary("min", (a, b) => Wide.min(a, b)),
      binary("max", (a, b) => Wide.max(a, b)),
      tie("expression").map(({ rule, value }) => ({ rule: { "-": [rule] }, value: value.negated() })),
      fc.array(tie("expression"), { minLength: 3, maxLength: 5 }).map((parts) => ({
        rule: { "+": parts.map((part) => part.rule) },
        value: parts.reduce((total, part) => total.plus(part.value), new Wide(0)),
      })),
      fc.tuple(tie("expression"), fc.integer({ min: -3, max: 9 })).map(([{ rule, value }, places]) => ({
        rule: { round: [rule, places] },
        value: value
          .div(new Wide(10).pow(-places))
          .toDecimalPlaces(0, Decimal.ROUND_HALF_UP)
          .times(new Wide(10).pow(-places)),
      })),
    ),
  };
});

/** Every variable that an expression reads, named by the text of its own value. */
const facts = {
  facts: new Proxy(
    {},
    {
      get: (_, name) => name,
      getOwnPropertyDescriptor: (_, name) => ({ value: name, configurable: true, enumerable: true }),
    },
  ),
};

test("S3.2 arithmetic on decimals equals that of decimal.js", () => {
  fc.assert(
    fc.property(expression, ({ rule, value }) => {
      const result = compileRule({ "+": [rule] })(facts);
      expect(Decimal.isDecimal(result) && formatDecimal(result)).toBe(formatDecimal(value));
    }),
    { numRuns: 1000 },
  );
});

test("S1.4 a division in a rule equals that of decimal.js at 34 digits, rounded half up", () => {
  fc.assert(
    fc.property(expression, expression, (a, b) => {
      fc.pre(!b.value.isZero());
      const result = compileRule({ "/": [a.rule, b.rule] })(facts);
      expect(Decimal.isDecimal(result) && formatDecimal(result)).toBe(
        formatDecimal(new Quotient(a.value).div(b.value)),
      );
    }),
    { numRuns: 300 },
  );
});

test("S3.2 comparisons of decimals equal those of decimal.js", () => {
  fc.assert(
    fc.property(expression, expression, (a, b) => {
      const order = a.value.cmp(b.value);
      const expected = {
        "<": order < 0,
        "<=": order <= 0,
        ">": order > 0,
        ">=": order >= 0,
        "==": order === 0,
        "!=": order !== 0,
      };
      for (const [operator, holds] of Object.entries(expected)) {
        const rule = { [operator]: [{ "+": [a.rule] }, { "+": [b.rule] }] };
        expect(compileRule(rule)(facts)).toBe(holds);
      }
    }),
    { numRuns: 200 },
  );
});

/** Any JSON value, with the names of operators among its keys. */
const OPERATORS =
  "var missing missing_some if and or ! == < + - * / % min max map filter reduce all some none merge in cat substr log " +
  "round floor date date.add duration.as duration.of duration.between method __proto__ constructor x";
const names = fc.constantFrom(...OPERATORS.split(" "));
const { json } = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof(
    { depthSize: "medium" },
    fc.jsonValue({ maxDepth: 1 }),
    fc.constantFrom("2024-01-01", "P1D", "DAYS", "1.5", "a", ""),
    fc.array(tie("json"), { maxLength: 3 }),
    fc.tuple(names, fc.array(tie("json"), { maxLength: 3 })).map(([name, args]) => Object.fromEntries([[name, args]])),
    fc.tuple(names, tie("json")).map(([name, args]) => Object.fromEntries([[name, args]])),
  ),
}));

test("S3.6 for any JSON as a rule and as facts, the result is a value or an error with a code", () => {
  let evaluations = 0;
  fc.assert(
    fc.property(json, json, (source, facts) => {
      const rule = parseRule(JSON.stringify(source));
      if (checkRule(rule).length > 0) {
        expect(() => compileRule(rule)).toThrow(RatebookError);
        return;
      }
      const evaluate = compile(rule);
      try {
        evaluate(facts);
        evaluations++;
      } catch (error) {
        if (!(error instanceof RatebookError)) throw error;
        expect(["ERR_RULE_FAILED", "ERR_ARITHMETIC"]).toContain(error.code);
      }
    }),
    { numRuns: 1000 },
  );
  expect(evaluations).toBeGreaterThan(50);
});
