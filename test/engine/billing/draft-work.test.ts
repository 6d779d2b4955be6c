/** What reads of drafts cost, in cards that are rated: a page costs what it shows, however many cycles are open (S12.3, S13.4). */
import { beforeEach, expect, test, vi } from "vitest";

import type { Engine } from "../../../src/engine/engine.ts";
import { plan } from "../../book/builder.ts";
import { type EngineUnderTest, engineAt } from "../support.ts";

const work = vi.hoisted(() => ({ rated: 0 }));

vi.mock("../../../src/rating/fixed-fee.ts", async (importOriginal) => {
  const original = await importOriginal<typeof import("../../../src/rating/fixed-fee.ts")>();
  const rateFixedFee: typeof original.rateFixedFee = (...given) => {
    work.rated += 1;
    return original.rateFixedFee(...given);
  };
  return { ...original, rateFixedFee };
});

beforeEach(() => {
  work.rated = 0;
});

/** How many fees are rated by a read. */
async function ratedBy(read: () => Promise<unknown>): Promise<number> {
  const before = work.rated;
  await read();
  return work.rated - before;
}

/** An account with so many fees of a dollar for each week since 2022-06-06, a Monday: 104 weeks have ended on 2024-06-03. */
async function weeks(
  fees: number,
  card: { readonly invoiceTiming: "IN_ADVANCE" | "IN_ARREARS" },
  creditAmount?: number,
): Promise<EngineUnderTest> {
  const under = engineAt("2024-06-03T12:00:00Z");
  const { engine } = under;
  const ids = Array.from({ length: fees }, (_, place) => `addon.fee${place}`);
  const details = {
    pricingCycleConfig: { interval: "WEEKLY", startOffset: { dayOffset: "1", monthOffset: "NIL" } },
    fixedFeeRateCards: ids.map((id) => ({ id, rateValues: [{ currency: "USD", rate: 1 }], ...card })),
  };
  await engine.load({
    organization: { id: "acme", name: "Acme", baseCurrency: "USD" },
    addOns: ids.map((id) => ({ id, name: id, type: "FIXED_FEE" })),
    pricePlans: [plan("pp.weeks", details)],
    customers: [{ id: "acme", name: "Acme" }],
    accounts: [{ id: "prod", name: "Acme prod", customerId: "acme" }],
  });
  if (creditAmount !== undefined) {
    const credit = { accountId: "prod", purpose: "Gift", priority: 1, effectiveFrom: "2022-01-01" };
    await engine.credits.create([{ ...credit, creditAmount }]);
  }
  await engine.associate("prod", { pricePlanId: "pp.weeks", effectiveFrom: "2022-06-06" });
  return under;
}

const newest = (engine: Engine, limit = 1) => engine.invoices.list({ filter: { accountId: "prod" }, page: { limit } });

test("a page of 105 open drafts rates those that it shows and one more, and a draft only itself", async () => {
  const { engine } = await weeks(3, { invoiceTiming: "IN_ARREARS" });
  // The first read does what fell due with the plan, of which there is nothing.
  await newest(engine);
  expect(await ratedBy(() => newest(engine))).toBe(2 * 3);
  expect(await ratedBy(() => newest(engine, 10))).toBe(11 * 3);
  const { items } = await newest(engine);
  expect(items.map(({ invoice }) => [invoice.startDate.slice(0, 10), String(invoice.revenueInfo.value)])).toEqual([
    ["2024-06-03", "3"],
  ]);
  expect(await ratedBy(() => engine.invoices.get(items[0]?.id ?? ""))).toBe(3);
  expect(await ratedBy(() => engine.creditBalance("prod"))).toBe(0);
  expect(await ratedBy(() => engine.credits.list({ filter: { accountId: "prod" } }))).toBe(0);
});

test("S12.3 with a credit, the drafts that take it are rated before those that are shown", async () => {
  // 10 pays three weeks of 3, and 1 of the fourth.
  const { engine } = await weeks(3, { invoiceTiming: "IN_ARREARS" }, 10);
  await newest(engine);
  expect(await ratedBy(() => newest(engine))).toBe((4 + 2) * 3);
  expect(await ratedBy(() => engine.creditBalance("prod"))).toBe(4 * 3);
  expect(String((await engine.creditBalance("prod")).availableBalance)).toBe("0");
  const { items } = await newest(engine, 1000);
  expect(items.slice(-5).map(({ invoice }) => String(invoice.revenueInfo.value))).toEqual(["3", "2", "0", "0", "0"]);
});

test("S2.4 once the weeks are closed, the first read stores their invoices, and others rate nothing but the open week", async () => {
  const { at, store } = await weeks(3, { invoiceTiming: "IN_ARREARS" });
  const engine = at("2024-06-05");
  expect(await ratedBy(() => engine.creditBalance("prod"))).toBe(104 * 3);
  expect(await store.read.invoices(["prod"], Number.NEGATIVE_INFINITY)).toHaveLength(104);
  expect(await ratedBy(() => newest(engine, 20))).toBe(3);
  const { items } = await newest(engine, 2);
  expect(await ratedBy(() => engine.invoices.get(items[1]?.id ?? ""))).toBe(0);
  expect(await ratedBy(() => engine.creditBalance("prod"))).toBe(0);
  expect((await engine.finalize()).finalized).toBe(0);
});

test("S13.4 invoices in advance of years are stored by the first read, each rated once", async () => {
  const { engine, store } = await weeks(3, { invoiceTiming: "IN_ADVANCE" });
  expect(work.rated).toBe(0);
  expect(await ratedBy(() => newest(engine))).toBe(105 * 3);
  expect(await store.read.invoices(["prod"], Number.NEGATIVE_INFINITY)).toHaveLength(105);
  expect(await ratedBy(() => newest(engine, 20))).toBe(0);
  expect(await ratedBy(() => engine.creditBalance("prod"))).toBe(0);
});

test("a commit of invoices with hundreds of lines writes fewer of them", async () => {
  const { at, store } = await weeks(200, { invoiceTiming: "IN_ARREARS" });
  const commits: number[] = [];
  const { transact } = store;
  store.transact = async (scope, decide) =>
    transact(scope, async (view) => {
      const decision = await decide(view);
      const { length } = decision.changes.invoices ?? [];
      if (length > 0) commits.push(length);
      return decision;
    });
  await at("2024-06-05").creditBalance("prod");
  // 205 lines count as 12 more records: 77 invoices reach 1,000.
  expect(commits).toEqual([77, 27]);
});
