/** Malicious facts and rules: an exact answer, or an error of the event. Where results differ from json-logic-js. */
import { describe, expect, test } from "vitest";

import { RatebookError } from "../../src/errors.ts";
import { Decimal, formatDecimal } from "../../src/numbers/decimal.ts";
import { compileRule } from "../../src/rules/compile.ts";
import { theirs } from "./oracle.ts";

/** The result as text, decimals as their plain text; for an error its code. */
function answer(rule: unknown, facts: unknown = {}): unknown {
  try {
    const value = compileRule(rule)(facts);
    return Decimal.isDecimal(value) ? formatDecimal(value) : value;
  } catch (error) {
    if (error instanceof RatebookError) return error.code;
    throw error;
  }
}

const LONG = "1".repeat(150);
const MARKED = { toStringTag: "[object Decimal]", s: 1, e: 0, d: "abc" };

describe("a malicious rule has an exact answer or an error", () => {
  test.each<readonly [string, unknown, unknown, unknown]>([
    ["S3.2 zero has no sign", { cat: [{ "-": [0] }, { "*": [-1, 0] }, { "%": [-4, 2] }] }, {}, "000"],
    ["S3.2 a fact of -0 is 0", { cat: [{ var: "x" }] }, { x: -0 }, "0"],
    ["S3.2 two texts compare by their characters, also of digits", { "<": ["9", "10"] }, {}, false],
    ["S3.2 a decimal and a text compare by value", { "<": [9, "10"] }, {}, true],
    ["S3.2 a decimal equals its text in any length", { "==": [{ var: "s" }, 7] }, { s: `7.${"0".repeat(99)}` }, true],
    ["S3.2 digits of another script are not a decimal", { "==": [7, "٧"] }, {}, false],
    [
      "S3.2 data with the mark of a decimal is not an operand",
      { "+": [{ var: "x" }, 1] },
      { x: MARKED },
      "ERR_RULE_FAILED",
    ],
    ["S1.4 a text of 150 digits is not an operand", { "+": [{ var: "b" }, 1] }, { b: LONG }, "ERR_RULE_FAILED"],
    ["S3.2 a text of 150 digits is more than 5 in a comparison", { ">": [{ var: "b" }, 5] }, { b: LONG }, true],
    ["S3.1 a text beyond all doubles is more than any decimal", { ">": ["1e4000", 7] }, {}, true],
    ["S3.1 an object is neither more nor less than a decimal", { ">": [{ var: "o" }, 1] }, { o: {} }, false],
    ["S3.4 a decimal of 41 digits is rounded far to the left of its point", { round: ["1e40", -41] }, {}, "0"],
    ["S3.4 half is rounded away from zero to the left of the point too", { round: [-5, -1] }, {}, "-10"],
    [
      "S3.4 a time before another is a duration below 0",
      { "duration.between": ["2024-06-01", "2024-05-01"] },
      {},
      "-PT744H",
    ],
    ["S3.3 a number has no properties", { var: "x.toFixed" }, { x: 1 }, null],
    [
      "S3.1 an object with a length that is not a list is not iterated",
      { map: [{ var: "o" }, 1] },
      { o: { length: 3 } },
      [],
    ],
    ["S3.1 a negative length beyond the start leaves nothing", { substr: ["abc", 1, -9] }, {}, ""],
  ])("%s", (_, rule, facts, expected) => {
    expect(answer(rule, facts)).toEqual(expected);
  });

  test("S3.6 a rule of 998 consecutive conditions is answered", () => {
    // Every condition is 0; the last operand is the default.
    expect(answer({ if: [...Array.from({ length: 1996 }, (_, at) => (at % 2 === 0 ? 0 : at)), "else"] })).toBe("else");
  });

  test("S3.3 the rest of a path inside a list's element is first tried as one key", () => {
    const list = [{ a: { b: 1 } }, { "a.b": 2 }, { a: { b: "3" } }];
    const step = { "+": [{ var: "accumulator" }, { var: "current.a.b" }] };
    // The initial value 2, and 1 + 2 + 3.
    expect(answer({ reduce: [{ var: "list" }, step, { "+": [1, 1] }] }, { list })).toBe("8");
  });
});

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
    expect(answer(rule, facts)).toEqual(expectedOurs);
  });

  test("S3.5 method is rejected, log prints nothing", () => {
    expect(answer({ method: ["x", "toUpperCase"] }, {})).toBe("ERR_RULE_INVALID");
    expect(answer({ log: "quiet" }, {})).toBe("quiet");
  });

  test("S3.6 missing_some requires a list", () => {
    expect(() => theirs({ missing_some: [1, null] }, {})).toThrow(TypeError);
    expect(answer({ missing_some: [1, null] }, {})).toBe("ERR_RULE_FAILED");
  });
});
