import { describe, expect, test } from "vitest";

import type { SeenIds } from "../../src/ledger/duplicates.ts";
import { rememberIds } from "../../src/ledger/duplicates.ts";

const memories: readonly (readonly [string, () => SeenIds])[] = [
  ["ids spread by the usual hash", () => rememberIds()],
  ["ids that all have one hash", () => rememberIds(() => 7)],
  ["ids that only meet in a small table", () => rememberIds((id) => (Number(id.slice(6)) % 8) << 10)],
];

describe.each(memories)("S14.1 a memory of %s", (_, remember) => {
  test("admits an id once until its instant, which is exclusive", () => {
    const ids = remember();
    expect(ids.has("a", 0)).toBe(false);
    expect(ids.admit("a", 0, 10)).toBe(true);
    expect(ids.admit("a", 9, 20)).toBe(false);
    expect(ids.has("a", 9)).toBe(true);
    expect(ids.has("a", 10)).toBe(false);
    expect(ids.admit("a", 10, 20)).toBe(true);
    expect(ids.has("a", 19)).toBe(true);
  });

  test("forgets the id of an event that was not accepted after all", () => {
    const ids = remember();
    ids.admit("a", 0, 10);
    ids.forget("a");
    ids.forget("never seen");
    expect(ids.has("a", 0)).toBe(false);
    expect(ids.admit("a", 0, 10)).toBe(true);
  });

  test("keeps thousands of ids apart", () => {
    const ids = remember();
    const names = Array.from({ length: 3000 }, (_, index) => `event-${index}`);
    expect(names.every((name) => ids.admit(name, 0, 1))).toBe(true);
    expect(names.some((name) => ids.admit(name, 0, 1))).toBe(false);
    expect(ids.has("event-3000", 0)).toBe(false);
  });

  test("takes names of object properties as ids like any other", () => {
    const ids = remember();
    for (const name of ["__proto__", "constructor", "", "\u0000"]) {
      expect(ids.has(name, 0)).toBe(false);
      expect(ids.admit(name, 0, 1)).toBe(true);
      expect(ids.has(name, 0)).toBe(true);
    }
  });
});
