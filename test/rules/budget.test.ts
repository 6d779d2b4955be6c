/** The limits of one evaluation of a rule (S3.8). Figures are counted by hand from the rule. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { RatebookError } from "../../src/errors.ts";
import { compileRule, describeExcessWork, compile } from "../../src/rules/compile.ts";
import { parseRule, type Rule } from "../../src/rules/rule.ts";

const STEPS = "the rule exceeds its budget of 10,000 steps";
const TEXT = "the rule exceeds its budget of 65,536 characters of text";
/** An evaluation that is stopped by its budget takes milliseconds; the rest allows for a busy machine. */
const BOUND_MS = 8000;

const variable = (path: string): { readonly var: string } => ({ var: path });
const ones = (count: number): readonly number[] => Array.from({ length: count }, () => 1);

/** The result of the event path for a rule on facts: the error message, or nothing. */
function messageOn(rule: unknown, facts: unknown): string | undefined {
  const evaluate = compile(parseRule(rule));
  const start = performance.now();
  try {
    evaluate(facts);
    return undefined;
  } catch (error) {
    if (!(error instanceof RatebookError) || error.code !== "ERR_RULE_FAILED") throw error;
    return error.message;
  } finally {
    expect(performance.now() - start).toBeLessThan(BOUND_MS);
  }
}

const nested = (list: unknown, deep: number): unknown =>
  deep === 0 ? variable("") : { map: [list, nested(list, deep - 1)] };
const doubling = { merge: [variable("accumulator"), variable("accumulator")] };
const fifty = ones(50);
const divisions = Array.from({ length: 480 }, () => ({ "/": [1, 3] }));

describe("S3.8 work that exceeds the budget is stopped before it is done", () => {
  test.each<readonly [string, unknown, unknown, string]>([
    ["a list that doubles", { reduce: [variable("list"), doubling, [1]] }, { list: ones(40) }, STEPS],
    ["five nested loops", { map: [variable("list"), nested(fifty, 4)] }, { list: fifty }, STEPS],
    ["a body of 480 divisions", { map: [variable("list"), { max: divisions }] }, { list: ones(1024) }, STEPS],
    [
      "a text that doubles",
      { reduce: [variable("list"), { cat: [variable("accumulator"), variable("accumulator")] }, "x"] },
      { list: ones(40) },
      TEXT,
    ],
    [
      "the text of a list that contains itself twice, repeatedly",
      { cat: [{ reduce: [variable("list"), [variable("accumulator"), variable("accumulator")], 1] }] },
      { list: ones(40) },
      TEXT,
    ],
    ["a long list in a comparison", { "==": [variable("list"), "x"] }, { list: ones(1_000_000) }, STEPS],
    ["a long list in an order comparison", { "<": [1, variable("list"), 3] }, { list: ones(1_000_000) }, STEPS],
    ["a long list as the name of a variable", { var: variable("list") }, { list: ones(1_000_000) }, STEPS],
    ["a long list of names in missing", { missing: [variable("list")] }, { list: ones(1_000_000) }, STEPS],
    ["a long list of names in missing_some", { missing_some: [1, variable("list")] }, { list: ones(1_000_000) }, STEPS],
    ["a search in a long list", { in: [2, variable("list")] }, { list: ones(1_000_000) }, STEPS],
    ["a long list merged", { merge: [variable("list"), variable("list")] }, { list: ones(6000) }, STEPS],
    ["a long list in all", { all: [variable("list"), true] }, { list: ones(6000) }, STEPS],
    ["a long list in some", { some: [variable("list"), false] }, { list: ones(6000) }, STEPS],
    ["a long list in none", { none: [variable("list"), false] }, { list: ones(6000) }, STEPS],
    ["a long text copied", { cat: [variable("text")] }, { text: "x".repeat(65_537) }, TEXT],
    ["a part of a long text", { substr: [variable("text"), 1] }, { text: "x".repeat(65_538) }, TEXT],
    [
      "a search for a long text with near matches everywhere",
      { in: [variable("part"), variable("text")] },
      { part: `${"a".repeat(250_000)}b${"a".repeat(250_000)}`, text: "a".repeat(1_000_000) },
      STEPS,
    ],
  ])("%s", (_, rule, facts, message) => {
    expect(messageOn(rule, facts)).toBe(message);
  });

  test("a computed name has at most 1,000 characters", () => {
    const rule = { var: variable("name") };
    expect(messageOn(rule, { name: "x".repeat(1000) })).toBe(undefined);
    expect(messageOn(rule, { name: "x".repeat(1001) })).toMatch(
      /^the rule built a variable name of more than 1000 characters/,
    );
  });

  test("a list that contains itself twice, repeatedly, is returned by the rule without growing", () => {
    const evaluate = compileRule({ reduce: [variable("list"), [variable("accumulator"), variable("accumulator")], 1] });
    let [fact] = [evaluate({ list: ones(40) })] as unknown[];
    for (let depth = 0; depth < 40; depth++) fact = (fact as unknown[])[1];
    expect(String(fact)).toBe("1");
  });
});

describe("S3.8 counted work", () => {
  test.each<readonly [string, unknown, number]>([
    // 10 visited, 10 created, and 10 times the 3 nodes of the body.
    ["map", { map: [variable("list"), { "*": [variable(""), 2] }] }, 50],
    // 10 visited, 10 times 3 nodes, and 10 included.
    ["filter", { filter: [variable("list"), { "==": [variable(""), 1] }] }, 50],
    // 10 visited and 10 times 3 nodes.
    ["reduce", { reduce: [variable("list"), { "+": [variable("accumulator"), variable("current")] }, 0] }, 40],
    ["all", { all: [variable("list"), { "==": [variable(""), 1] }] }, 40],
    ["none", { none: [variable("list"), { "==": [variable(""), 2] }] }, 40],
    // The first element matches.
    ["some", { some: [variable("list"), { "==": [variable(""), 1] }] }, 4],
    ["merge", { merge: [variable("list"), 1, variable("list")] }, 21],
    ["in", { in: [2, variable("list")] }, 10],
    ["a created list", [variable("list"), 1, 2], 3],
    ["a list of literals, and a search in it", { in: [1, [1, 2, 3]] }, 0],
    ["a list of literals in a body", { map: [variable("list"), { in: [variable(""), [1, 2, 3]] }] }, 40],
    // 10 visited, each one character, with 9 commas.
    ["the text of a list", { cat: [variable("list")] }, 10],
    ["the parts of a computed name", { var: { cat: ["a.b.", "c"] } }, 3],
    // 3 copied, 3 visited, and 3 names of one part.
    ["missing names", { missing: { merge: [["a", "b"], "list"] } }, 9],
    // Outer: 10 visited, 10 created, 10 times 1 node; inner, for each: 3 visited, 3 created, 3 times 1 node.
    ["a loop in a loop", { map: [variable("list"), { map: [[1, 2, 3], variable("")] }] }, 30 + 90],
    ["no list and no text", { "+": [1, { if: [true, 2, 3] }] }, 0],
  ])("%s", (_, rule, steps) => {
    const facts = { list: ones(10) };
    const runWithin = (steps: number): unknown =>
      compile(parseRule(rule), { budget: { steps: steps, text: 100 } })(facts);
    expect(runWithin(steps)).toBeDefined();
    if (steps > 0) expect(() => runWithin(steps - 1)).toThrow(`its budget of ${steps - 1} steps`);
  });

  test.each<readonly [string, unknown, number]>([
    ["cat", { cat: ["ab", 1.5, null, "é"] }, 6],
    ["substr", { substr: ["abcdef", 2, 3] }, 3],
    // Once as the text of the list, "1,1", and once within the longer text.
    ["a list in cat", { cat: [variable("pair"), "!"] }, 3 + 4],
  ])("characters written by %s", (_, rule, length) => {
    const runWithin = (text: number): unknown =>
      compile(parseRule(rule), { budget: { steps: 100, text } })({ pair: [1, 1] });
    expect(runWithin(length)).toBeDefined();
    expect(() => runWithin(length - 1)).toThrow(`its budget of ${length - 1} characters`);
  });

  test("a custom operator is one step, and each element copied for it another", () => {
    const operators = { own: (): number => 1 };
    const rule = { map: [variable("list"), { own: [variable("")] }] };
    // 3 visited, 3 created, 3 times 2 nodes, 3 calls; an element [1, 1] is 2 copied.
    const runWithin = (steps: number): unknown =>
      compile(parseRule(rule), { operators, budget: { steps, text: 1 } })({ list: [1, 2, [1, 1]] });
    expect(runWithin(17)).toEqual([1, 1, 1]);
    expect(() => runWithin(16)).toThrow("its budget of 16 steps");
    // Without a loop nothing is counted.
    expect(compile(parseRule({ own: [variable("list")] }), { operators })({ list: ones(20_000) })).toBe(1);
  });

  test("each evaluation has the whole budget, also after one that failed, and inside another one", () => {
    const sum = { reduce: [variable("list"), { "+": [variable("accumulator"), variable("current")] }, 0] };
    const evaluate = compile(parseRule(sum));
    // 2,500 elements are 10,000 steps.
    for (const length of [2500, 2501, 2500, 2500]) {
      if (length === 2501) expect(() => evaluate({ list: ones(length) })).toThrow(STEPS);
      else expect(evaluate({ list: ones(length) })).toBe(length);
    }
    const again: { evaluate?: (facts: unknown) => unknown } = {};
    const operators = { again: (list: unknown): unknown => again.evaluate?.({ list: [], deep: list }) ?? 0 };
    const rule = {
      if: [
        variable("list.0"),
        { merge: [{ again: [variable("list")] }, variable("list")] },
        { merge: variable("deep") },
      ],
    };
    again.evaluate = compileRule(rule, { operators, ruleBudget: { steps: 9 } });
    // Outer: 1 call, 2 copied and 4 merged; the inner one, 2 merged, uses none of it.
    expect(String(again.evaluate({ list: [1, 2] }))).toBe("1,2,1,2");
  });

  test("options raise the budget", () => {
    const rule = { cat: [{ map: [variable("list"), "x"] }] };
    const facts = { list: ones(50_000) };
    expect(() => compileRule(rule)(facts)).toThrow(STEPS);
    // 3 steps an element and one more for its text; its text and then the whole: 99,999 characters each.
    expect(() => compileRule(rule, { ruleBudget: { steps: 200_000 } })(facts)).toThrow(TEXT);
    expect(compileRule(rule, { ruleBudget: { steps: 200_000, text: 199_998 } })(facts)).toHaveLength(99_999);
  });

  test.each([0, -1, 1.5, Number.NaN, "10", null])("rejects a budget of %s", (steps) => {
    expect(() => compileRule(1, { ruleBudget: { steps: steps as number } })).toThrow(
      expect.objectContaining({ code: "ERR_OPTION_INVALID", details: { option: "ruleBudget.steps" } }),
    );
  });
});

describe("S3.8 a rule that no event can evaluate within the budget is rejected", () => {
  const budget = { steps: 10_000, text: 65_536 };
  const [always, anyText] = [`${STEPS}, for every event`, `${TEXT}, for every event`];
  test.each<readonly [string, unknown, string | undefined]>([
    ["a list that doubles", { reduce: [ones(40), doubling, [1]] }, always],
    ["five nested loops", nested(fifty, 5), always],
    [
      "a text that doubles",
      { reduce: [ones(40), { cat: [variable("accumulator"), variable("accumulator")] }, "x"] },
      anyText,
    ],
    ["nested loops in a condition", { if: [{ some: [nested(fifty, 5), true] }, 1, 2] }, always],
    ["nested loops in every branch", { if: [variable("x"), nested(fifty, 5), { "+": [1, nested(fifty, 5)] }] }, always],
    ["nested loops in one branch", { if: [variable("x"), nested(fifty, 5), 1] }, undefined],
    ["nested loops after an and", { and: [variable("x"), nested(fifty, 5)] }, undefined],
    ["nested loops as the default of a variable", { var: ["x", nested(fifty, 5)] }, undefined],
    ["an initial value that is a variable", { reduce: [ones(40), { map: [ones(200), 1] }, variable("x")] }, always],
    // 1,000 visited, and 1,000 times 9 nodes of the body, are 10,000.
    ["just enough", { reduce: [ones(1000), { "+": [1, 1, 1, 1, 1, 1, 1, 1] }, variable("x")] }, undefined],
    ["one node too many", { reduce: [ones(1000), { "+": [1, 1, 1, 1, 1, 1, 1, 1, 1] }, variable("x")] }, always],
    ["no list", { "+": [variable("x"), 1] }, undefined],
    ["a failure for another reason", { map: [[1, 0], { "/": [1, variable("")] }] }, undefined],
  ])("%s", (_, rule, message) => {
    const start = performance.now();
    expect(describeExcessWork(rule as Rule, { budget })).toBe(message);
    expect(performance.now() - start).toBeLessThan(BOUND_MS);
    if (message === undefined) compileRule(rule);
    else expect(() => compileRule(rule)).toThrow(expect.objectContaining({ code: "ERR_RULE_INVALID", message }));
  });

  test("and accepted with a higher budget", () => {
    const rule = { map: [ones(100), { map: [ones(100), variable("")] }] };
    // Outer 300; inner 100 times 300.
    expect(() => compileRule(rule, { ruleBudget: { steps: 30_299 } })).toThrow("30,299 steps, for every event");
    expect(compileRule(rule, { ruleBudget: { steps: 30_300 } })({})).toHaveLength(100);
  });

  test("and after 20 budgets, no further constant part of rules checked together is evaluated", () => {
    const total = { steps: 0 };
    const reasons = Array.from({ length: 50 }, () => describeExcessWork(nested(fifty, 5) as Rule, { budget }, total));
    // A loop that exceeds the budget is stopped below it, or takes all of it.
    const checked = reasons.filter((reason) => reason === always).length;
    expect(checked).toBeGreaterThanOrEqual(20);
    expect(reasons.slice(checked)).toEqual(Array.from({ length: 50 - checked }, () => undefined));
    expect(total.steps).toBeGreaterThan(20 * budget.steps);
    expect(total.steps).toBeLessThanOrEqual(21 * budget.steps);
  });

  test("without evaluating all of its many expensive parts", () => {
    // Two branches for each of 12 conditions, each of 9,000 steps: the lightest path is within the budget.
    const branch = { map: [ones(70), { map: [ones(40), variable("")] }] };
    const rule = { if: [...Array.from({ length: 16 }, (_, at) => (at % 2 === 0 ? variable("x") : branch)), 1] };
    const start = performance.now();
    expect(describeExcessWork(rule as Rule, { budget })).toBe(undefined);
    expect(performance.now() - start).toBeLessThan(BOUND_MS);
  });
});

describe("S3.8 anything thrown becomes an error of the rule", () => {
  const failures: readonly (readonly [string, () => unknown, RegExp])[] = [
    ["a text", () => "oops", /failed: oops$/],
    ["undefined", () => undefined, /failed: undefined$/],
    ["null", () => null, /failed: null$/],
    ["a symbol", () => Symbol("s"), /failed: Symbol\(s\)$/],
    ["an object without a text", () => Object.create(null) as unknown, /failed: unknown error$/],
    [
      "an error whose message throws",
      () => Object.defineProperty(new Error(), "message", { get: (): never => boom() }),
      /unknown error$/,
    ],
    ["a RangeError", () => new RangeError("Invalid string length"), /failed: Invalid string length$/],
    ["a very long message", () => new Error("x".repeat(1_000_000)), /x{300}…$/],
  ];
  test.each(failures)("%s", (_, what, message) => {
    const operators = {
      own: (): never => {
        throw what();
      },
    };
    expect(() => compileRule({ own: [] }, { operators })({})).toThrow(
      expect.objectContaining({ code: "ERR_RULE_FAILED", message: expect.stringMatching(message) as string }),
    );
  });

  test("by an operator that recurses without end", () => {
    const operators = { own: (): unknown => operators.own() };
    expect(() => compileRule({ own: [] }, { operators })({})).toThrow(
      expect.objectContaining({ code: "ERR_RULE_FAILED" }),
    );
  });

  test("if a fact throws, or a result when it is read", () => {
    const hostile = Object.defineProperty([1], 0, { get: (): never => boom(), enumerable: true });
    expect(() => compileRule(variable("x"))({ x: hostile })).toThrow(
      expect.objectContaining({ code: "ERR_RULE_FAILED", message: "the rule failed: boom" }),
    );
    const operators = { own: (): unknown => hostile };
    expect(() => compileRule({ map: [{ own: [] }, variable("")] }, { operators })({})).toThrow(
      expect.objectContaining({ code: "ERR_RULE_FAILED" }),
    );
  });
});

function boom(): never {
  throw new TypeError("boom");
}

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
