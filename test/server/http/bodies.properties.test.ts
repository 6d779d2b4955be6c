import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";

import { scanJson } from "../../../src/numbers/json-text.ts";
import { parseJson } from "../../../src/numbers/json.ts";
import { runToCompletion } from "../../../src/numbers/steps.ts";
import { readJsonBodyInSteps } from "../../../src/server/http/bodies.ts";

function readJsonBody(bytes: Buffer, batchField?: string): unknown {
  return runToCompletion(readJsonBodyInSteps(bytes, batchField));
}

const texts = fc.oneof(fc.string({ unit: "grapheme" }), fc.constantFrom('"', "\\", "[[[{", "]}", '\\"[', "1e9", "é"));
/** A number in JSON, of any length. */
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

/** This many members of an object. */
function keysOf(count: number): string {
  return Array.from({ length: count }, (_, index) => `"key${index}":1`).join(",");
}

describe("a request body", () => {
  test("S1.2 is parsed exactly, for any numbers and texts", () => {
    fc.assert(
      fc.property(json, (text) => {
        expect(readJsonBody(Buffer.from(text))).toEqual(parseJson(text));
      }),
    );
  });

  test("is limited by its nesting, but not by brackets in texts", () => {
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
  ])("%s: whether it has a number that a double may not represent: %s", (text, longNumbers) => {
    expect(scanJson(Buffer.from(text)).longNumbers > 0).toBe(longNumbers);
  });

  test.each([
    [
      "an object of 1,001 keys",
      `[{${keysOf(1000)}},\n {${keysOf(1001)}}]`,
      "an object can have at most 1000 keys; one has more at line 2, column 10902",
    ],
    [
      "more than 150,000 values",
      `[${"1,".repeat(150_000)}1]`,
      "the body has more than 150000 values; send it in parts",
    ],
    [
      "more than 600,000 values, of a batch",
      `[${"1,".repeat(600_000)}1]`,
      "the body has more than 600000 values; send it in parts",
      "events",
    ],
    [
      "more than 100,000 long numbers",
      `[${"1e1,".repeat(100_000)}1.234567890123456]`,
      "the body has more than 100000 numbers of more than 15 digits or with an exponent; send it in parts",
    ],
  ])("is rejected before it is parsed if it has %s", (_, text, message, apart?: string) => {
    const body = Buffer.from(text);
    let parseCount = 0;
    const parse = vi.spyOn(JSON, "parse").mockImplementation(() => ++parseCount);
    try {
      readJsonBody(body, apart);
    } catch (error) {
      parse.mockRestore();
      expect((error as Error).message).toBe(message);
    }
    expect(parseCount).toBe(0);
    expect.assertions(2);
  });

  test("may contain an object of 1,000 keys anywhere, and 100,000 long numbers", () => {
    const text = `[{"a":{${keysOf(1000)}}},[{${keysOf(1000)}}]]`;
    expect(readJsonBody(Buffer.from(text))).toEqual(JSON.parse(text));
    expect(readJsonBody(Buffer.from(`[${"1e1,".repeat(99_999)}12]`))).toHaveLength(100_000);
  });

  test("is read in steps: one for at most 2,000 long numbers", () => {
    const steps = readJsonBodyInSteps(Buffer.from(`[${"1e1,".repeat(9_999)}12]`));
    expect([...steps].length).toBeGreaterThanOrEqual(10_000 / 2_000);
  });

  test.each([200, 201])("is rejected with the position if it has more than 200 levels: %i", (levels) => {
    const body = Buffer.from(`\n${"[".repeat(levels)}${"]".repeat(levels)}`);
    if (levels <= 200) expect(readJsonBody(body)).toBeInstanceOf(Array);
    else expect(() => readJsonBody(body)).toThrow("the body is nested too deeply at line 2, column 201");
  });

  test("is rejected with the position if an object has a key twice, but not if two objects have it", () => {
    fc.assert(
      fc.property(json, json, texts, (first, second, name) => {
        const key = JSON.stringify(name);
        expect(() => readJsonBody(Buffer.from(`[${first}, {"x": {${key}: ${first}, ${key}: ${second}}}]`))).toThrow(
          /: the key is repeated at line 1, column \d+$/,
        );
        expect(readJsonBody(Buffer.from(`[{${key}: ${first}}, {${key}: ${second}}]`))).toHaveLength(2);
      }),
    );
  });

  test.each([
    ['{"name":"a","name":"b"}', "name: the key is repeated at line 1, column 13"],
    ['{"a":[{},\n{"b":1,"\\u0062":2}]}', "a[1].b: the key is repeated at line 2, column 8"],
    ['{"__proto__":1,"__proto__":2}', "__proto__: the key is repeated at line 1, column 16"],
    ['{"a":{"b":12345678901234567,"b":1}}', "a.b: the key is repeated at line 1, column 29"],
  ])("is rejected as %s: %s", (text, message) => {
    expect(() => readJsonBody(Buffer.from(text))).toThrow(message);
  });

  test.each(["{", "[1", '{"a":01}', "nope", '"\\'])("is rejected if it is not JSON: %s", (text) => {
    expect(() => readJsonBody(Buffer.from(text))).toThrow("the body is not JSON: ");
  });
});
