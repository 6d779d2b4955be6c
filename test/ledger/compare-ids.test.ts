/** The one order of ids. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { compareIds } from "../../src/numbers/ids.ts";

describe("ids", () => {
  test.each([
    ["", "a", -1],
    ["a", "a", 0],
    ["a", "b", -1],
    ["a", "ab", -1],
    ["Z", "a", -1],
    ["a|10", "a|9", -1],
    // U+FFFD is below U+1F9FE, whose first code unit is U+D83E.
    ["\ufffd", "🧾", -1],
    ["🧾", "🧿", -1],
  ] as const)("%j and %j are in code point order", (a, b, sign) => {
    expect([Math.sign(compareIds(a, b)), Math.sign(compareIds(b, a))]).toEqual([sign, sign === 0 ? 0 : -sign]);
  });

  test("are compared by code points, for any texts", () => {
    const text = fc.string({ unit: "grapheme", maxLength: 6 });
    const points = (value: string): readonly number[] => Array.from(value, (each) => each.codePointAt(0) ?? 0);
    fc.assert(
      fc.property(text, text, (a, b) => {
        const [left, right] = [points(a), points(b)];
        const at = left.findIndex((point, index) => point !== right[index]);
        const expected = at < 0 ? left.length - right.length : (left[at] ?? 0) - (right[at] ?? -1);
        expect(Math.sign(compareIds(a, b))).toBe(Math.sign(expected));
      }),
    );
  });
});
