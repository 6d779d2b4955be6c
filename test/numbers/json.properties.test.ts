import fc from "fast-check";
import { parse } from "lossless-json";
import { expect, test } from "vitest";

import { findJsonFault } from "../../src/numbers/json-text.ts";
import { jsonPieces, jsonNumber, parseJson, stringifyJson } from "../../src/numbers/json.ts";
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
