/**
 * The cost of reading drafts, in rated cards: a page costs what it shows, however many cycles are open (S12.3, S13.4).
 */
import { expect, test } from "vitest";

import { creditBalance, listCredits } from "../../../src/engine/billing/credits.ts";
import { listInvoices, readInvoice } from "../../../src/engine/billing/invoices.ts";
import type { Configuration } from "../../../src/engine/configuration.ts";
import type { EngineContext } from "../../../src/engine/methods.ts";
import type { Store } from "../../../src/store/store.ts";
import { storeWithHooks } from "../../support/stores.ts";
import { contextOver, loadedAt } from "../support.ts";

/** The modules of an engine, counting rated cards by reads of their names. */
interface CountingEngine {
  readonly store: Store;
  /** The number of invoices of each commit with invoices. */
  readonly commits: readonly number[];
  readonly context: EngineContext;
  readonly at: (time: string) => void;
  readonly ratingCount: () => number;
}

/**
 * Accounts with this many fees of a dollar for each week since 2022-06-06, a Monday: 104 weeks have ended on
 * 2024-06-03.
 */
async function weeks(
  fees: number,
  {
    timing = "IN_ARREARS",
    amount,
    ids = ["prod"],
    from = "2022-06-06",
  }: { timing?: "IN_ADVANCE" | "IN_ARREARS"; amount?: number; ids?: readonly string[]; from?: string } = {},
): Promise<CountingEngine> {
  const commits: number[] = [];
  const store = storeWithHooks({
    decided({ invoices = [] }) {
      if (invoices.length > 0) commits.push(invoices.length);
    },
  });
  const feeIds = Array.from({ length: fees }, (_, place) => `fee${place}`);
  const credits = amount === undefined ? [] : [{ purpose: "Gift", priority: 1, from: "2022-01-01", amount }];
  const book = {
    pricePlans: [{ id: "weeks", cycle: "WEEKLY", fees: feeIds.map((id) => ({ id, rate: 1, timing })) }],
    accounts: ids.map((id) => ({ id, credits })),
  } as const;
  const { engine } = await loadedAt("2024-06-03T12:00:00Z", book, { store });
  for (const id of ids) await engine.associate(id, { pricePlanId: "weeks", effectiveFrom: from });

  let now = Date.parse("2024-06-03T12:00:00Z");
  const weekClock = (): number => now;
  let ratingCount = 0;
  const shared = contextOver(store, weekClock);
  const source = shared.configuration;
  const counting = ({ catalog, ...others }: Configuration): Configuration => {
    const addOns = new Map(catalog.billing.addOns);
    addOns.get = (id) => {
      ratingCount += 1;
      return catalog.billing.addOns.get(id);
    };
    return { ...others, catalog: { ...catalog, billing: { ...catalog.billing, addOns } } };
  };
  const context: EngineContext = {
    ...shared,
    configuration: Object.assign(async (...args: Parameters<typeof source>) => counting(await source(...args)), source),
  };
  return { store, commits, context, ratingCount: () => ratingCount, at: (time) => (now = Date.parse(time)) };
}

/** The number of fees that a read rates. */
async function countRatings({ ratingCount }: CountingEngine, read: Promise<unknown>): Promise<number> {
  const before = ratingCount();
  await read;
  return ratingCount() - before;
}

const PROD = { accountId: "prod" };
const newest = ({ context }: CountingEngine, limit = 1) => listInvoices(context, PROD, { limit });

test("a page of 105 open drafts rates those that it shows and one more, and reading a draft only that one", async () => {
  const under = await weeks(3);
  const { context } = under;
  // The first read processes due work, of which there is none.
  await newest(under);
  expect(await countRatings(under, newest(under))).toBe(2 * 3);
  expect(await countRatings(under, newest(under, 10))).toBe(11 * 3);
  const { items } = await newest(under);
  expect(items.map(({ invoice }) => [invoice.startDate.slice(0, 10), String(invoice.revenueInfo.value)])).toEqual([
    ["2024-06-03", "3"],
  ]);
  expect(await countRatings(under, readInvoice(context, items[0]?.id ?? ""))).toBe(3);
  expect(await countRatings(under, creditBalance(context, "prod"))).toBe(0);
  expect(await countRatings(under, listCredits(context, PROD, {}))).toBe(0);
});

test("S12.3 with a credit, the drafts that use it are rated before those that are shown", async () => {
  // 10 pays three weeks of 3, and 1 of the fourth.
  const under = await weeks(3, { amount: 10 });
  const { context } = under;
  await newest(under);
  expect(await countRatings(under, newest(under))).toBe((4 + 2) * 3);
  expect(await countRatings(under, creditBalance(context, "prod"))).toBe(4 * 3);
  expect(String((await creditBalance(context, "prod")).availableBalance)).toBe("0");
  const { items } = await newest(under, 1000);
  expect(items.slice(-5).map(({ invoice }) => String(invoice.revenueInfo.value))).toEqual(["3", "2", "0", "0", "0"]);
});

test("S2.4 once the weeks are closed, the first read stores their invoices, and later reads rate only the open week", async () => {
  const under = await weeks(3);
  const { context, store } = under;
  under.at("2024-06-05T00:00:00Z");
  expect(await countRatings(under, creditBalance(context, "prod"))).toBe(104 * 3);
  expect(await store.read.invoices(["prod"], Number.NEGATIVE_INFINITY)).toHaveLength(104);
  expect(await countRatings(under, newest(under, 20))).toBe(3);
  const { items } = await newest(under, 2);
  expect(await countRatings(under, readInvoice(context, items[1]?.id ?? ""))).toBe(0);
  expect(await countRatings(under, creditBalance(context, "prod"))).toBe(0);
});

test("S13.4 the first read stores years of invoices in advance and rates each once", async () => {
  const under = await weeks(3, { timing: "IN_ADVANCE" });
  expect(await countRatings(under, newest(under))).toBe(105 * 3);
  expect(await under.store.read.invoices(["prod"], Number.NEGATIVE_INFINITY)).toHaveLength(105);
  expect(await countRatings(under, newest(under, 20))).toBe(0);
  expect(await countRatings(under, creditBalance(under.context, "prod"))).toBe(0);
});

test("S2.4 if many accounts are four weeks behind, the first read of a page bills those on it, and the next rates its drafts", async () => {
  const accountIds = Array.from({ length: 40 }, (_, place) => `account-${String(place).padStart(2, "0")}`);
  const under = await weeks(3, { ids: accountIds, from: "2024-06-03" });
  const { context, store } = under;
  under.at("2024-07-03T00:00:00Z");
  const now = Date.parse("2024-07-03T00:00:00Z");
  expect(await store.read.accountsWithStaleDraftIndex(now, 100)).toEqual(accountIds);
  const page = { limit: 4 };
  // Four accounts and the next one have four weeks of 3 fees each, and a draft.
  expect(await countRatings(under, listInvoices(context, {}, page))).toBe(5 * (4 + 1) * 3);
  expect(await store.read.accountsWithStaleDraftIndex(now, 100)).toEqual([]);
  expect(await countRatings(under, listInvoices(context, {}, page))).toBe(5 * 3);
  expect(await store.read.invoices(accountIds, Number.NEGATIVE_INFINITY)).toHaveLength(5 * 4);
  const { items } = await listInvoices(context, {}, page);
  const draft = ["DRAFT", "2024-07-01", "3"];
  expect(
    items.map(({ invoice }) => [invoice.status, invoice.startDate.slice(0, 10), String(invoice.revenueInfo.value)]),
  ).toEqual([draft, draft, draft, draft]);
});

test("S13.4 an unknown invoice id rates nothing, and neither do credits, however many accounts are behind", async () => {
  const accountIds = ["one", "two", "three"];
  const under = await weeks(3, { ids: accountIds, from: "2024-06-03" });
  under.at("2024-07-03T00:00:00Z");
  const unknown = "inv.0000000000000000";
  expect(await countRatings(under, Promise.allSettled([readInvoice(under.context, unknown)]))).toBe(0);
  await expect(readInvoice(under.context, unknown)).rejects.toThrow("no invoice");
  expect(await countRatings(under, listCredits(under.context, {}, {}))).toBe(0);
});

test("a commit contains fewer invoices if they have hundreds of lines", async () => {
  const under = await weeks(200);
  under.at("2024-06-05T00:00:00Z");
  await creditBalance(under.context, "prod");
  // 205 lines count as 12 more records: 77 invoices reach 1,000.
  expect(under.commits).toEqual([77, 27]);
});
