/** Rules of the verifier, compared with ours and with the library that it uses. */
import { createRequire } from "node:module";

import fc from "fast-check";
import jsonLogic from "json-logic-js";
import { describe, expect, test } from "vitest";

import { hasCode } from "../../src/errors.ts";
import { Decimal } from "../../src/numbers/decimal.ts";
import { compile } from "../../src/rules/compile.ts";
import type { Rule } from "../../src/rules/rule.ts";
import { toFact } from "../../src/rules/value.ts";
import { toFraction, formatFraction } from "../../src/verify.ts";
import { createRuleEvaluator, toExactNumbers } from "../../src/verify/rules.ts";
import { any, facts } from "../rules/rule-arbitrary.ts";

const rules = createRuleEvaluator();

function theirs(rule: unknown, input: unknown): unknown {
  return plain(rules.evaluate(toExactNumbers(rule), toExactNumbers(input) as Readonly<Record<string, unknown>>));
}

function ours(rule: unknown, input: unknown): unknown {
  return plain(toFact(compile(rule as Rule)(input)));
}

/** Decimals as texts, distinguished from strings. */
function plain(value: unknown): unknown {
  const exact = typeof value === "string" ? undefined : toFraction(value);
  if (exact !== undefined) return { decimal: formatFraction(exact) };
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null || Decimal.isDecimal(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, plain(part)]));
}

describe("rules of the verifier", () => {
  // The library computes arguments that are not needed, ours does not: if one of those fails there is no result.
  test("S3.1 S3.2 give the same results as ours, wherever both give one", () => {
    fc.assert(
      fc.property(any, facts, (rule, input) => {
        let expected: unknown;
        try {
          expected = ours(rule, input);
        } catch (error) {
          if (!hasCode(error, "ERR_RULE_FAILED") && !hasCode(error, "ERR_ARITHMETIC")) throw error;
          return;
        }
        let actual: unknown;
        try {
          actual = theirs(rule, input);
        } catch {
          return;
        }
        expect(actual).toEqual(expected);
      }),
      { numRuns: 2000 },
    );
  });

  test.each<[string, unknown, unknown]>([
    ["S1.1 0.1 * 3", { "*": [0.1, 3] }, "0.3"],
    ["S1.4 division keeps 34 digits", { "/": [1, 3] }, "0.3333333333333333333333333333333333"],
    ["S1.4 half up", { "/": [2, 3] }, "0.6666666666666666666666666666666667"],
    ["S1.4 a million", { "/": [1234567, 1000000] }, "1.234567"],
    ["S3.2 the remainder has the sign of the dividend", { "%": [-7.5, 2] }, "-1.5"],
    ["S3.4 round rounds away from zero", { round: [-2.5] }, "-3"],
    ["S3.4 round to hundreds", { round: [1250, -2] }, "1300"],
    ["S3.4 floor", { floor: [-2.01, 1] }, "-2.1"],
    ["S3.4 ceil", { ceil: [2.01] }, "3"],
    ["S3.4 hours as days", { "duration.as": ["PT24H", "DAYS"] }, "1"],
  ])("%s", (_, rule, expected) => {
    expect(theirs(rule, {})).toEqual({ decimal: expected });
  });

  test.each<[string, unknown, unknown]>([
    ["S3.4 an instant", { date: "2024-05-29" }, "2024-05-29T00:00:00.000Z"],
    ["S3.4 the last day of a month", { "date.add": ["2024-01-31", "P1M"] }, "2024-02-29T00:00:00.000Z"],
    ["S3.4 May is 744 hours", { "duration.between": ["2024-05-01", "2024-06-01"] }, "PT744H"],
    ["S3.4 a hundred days", { "duration.of": [100, "DAYS"] }, "P100D"],
    ["S3.4 cat of a decimal", { cat: ["n", 1.5] }, "n1.5"],
    ["S3.4 zero is falsy", { if: [0, "true", "false"] }, "false"],
    ["S3.3 a name with dots", { var: "attribute.a.b" }, "dotted"],
  ])("%s", (_, rule, expected) => {
    expect(theirs(rule, { attribute: { "a.b": "dotted" } })).toBe(expected);
  });

  test.each<[string, unknown]>([
    ["S3.2 null is not a decimal", { "+": [null, 1] }],
    ["S3.2 nor is a word", { "*": ["abc", 2] }],
    ["S3.2 by zero", { "/": [1, 0] }],
    ["S1.4 more than 100 digits", { "*": [`1${"0".repeat(60)}1`, `1${"0".repeat(60)}1`] }],
  ])("%s", (_, rule) => {
    expect(() => theirs(rule, {})).toThrow();
  });

  test("do not change the application's copy of the library", () => {
    const mine = createRequire(import.meta.url)("json-logic-js") as typeof jsonLogic;
    createRuleEvaluator();
    expect(createRequire(import.meta.url)("json-logic-js")).toBe(mine);
    for (const copy of [mine, jsonLogic]) {
      expect(copy.apply({ "+": ["0.1", "0.2"] })).toBe(0.1 + 0.2);
      expect(() => copy.apply({ "duration.of": [1, "DAYS"] } as never)).toThrow("Unrecognized operation");
    }
  });

  test("name the missing operator, at any depth", () => {
    expect(rules.findUnknownOperator({ if: [{ "+": [1, 2] }, { mystery: [] }, 1] })).toBe("mystery");
    expect(rules.findUnknownOperator({ method: [1, "toFixed"] })).toBe("method");
    expect(rules.findUnknownOperator({ "date.add": [{ var: "a" }, "P1D"] })).toBeUndefined();
  });
});
