/** An account that is decades of cycles behind, and how long others wait for the work on it. */
import { createEngine, type Engine } from "../../../src/engine/engine.ts";
import { memoryStore } from "../../../src/store/memory/memory.ts";
import type { Store } from "../../../src/store/store.ts";
import { perUnit } from "../../book/builder.ts";
import { activeSchema, call, customerWith, sumMeter } from "../support.ts";

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
  await engine.ingest([call("e", "2024-06-14T00:00:00Z", 1)]);
  now = Date.parse("2024-06-17T00:00:00Z");
  return { engine, planId: plan.id };
}

/** What others had of the time that a work took. */
export interface Turns {
  readonly turns: number;
  /** All that this process worked, in milliseconds: other processes do not count. */
  readonly worked: number;
  /** The longest of it between two turns. */
  readonly longest: number;
}

/** Does a work, and looks at the clock whenever it has its turn. */
export async function turnsDuring(work: () => Promise<unknown>): Promise<Turns> {
  const used = (): number => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  };
  const start = used();
  let [longest, turns, last] = [0, 0, start];
  const beat = setInterval(() => {
    const now = used();
    [longest, turns, last] = [Math.max(longest, now - last), turns + 1, now];
  }, 1);
  await work();
  clearInterval(beat);
  const end = used();
  return { turns, worked: end - start, longest: Math.max(longest, end - last) };
}
