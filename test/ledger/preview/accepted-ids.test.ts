import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { rememberIds } from "../../../src/ledger/preview/accepted-ids.ts";

describe("S14.1 a set of accepted ids", () => {
  test("accepts an id once until its instant, which is exclusive", () => {
    const ids = rememberIds();
    expect(ids.has("a", 0)).toBe(false);
    expect(ids.admit("a", 0, 10)).toBe(true);
    expect(ids.admit("a", 9, 20)).toBe(false);
    expect(ids.has("a", 9)).toBe(true);
    expect(ids.has("a", 10)).toBe(false);
    expect(ids.admit("a", 10, 20)).toBe(true);
    expect(ids.has("a", 19)).toBe(true);
  });

  test("contains an id at an instant exactly if it does not accept it", () => {
    const step = fc.record({
      id: fc.constantFrom("a", "b", "__proto__", "constructor", "", "\u0000"),
      ahead: fc.nat(5),
      memory: fc.nat(20),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), fc.integer({ min: -30, max: 5 }), (steps, start) => {
        const ids = rememberIds();
        const admissions: { readonly id: string; readonly until: number }[] = [];
        let at = start;
        for (const { id, ahead, memory } of steps) {
          at += ahead;
          const counts = admissions.some((each) => each.id === id && at < each.until);
          expect(ids.has(id, at)).toBe(counts);
          expect(ids.admit(id, at, at + memory)).toBe(!counts);
          if (!counts) admissions.push({ id, until: at + memory });
        }
      }),
    );
  });

  test("distinguishes ids that differ in one character, a wide one, or in length", () => {
    const ids = rememberIds();
    const base = "request-00\u0100";
    const names = Array.from(base, (_each, at) => [
      `${base.slice(0, at)}x${base.slice(at + 1)}`,
      `${base.slice(0, at)}\u3032${base.slice(at + 1)}`,
      base.slice(0, at),
    ]).flat();
    const different = [...new Set([base, ...names])];
    expect(different.every((name) => ids.admit(`event-${name}`, 0, 1))).toBe(true);
    expect(different.some((name) => ids.admit(`event-${name}`, 0, 1))).toBe(false);
  });

  test("accepts names of object properties like any other id", () => {
    const ids = rememberIds();
    for (const name of ["__proto__", "constructor", "", "\u0000"]) {
      expect(ids.has(name, 0)).toBe(false);
      expect(ids.admit(name, 0, 1)).toBe(true);
      expect(ids.has(name, 0)).toBe(true);
    }
  });
});
