import { describe, expect, test } from "vitest";

import { Decimal } from "../../src/numbers/decimal.ts";
import { checkRule, requireValidRule, parseRule, RULE_NESTING_MAX, RULE_NODES_MAX } from "../../src/rules/rule.ts";
import type { Rule } from "../../src/rules/rule.ts";

/** `depth` operations inside one another. */
function nested(depth: number): Rule {
  let rule: Rule = true;
  for (let level = 0; level < depth; level++) rule = { "!": [rule] };
  return rule;
}

/** The problems of a rule as `path CODE: message`. */
function listProblems(...args: Parameters<typeof checkRule>): readonly string[] {
  return checkRule(...args).map(({ path, code, message }) => `${path} ${code}: ${message}`);
}

describe("parsing a rule", () => {
  test.each<[unknown, unknown]>([
    ["1", 1],
    [2, 2],
    ['"text"', "text"],
    ["true", true],
    ["null", null],
    [null, null],
    ['{"var":"attribute.x"}', { var: "attribute.x" }],
    [{ var: "attribute.x" }, { var: "attribute.x" }],
    ["[1,2]", [1, 2]],
  ])("S3.6 %j is the rule %j", (source, rule) => {
    expect(parseRule(source)).toEqual(rule);
  });

  test("S1.2 a number in a rule's text is the decimal of its text", () => {
    expect(parseRule("12345678901234567890")).toEqual(new Decimal("12345678901234567890"));
  });

  test("S1.2 rejects 2^53 as a JavaScript number, which may have lost digits, but not as text", () => {
    expect(checkRule(parseRule(9_007_199_254_740_992))).toHaveLength(1);
    expect(checkRule(parseRule("9007199254740992"))).toEqual([]);
  });

  test.each<[unknown, string | RegExp]>([
    ["abc", /^"abc" is not a JSON logic rule: not JSON: /],
    ["", /^"" is not a JSON logic rule: not JSON: /],
    ["{", /^"\{" is not a JSON logic rule: not JSON: /],
    [undefined, "expected a JSON logic rule: an object with one key, a literal, or one of these as JSON text"],
    [() => 1, "expected a JSON logic rule: an object with one key, a literal, or one of these as JSON text"],
    [`"${"x".repeat(1_000_000)}"`, "the rule is longer than 1000000 characters"],
    [
      `[12345678901234567890,${"[".repeat(200_000)}${"]".repeat(200_000)}]`,
      `"[12345678901234567890,${"[".repeat(38)}…" is not a JSON logic rule: not JSON: nested too deeply`,
    ],
  ])("S3.6 rejects what is not a rule", (source, message) => {
    const reason = typeof source === "string" && source.length > 1_000_000 ? "RULE_TOO_LARGE" : "INVALID_RULE";
    const expected: unknown = typeof message === "string" ? message : expect.stringMatching(message);
    expect(() => parseRule(source)).toThrow(
      expect.objectContaining({ code: "ERR_RULE_INVALID", message: expected, details: { path: "$", reason } }),
    );
  });
});

describe("checking a rule", () => {
  test.each<[rule: unknown, problem: string]>([
    [{ nope: [1] }, '$ UNKNOWN_OPERATOR: unknown operator "nope"'],
    [{ if: [{ "==": [1, { nope: 1 }] }] }, 'if[0].==[1] UNKNOWN_OPERATOR: unknown operator "nope"'],
    [{ "!": { nope: 1 } }, '! UNKNOWN_OPERATOR: unknown operator "nope"'],
    [{ in: [1, [2, { nope: 1 }]] }, 'in[1][1] UNKNOWN_OPERATOR: unknown operator "nope"'],
    [
      { method: ["x", "toString"] },
      '$ UNKNOWN_OPERATOR: the operator "method" is not supported, because it could call any function',
    ],
    [{ "==": [1, 1], "!=": [1, 2] }, '$ INVALID_OPERATION: an operation must have exactly one key, found "==", "!="'],
    [{ "!": [{}] }, "![0] INVALID_OPERATION: an operation must have exactly one key, found none"],
    [{ a: 1, b: 2, c: 3, d: 4 }, '$ INVALID_OPERATION: an operation must have exactly one key, found "a", "b", "c"'],
    [{ "+": [] }, '$ MISSING_ARGUMENTS: "+" needs at least one argument'],
    [{ "*": [] }, '$ MISSING_ARGUMENTS: "*" needs at least one argument'],
    [{ min: [] }, '$ MISSING_ARGUMENTS: "min" needs at least one argument'],
    [{ max: [] }, '$ MISSING_ARGUMENTS: "max" needs at least one argument'],
    [{ "/": [1] }, '$ MISSING_ARGUMENTS: "/" needs at least 2 arguments'],
    [{ "duration.as": "PT1H" }, '$ MISSING_ARGUMENTS: "duration.as" needs at least 2 arguments'],
    [
      { "+": [2 ** 53] },
      "+[0] INVALID_CONSTANT: the number 9007199254740992 is above 2^53, so its last digits may be lost; write it as a string",
    ],
    [
      { "+": [new Decimal("1e20")] },
      '+[0] INVALID_CONSTANT: "100000000000000000000" has more than 20 digits before the point or 20 after it',
    ],
    [{ "+": [1e-21] }, '+[0] INVALID_CONSTANT: "1e-21" has more than 20 digits before the point or 20 after it'],
    [{ "!": Number.NaN }, "! INVALID_CONSTANT: NaN is not a decimal"],
    [[1, undefined], "[1] INVALID_CONSTANT: expected JSON, found undefined"],
    [{ "!": [1n] }, "![0] INVALID_CONSTANT: expected JSON, found bigint"],
    [{ "!": [(): number => 1] }, "![0] INVALID_CONSTANT: expected JSON, found function"],
    [{ "!": [new Date(0)] }, "![0] INVALID_CONSTANT: expected JSON, found an instance of a class"],
    [{ ["x".repeat(100)]: 1 }, `$ UNKNOWN_OPERATOR: unknown operator "${"x".repeat(60)}…"`],
    [JSON.parse('{"__proto__": [1]}'), '$ UNKNOWN_OPERATOR: unknown operator "__proto__"'],
    [{ constructor: [1] }, '$ UNKNOWN_OPERATOR: unknown operator "constructor"'],
    [{ toString: [1] }, '$ UNKNOWN_OPERATOR: unknown operator "toString"'],
  ])("S3.6 rejects %o", (rule, problem) => {
    expect(listProblems(rule)).toEqual([problem]);
  });

  test("S3.6 all problems are reported, in the rule's order", () => {
    const rule = { and: [{ nope: 1 }, { "+": [] }, { if: [{ what: [{ ever: 1 }] }] }] };
    expect(checkRule(rule)).toEqual([
      { path: "and[0]", code: "UNKNOWN_OPERATOR", message: 'unknown operator "nope"' },
      { path: "and[1]", code: "MISSING_ARGUMENTS", message: '"+" needs at least one argument' },
      { path: "and[2].if[0]", code: "UNKNOWN_OPERATOR", message: 'unknown operator "what"' },
      { path: "and[2].if[0].what[0]", code: "UNKNOWN_OPERATOR", message: 'unknown operator "ever"' },
    ]);
    expect(() => requireValidRule(rule)).toThrow(
      expect.objectContaining({
        code: "ERR_RULE_INVALID",
        message: 'in the rule at and[0]: unknown operator "nope" (and 3 more)',
        details: { path: "and[0]", reason: "UNKNOWN_OPERATOR" },
      }),
    );
  });

  const tooDeep = ["$ RULE_TOO_DEEP: the rule is nested more than 64 levels deep"];
  test("S3.6 nesting of 64 is accepted, of 65 rejected", () => {
    expect(checkRule(nested(RULE_NESTING_MAX))).toEqual([]);
    expect(listProblems(nested(RULE_NESTING_MAX + 1))).toEqual(tooDeep);
  });

  test("S3.6 a rule nested as deep as the heap allows is rejected like any other", () => {
    expect(listProblems(nested(1_000_000))).toEqual(tooDeep);
    const text = `${'{"!":'.repeat(150_000)}1${"}".repeat(150_000)}`;
    expect(listProblems(parseRule(text))).toEqual(tooDeep);
    // Listing the paths of all of them would be a hundred million steps.
    const repeating = text.replace("1", `{${'"a":1,'.repeat(1000)}"a":1}`);
    expect(() => parseRule(repeating)).toThrow('the rule has the key "a" twice in one object, at column 750008');
  });

  test("S3.6 a rule that contains itself is rejected", () => {
    const rule: { "!": unknown[] } = { "!": [] };
    rule["!"].push(rule);
    expect(listProblems(rule)).toEqual(tooDeep);
  });

  test("S3.6 2,000 nodes are accepted, 2,001 rejected", () => {
    // The operation, and its arguments.
    const sum = (count: number): Rule => ({ "+": Array.from({ length: count }, () => 1) });
    expect(checkRule(sum(RULE_NODES_MAX - 1))).toEqual([]);
    const tooLarge = ["$ RULE_TOO_LARGE: the rule has more than 2000 operations, lists and literals"];
    expect(listProblems(sum(RULE_NODES_MAX))).toEqual(tooLarge);
    expect(listProblems({ and: [sum(1500), sum(1500)] })).toEqual(tooLarge);
    expect(listProblems(sum(5_000_000))).toEqual(tooLarge);
  });

  test("S3.4 registered operators are known, but only own properties", () => {
    const operators = { double: (): number => 2 };
    expect(checkRule({ double: [1] }, { operators })).toEqual([]);
    expect(checkRule({ toString: [1] }, { operators })).toHaveLength(1);
    expect(checkRule({ method: [1] }, { operators: { method: () => 1 } })).toHaveLength(1);
  });
});

describe("the fields of a rule", () => {
  const fields = {
    attributes: new Set(["tokens", "size.in MB", "a-b"]),
    dimensions: new Set(["region"]),
    dependencies: new Set(["rate", "prices"]),
  };

  test.each([
    "attribute.tokens",
    "attributes.tokens",
    "attribute.size.in MB",
    "attribute.a-b",
    "dimension.region",
    "dimensions.region",
    "dependencies.rate",
    "dependencies.prices.small.eu",
    "event.id",
    "event.timestamp",
    "event.accountId",
    "event.schemaName",
  ])("S3.3 %s is known", (path) => {
    expect(checkRule({ "!": [{ var: path }, { var: [path, 0] }, { missing: [path] }] }, { fields })).toEqual([]);
  });

  test.each([
    ["attribute.token", 'the event schema has no "attribute.token"'],
    ["attribute.region", 'the event schema has no "attribute.region": did you mean "dimension.region"?'],
    ["attribute.size", 'the event schema has no "attribute.size"'],
    ["attribute.__proto__", 'the event schema has no "attribute.__proto__"'],
    ["attribute", 'the event schema has no "attribute"'],
    ["dimension.tokens", 'the event schema has no "dimension.tokens": did you mean "attribute.tokens"?'],
    ["dimensions.", 'the event schema has no "dimensions."'],
    ["dependencies.rates", 'the event schema has no "dependencies.rates"'],
    ["event.ID", '"event.ID" is not one of event.id, event.timestamp, event.accountId and event.schemaName'],
    ["tokens", '"tokens" is not a variable; use attribute.NAME, dimension.NAME, dependencies.NAME or event.NAME'],
    ["", '"" is not a variable; use attribute.NAME, dimension.NAME, dependencies.NAME or event.NAME'],
  ])("S3.6 the unknown path %j is rejected wherever it is read", (path, message) => {
    for (const [rule, place] of [
      [{ "+": [1, { var: path }] }, "+[1]"],
      [{ "+": [1, { var: [path, 5] }] }, "+[1]"],
      [{ missing: path }, "$"],
      [{ missing: ["event.id", path] }, "$"],
      [{ missing_some: [1, [path]] }, "$"],
    ] as const)
      expect(listProblems(rule, { fields })).toEqual([`${place} UNKNOWN_VARIABLE: ${message}`]);
  });

  test("S3.6 a computed path is not checked", () => {
    expect(checkRule({ var: { cat: ["attribute.", { var: "dimension.region" }] } }, { fields })).toEqual([]);
  });

  test.each(["map", "filter", "all", "some", "none", "reduce"])(
    "S3.4 inside %s a variable reads the element and is not checked",
    (operator) => {
      const body = { "+": [{ var: "anything" }, { missing: ["what"] }] };
      expect(checkRule({ [operator]: [{ var: "dependencies.prices" }, body] }, { fields })).toEqual([]);
      expect(checkRule({ [operator]: [{ var: "prices" }, body] }, { fields })).toHaveLength(1);
      // The initial value of reduce is read from the event.
      expect(checkRule({ [operator]: [[], body, { var: "prices" }] }, { fields })).toHaveLength(1);
    },
  );
});
