import { describe, expect, test } from "vitest";

import { Decimal } from "../../src/numbers/decimal.ts";
import { parseJson, stringifyJson } from "../../src/numbers/json.ts";

/** A number that a double cannot represent; a text with it is parsed losslessly. */
const LONG = "12345678901234567890";

describe("parsing JSON", () => {
  test.each([
    ["0.1", 0.1],
    ["1e3", 1000],
    ["9007199254740991", 9_007_199_254_740_991],
    ["1.0000000000000000", 1],
    ["0.30000000000000004", 0.1 + 0.2],
  ])("S1.2 a number that a double represents exactly is a number: %s", (text, expected) => {
    expect(parseJson(text)).toBe(expected);
  });

  test.each([LONG, "9007199254740993", "0.12345678901234567890", "1e400", "1e-400", "1.00000000000000000001"])(
    "S1.2 a number that a double cannot represent is the decimal of its text: %s",
    (text) => {
      const value = parseJson(`{"a": ${text}}`) as { readonly a: Decimal };
      expect(Decimal.isDecimal(value.a)).toBe(true);
      expect(value.a.eq(new Decimal(text))).toBe(true);
    },
  );

  test("S1.2 long digits inside a string are text", () => {
    expect(parseJson(`{"id": "${LONG}", "n": ${LONG}}`)).toEqual({ id: LONG, n: new Decimal(LONG) });
  });

  test.each(["{}", `{"n": ${LONG}}`])("a __proto__ key is a plain own key, beside %s", (other) => {
    const value = parseJson(`{"__proto__": {"polluted": true}, "other": ${other}}`) as object;
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(Object.keys(value)).toEqual(["__proto__", "other"]);
    expect("polluted" in value).toBe(false);
  });

  test.each(["1", LONG])("the last one of a repeated key is used, beside %s", (other) => {
    expect(parseJson(`{"a": 1, "a": {"b": 2}, "c": ${other}}`)).toMatchObject({ a: { b: 2 } });
    expect(parseJson(`{"c": ${other}, "a": 1, "a": 2}`)).toMatchObject({ a: 2 });
  });

  test.each([
    ["", "not JSON: the text is empty"],
    ["{", "not JSON: the text ends early"],
    ['{"a', "not JSON: the text ends early"],
    ['["\\u00', 'not JSON: unexpected "u" at column 4'],
    ["-", "not JSON: the text ends early"],
    ["01", 'not JSON: unexpected "1" at column 2'],
    ["1.", 'not JSON: unexpected "." at column 2'],
    ["NaN", 'not JSON: unexpected "N" at column 1'],
    ["nul", "not JSON: the text ends early"],
    ["[tru3]", 'not JSON: unexpected "3" at column 5'],
    ["{a: 1}", 'not JSON: unexpected "a" at column 2'],
    ['{"a" 1}', 'not JSON: unexpected "1" at column 6'],
    ['["a\tb"]', String.raw`not JSON: unexpected "\t" at column 4`],
    ["[😀]", 'not JSON: unexpected "😀" at column 2'],
    [`[${LONG},]`, 'not JSON: unexpected "]" at column 23'],
    [`{"n": ${LONG}} x`, 'not JSON: unexpected "x" at column 29'],
    [`[${LONG}, 01e2]`, 'not JSON: unexpected "1" at column 25'],
    [`[1e999999999]`, "not JSON: the number has more than 100 significant digits or is beyond 10^1000"],
    [`[${"1".repeat(101)}]`, "not JSON: the number has more than 100 significant digits or is beyond 10^1000"],
  ])("rejects invalid JSON: %s", (text, message) => {
    const expected: unknown = typeof message === "string" ? message : expect.stringMatching(message);
    expect(() => parseJson(text)).toThrow(expect.objectContaining({ code: "ERR_JSON_INVALID", message: expected }));
  });

  test.each(["1", LONG])("in a text of several lines the position is given by line and column, beside %s", (other) => {
    // The brace after the comma is the first character of the third line.
    const message = 'not JSON: unexpected "}" at line 3, column 1';
    expect(() => parseJson(`{\n  "a": ${other},\n}`)).toThrow(expect.objectContaining({ message }));
  });

  test("rejects a text that is nested as deep as the stack", () => {
    const deep = `[${LONG},${"[".repeat(200_000)}${"]".repeat(200_000)}]`;
    expect(() => parseJson(deep)).toThrow(
      expect.objectContaining({ code: "ERR_JSON_INVALID", message: "not JSON: nested too deeply" }),
    );
  });
});

describe("writing JSON", () => {
  test("S1.2 a Decimal is a number with all its digits", () => {
    expect(stringifyJson({ a: new Decimal("0.10"), b: [new Decimal(LONG)], c: new Decimal("1e30") })).toBe(
      `{"a":0.1,"b":[${LONG}],"c":1${"0".repeat(30)}}`,
    );
    expect(stringifyJson(new Decimal("-0"))).toBe("0");
  });

  test("other values are written as by JSON.stringify", () => {
    const value = { text: 'a "b" \u2028', list: [1, null, true, undefined], nothing: undefined, nested: { x: -1.5 } };
    expect(stringifyJson(value)).toBe(JSON.stringify(value));
    expect(stringifyJson(value, 2)).toBe(JSON.stringify(value, null, 2));
    expect(stringifyJson(undefined)).toBe("null");
    const lookalike = { toStringTag: "[object Decimal]", s: 1, e: 0, d: 5 };
    expect(stringifyJson(lookalike)).toBe(JSON.stringify(lookalike));
  });

  test("S1.2 written text parses to the same value", () => {
    const text = `{"a":[0.1,${LONG},1.00000000000000000001,"x"],"b":{"c":null}}`;
    expect(stringifyJson(parseJson(text))).toBe(text);
  });
});
