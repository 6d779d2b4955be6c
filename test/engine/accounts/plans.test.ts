/** Price plans, associations and migrations through the engine API (S16.1, S16.2, S16.4, S16.5). */
import { describe, expect, test } from "vitest";

import { createEngine, type Engine, memoryStore } from "../../../src/index.ts";
import { activeSchema, customerWith, engineAt, monthly, describeRefusal, sumMeter } from "../support.ts";

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
    expect(await describeRefusal(engine.pricePlans.update(planId, { mode: "SOON" as never }))).toBe(
      "ERR_INPUT_INVALID mode: expected IMMEDIATE, IMMEDIATE_IGNORE_OVERRIDE, NEXT_CYCLE, NEXT_CYCLE_IGNORE_OVERRIDE",
    );
    await engine.pricePlans.activate(planId);
    const versions = [await engine.pricePlans.get(planId), await engine.pricePlans.get(planId, 1)];
    expect(versions.map(({ item }) => [item.version, item.status])).toEqual([
      [2, "ACTIVE"],
      [1, "ACTIVE"],
    ]);
    expect((await engine.pricePlans.list({ filter: { status: "ACTIVE" } })).items).toHaveLength(1);
    await engine.pricePlans.archive(planId);
    expect(await describeRefusal(engine.pricePlans.update(planId, { description: "x" }))).toBe(
      `ERR_REFUSED version 2 of "${planId}" is archived; only a draft can be updated`,
    );
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
