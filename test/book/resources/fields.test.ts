/** The schemas of fields describe exactly the values that are accepted. */
import { expect, test } from "vitest";
import * as z from "zod";

import { readInput } from "../../../src/book/reading/read-request.ts";
import { decimal } from "../../../src/book/resources/fields.ts";
import type { RatebookError } from "../../../src/errors.ts";

test.each([
  ["1", true],
  ["-1.50", true],
  ["+1", true],
  [".5", true],
  ["1.", true],
  ["1e5", true],
  ["1.5E-3", true],
  [" 1", false],
  ["1 ", false],
  ["", false],
  ["1,5", false],
  ["0x1", false],
  ["NaN", false],
])("S1.2 the pattern of a decimal and its reader agree on %j", (text, isDecimal) => {
  const { anyOf } = z.toJSONSchema(decimal, { io: "input", unrepresentable: "any" });
  const pattern = anyOf?.flatMap((kind) => (typeof kind === "object" && "pattern" in kind ? [kind.pattern] : [])) ?? [];
  expect(pattern.map((each) => new RegExp(each, "u").test(text))).toEqual([isDecimal]);
  expect(decimal.safeParse(text).success).toBe(isDecimal);
});

test("reading stops at the first problem if an input has more than 5,000 values, and finds all problems of a smaller one", () => {
  let reads = 0;
  const wrong = z.unknown().transform((_, context) => {
    reads++;
    context.addIssue("wrong");
    return z.NEVER;
  });
  const countProblems = (length: number): unknown => {
    try {
      return readInput(
        z.array(wrong),
        Array.from({ length }, () => 1),
      );
    } catch (error) {
      return (error as RatebookError<"ERR_INPUT_INVALID">).details.problems.length;
    }
  };
  expect(countProblems(4_999)).toBe(1_001);
  reads = 0;
  expect(countProblems(5_000)).toBe(1);
  expect(reads).toBe(1);
});

test("a thousand times the allowed number of unknown fields is rejected within seconds, with the first problem", () => {
  const many = Object.fromEntries(Array.from({ length: 60_000 }, (_, at) => [`k${at}`, 1]));
  const start = performance.now();
  expect(() => readInput(z.strictObject({ id: z.string() }), many)).toThrow(/^id: missing: expected a string$/);
  expect(performance.now() - start).toBeLessThan(10_000);
});
