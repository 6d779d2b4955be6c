import fc from "fast-check";
import { describe, expect, test } from "vitest";

import type { SeenIds } from "../../src/ledger/events/duplicates.ts";
import { rememberIds } from "../../src/ledger/events/duplicates.ts";

const memories: readonly (readonly [string, () => SeenIds])[] = [
  ["ids spread by the usual hash", () => rememberIds()],
  ["ids that it was told the number of", () => rememberIds(undefined, 2500)],
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

  test("tells ids apart by hashes that a host gives without a sign", () => {
    const ids = rememberIds(() => 0xffff_fff0);
    for (let index = 0; index < 200; index++) expect(ids.admit(`e${index}`, 0, 10)).toBe(true);
    for (let index = 0; index < 200; index++) expect(ids.admit(`e${index}`, 5, 10)).toBe(false);
  });

  test("keeps ids apart that differ in one character, a wide one, or their length", () => {
    const ids = remember();
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

  test("takes names of object properties as ids like any other", () => {
    const ids = remember();
    for (const name of ["__proto__", "constructor", "", "\u0000"]) {
      expect(ids.has(name, 0)).toBe(false);
      expect(ids.admit(name, 0, 1)).toBe(true);
      expect(ids.has(name, 0)).toBe(true);
    }
  });

  test("answers the same whether or not it heard which ids come next", () => {
    const idList = fc.array(fc.constantFrom(...Array.from({ length: 8 }, (_each, index) => `event-${index}`)), {
      maxLength: 20,
    });
    fc.assert(
      fc.property(fc.array(fc.tuple(idList, idList)), (batches) => {
        const [told, untold] = [remember(), remember()];
        for (const [announced, asked] of batches) {
          told.expect?.(announced);
          for (const [at, id] of [...announced, ...asked].entries()) {
            expect(told.has(id, at)).toBe(untold.has(id, at));
            expect(told.admit(id, at, at + 5)).toBe(untold.admit(id, at, at + 5));
          }
        }
      }),
    );
  });

  test("hears of ids that come after many others", () => {
    const ids = remember();
    ids.expect?.(["event-2", "event-2999", "event-1"]);
    for (let index = 0; index < 3000; index++) ids.admit(`event-${index}`, 0, 1);
    expect(ids.has("event-1", 0)).toBe(true);
    expect(ids.has("event-2999", 0)).toBe(true);
    expect(ids.has("event-3000", 0)).toBe(false);
  });
});
