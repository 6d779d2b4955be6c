/** Licenses, feature credit entries and credits through the engine API (S10.1, S11.8, S12). */
import { describe, expect, test } from "vitest";

import type { Engine, EventInput } from "../../../src/index.ts";
import { perUnit } from "../../book/builder.ts";
import {
  activeSchema,
  callEvent,
  customerWith,
  engineAt,
  type EngineUnderTest,
  monthly,
  describeRefusal,
  sumMeter,
} from "../support.ts";

/** An account on a plan with seats, whose events consume a feature. */
async function withFeature(engine: Engine): Promise<{ readonly featureId: string; readonly seatsId: string }> {
  await activeSchema(engine);
  await customerWith(engine);
  const meterId = await sumMeter(engine);
  await engine.usageMeters.activate(meterId);
  const feature = await engine.features.create({ name: "Calls", schemaAssociations: ["call"] });
  const seats = await engine.addOns.create({ name: "Seats", type: "LICENSE" });
  const plan = await engine.pricePlans.create({
    name: "Team",
    pricePlanDetails: {
      ...monthly(meterId),
      licenseRateCards: [{ id: seats.item.id, config: { maxQuantity: 20 }, ...perUnit(10) }],
    },
  });
  await engine.pricePlans.activate(plan.item.id);
  await engine.associate("prod", { pricePlanId: plan.item.id, effectiveFrom: "2024-03-01" });
  return { featureId: feature.item.id, seatsId: seats.item.id };
}

const MARCH = { effectiveFrom: "2024-03-01T00:00:00Z", effectiveUntil: "2024-04-01T00:00:00Z" };

describe("licenses", () => {
  test("S10.1 updates return the resulting quantity; a repeated idempotencyKey makes no second update", async () => {
    const { engine, at } = engineAt("2024-03-01");
    const { seatsId } = await withFeature(engine);
    const first = await engine.licenses.update("prod", { licenseId: seatsId, updateType: "ABSOLUTE", quantity: 10 });
    const more = { licenseId: seatsId, updateType: "RELATIVE" as const, quantity: "2", idempotencyKey: "k1" };
    const second = await at("2024-03-02").licenses.update("prod", more);
    const again = await engine.licenses.update("prod", more);
    expect([first, second, again].map(({ quantity }) => String(quantity))).toEqual(["10", "12", "12"]);
    expect(again.update.id).toBe(second.update.id);
    const { items } = await engine.licenses.list({ filter: { accountId: "prod", licenseId: seatsId } });
    expect(items.map(({ quantity, accountId }) => [String(quantity), accountId])).toEqual([
      ["2", "prod"],
      ["10", "prod"],
    ]);
    expect(await describeRefusal(engine.licenses.update("prod", { ...more, quantity: 3 }))).toBe(
      'ERR_TAKEN the idempotencyKey "k1" was used for another license update',
    );
    expect(await describeRefusal(engine.licenses.update("prod", { ...more, idempotencyKey: "k2", quantity: 9 }))).toBe(
      `ERR_REFUSED the account would have 21 of "${seatsId}" from 2024-03-02T00:00:00.000Z on; the quantity must be from 0 to 20`,
    );
  });
});

describe("feature credit entries", () => {
  test("S11.8 an entry is granted, consumed, raised and voided; consumed units stay consumed", async () => {
    const { engine, at } = engineAt("2024-03-01");
    const { featureId } = await withFeature(engine);
    const of = { accountId: "prod", featureId };
    const entry = await engine.entries.grant(of, { granted: 10, ...MARCH, idempotencyKey: "k1" });
    const same = await engine.entries.grant(of, { granted: "10", ...MARCH, idempotencyKey: "k1" });
    expect([same.id, same.source, String(same.balance)]).toEqual([entry.id, "PURCHASE", "10"]);
    const event = callEvent("e1", "2024-03-02T00:00:00Z", 8);
    expect(await at("2024-03-02T01:00:00Z").entitle(event)).toMatchObject({
      allowed: true,
      status: "INGESTION_COMPLETED_EVENT_METERED",
    });
    expect(await engine.entitle(callEvent("e2", "2024-03-02T00:00:00Z", 3))).toMatchObject({
      allowed: false,
      status: "INGESTION_FAILED_INSUFFICIENT_CREDITS",
    });
    // This callEvent consumed nothing: the event counted before.
    expect(await engine.entitle(event)).toMatchObject({ allowed: false, status: "INGESTION_FAILED_DUPLICATE_EVENT" });
    const target = { accountId: "prod", entryId: entry.id };
    const update = await engine.entries.update(target, { granted: 12 });
    expect([String(update.granted), String(update.balance)]).toEqual(["12", "4"]);
    expect(await describeRefusal(engine.entries.update(target, { granted: 7 }))).toBe(
      "ERR_REFUSED granted: expected at least 8, which events have used, got 7",
    );
    expect(await describeRefusal(engine.entries.update(target, { effectiveUntil: "2024-03-02T00:00:00Z" }))).toBe(
      "ERR_REFUSED effectiveUntil: expected a time after 2024-03-02T00:00:00.000Z, when an event last used the entry",
    );
    expect(await describeRefusal(engine.entries.update(target, {}))).toBe(
      "ERR_INPUT_INVALID granted: missing: expected granted or effectiveUntil",
    );
    expect((await engine.entries.void(target)).voided).toBe(true);
    expect(await describeRefusal(engine.entries.void(target))).toBe(
      `ERR_REFUSED the entry "${entry.id}" is already voided`,
    );
    const balance = await engine.entries.balance(of);
    expect([String(balance.granted), String(balance.balance), balance.usedOverage]).toEqual(["0", "0", undefined]);
  });

  test("S11.2 an entry shows its state, and lookup by feature returns only entries of the feature", async () => {
    const { engine, at } = engineAt("2024-03-01");
    const { featureId } = await withFeature(engine);
    const other = (await engine.features.create({ name: "Other" })).item.id;
    const of = { accountId: "prod", featureId };
    const first = await engine.entries.grant(of, { granted: 10, ...MARCH });
    const second = await engine.entries.grant(of, { granted: 5, ...MARCH });
    const target = { accountId: "prod", entryId: first.id };
    const sentence = `ERR_NOT_FOUND no feature credit entry has the id "${first.id}"`;
    expect(await describeRefusal(engine.entries.void({ ...target, featureId: other }))).toBe(sentence);
    expect(await describeRefusal(engine.entries.update({ ...target, featureId: other }, { granted: 1 }))).toBe(
      sentence,
    );
    expect(await describeRefusal(engine.entries.void({ ...target, featureId: "ft.no" }))).toBe(
      'ERR_NOT_FOUND no feature has the id "ft.no"',
    );
    expect((await engine.entries.update({ ...target, featureId }, { granted: 11 })).status).toBe("ACTIVE");
    expect((await at("2024-04-01").entries.void({ ...target, featureId })).status).toBe("VOIDED");
    const { items } = await engine.entries.list(of);
    expect(new Map(items.map(({ id, status }) => [id, status]))).toEqual(
      new Map([
        [first.id, "VOIDED"],
        [second.id, "EXPIRED"],
      ]),
    );
  });

  test.each([
    [
      "an unknown feature",
      { featureId: "ft.no" },
      { granted: 1, ...MARCH },
      'ERR_NOT_FOUND no feature has the id "ft.no"',
    ],
    ["an unknown account", { accountId: "no" }, { granted: 1, ...MARCH }, 'ERR_NOT_FOUND no account has the id "no"'],
    ["less than nothing", {}, { granted: -1, ...MARCH }, "ERR_INPUT_INVALID granted: expected 0 or more, got -1"],
    [
      "an end before its start",
      {},
      { granted: 1, effectiveFrom: MARCH.effectiveUntil, effectiveUntil: MARCH.effectiveFrom },
      /^ERR_INPUT_INVALID effectiveUntil: expected a time after/,
    ],
  ])("rejects a grant of %s", async (_, target, grant, sentence) => {
    const { engine } = engineAt("2024-03-01");
    const { featureId } = await withFeature(engine);
    expect(await describeRefusal(engine.entries.grant({ accountId: "prod", featureId, ...target }, grant))).toMatch(
      sentence,
    );
  });
});

/** An account with overage at 1 a unit that gets a plan with these grants at noon of 10 March, the current time. */
async function grantedLate(
  limits: readonly { readonly featureCreditLimit: number; readonly effectiveUntil: string }[],
  overage: readonly EventInput[],
): Promise<EngineUnderTest & { readonly of: { readonly accountId: string; readonly featureId: string } }> {
  const { engine, at, store } = engineAt("2024-03-01");
  await activeSchema(engine);
  await customerWith(engine);
  const { item: feature } = await engine.features.create({ name: "Calls", schemaAssociations: ["call"] });
  const charging = { entitlementOverageRateCards: [{ featureId: feature.id, ...perUnit(1) }] };
  const granting = { billingEntitlementRateCards: [{ featureId: feature.id, featureConfigs: limits, ...perUnit(0) }] };
  const planIds: string[] = [];
  for (const [name, cards] of [
    ["Without", {}],
    ["With", granting],
  ] as const) {
    const { item } = await engine.pricePlans.create({
      name,
      pricePlanDetails: { ...monthly(), ...charging, ...cards },
    });
    planIds.push((await engine.pricePlans.activate(item.id)).item.id);
  }
  const [without = "", granted = ""] = planIds;
  await engine.associate("prod", { pricePlanId: without, effectiveFrom: "2024-03-01" });
  await at("2024-03-10T06:00:00Z").ingest(overage);
  await at("2024-03-10T12:00:00Z").associate("prod", { pricePlanId: granted, effectiveFrom: "2024-03-10" });
  return { engine, at, store, of: { accountId: "prod", featureId: feature.id } };
}

describe("grants of a plan that is decided after overage of its first day", () => {
  const days = { from: "2024-03-01T00:00:00Z", until: "2024-04-01T00:00:00Z" };
  const listCalls = (count: number, quantity: number): readonly EventInput[] =>
    Array.from({ length: count }, (_, index) => callEvent(`e${index + 1}`, "2024-03-10T05:00:00Z", quantity));
  const limit = (featureCreditLimit: number, effectiveUntil = "P1M"): Parameters<typeof grantedLate>[0][number] => ({
    featureCreditLimit,
    effectiveUntil,
  });
  const balances = async (engine: Engine, of: { readonly accountId: string; readonly featureId: string }) =>
    (await engine.entries.list(of)).items
      .map(({ granted, balance }) => `${balance.toFixed()} of ${granted.toFixed()}`)
      .sort();
  const overageOf = async (engine: Engine): Promise<readonly string[]> =>
    (await engine.overage({ accountIds: ["prod"], ...days })).map(({ quantity }) => String(quantity));

  test("S11.5 move the overage that several of them cover only once", async () => {
    const { at, of } = await grantedLate([limit(15), limit(10)], listCalls(1, 20));
    const later = at("2024-03-11");
    // The result does not wait for a bill run (S2.4) or an event.
    expect(await overageOf(later)).toEqual([]);
    const listOverage = async (): Promise<readonly string[]> =>
      [...(await later.events.list()).items, ...(await later.events.get("e1"))].map(({ feature }) =>
        String(feature?.overage),
      );
    expect(await listOverage()).toEqual(["0", "0"]);
    await later.finalize();
    expect(["0 of 15,5 of 10", "0 of 10,5 of 15"]).toContain(String(await balances(later, of)));
    expect([await overageOf(later), await listOverage()]).toEqual([[], ["0", "0"]]);
  });

  test("S11.2 move overage to the one that ends first, whatever the order of the card", async () => {
    const { engine, of } = await grantedLate([limit(2), limit(7, "P21D")], listCalls(1, 3));
    // 3 of the 7 that end on 31 March; the 2 that end on 10 April stay.
    expect(await balances(engine, of)).toEqual(["2 of 2", "4 of 7"]);
  });

  test("S11.5 move overage of many events until all of them are used up", async () => {
    const { engine, at, of } = await grantedLate([limit(100), limit(100)], listCalls(250, 1));
    const entry = { granted: 30, effectiveFrom: "2024-03-01T00:00:00Z", effectiveUntil: "2024-04-01T00:00:00Z" };
    await at("2024-03-10T13:00:00Z").entries.grant(of, entry);
    // 250 - 100 - 100 - 30.
    expect([await overageOf(engine), await balances(engine, of)]).toEqual([
      ["20"],
      ["0 of 100", "0 of 100", "0 of 30"],
    ]);
  });

  test("S11.5 move overage of many events to units freed by an undo too", async () => {
    const { engine, at, of } = await grantedLate([limit(100)], listCalls(250, 1));
    await at("2024-03-10T13:00:00Z").undo({ account: "prod", eventId: "e1" });
    // 249 - 100.
    expect([await overageOf(engine), await balances(engine, of)]).toEqual([["149"], ["0 of 100"]]);
  });
});

describe("credits", () => {
  const credit = { accountId: "prod", purpose: "welcome", creditAmount: 5, priority: 1, effectiveFrom: "2024-03-01" };

  test("S12.4 a draft holds what it would consume; S12.5 a voided credit holds nothing", async () => {
    const { engine, at } = engineAt("2024-03-01");
    const { featureId } = await withFeature(engine);
    await engine.entries.grant({ accountId: "prod", featureId }, { granted: 10, ...MARCH });
    const [firstCredit] = await engine.credits.create([{ ...credit, idempotencyKey: "k1" }]);
    const [again] = await engine.credits.create([{ ...credit, idempotencyKey: "k1" }]);
    expect(again?.credit.id).toBe(firstCredit?.credit.id);
    await at("2024-03-03").ingest([callEvent("e1", "2024-03-02T00:00:00Z", 3)]);
    const id = firstCredit?.credit.id ?? "";
    const heldCredit = await engine.credits.get(id);
    expect([String(heldCredit.holdAmount), String(heldCredit.left), heldCredit.status]).toEqual(["3", "2", "ACTIVE"]);
    expect((await engine.credits.void(id)).status).toBe("VOIDED");
    expect(await describeRefusal(engine.credits.void(id))).toMatch(
      /^ERR_REFUSED .*; only an active credit can be voided$/,
    );
    expect((await engine.credits.list({ filter: { accountId: "prod" } })).items.map(({ status }) => status)).toEqual([
      "VOIDED",
    ]);
  });

  test.each([
    ["all or none", [credit, { ...credit, accountId: "no" }], 'ERR_NOT_FOUND no account has the id "no"'],
    [
      "an amount of nothing",
      [{ ...credit, creditAmount: 0 }],
      "ERR_INPUT_INVALID [0].creditAmount: expected more than 0, got 0",
    ],
    [
      "an unknown entity",
      [{ ...credit, applicableEntityIds: ["um.no"] }],
      "ERR_INPUT_INVALID [0].applicableEntityIds[0]: expected the id of a usage meter, add-on or feature, or ALL_…_RATE_CARDS",
    ],
    ["no credit at all", [], /^ERR_INPUT_INVALID/],
  ])("rejects %s and creates no credit", async (_, credits, sentence) => {
    const { engine } = engineAt("2024-03-01");
    await withFeature(engine);
    expect(await describeRefusal(engine.credits.create(credits))).toMatch(sentence);
    expect((await engine.credits.list()).items).toEqual([]);
  });

  test("an unknown credit is not found", async () => {
    const { engine } = engineAt("2024-03-01");
    expect(await describeRefusal(engine.credits.get("cr.no"))).toBe('ERR_NOT_FOUND no credit has the id "cr.no"');
    expect(await describeRefusal(engine.credits.void("cr.no"))).toBe('ERR_NOT_FOUND no credit has the id "cr.no"');
  });
});

describe("an idempotencyKey", () => {
  const gift = { accountId: "prod", purpose: "welcome", creditAmount: 5, priority: 1, effectiveFrom: "2024-03-01" };

  test("identifies one entry, one credit or one license update of its account permanently", async () => {
    const { engine, at } = engineAt("2024-03-01");
    const { featureId, seatsId } = await withFeature(engine);
    await engine.accounts.create({ id: "test", name: "Acme test", customerId: "acme" });
    const of = { accountId: "prod", featureId };
    const make = {
      entry: async (key: string, accountId = "prod") =>
        engine.entries.grant({ accountId, featureId }, { granted: 10, ...MARCH, idempotencyKey: key }),
      credit: async (key: string, accountId = "prod") =>
        engine.credits.create([{ ...gift, accountId, idempotencyKey: key }]),
      "license update": async (key: string, accountId = "prod") =>
        engine.licenses.update(accountId, {
          licenseId: seatsId,
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
    expect((await engine.entries.list(of)).items).toHaveLength(1);
    expect((await engine.credits.list({ filter: { accountId: "prod" } })).items).toHaveLength(1);
    expect((await engine.licenses.list({ filter: { accountId: "prod" } })).items).toHaveLength(1);
    // Keys are separate for each account.
    expect((await make.entry("key of credit", "test")).accountId).toBe("test");
  });

  test("S10.1 returns the first quantity again, whatever arrived since", async () => {
    const { engine, at } = engineAt("2024-03-01");
    const { seatsId } = await withFeature(engine);
    const seats = { licenseId: seatsId, updateType: "RELATIVE" as const, quantity: 5, idempotencyKey: "k1" };
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
    const { engine, at } = engineAt("2024-03-01");
    const { featureId } = await withFeature(engine);
    const of = { accountId: "prod", featureId };
    const request = { granted: 10, ...MARCH, idempotencyKey: "k1" };
    const { id } = await engine.entries.grant(of, request);
    await at("2024-03-02T01:00:00Z").entitle(callEvent("e1", "2024-03-02T00:00:00Z", 8));
    await engine.entries.update({ accountId: "prod", entryId: id }, { granted: 20 });
    await engine.entries.void({ accountId: "prod", entryId: id });
    const again = await engine.entries.grant(of, request);
    expect([again.id, String(again.granted), String(again.balance), again.voided]).toEqual([id, "20", "12", true]);
    expect(await describeRefusal(engine.entries.grant(of, { ...request, granted: 20 }))).toBe(
      'ERR_TAKEN the idempotencyKey "k1" was used for another entry',
    );
    const other = await engine.features.create({ name: "Other" });
    expect(
      await describeRefusal(engine.entries.grant({ accountId: "prod", featureId: other.item.id }, request)),
    ).toMatch(/^ERR_TAKEN/);
  });

  test("S12.4 returns a credit that was consumed since; twice in one request it is one credit", async () => {
    const { engine, at } = engineAt("2024-03-01");
    const { featureId } = await withFeature(engine);
    await engine.entries.grant({ accountId: "prod", featureId }, { granted: 10, ...MARCH });
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
