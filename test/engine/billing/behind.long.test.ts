/** A bill run over an account with decades of cycles behind lets others work meanwhile (S13.4). */
import { expect, test } from "vitest";

import type { Engine } from "../../../src/index.ts";
import { perUnit } from "../../book/builder.ts";
import { activeSchema, call, customerWith, engineAt, sumMeter } from "../support.ts";

test("the first bill run of 2,967 weeks gives way to others again and again", async () => {
  const { engine, at } = engineAt("2024-06-15");
  await activeSchema(engine);
  await customerWith(engine);
  const usageMeterId = await sumMeter(engine);
  await engine.usageMeters.activate(usageMeterId);
  const { item: plan } = await engine.pricePlans.create({
    name: "Weeks",
    pricePlanDetails: {
      pricingCycleConfig: { interval: "WEEKLY", startOffset: { dayOffset: "1", monthOffset: "NIL" } },
      supportedCurrencies: ["USD"],
      usageRateCards: [{ usageMeterId, ...perUnit(2) }],
      minimumCommitment: { rateValues: [{ currency: "USD", rate: 7 }] },
    },
  });
  await engine.pricePlans.activate(plan.id);
  await engine.associate("prod", { pricePlanId: plan.id, effectiveFrom: "1967-08-07" });
  await engine.ingest([call("e", "2024-06-14T00:00:00Z", 1)]);
  at("2024-06-17");

  let [longest, turns, last] = [0, 0, performance.now()];
  const beat = setInterval(() => {
    const now = performance.now();
    [longest, turns, last] = [Math.max(longest, now - last), turns + 1, now];
  }, 1);
  const start = performance.now();
  const { finalized } = await engine.finalize();
  const taken = performance.now() - start;
  clearInterval(beat);

  expect(finalized).toBe(2967);
  // How long a step takes depends on the machine; that there are many of them does not.
  expect(turns).toBeGreaterThan(10);
  expect(longest).toBeLessThan(taken / 3);
  const { items } = await engine.invoices.list({ filter: { accountId: "prod" }, page: { limit: 3 } });
  // The week that runs since midnight, the one with the call of 2 beside the commitment of 7, and one without.
  expect(
    items.map(({ invoice }) => [invoice.startDate.slice(0, 10), invoice.status, invoice.revenueInfo.value.toNumber()]),
  ).toEqual([
    ["2024-06-17", "DRAFT", 7],
    ["2024-06-10", "DUE", 7],
    ["2024-06-03", "DUE", 7],
  ]);
});

/** What is done first with an account that is decades behind, before any bill run. */
const FIRST: readonly (readonly [string, (engine: Engine, planId: string) => Promise<unknown>])[] = [
  ["a list of its invoices", (engine) => engine.invoices.list({ filter: { accountId: "prod" } })],
  ["a list of its credits", (engine) => engine.credits.list({ filter: { accountId: "prod" } })],
  ["a preview", (engine) => engine.preview({ accountIds: ["prod"] })],
  ["an event", (engine) => engine.ingest([call("f", "2024-06-16T00:00:00Z", 1)])],
  ["a plan change", (engine, pricePlanId) => engine.associate("prod", { pricePlanId, effectiveFrom: "2024-06-20" })],
];

test.each(FIRST)(
  "%s of 2,967 weeks gives way to others again and again",
  async (_, work) => {
    const { engine, at } = engineAt("2024-06-15");
    await activeSchema(engine);
    await customerWith(engine);
    const usageMeterId = await sumMeter(engine);
    await engine.usageMeters.activate(usageMeterId);
    const { item: plan } = await engine.pricePlans.create({
      name: "Weeks",
      pricePlanDetails: {
        pricingCycleConfig: { interval: "WEEKLY", startOffset: { dayOffset: "1", monthOffset: "NIL" } },
        supportedCurrencies: ["USD"],
        usageRateCards: [{ usageMeterId, ...perUnit(2) }],
        minimumCommitment: { rateValues: [{ currency: "USD", rate: 7 }] },
      },
    });
    await engine.pricePlans.activate(plan.id);
    await engine.associate("prod", { pricePlanId: plan.id, effectiveFrom: "1967-08-07" });
    at("2024-06-17");
    let [longest, turns, last] = [0, 0, performance.now()];
    const beat = setInterval(() => {
      const now = performance.now();
      [longest, turns, last] = [Math.max(longest, now - last), turns + 1, now];
    }, 1);
    const start = performance.now();
    await work(engine, plan.id);
    const taken = performance.now() - start;
    clearInterval(beat);
    expect(turns).toBeGreaterThan(10);
    expect(longest).toBeLessThan(taken / 3);
  },
  60_000,
);
