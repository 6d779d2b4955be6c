import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { createCompactIds, createFingerprinter } from "../../../src/cli/event-inputs/compact-ids.ts";
import { rememberIds } from "../../../src/ledger/preview/accepted-ids.ts";

const KEY = [0x03020100, 0x07060504, 0x0b0a0908, 0x0f0e0d0c] as const;

describe("a compact set of ids", () => {
  test("S14.1 gives the same answers as a set of complete ids", () => {
    const step = fc.record({
      id: fc.constantFrom("a", "b", "ab", "é", "Ā", "\u0100\u0000", "", "a".repeat(512)),
      ahead: fc.nat(5),
      memory: fc.nat(20),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.integer({ min: -30, max: 5 }), (steps, start) => {
        const compact = createCompactIds(KEY);
        const full = rememberIds();
        let at = start;
        for (const { id, ahead, memory } of steps) {
          at += ahead;
          expect(compact.has(id, at)).toBe(full.has(id, at));
          expect(compact.admit(id, at, at + memory)).toBe(full.admit(id, at, at + memory));
        }
      }),
    );
  });

  test("S14.1 distinguishes a hundred thousand ids with at most 48 bytes each", () => {
    const ids = createCompactIds(KEY);
    const count = 100_000;
    const admitAll = (): number => {
      let admissions = 0;
      for (let n = 0; n < count; n++) if (ids.admit(`event-${n}`, 1, 2)) admissions++;
      return admissions;
    };
    expect([admitAll(), admitAll()]).toEqual([count, 0]);
    expect(ids.size).toBe(count);
    expect(ids.bytes / count).toBeLessThanOrEqual(48);
  });
});

describe("fingerprints", () => {
  const fingerprint = (text: string, key: readonly [number, number, number, number] = KEY): string => {
    const fingerprinter = createFingerprinter(key);
    fingerprinter.fingerprint(text);
    return fingerprinter.words.join(" ");
  };

  test("differ for texts with equal low bytes, and for a text and its parts", () => {
    const texts = ["", "\0", "\0\0", "a", "\u0161", "aa", "a\u0161", "\u0161a", "abcd", "abcd\0", "abc", "dcba"];
    expect(new Set(texts.map((text) => fingerprint(text))).size).toBe(texts.length);
  });

  test("depend on the key", () => {
    expect(fingerprint("a", [1, 2, 3, 4])).not.toBe(fingerprint("a", [1, 2, 3, 5]));
  });
});
