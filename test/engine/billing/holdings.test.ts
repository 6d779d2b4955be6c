/** Licenses, feature credit entries and credits through the engine API (S10.1, S11.8, S12). */
import { describe, expect, test } from "vitest";

import type { Engine, EventInput } from "../../../src/index.ts";
import { callBook, callEvent, type ClockedEngine, describeRefusal, loadedAt } from "../support.ts";

/** An account on a plan with seats, whose calls are paid for and consume a feature. */
const FEATURE_BOOK = {
  ...callBook(["prod", "test"], { licenses: [{ id: "seats", rate: 10, max: 20 }] }),
  features: [
    { id: "calls", name: "Calls", schemaAssociations: ["call"] },
    { id: "other", name: "Other" },
  ],
};
const OF = { accountId: "prod", featureId: "calls" };

const MARCH = { effectiveFrom: "2024-03-01T00:00:00Z", effectiveUntil: "2024-04-01T00:00:00Z" };

/** An account with overage at 1 a unit that gets a plan with these grants at noon of 10 March, the current time. */
async function grantedLate(
  featureConfigs: readonly { readonly featureCreditLimit: number; readonly effectiveUntil: string }[],
  overage: readonly EventInput[],
): Promise<ClockedEngine> {
  const overages = [{ feature: "calls", rate: 1 }];
  const { pricePlans: _, ...book } = callBook(["prod"], { usage: [] });
  const { engine, at } = await loadedAt("2024-03-01", {
    ...book,
    features: FEATURE_BOOK.features,
    pricePlans: [
      { id: "team", cycle: "MONTHLY", overages },
      { id: "granting", cycle: "MONTHLY", overages, entitlements: [{ feature: "calls", featureConfigs, rate: 0 }] },
    ],
  });
  await at("2024-03-10T06:00:00Z").ingest(overage);
  await at("2024-03-10T12:00:00Z").associate("prod", { pricePlanId: "granting", effectiveFrom: "2024-03-10" });
  return { engine, at };
}

describe("grants of a plan that is decided after overage of its first day", () => {
  const days = { from: "2024-03-01T00:00:00Z", until: "2024-04-01T00:00:00Z" };
  const listCalls = (count: number, quantity: number): readonly EventInput[] =>
    Array.from({ length: count }, (_, index) => callEvent(`e${index + 1}`, "2024-03-10T05:00:00Z", quantity));
  const limit = (featureCreditLimit: number, effectiveUntil = "P1M"): Parameters<typeof grantedLate>[0][number] => ({
    featureCreditLimit,
    effectiveUntil,
  });
  const balances = async (engine: Engine): Promise<readonly string[]> =>
    (await engine.entries.list(OF)).items
      .map(({ granted, balance }) => `${balance.toFixed()} of ${granted.toFixed()}`)
      .sort();
  const overageOf = async (engine: Engine): Promise<readonly string[]> =>
    (await engine.overage({ accountIds: ["prod"], ...days })).map(({ quantity }) => String(quantity));

  test("S11.5 move the overage that several of them cover only once", async () => {
    const { at } = await grantedLate([limit(15), limit(10)], listCalls(1, 20));
    const later = at("2024-03-11");
    // The result does not wait for a bill run (S2.4) or an event.
    expect(await overageOf(later)).toEqual([]);
    const listOverage = async (): Promise<readonly string[]> =>
      [...(await later.events.list()).items, ...(await later.events.get("e1"))].map(({ feature }) =>
        String(feature?.overage),
      );
    expect(await listOverage()).toEqual(["0", "0"]);
    await later.finalize();
    expect(["0 of 15,5 of 10", "0 of 10,5 of 15"]).toContain(String(await balances(later)));
    expect([await overageOf(later), await listOverage()]).toEqual([[], ["0", "0"]]);
  });

  test("S11.2 move overage to the one that ends first, whatever the order of the card", async () => {
    const { engine } = await grantedLate([limit(2), limit(7, "P21D")], listCalls(1, 3));
    // 3 of the 7 that end on 31 March; the 2 that end on 10 April stay.
    expect(await balances(engine)).toEqual(["2 of 2", "4 of 7"]);
  });

  test("S11.5 move overage of many events until all of them are used up", async () => {
    const { engine, at } = await grantedLate([limit(100), limit(100)], listCalls(250, 1));
    const entry = { granted: 30, effectiveFrom: "2024-03-01T00:00:00Z", effectiveUntil: "2024-04-01T00:00:00Z" };
    await at("2024-03-10T13:00:00Z").entries.grant(OF, entry);
    // 250 - 100 - 100 - 30.
    expect([await overageOf(engine), await balances(engine)]).toEqual([["20"], ["0 of 100", "0 of 100", "0 of 30"]]);
  });

  test("S11.5 move overage of many events to units freed by an undo too", async () => {
    const { engine, at } = await grantedLate([limit(100)], listCalls(250, 1));
    await at("2024-03-10T13:00:00Z").undo({ account: "prod", eventId: "e1" });
    // 249 - 100.
    expect([await overageOf(engine), await balances(engine)]).toEqual([["149"], ["0 of 100"]]);
  });
});

describe("an idempotencyKey", () => {
  const gift = { accountId: "prod", purpose: "welcome", creditAmount: 5, priority: 1, effectiveFrom: "2024-03-01" };

  test("identifies one entry, one credit or one license update of its account permanently", async () => {
    const { engine, at } = await loadedAt("2024-03-01", FEATURE_BOOK);
    const make = {
      entry: async (key: string, accountId = "prod") =>
        engine.entries.grant({ ...OF, accountId }, { granted: 10, ...MARCH, idempotencyKey: key }),
      credit: async (key: string, accountId = "prod") =>
        engine.credits.create([{ ...gift, accountId, idempotencyKey: key }]),
      "license update": async (key: string, accountId = "prod") =>
        engine.licenses.update(accountId, {
          licenseId: "seats",
          updateType: "RELATIVE",
          quantity: 1,
          idempotencyKey: key,
        }),
    } as const;
    const kinds = ["entry", "credit", "license update"] as const;
    for (const kind of kinds) await make[kind](`key of ${kind}`);
    at("2024-03-05");
    for (const [kind, other] of kinds.flatMap((each) => kinds.map((one) => [each, one] as const))) {
      if (kind === other) continue;
      expect(await describeRefusal(make[kind](`key of ${other}`))).toBe(
        `ERR_TAKEN the idempotencyKey "key of ${other}" was used for ${other === "entry" ? "an" : "a"} ${other}`,
      );
    }
    for (const kind of kinds) await make[kind](`key of ${kind}`);
    expect((await engine.entries.list(OF)).items).toHaveLength(1);
    expect((await engine.credits.list({ filter: { accountId: "prod" } })).items).toHaveLength(1);
    expect((await engine.licenses.list({ filter: { accountId: "prod" } })).items).toHaveLength(1);
    // Keys are separate for each account.
    expect((await make.entry("key of credit", "test")).accountId).toBe("test");
  });

  test("S10.1 returns the first quantity again, whatever arrived since", async () => {
    const { engine, at } = await loadedAt("2024-03-01", FEATURE_BOOK);
    const seats = { licenseId: "seats", updateType: "RELATIVE" as const, quantity: 5, idempotencyKey: "k1" };
    const first = await at("2024-03-10").licenses.update("prod", seats);
    const earlier = { ...seats, quantity: 4, effectiveFrom: "2024-03-02T00:00:00Z", idempotencyKey: "k2" };
    await at("2024-03-11").licenses.update("prod", earlier);
    const again = await at("2024-03-12").licenses.update("prod", seats);
    expect([first, again].map(({ quantity }) => String(quantity))).toEqual(["5", "5"]);
    expect(again).toEqual(first);
    // The same instant, but explicit: a different body. And vice versa.
    const license = { ...seats, effectiveFrom: "2024-03-10T00:00:00Z" };
    expect(await describeRefusal(engine.licenses.update("prod", license))).toMatch(/^ERR_TAKEN/);
    expect(await describeRefusal(engine.licenses.update("prod", { ...earlier, effectiveFrom: undefined }))).toMatch(
      /^ERR_TAKEN/,
    );
  });

  test("S11.8 is compared by the original request, and returns the entry in its current state", async () => {
    const { engine, at } = await loadedAt("2024-03-01", FEATURE_BOOK);
    const request = { granted: 10, ...MARCH, idempotencyKey: "k1" };
    const { id } = await engine.entries.grant(OF, request);
    await at("2024-03-02T01:00:00Z").entitle(callEvent("e1", "2024-03-02T00:00:00Z", 8));
    await engine.entries.update({ accountId: "prod", entryId: id }, { granted: 20 });
    await engine.entries.void({ accountId: "prod", entryId: id });
    const again = await engine.entries.grant(OF, request);
    expect([again.id, String(again.granted), String(again.balance), again.voided]).toEqual([id, "20", "12", true]);
    expect(await describeRefusal(engine.entries.grant(OF, { ...request, granted: 20 }))).toBe(
      'ERR_TAKEN the idempotencyKey "k1" was used for another entry',
    );
    expect(await describeRefusal(engine.entries.grant({ ...OF, featureId: "other" }, request))).toMatch(/^ERR_TAKEN/);
  });

  test("S12.4 returns a credit that was consumed since; twice in one request it is one credit", async () => {
    const { engine, at } = await loadedAt("2024-03-01", FEATURE_BOOK);
    await engine.entries.grant(OF, { granted: 10, ...MARCH });
    const requestWithKey = { ...gift, idempotencyKey: "k1" };
    const [first, twin, plain] = await engine.credits.create([
      requestWithKey,
      { ...requestWithKey, creditAmount: "5.0" },
      gift,
    ]);
    expect([twin?.credit.id === first?.credit.id, plain?.credit.id === first?.credit.id]).toEqual([true, false]);
    await at("2024-03-03").ingest([callEvent("e1", "2024-03-02T00:00:00Z", 7)]);
    await at("2024-04-02").finalize();
    const [again, ...others] = await engine.credits.create([requestWithKey]);
    expect(others).toEqual([]);
    expect([again?.credit.id, again?.status, String(again?.credit.consumedAmount)]).toEqual([
      first?.credit.id,
      "CONSUMED",
      "5",
    ]);
    const unlike = [
      { ...gift, idempotencyKey: "k2" },
      { ...gift, purpose: "other", idempotencyKey: "k2" },
    ];
    expect(await describeRefusal(engine.credits.create(unlike))).toBe(
      'ERR_TAKEN the idempotencyKey "k2" was used for another credit',
    );
    expect((await engine.credits.list({ filter: { accountId: "prod" } })).items).toHaveLength(2);
  });
});
