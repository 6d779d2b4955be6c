import { createHash } from "node:crypto";

import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { shortId } from "../../src/numbers/ids.ts";

describe("a short id", () => {
  test("is the last 16 digits, in base 62, of the last 16 bytes of the SHA-256 of its parts", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "binary" })), (parts) => {
        const digest = createHash("sha256").update(JSON.stringify(parts)).digest("hex");
        const id = shortId("inv", parts);
        expect(id).toMatch(/^inv\.[0-9A-Za-z]{16}$/);
        const value = Array.from(id.slice(4)).reduce((sum, digit) => sum * 62n + BigInt(valueOf(digit)), 0n);
        expect(value).toBe(BigInt(`0x${digest.slice(32)}`) % 62n ** 16n);
      }),
    );
  });

  test("distinguishes parts that are equal when joined, and unpaired surrogates", () => {
    const keys = [["a|b", "c"], ["a", "b|c"], ["a|b|c"], ["\ud800"], ["\ud801"], ["\ufffd"], []];
    expect(new Set(keys.map((parts) => shortId("x", parts))).size).toBe(keys.length);
  });
});

/** The index of a digit among 0 to 9, A to Z, a to z. */
function valueOf(digit: string): number {
  const code = digit.charCodeAt(0);
  if (code < 58) return code - 48;
  return code < 91 ? code - 55 : code - 61;
}
