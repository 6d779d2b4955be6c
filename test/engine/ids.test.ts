import { describe, expect, test } from "vitest";

import { createIds } from "../../src/engine/ids.ts";

describe("ids", () => {
  test("have the prefix, the time, a place within the millisecond and a random part", () => {
    const ids = createIds(() => 0);
    expect(ids("ev")).toMatch(/^ev\.00000000000\.[0-9A-Za-z]{5}$/);
    expect(ids("ev")).toMatch(/^ev\.00000000001\.[0-9A-Za-z]{5}$/);
    expect(ids("a.long prefix")).toMatch(/^a\.long prefix\.00000000002\.[0-9A-Za-z]{5}$/);
    // 1,000 is 16 × 62 + 8.
    expect(createIds(() => 1000)("ev")).toMatch(/^ev\.00000G80000\.[0-9A-Za-z]{5}$/);
  });

  test("grow while the clock stands still, goes on and is put back", () => {
    let now = 1_700_000_000_000;
    const ids = createIds(() => now);
    const made = Array.from({ length: 10_000 }, (_, index) => {
      now += [0, 0, 1, 0, -5][index % 5] ?? 0;
      return ids("ev");
    });
    expect(made.toSorted()).toEqual(made);
    expect(new Set(made).size).toBe(made.length);
  });
});
