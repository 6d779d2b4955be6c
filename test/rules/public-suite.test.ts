/**
 * The cases of the public JSON Logic test suite, https://jsonlogic.com/tests.json (repository jwadhams/json-logic, file
 * tests.json), in its format: a rule, the facts and the result.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { ours, theirs } from "./oracle.ts";

const text = readFileSync(join(import.meta.dirname, "public-suite.json"), "utf8");
const cases = JSON.parse(text) as readonly (readonly [rule: unknown, facts: unknown, expected: unknown])[];

describe("the public JSON Logic test suite", () => {
  test.each(cases)("S3.1 %j on %j", (rule, facts, expected) => {
    expect(ours(rule, facts)).toStrictEqual(expected);
    expect(theirs(rule, facts)).toStrictEqual(expected);
  });
});
