/** Variables in slots are read without calls. The results are compared with the same rule using readers. */
import fc from "fast-check";
import { expect, test } from "vitest";

import { RatebookError } from "../../src/errors.ts";
import { exactOfText, Scaled } from "../../src/numbers/exact.ts";
import { compile } from "../../src/rules/compile.ts";
import type { Rule } from "../../src/rules/rule.ts";
import type { RuleValue } from "../../src/rules/value.ts";

const text = fc.constantFrom("eu", "us", "", "3", "2.50", "1e3", "x", "__proto__");
const number = fc.constantFrom(0, 3, -7, 2.5, 1000, Number.MAX_SAFE_INTEGER);
const value = fc.oneof(
  text,
  fc.constantFrom<RuleValue>(0, 3, -7, 1000, Number.MAX_SAFE_INTEGER, new Scaled(25, 1), new Scaled(30, 1)),
  fc.constantFrom<RuleValue>(exactOfText("9".repeat(30)), null, true, [], [3], { a: 1 }),
);
const operator = fc.constantFrom(..."== === != !== < <= > >= + - * / % min max in".split(" "));
const variable = fc.constantFrom("a", "b").map((name) => ({ var: name }));
const operation = (operand: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.tuple(operator, operand, operand).map(([name, left, right]) => ({ [name]: [left, right] }));
const operand = fc.oneof(
  { weight: 4, arbitrary: variable },
  { weight: 3, arbitrary: fc.oneof(text, number) },
  { weight: 1, arbitrary: variable.map(({ var: name }) => ({ var: [name, 5] })) },
);
const rule = fc.oneof(operation(operand), operation(fc.oneof(operand, operation(operand))));

function settle(compute: () => RuleValue): unknown {
  try {
    return { value: compute() };
  } catch (error) {
    if (error instanceof RatebookError) return { code: error.code, message: error.message };
    throw error;
  }
}

test("S3.2 a rule gives the same result with variables in slots and with readers", () => {
  fc.assert(
    fc.property(rule, fc.array(fc.tuple(value, value), { minLength: 1, maxLength: 6 }), (operation, frames) => {
      const values: RuleValue[] = [0, 0];
      const indexOf = (path: string): number => (path === "a" ? 0 : 1);
      const bySlot = compile(operation as Rule, { slots: (path) => ({ values, index: indexOf(path) }) });
      const byReader = compile(operation as Rule, { variables: (path) => () => values[indexOf(path)] });
      for (const [a, b] of frames) {
        [values[0], values[1]] = [a, b];
        expect(settle(() => bySlot({}))).toEqual(settle(() => byReader({})));
      }
    }),
    { numRuns: 1000 },
  );
});
