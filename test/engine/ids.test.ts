import { describe, expect, test } from "vitest";

import { createEngine } from "../../src/engine/engine.ts";
import { createIds } from "../../src/engine/ids.ts";
import { memoryStore } from "../../src/store/memory/memory.ts";
import { customerWith, describeRefusal } from "./support.ts";

describe("ids", () => {
  test("have the prefix, the time, an index within the millisecond and a random part", () => {
    const ids = createIds(() => 0);
    expect(ids("ev")).toMatch(/^ev\.00000000000\.[0-9A-Za-z]{5}$/);
    expect(ids("ev")).toMatch(/^ev\.00000000001\.[0-9A-Za-z]{5}$/);
    expect(ids("a.long prefix")).toMatch(/^a\.long prefix\.00000000002\.[0-9A-Za-z]{5}$/);
    // 1,000 is 16 × 62 + 8.
    expect(createIds(() => 1000)("ev")).toMatch(/^ev\.00000G80000\.[0-9A-Za-z]{5}$/);
  });

  test("are ascending while the clock stands still, advances and is set back", () => {
    let now = 1_700_000_000_000;
    const ids = createIds(() => now);
    const newIds = Array.from({ length: 10_000 }, (_, index) => {
      now += [0, 0, 1, 0, -5][index % 5] ?? 0;
      return ids("ev");
    });
    expect(newIds.toSorted()).toEqual(newIds);
    expect(new Set(newIds).size).toBe(newIds.length);
  });
});

test("a duplicate generated id replaces no configured resource", async () => {
  const engine = createEngine({ store: memoryStore(), clock: () => 0, ids: (prefix) => `${prefix}.1` });
  const { item: addOn } = await engine.addOns.create({ name: "Seats", type: "LICENSE" });
  await expect(engine.addOns.create({ name: "Fee", type: "FIXED_FEE" })).rejects.toMatchObject({
    code: "ERR_TAKEN",
    message: `the id "${addOn.id}" is taken: the id source returned it twice`,
  });
  const plan = {
    pricePlanDetails: {
      supportedCurrencies: ["USD"],
      pricingCycleConfig: { interval: "MONTHLY", startOffset: { dayOffset: "1", monthOffset: "NIL" } },
    },
  } as const;
  await engine.pricePlans.create({ name: "First", ...plan });
  await expect(engine.pricePlans.create({ name: "Second", ...plan })).rejects.toMatchObject({ code: "ERR_TAKEN" });
  expect((await engine.addOns.list()).items.map(({ item }) => item.name)).toEqual(["Seats"]);
  expect((await engine.pricePlans.list()).items.map(({ item }) => item.name)).toEqual(["First"]);
});

test("a duplicate generated id replaces nothing of an account", async () => {
  const engine = createEngine({ store: memoryStore(), clock: () => 0, ids: (prefix) => `${prefix}.1` });
  await customerWith(engine);
  const credit = { accountId: "prod", purpose: "first", creditAmount: 5, priority: 1, effectiveFrom: "1970-01-01" };
  expect(await describeRefusal(engine.credits.create([credit, { ...credit, purpose: "second" }]))).toBe(
    'ERR_TAKEN the id "cr.1" is taken: the id source returned it twice',
  );
  expect((await engine.credits.list()).items).toEqual([]);
  await engine.credits.create([credit]);
  expect(await describeRefusal(engine.credits.create([{ ...credit, purpose: "second" }]))).toContain("ERR_TAKEN");
  expect((await engine.credits.list()).items.map(({ credit: { purpose } }) => purpose)).toEqual(["first"]);
});
