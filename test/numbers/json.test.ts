import fc from "fast-check";
import { parse } from "lossless-json";
import { describe, expect, test } from "vitest";

import { Decimal } from "../../src/numbers/decimal.ts";
import { placeInText, findRepeatedKeys, findJsonFault } from "../../src/numbers/json-text.ts";
import { parseJson, stringifyJson, jsonPieces, jsonNumber } from "../../src/numbers/json.ts";

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

describe("duplicate keys", () => {
  test.each<readonly [string, readonly (readonly (string | number)[])[]]>([
    ['{"a": 1, "b": 2}', []],
    ['{"a": 1, "a": 2}', [["a"]]],
    ['{"a": 1, "a": 2, "a": 3}', [["a"]]],
    ['{"a": {"b": 1}, "c": {"b": 1}}', []],
    ['[{"a": 1}, {"a": 1}, {"a": 1, "b": [], "a": {}}]', [[2, "a"]]],
    ['{"a": [[], [{}, {"x": {"y": 0, "y": 0}}]]}', [["a", 1, 1, "x", "y"]]],
    ['{"a": "b", "b": "a", "c": ["a", "a", "b"]}', []],
    ['{"a": "{\\"a\\": 1, \\"a\\": 2}"}', []],
    ['{"\\u0061": 1, "a": 2}', [["a"]]],
    ['{"a\\"": 1, "a\\\\": 2, "a\\"": 3}', [['a"']]],
    ['{"__proto__": 1, "__proto__": 2}', [["__proto__"]]],
    ['{"": 1, "": 2}', [[""]]],
    ['{"a": {}, "a": []}', [["a"]]],
    ['"a"', []],
    ["1", []],
  ])("are found in %s", (text, paths) => {
    expect(findRepeatedKeys(text).map(({ path }) => path)).toEqual(paths);
  });

  test("have the position of the last one", () => {
    expect(findRepeatedKeys('{\n  "id": 1,\n  "id": 2\n}')).toEqual([{ path: ["id"], line: 3, column: 3 }]);
    expect(findRepeatedKeys('{\n  "id": 1, "id": 2,\n  "id": 3\n}')).toEqual([{ path: ["id"], line: 3, column: 3 }]);
  });

  test("are listed up to a thousand", () => {
    expect(
      findRepeatedKeys(`{${Array.from({ length: 5000 }, (_, index) => `"${index % 2500}":1`).join(",")}}`),
    ).toHaveLength(1000);
  });

  test("never occur in the output of JSON.stringify, and once if a key of an object is written again", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.string(), fc.string(), (value, first, second) => {
        const [text, a, b] = [value, first, second].map((each) => JSON.stringify(each));
        expect(findRepeatedKeys(`${text}`)).toEqual([]);
        const paths = findRepeatedKeys(`[0, {${a}: ${text}, ${b}: ${text}, ${a}: ${text}}]`).map(({ path }) => path);
        expect(paths).toEqual(
          first === second
            ? [
                [1, first],
                [1, first],
              ]
            : [[1, first]],
        );
      }),
    );
  });
});

test("a position in a text is counted from 1, in lines and characters", () => {
  expect(placeInText("ab\ncd", 0)).toEqual({ line: 1, column: 1 });
  expect(placeInText("ab\ncd", 4)).toEqual({ line: 2, column: 2 });
});

const numbers = fc
  .tuple(
    fc.constantFrom("", "-"),
    fc.oneof(fc.constant(0n), fc.bigInt({ min: 0n, max: 10n ** 24n })).map(String),
    fc.option(fc.stringMatching(/^\d{1,24}$/), { nil: undefined }),
    fc.constantFrom("", "", "e3", "E-7", "e+12", "e-300"),
  )
  .map(([sign, whole, fraction, exponent]) => sign + whole + (fraction === undefined ? "" : `.${fraction}`) + exponent);
const texts = fc
  .oneof(
    fc.string({ unit: "grapheme" }),
    fc.constantFrom("1e-300", "\\", '"', "2e-300\\", "12345678901234567890", "__proto__"),
  )
  .map((text) => JSON.stringify(text));
/** V8 13 and 14 read the key `"` as `\\` if an earlier object had that one at the same position: no key is `"` here. */
const keys = fc.oneof(
  texts.filter((text) => text !== String.raw`"\""`),
  fc.nat(9).map((index) => `"${index}"`),
);
const { json } = fc.letrec<{ json: string }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.oneof(numbers, texts, fc.constantFrom("true", "false", "null")),
    fc.array(tie("json"), { maxLength: 4 }).map((items) => `[${items.join(" ,")}]`),
    fc
      .array(fc.tuple(keys, tie("json")), { maxLength: 4 })
      .map((items) => `{${items.map(([name, value]) => `${name}: ${value}`).join(",")}}`),
  ),
}));

test("S1.2 JSON is parsed as by a parser that creates each number from its own text", () => {
  fc.assert(
    fc.property(json, (text) => {
      const slow = parse(text, undefined, { parseNumber: jsonNumber, onDuplicateKey: ({ newValue }) => newValue });
      expect(parseJson(text)).toEqual(slow);
    }),
    { numRuns: 2000 },
  );
});

test("S1.2 JSON in pieces is the same text as in one piece", () => {
  const values = fc.oneof(
    fc.anything({ withDate: true, withBigInt: true, withNullPrototype: true, withSparseArray: true }),
    json.map((text) => parseJson(text)),
    fc.constantFrom(() => 0, Symbol("none"), { toJSON: () => ({ a: undefined, b: new Date(0) }) }, [
      undefined,
      () => 0,
    ]),
  );
  fc.assert(
    fc.property(fc.array(values, { maxLength: 4 }), fc.nat(2), (parts, times) => {
      // Some are longer than a piece.
      const value = {
        parts,
        many: Array.from({ length: times * 200 }, () => ["x".repeat(99), ...parts]),
        none: parts[9],
      };
      expect([...jsonPieces(value)].join("")).toBe(stringifyJson(value));
      expect([...jsonPieces(parts[0])].join("")).toBe(stringifyJson(parts[0]));
    }),
    { numRuns: 200 },
  );
});

test("a long JSON text is written in pieces of 16,384 characters and one remaining part", () => {
  const pieces = [...jsonPieces(Array.from({ length: 10_000 }, () => ({ quantity: 1234567890 })))];
  expect(pieces.length).toBe(15);
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(16_384 + 24);
});

test("a syntax error is found in a text exactly if the JavaScript engine finds one, at the first wrong character", () => {
  const brokenText = fc
    .tuple(
      json,
      fc.nat(),
      fc.nat(3),
      fc.constantFrom("", "", ...'{}[]",:0-.eE+\\nutx \n\t'.split(""), "\u0000", "\ufeff"),
    )
    .map(([text, place, cut, put]) => {
      const at = place % (text.length + 1);
      return text.slice(0, at) + put + text.slice(at + cut);
    });
  fc.assert(
    fc.property(fc.oneof(json, brokenText), (text) => {
      const fault = findJsonFault(text);
      expect(fault === undefined).toBe(isJson(text));
      if (fault === undefined) return;
      // The text before the error is the beginning of valid JSON: its only error is its end.
      const begin = text.slice(0, fault.index);
      expect(findJsonFault(begin)?.index ?? begin.length).toBe(begin.length);
    }),
    { numRuns: 5000 },
  );
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
