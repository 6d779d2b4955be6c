import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { placeInText, findRepeatedKeys } from "../../src/numbers/json-text.ts";

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
