/** Processing an account that is decades behind yields to other work (S13.4). */
import { expect, test } from "vitest";

import { createEngine, type Engine, memoryStore } from "../../../src/index.ts";
import { callEvent } from "../support.ts";
import { farBehind, pausesDuring } from "./overdue-account.ts";

test("the first bill run of 2,967 weeks yields to other work regularly", async () => {
  const { engine } = await farBehind();
  let finalCount = 0;
  const pauses = await pausesDuring(async () => ({ finalized: finalCount } = await engine.finalize()));
  expect(pauses).toBeGreaterThan(90);
  expect(finalCount).toBe(2967);
  const { items } = await engine.invoices.list({ filter: { accountId: "prod" }, page: { limit: 3 } });
  // The current week, the one with the call of 2 and the commitment of 7, and one without calls.
  expect(
    items.map(({ invoice }) => [invoice.startDate.slice(0, 10), invoice.status, invoice.revenueInfo.value.toNumber()]),
  ).toEqual([
    ["2024-06-17", "DRAFT", 7],
    ["2024-06-10", "DUE", 7],
    ["2024-06-03", "DUE", 7],
  ]);
});

test("loading a book whose account has 2,967 weeks yields to other work regularly", async () => {
  const store = memoryStore();
  const engine = createEngine({ store, clock: () => Date.parse("2024-06-15T00:00:00Z") });
  const pricePlanDetails = {
    supportedCurrencies: ["USD"],
    pricingCycleConfig: { interval: "WEEKLY", startOffset: { dayOffset: "1", monthOffset: "NIL" } },
    fixedFeeRateCards: [{ id: "addon.fee", rateValues: [{ currency: "USD", rate: 30 }] }],
  } as const;
  const pricePlans = [{ pricePlanId: "pp.weeks", effectiveFrom: "1967-08-07", decidedAt: "2024-06-15T00:00:00Z" }];
  const pauses = await pausesDuring(() =>
    engine.load({
      addOns: [{ id: "addon.fee", name: "Fee", type: "FIXED_FEE" }],
      pricePlans: [{ id: "pp.weeks", name: "Weeks", status: "ACTIVE", version: 1, pricePlanDetails }],
      customers: [{ id: "acme", name: "Acme" }],
      accounts: ["one", "two", "three", "four"].map((id) => ({ id, name: id, customerId: "acme", pricePlans })),
    }),
  );
  expect(pauses).toBeGreaterThan(90);
  expect((await store.read.draftList({}, { limit: 1 }))[0]?.listedAt).toBe(Date.parse("2024-06-17T00:00:00Z"));
});

/** The first operation on an account that is decades behind, before any bill run. */
const FIRST: readonly (readonly [string, (engine: Engine, planId: string) => Promise<unknown>])[] = [
  ["a list of its invoices", (engine) => engine.invoices.list({ filter: { accountId: "prod" } })],
  ["a list of its credits", (engine) => engine.credits.list({ filter: { accountId: "prod" } })],
  ["a preview", (engine) => engine.preview({ accountIds: ["prod"] })],
  ["an event", (engine) => engine.ingest([callEvent("f", "2024-06-16T00:00:00Z", 1)])],
  ["a plan change", (engine, pricePlanId) => engine.associate("prod", { pricePlanId, effectiveFrom: "2024-06-20" })],
];

test.each(FIRST)("%s of 2,967 weeks yields to other work regularly", async (_, work) => {
  const { engine, planId } = await farBehind();
  expect(await pausesDuring(() => work(engine, planId))).toBeGreaterThan(90);
});
