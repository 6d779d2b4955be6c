/** Every difference between our rules and json-logic-js, each with the rule of the rulebook that requires it. */
import { describe, expect, test } from "vitest";

import { RatebookError } from "../../src/errors.ts";
import { formatDecimal } from "../../src/numbers/decimal.ts";
import { compileRule } from "../../src/rules/compile.ts";
import { theirs } from "./oracle.ts";

/** Our outcome in words: a value, or the code of an error. */
function describeOutcome(rule: unknown, facts: unknown): unknown {
  try {
    const value = compileRule(rule)(facts);
    return typeof value === "object" && value !== null && "toFixed" in value ? formatDecimal(value as never) : value;
  } catch (error) {
    if (error instanceof RatebookError) return error.code;
    throw error;
  }
}

const withPrototype: unknown = Object.create({ tokens: 5 });

describe("deviations from json-logic-js", () => {
  test.each<[string, unknown, unknown, unknown, unknown]>([
    ["S1.1 sums are exact", { "+": [0.1, 0.2] }, {}, 0.1 + 0.2, "0.3"],
    ["S1.1 products are exact", { "*": [0.1, 3] }, {}, 0.1 * 3, "0.3"],
    [
      "S1.4 large results are exact",
      { "*": [9_007_199_254_740_991, 3] },
      {},
      27_021_597_764_222_972,
      "27021597764222973",
    ],
    ["S1.4 quotients have 34 digits", { "/": [1, 3] }, {}, 1 / 3, `0.${"3".repeat(34)}`],
    ["S1.4 a result beyond 100 digits is an error", { "*": ["1e600", "1e600"] }, {}, Infinity, "ERR_ARITHMETIC"],
    ["S3.2 a missing operand is an error", { "+": [{ var: "x" }, 1] }, {}, Number.NaN, "ERR_RULE_FAILED"],
    ["S3.2 null is not an operand", { "-": [{ var: "x" }, 1] }, { x: null }, -1, "ERR_RULE_FAILED"],
    ["S3.2 a decimal text is converted, also as the only operand", { "*": ["2.0"] }, {}, "2.0", "2"],
    ["S3.2 true is not an operand", { "*": [true, 2] }, {}, Number.NaN, "ERR_RULE_FAILED"],
    ["S3.2 true is not an operand of a difference", { "-": [true] }, {}, -1, "ERR_RULE_FAILED"],
    ["S3.2 text that only begins with a decimal is not an operand", { "+": ["12 apples"] }, {}, 12, "ERR_RULE_FAILED"],
    ["S1.2 hexadecimal text is not an operand", { "-": ["0x10", 0] }, {}, 16, "ERR_RULE_FAILED"],
    ["S1.2 blank text is not an operand", { max: [" ", -1] }, {}, 0, "ERR_RULE_FAILED"],
    ["S3.2 a list is not an operand", { "+": [[1]] }, {}, 1, "ERR_RULE_FAILED"],
    ["S3.2 null is not an operand of min", { min: [null, 5] }, {}, 0, "ERR_RULE_FAILED"],
    ["S3.2 division by zero is an error", { "/": [1, 0] }, {}, Infinity, "ERR_ARITHMETIC"],
    ["S3.2 a remainder by zero is an error", { "%": [1, 0] }, {}, Number.NaN, "ERR_ARITHMETIC"],
    ["S3.2 the sum of nothing is rejected", { "+": [] }, {}, 0, "ERR_RULE_INVALID"],
    ["S3.2 the minimum of nothing is rejected", { min: [] }, {}, Infinity, "ERR_RULE_INVALID"],
    ["S3.2 the maximum of nothing is rejected", { max: [] }, {}, -Infinity, "ERR_RULE_INVALID"],
    ["S3.2 decimals compare by value, in any length", { "==": [0.3, "0.30000000000000000001"] }, {}, true, false],
    ["S3.3 only own properties are read", { var: "tokens" }, withPrototype, 5, null],
    ["S3.3 inherited properties of a list are not read", { "!!": { var: "items.map" } }, { items: [] }, true, false],
    ["S3.3 a text has its characters and its length only", { "!!": { var: "name.trim" } }, { name: "x" }, true, false],
    ["S3.3 the rest of a path is first tried as one key", { var: "a.b.c" }, { a: { "b.c": 1, b: { c: 2 } } }, 2, "1"],
    ["S3.3 the whole path may be one key", { var: "a.b" }, { "a.b": 1 }, null, "1"],
    [
      "S3.3 attributes. is another spelling of attribute.",
      { var: "attributes.x" },
      { attribute: { x: "a" } },
      null,
      "a",
    ],
    [
      "S3.3 dimension. is another spelling of dimensions.",
      { var: "dimension.x" },
      { dimensions: { x: "a" } },
      null,
      "a",
    ],
    ["S3.4 cat of a large decimal is its plain text", { cat: [1e-7] }, {}, "1e-7", "0.0000001"],
    [
      "S3.6 two keys are rejected",
      { "==": [1, 2], "!=": [1, 1] },
      {},
      { "==": [1, 2], "!=": [1, 1] },
      "ERR_RULE_INVALID",
    ],
    ["S3.6 an object without keys is rejected", {}, {}, {}, "ERR_RULE_INVALID"],
    ["S3.6 a text is a rule, not a literal", "1", {}, "1", "1"],
  ])("%s: %j", (_, rule, facts, expectedTheirs, expectedOurs) => {
    expect(theirs(rule, facts)).toEqual(expectedTheirs);
    expect(describeOutcome(rule, facts)).toEqual(expectedOurs);
  });

  test("S3.5 method is rejected, log prints nothing", () => {
    expect(describeOutcome({ method: ["x", "toUpperCase"] }, {})).toBe("ERR_RULE_INVALID");
    expect(describeOutcome({ log: "quiet" }, {})).toBe("quiet");
  });

  test("S3.6 missing_some requires a list", () => {
    expect(() => theirs({ missing_some: [1, null] }, {})).toThrow(TypeError);
    expect(describeOutcome({ missing_some: [1, null] }, {})).toBe("ERR_RULE_FAILED");
  });
});
