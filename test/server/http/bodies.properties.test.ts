import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { scanJson } from "../../../src/numbers/json-scan.ts";
import { parseJson } from "../../../src/numbers/json.ts";
import { readJson } from "../../../src/server/http/bodies.ts";

const texts = fc.oneof(fc.string({ unit: "grapheme" }), fc.constantFrom('"', "\\", "[[[{", "]}", '\\"[', "1e9", "é"));
/** A number as JSON writes it, of any length. */
const numbers = fc
  .tuple(
    fc.constantFrom("", "-"),
    fc.bigInt({ min: 0n, max: 10n ** 24n }).map(String),
    fc.option(fc.stringMatching(/^\d{1,24}$/), { nil: undefined }),
    fc.constantFrom("", "e3", "E-7", "e+12"),
  )
  .map(([sign, whole, fraction, exponent]) => sign + whole + (fraction === undefined ? "" : `.${fraction}`) + exponent);
const { json } = fc.letrec<{ json: string }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.oneof(
      texts.map((text) => JSON.stringify(text)),
      numbers,
      fc.constantFrom("true", "false", "null"),
    ),
    fc.array(tie("json"), { maxLength: 4 }).map((items) => `[${items.join(" ,")}]`),
    fc
      .uniqueArray(fc.tuple(fc.oneof(texts, fc.constant("__proto__")), tie("json")), {
        maxLength: 4,
        selector: ([name]) => name,
      })
      .map((items) => `{${items.map(([name, value]) => `${JSON.stringify(name)}: ${value}`).join(",")}}`),
  ),
}));

describe("a body", () => {
  test("S1.2 is read as its text is, whatever its numbers and texts", () => {
    fc.assert(
      fc.property(json, (text) => {
        expect(readJson(Buffer.from(text))).toEqual(parseJson(text));
      }),
    );
  });

  test("counts its levels, but no brackets in texts", () => {
    fc.assert(
      fc.property(fc.nat(300), texts, (levels, text) => {
        const body = `${'[{"a":'.repeat(levels)}${JSON.stringify(text)}${"}]".repeat(levels)}`;
        expect(scanJson(Buffer.from(body)).depth).toBe(2 * levels);
      }),
    );
  });

  test.each([
    ["[123456789012345]", false],
    ["[1234567890123456]", true],
    ["[0.12345678901234]", false],
    ["[0.123456789012345]", true],
    ["[1,2345678901,23456789012345]", false],
    ["[1e2]", true],
    ["[-1E2]", true],
    ['["1234567890123456","1e2"]', false],
    ["[true,false,1]", false],
  ])("%s: whether it has a number that a double may not keep: %s", (text, longNumbers) => {
    expect(scanJson(Buffer.from(text)).longNumbers).toBe(longNumbers);
  });

  test.each([200, 201])("is refused with its place where it has more than 200 levels: %i", (levels) => {
    const body = Buffer.from(`\n${"[".repeat(levels)}${"]".repeat(levels)}`);
    if (levels <= 200) expect(readJson(body)).toBeInstanceOf(Array);
    else expect(() => readJson(body)).toThrow("the body is nested too deeply at line 2, column 201");
  });

  test("is refused where any of its objects has a key twice, with its place, and not where two objects have one", () => {
    fc.assert(
      fc.property(json, json, texts, (first, second, name) => {
        const key = JSON.stringify(name);
        expect(() => readJson(Buffer.from(`[${first}, {"x": {${key}: ${first}, ${key}: ${second}}}]`))).toThrow(
          /: expected each key of an object once: this one is given again at line 1, column \d+$/,
        );
        expect(readJson(Buffer.from(`[{${key}: ${first}}, {${key}: ${second}}]`))).toHaveLength(2);
      }),
    );
  });

  test.each([
    [
      '{"name":"a","name":"b"}',
      "name: expected each key of an object once: this one is given again at line 1, column 13",
    ],
    [
      '{"a":[{},\n{"b":1,"\\u0062":2}]}',
      "a[1].b: expected each key of an object once: this one is given again at line 2, column 8",
    ],
    [
      '{"__proto__":1,"__proto__":2}',
      "__proto__: expected each key of an object once: this one is given again at line 1, column 16",
    ],
    [
      '{"a":{"b":12345678901234567,"b":1}}',
      "a.b: expected each key of an object once: this one is given again at line 1, column 29",
    ],
  ])("%s is refused: %s", (text, message) => {
    expect(() => readJson(Buffer.from(text))).toThrow(message);
  });

  test.each(["{", "[1", '{"a":01}', "nope", '"\\'])("is refused where it is no JSON: %s", (text) => {
    expect(() => readJson(Buffer.from(text))).toThrow("the body is not JSON: ");
  });
});
