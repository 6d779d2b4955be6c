/** Work on an account with decades of cycles behind lets others work meanwhile (S13.4). */
import { expect, test } from "vitest";

import type { Engine } from "../../../src/index.ts";
import { perUnit } from "../../book/builder.ts";
import { activeSchema, call, customerWith, type EngineUnderTest, engineAt, sumMeter } from "../support.ts";

/** An engine whose account is 2,967 weeks behind, and its plan. */
async function farBehind(): Promise<EngineUnderTest & { readonly planId: string }> {
  const world = engineAt("2024-06-15");
  const { engine, at } = world;
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
  return { ...world, planId: plan.id };
}

/** What others had of the time that a work took. */
interface Turns {
  readonly turns: number;
  /** All that this process worked, in milliseconds: other processes do not count. */
  readonly worked: number;
  /** The longest of it between two turns. */
  readonly longest: number;
}

async function turnsDuring(work: () => Promise<unknown>): Promise<Turns> {
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

/** How long a step takes depends on the machine; that there are many of them does not. */
function expectGivenWay({ turns, worked, longest }: Turns): void {
  expect(turns).toBeGreaterThan(10);
  expect(longest).toBeLessThan(worked / 3);
}

test("the first bill run of 2,967 weeks gives way to others again and again", async () => {
  const { engine } = await farBehind();
  let finalized = 0;
  expectGivenWay(await turnsDuring(async () => ({ finalized } = await engine.finalize())));
  expect(finalized).toBe(2967);
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
    const { engine, planId } = await farBehind();
    expectGivenWay(await turnsDuring(() => work(engine, planId)));
  },
  60_000,
);
