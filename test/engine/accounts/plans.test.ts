/** Price plans, associations and migrations through the engine API (S16.1, S16.2, S16.4, S16.5). */
import { describe, expect, test } from "vitest";

import { createEngine, type Engine, memoryStore } from "../../../src/index.ts";
import { perUnit } from "../../book/builder.ts";
import { activeSchema, callEvent, customerWith, engineAt, monthly, describeRefusal, sumMeter } from "../support.ts";

/** A plan with one usage card, ACTIVE. */
async function activePlan(
  engine: Engine,
  name = "Team",
): Promise<{ readonly planId: string; readonly meterId: string }> {
  await activeSchema(engine);
  const meterId = await sumMeter(engine);
  await engine.usageMeters.activate(meterId);
  const { item } = await engine.pricePlans.create({ name, pricePlanDetails: monthly(meterId) });
  await engine.pricePlans.activate(item.id);
  return { planId: item.id, meterId };
}

test("S16.1 the first plan of an account may begin as far in the past as the engine is configured to allow", async () => {
  const now = Date.parse("2024-02-29T12:00:00Z");
  const engine = createEngine({ store: memoryStore(), clock: () => now, associationYearsMax: 1 });
  const { planId: pricePlanId } = await activePlan(engine);
  await customerWith(engine);
  expect(await describeRefusal(engine.associate("prod", { pricePlanId, effectiveFrom: "2023-02-27" }))).toBe(
    "ERR_INPUT_INVALID effectiveFrom: expected 2023-02-28 or later: the first plan of an account can start at most one year in the past, got 2023-02-27",
  );
  expect(await engine.associate("prod", { pricePlanId, effectiveFrom: "2023-02-28" })).toHaveLength(1);
  const none = createEngine({ store: memoryStore(), associationYearsMax: 0 });
  expect(await describeRefusal(none.settings.list())).toMatch(
    "ERR_OPTION_INVALID associationYearsMax: expected a whole",
  );
});

describe("price plans", () => {
  test("S16.4 keys in pricePlanDetails are replaced, others are unchanged", async () => {
    const { engine } = engineAt("2024-03-01");
    const { item } = await engine.pricePlans.create({ name: "Team", pricePlanDetails: monthly() });
    const cycle = { interval: "ANNUALLY", startOffset: { dayOffset: "1", monthOffset: "FIRST" } } as const;
    const draft = await engine.pricePlans.update(item.id, { pricePlanDetails: { pricingCycleConfig: cycle } });
    expect(draft.item.pricePlanDetails.pricingCycleConfig?.interval).toBe("ANNUALLY");
    expect(draft.item.pricePlanDetails.supportedCurrencies).toEqual(["USD"]);
  });

  test("S16.4 only a DRAFT can be updated; the next version is a DRAFT, and becomes ACTIVE beside the older one", async () => {
    const { engine } = engineAt("2024-03-01");
    const { planId } = await activePlan(engine);
    expect(await describeRefusal(engine.pricePlans.update(planId, { description: "x" }))).toBe(
      `ERR_REFUSED version 1 of "${planId}" is active; only a draft can be updated`,
    );
    const next = await engine.pricePlans.createVersion(planId, { description: "dearer" });
    expect([next.item.version, next.item.status, next.item.description]).toEqual([2, "DRAFT", "dearer"]);
    expect(await describeRefusal(engine.pricePlans.createVersion(planId))).toBe(
      `ERR_REFUSED version 2 of "${planId}" is a draft; edit it`,
    );
    await engine.pricePlans.activate(planId);
    const versions = [await engine.pricePlans.get(planId), await engine.pricePlans.get(planId, 1)];
    expect(versions.map(({ item }) => [item.version, item.status])).toEqual([
      [2, "ACTIVE"],
      [1, "ACTIVE"],
    ]);
    expect((await engine.pricePlans.list({ filter: { status: "ACTIVE" } })).items).toHaveLength(1);
  });

  test("S5.4 a plan becomes ACTIVE only with ACTIVE meters", async () => {
    const { engine } = engineAt("2024-03-01");
    await activeSchema(engine);
    const meterId = await sumMeter(engine);
    const { item } = await engine.pricePlans.create({ name: "Team", pricePlanDetails: monthly(meterId) });
    expect(await describeRefusal(engine.pricePlans.activate(item.id))).toBe(
      `ERR_INPUT_INVALID pricePlanDetails.usageRateCards[0].usageMeterId: the usage meter "${meterId}" is a draft; it must be active because the price plan is active or associated with an account`,
    );
  });

  test("S16.4 a stored migration mode moves the accounts of the previous version when the new one is activated", async () => {
    const { engine, at } = engineAt("2024-03-01");
    const { planId, meterId } = await activePlan(engine);
    await customerWith(engine);
    await engine.associate("prod", { pricePlanId: planId, effectiveFrom: "2024-03-01" });
    const later = at("2024-03-10");
    await later.pricePlans.createVersion(planId);
    await later.pricePlans.update(planId, {
      pricePlanDetails: { usageRateCards: [{ usageMeterId: meterId, ...perUnit(2) }] },
      mode: "NEXT_CYCLE",
    });
    expect(await describeRefusal(later.pricePlans.update(planId, { mode: "SOON" as never }))).toBe(
      "ERR_INPUT_INVALID mode: expected IMMEDIATE, IMMEDIATE_IGNORE_OVERRIDE, NEXT_CYCLE, NEXT_CYCLE_IGNORE_OVERRIDE",
    );
    await later.pricePlans.activate(planId);
    const schedules = await later.accounts.pricingSchedules("prod");
    expect(schedules.map(({ version, from }) => [version, new Date(from).toISOString().slice(0, 10)])).toEqual([
      [1, "2024-03-01"],
      [2, "2024-04-01"],
    ]);
    expect((await later.migrations.list()).items).toMatchObject([
      { status: "COMPLETED", total: 1, moved: 1, skipped: 0 },
    ]);
  });

  test("an archived plan stays with its accounts, and can't be associated with others", async () => {
    const { engine } = engineAt("2024-03-01");
    const { planId } = await activePlan(engine);
    await customerWith(engine);
    await engine.accounts.create({ id: "test", name: "Acme test", customerId: "acme" });
    await engine.associate("prod", { pricePlanId: planId, effectiveFrom: "2024-03-01" });
    expect((await engine.pricePlans.archive(planId)).item.status).toBe("ARCHIVED");
    expect(await engine.accounts.pricingSchedules("prod")).toHaveLength(1);
    expect(await describeRefusal(engine.associate("test", { pricePlanId: planId, effectiveFrom: "2024-03-01" }))).toBe(
      `ERR_REFUSED the price plan "${planId}" has no active version`,
    );
    expect(await describeRefusal(engine.pricePlans.archive(planId))).toBe(
      'ERR_REFUSED the price plan "Team" is archived; it must be a draft or active to become archived',
    );
  });
});

describe("associations", () => {
  test("S16.2 an override replaces the card of its meter, and the schedule shows it", async () => {
    const { engine, at } = engineAt("2024-03-01");
    const { planId, meterId } = await activePlan(engine);
    await customerWith(engine);
    const override = { usageRateCards: [{ usageMeterId: meterId, ...perUnit(3) }] };
    const [schedule] = await engine.associate("prod", {
      pricePlanId: planId,
      effectiveFrom: "2024-03-01",
      pricePlanDetailsOverride: override,
    });
    expect(schedule?.override?.usageRateCards).toHaveLength(1);
    await at("2024-03-05").ingest([callEvent("e1", "2024-03-04T00:00:00Z", 4)]);
    const { invoices } = await engine.preview({ asOf: "2024-04-01T00:00:00Z" });
    expect(invoices[0]?.invoice.revenueInfo.value.toFixed()).toBe("12");
  });

  test("S7.7 rejects an override without a rate in the account's currency, with its path", async () => {
    const { engine } = engineAt("2024-03-01");
    const { planId, meterId } = await activePlan(engine);
    await customerWith(engine);
    const card = { usageMeterId: meterId, ...perUnit(3), rateValues: [] };
    const sentence = await describeRefusal(
      engine.associate("prod", {
        pricePlanId: planId,
        effectiveFrom: "2024-03-01",
        pricePlanDetailsOverride: { usageRateCards: [card] },
      }),
    );
    expect(sentence).toMatch(/^ERR_INPUT_INVALID pricePlanDetailsOverride\.usageRateCards\[0\]\.rateValues/);
  });

  test.each([
    [
      "an unknown plan",
      { pricePlanId: "pp.no", effectiveFrom: "2024-03-01" },
      'ERR_NOT_FOUND no price plan has the id "pp.no"',
    ],
    ["no date", { pricePlanId: "pp.no" }, "ERR_INPUT_INVALID effectiveFrom: missing: expected a date"],
    [
      "a time of day",
      { pricePlanId: "pp.no", effectiveFrom: "2024-03-01T01:00:00Z" },
      /^ERR_INPUT_INVALID effectiveFrom: "2024-03-01T01:00:00Z" is not a date: expected a date, or midnight UTC/,
    ],
    [
      "an unknown field",
      { pricePlanId: "pp.no", effectiveFrom: "2024-03-01", until: "2025-01-01" },
      "ERR_INPUT_INVALID until: unknown field",
    ],
  ])("rejects %s", async (_, association, sentence) => {
    const { engine } = engineAt("2024-03-01");
    await customerWith(engine);
    expect(await describeRefusal(engine.associate("prod", association as Parameters<Engine["associate"]>[1]))).toMatch(
      sentence,
    );
  });

  test("S16.1 a second plan can't start in the past; an unknown account has no schedule", async () => {
    const { engine, at } = engineAt("2024-03-01");
    const { planId } = await activePlan(engine);
    await customerWith(engine);
    await engine.associate("prod", { pricePlanId: planId, effectiveFrom: "2024-01-01" });
    expect(
      await describeRefusal(at("2024-03-05").associate("prod", { pricePlanId: planId, effectiveFrom: "2024-03-04" })),
    ).toBe("ERR_REFUSED plan changes can't be backdated: the earliest date is today (2024-03-05)");
    expect(await describeRefusal(engine.associate("nope", { pricePlanId: planId, effectiveFrom: "2024-03-05" }))).toBe(
      'ERR_NOT_FOUND no account has the id "nope"',
    );
  });
});

describe("migrations", () => {
  test("S16.5 without matching accounts succeeds with 0; source = target is rejected", async () => {
    const { engine } = engineAt("2024-03-01");
    const { planId } = await activePlan(engine);
    await engine.pricePlans.createVersion(planId);
    await engine.pricePlans.activate(planId);
    const move = { sourceId: planId, sourceVersion: 1, targetId: planId, targetVersion: 2, mode: "IMMEDIATE" as const };
    expect(await engine.migrate(move)).toMatchObject({ status: "COMPLETED", total: 0, moved: 0, skipped: 0 });
    expect(await describeRefusal(engine.migrate({ ...move, targetVersion: 1 }))).toBe(
      `ERR_REFUSED source and target are both version 1 of "${planId}"; choose another target version`,
    );
    expect(await describeRefusal(engine.migrate({ ...move, sourceVersion: 7 }))).toBe(
      `ERR_NOT_FOUND the price plan "${planId}" has no version 7`,
    );
    expect((await engine.migrations.list()).items).toHaveLength(1);
  });

  test("S16.5 IMMEDIATE cuts the cycle of every account on the source", async () => {
    const { engine, at } = engineAt("2024-03-01");
    const { planId } = await activePlan(engine);
    await customerWith(engine);
    await engine.accounts.create({ id: "test", name: "Acme test", customerId: "acme" });
    for (const id of ["prod", "test"]) await engine.associate(id, { pricePlanId: planId, effectiveFrom: "2024-03-01" });
    await engine.pricePlans.createVersion(planId);
    await engine.pricePlans.activate(planId);
    const later = at("2024-03-11T15:00:00Z");
    const migration = await later.migrate({
      sourceId: planId,
      sourceVersion: 1,
      targetId: planId,
      targetVersion: 2,
      mode: "IMMEDIATE",
    });
    expect(migration).toMatchObject({ total: 2, moved: 2, skipped: 0 });
    for (const id of ["prod", "test"]) {
      const schedules = await later.accounts.pricingSchedules(id);
      expect(schedules.map(({ version, from }) => [version, new Date(from).toISOString().slice(0, 10)])).toEqual([
        [1, "2024-03-01"],
        [2, "2024-03-11"],
      ]);
    }
  });
});
