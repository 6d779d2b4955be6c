/** An account that is decades of cycles behind, and the number of pauses while it is processed. */
import { vi } from "vitest";

import { createEngine, type Engine } from "../../../src/engine/engine.ts";
import { memoryStore } from "../../../src/store/memory/memory.ts";
import type { Store } from "../../../src/store/store.ts";
import { perUnit } from "../../book/builder.ts";
import { activeSchema, callEvent, customerWith, sumMeter } from "../support.ts";

/** An engine whose account is 2,967 weeks behind, and its plan. */
export async function farBehind(
  store: Store = memoryStore(),
): Promise<{ readonly engine: Engine; readonly planId: string }> {
  let now = Date.parse("2024-06-15T00:00:00Z");
  const engine = createEngine({ store, clock: () => now });
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
  await engine.ingest([callEvent("e", "2024-06-14T00:00:00Z", 1)]);
  now = Date.parse("2024-06-17T00:00:00Z");
  return { engine, planId: plan.id };
}

/**
 * Counts the pauses of an operation if every check of the clock finds that it is time to yield, so that the speed of
 * the machine does not matter.
 */
export async function pausesDuring(work: () => Promise<unknown>): Promise<number> {
  let now = 0;
  const clock = vi.spyOn(performance, "now").mockImplementation(() => (now += 1000));
  const timers = vi.spyOn(globalThis, "setTimeout");
  try {
    await work();
    return timers.mock.calls.length;
  } finally {
    timers.mockRestore();
    clock.mockRestore();
  }
}
