/** Generated rules on lists and texts: none runs for long, whatever it does (S3.8). */
import fc from "fast-check";
import { expect, test } from "vitest";

import { RatebookError } from "../../src/errors.ts";
import { compileRule, compile } from "../../src/rules/compile.ts";
import type { Rule } from "../../src/rules/rule.ts";

const BOUND_MS = 8000;
const LIST = Array.from({ length: 1000 }, (_, at) => at % 7);
const FACTS = {
  list: LIST,
  texts: LIST.map((n) => "ab".repeat(n)),
  nested: LIST.map((n) => [n, [n, "x"]]),
  long: "a".repeat(300_000),
  part: `${"a".repeat(1000)}b`,
  n: 3,
};

const variables = fc
  .constantFrom("list", "texts", "nested", "long", "part", "n", "", "accumulator", "current", "0", "1.1")
  .map((path) => ({ var: path }));
const literals = fc.constantFrom<unknown>(0, 1, 2.5, "", "a", "list", true, null, [1, 1, 1], ["a", "b"], LIST);

const { rule } = fc.letrec<{ rule: unknown }>((tie) => {
  const arbitraryCall = (names: readonly string[], count: number): fc.Arbitrary<unknown> =>
    fc
      .tuple(fc.constantFrom(...names), fc.array(tie("rule"), { minLength: count, maxLength: count }))
      .map(([name, args]) => ({ [name]: args }));
  return {
    rule: fc.oneof(
      { maxDepth: 6, depthSize: "medium", withCrossShrink: true },
      variables,
      literals,
      arbitraryCall(["map", "filter", "all", "some", "none"], 2),
      arbitraryCall(["reduce"], 3),
      arbitraryCall(["cat", "merge", "in", "==", "<", "+", "and", "or"], 2),
      arbitraryCall(["substr", "if", "var"], 3),
      arbitraryCall(["missing", "var", "!", "own"], 1),
      arbitraryCall(["missing_some", "/"], 2),
      fc.array(tie("rule"), { minLength: 1, maxLength: 3 }),
    ),
  };
});

const operators = { own: (value: unknown): unknown => value };

test("S3.8 no rule runs for long, and results have a limited size", () => {
  fc.assert(
    fc.property(rule, (sample) => {
      const start = performance.now();
      try {
        compileRule(sample, { operators })({});
        const value = compile(sample as Rule, { operators })(FACTS);
        // The rule created it, or it is a part of the facts.
        if (typeof value === "string") expect(value.length).toBeLessThanOrEqual(FACTS.long.length);
        if (Array.isArray(value)) expect(value.length).toBeLessThanOrEqual(10_000);
      } catch (error) {
        if (!(error instanceof RatebookError)) throw error;
      }
      expect(performance.now() - start).toBeLessThan(BOUND_MS);
    }),
    { numRuns: 2000 },
  );
});
