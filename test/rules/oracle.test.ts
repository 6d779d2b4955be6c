/**
 * Our results equal those of json-logic-js in everything that both support (S3.1): for generated rules on generated facts,
 * and for the public JSON Logic test suite, https://jsonlogic.com/tests.json (repository jwadhams/json-logic, file
 * tests.json), in its format: a rule, the facts and the result.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";

import fc from "fast-check";
import { afterAll, beforeAll, expect, test, describe } from "vitest";

import { hasCode } from "../../src/errors.ts";
import { ours, theirs } from "./oracle.ts";
import { any, facts, number } from "./rule-arbitrary.ts";

/** Removes the sign of zero. */
function withoutSigns(value: unknown): unknown {
  if (value === 0) return 0;
  if (Array.isArray(value)) return value.map(withoutSigns);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, withoutSigns(part)]));
}

/**
 * Compares both, unless an inner operand is not a decimal (S3.2): a reader of an event's number reads nothing inside
 * `map` and similar operators.
 */
function expectSame(rule: unknown, facts: unknown): void {
  let result: unknown;
  try {
    result = ours(rule, facts);
  } catch (error) {
    fc.pre(!hasCode(error, "ERR_RULE_FAILED"));
    throw error;
  }
  expect(withoutSigns(result)).toStrictEqual(withoutSigns(theirs(rule, facts)));
}

/** `log` prints in json-logic-js, but not here (S3.5). */
const print = console.log;
beforeAll(() => {
  console.log = (): void => undefined;
});
afterAll(() => {
  console.log = print;
});

test("S3.1 arithmetic equals that of json-logic-js where doubles are exact", () => {
  fc.assert(fc.property(number, facts, expectSame), { numRuns: 500 });
});

test("S3.1 every operator equals that of json-logic-js", () => {
  fc.assert(fc.property(any, facts, expectSame), { numRuns: 2000 });
});

const text = readFileSync(join(import.meta.dirname, "public-suite.json"), "utf8");
const cases = JSON.parse(text) as readonly (readonly [rule: unknown, facts: unknown, expected: unknown])[];

describe("the public JSON Logic test suite", () => {
  test.each(cases)("S3.1 %j on %j", (rule, facts, expected) => {
    expect(ours(rule, facts)).toStrictEqual(expected);
    expect(theirs(rule, facts)).toStrictEqual(expected);
  });
});
