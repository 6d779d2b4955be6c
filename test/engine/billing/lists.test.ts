/** Lists over all accounts: complete, in order, and without duplicates of due items (S2.4, S12, S13). */
import { describe, expect, test } from "vitest";

import type { CreditGrantRateCardInput } from "../../../src/book/resources/rate-card.ts";
import type { InvoiceSnapshot } from "../../../src/engine/billing/invoices.ts";
import { createEngine, type Engine } from "../../../src/engine/engine.ts";
import type { Page, PageOptions } from "../../../src/engine/pages.ts";
import type { LedgerView } from "../../../src/ledger/view.ts";
import { memoryStore } from "../../../src/store/memory/memory.ts";
import type { Store } from "../../../src/store/store.ts";
import type { CardBounds, SlabRow } from "../../../src/testing/price-arbitrary.ts";
import { createSlabPricing } from "../../rating/cards.ts";
import {
  activeSchema,
  callEvent,
  customerWith,
  engineAt,
  type EngineUnderTest,
  monthly,
  sumMeter,
} from "../support.ts";

const IDS = ["a", "b", "c", "d"];

/** Four accounts with calls to bill and a monthly credit of 2 from the plan; one is brought up to date in April. */
async function setUpApril(): Promise<EngineUnderTest> {
  const setup = engineAt("2024-03-01");
  const { engine, at } = setup;
  await activeSchema(engine);
  const meterId = await sumMeter(engine);
  await engine.usageMeters.activate(meterId);
  const grant = await engine.addOns.create({ name: "Credit", type: "CREDIT_GRANT" });
  const card = {
    id: grant.item.id,
    type: "RECURRING",
    rateDetails: {
      pricingModel: "TIERED",
      currencySlabRateDetails: [
        { currency: "USD", creditAmount: 2, slabDetails: [{ startAfter: 0, priceType: "FLAT", rate: 1 }] },
      ],
    },
    grantDetails: { priority: 1, expiryType: "PRICING_CYCLE", applicableEntityIds: [] },
  };
  const { item: plan } = await engine.pricePlans.create({
    name: "Team",
    pricePlanDetails: { ...monthly(meterId), creditGrantRateCards: [card as CreditGrantRateCardInput] },
  });
  await engine.pricePlans.activate(plan.id);
  for (const id of IDS) {
    await engine.customers.create({ id, name: "Acme", account: { id, name: "Acme" } });
    await engine.associate(id, { pricePlanId: plan.id, effectiveFrom: "2024-03-01" });
    await engine.ingest([callEvent(`e-${id}`, "2024-03-01T00:00:00Z", 5, id)]);
  }
  await at("2024-03-10").credits.create(
    ["a", "c"].map((accountId) => ({
      accountId,
      purpose: "welcome",
      creditAmount: 1,
      priority: 2,
      effectiveFrom: "2024-03-10",
    })),
  );
  await at("2024-04-02").accounts.update("b", { netTermDays: 10 });
  return setup;
}

async function listAllPages<Item>(
  list: (page: PageOptions) => Promise<Page<Item>>,
  limit: number,
): Promise<readonly Item[]> {
  const items: Item[] = [];
  let after: PageOptions["after"];
  do {
    const page = await list({ limit, after });
    items.push(...page.items);
    after = page.next;
  } while (after !== undefined);
  return items;
}

const listCredits = async (engine: Engine, limit: number, accountId?: string) =>
  listAllPages((page) => engine.credits.list({ filter: accountId === undefined ? {} : { accountId }, page }), limit);

test("S2.4 a plan associated after the clock was set back appears in all lists at once, with what is due for it", async () => {
  const { engine, at } = await setUpApril();
  const planId = (await engine.pricePlans.list({ page: { limit: 1 } })).items[0]?.item.id ?? "";
  const accountId = "late";
  await at("2024-06-20").customers.create({ id: "late", name: "Late", account: { id: accountId, name: "Late" } });
  await engine.credits.create([{ accountId, purpose: "x", creditAmount: 1, priority: 2, effectiveFrom: "2024-06-20" }]);
  await at("2024-04-03").associate(accountId, { pricePlanId: planId, effectiveFrom: "2024-04-03" });
  const checkCreditIds = async (): Promise<readonly (readonly string[])[]> => {
    const [page, ofAccount] = [{ limit: 100 }, { filter: { accountId }, page: { limit: 100 } }];
    const own = (await engine.credits.list(ofAccount)).items.map(({ credit }) => credit.id);
    const all = (await engine.credits.list({ page })).items.map(({ credit }) => credit);
    return [own, all.filter((credit) => credit.accountId === accountId).map(({ id }) => id)];
  };
  const [own, all] = await checkCreditIds();
  // The credits of April, May and June, and the one created by command.
  expect(own).toHaveLength(4);
  expect(all).toEqual(own);
  await engine.finalize();
  expect(await checkCreditIds()).toEqual([own, own]);
});

const BELOW_ZERO: readonly (readonly [string, Partial<SlabRow>, CardBounds])[] = [
  ["rate", { rate: -20 }, {}],
  ["flat rate", { flatRate: -20 }, {}],
  ["slab's maximum", { maximumRate: -20 }, {}],
  ["card's maximum", {}, { maximumRate: -20 }],
];

describe("credits from invoices below zero", () => {
  test.each(BELOW_ZERO)(
    "S13.4 that are due and not stored yet are listed with a %s below zero",
    async (_, slab, bounds) => {
      const { engine, at } = engineAt("2024-03-01");
      await activeSchema(engine);
      const meterId = await sumMeter(engine);
      await engine.usageMeters.activate(meterId);
      const card = { usageMeterId: meterId, ...createSlabPricing("TIERED", [{ after: 0, rate: 0, ...slab }], bounds) };
      const { item: plan } = await engine.pricePlans.create({
        name: "Team",
        pricePlanDetails: { ...monthly(), usageRateCards: [card] },
      });
      await engine.pricePlans.activate(plan.id);
      await customerWith(engine);
      await engine.associate("prod", { pricePlanId: plan.id, effectiveFrom: "2024-03-01" });
      await engine.ingest([callEvent("e", "2024-03-01T00:00:00Z")]);
      at("2024-04-10");
      const all = await listCredits(engine, 100);
      expect(all.map(({ credit }) => credit.creditAmount.toFixed())).toContain("20");
      expect(all).toEqual(await listCredits(engine, 100, "prod"));
      for (const snapshot of all) expect(await engine.credits.get(snapshot.credit.id)).toEqual(snapshot);
    },
  );
});

describe("credits filtered by status", () => {
  test("S12.4 equal the filtered complete list, page by page, for one account and for all", async () => {
    const { engine } = await setUpApril();
    const [welcome] = (await listCredits(engine, 100)).filter(({ credit }) => credit.purpose === "welcome");
    const [other] = (await listCredits(engine, 100)).filter(({ status }) => status === "ACTIVE").slice(-1);
    expect(welcome?.status).toBe("CONSUMED");
    await engine.credits.void(other?.credit.id ?? "");
    const all = await listCredits(engine, 100);
    const statuses = ["ACTIVE", "CONSUMED", "EXPIRED", "VOIDED"] as const;
    // Four grants of March and two created by command are consumed; of April's four one is voided.
    const counts = statuses.map((status) => all.filter((credit) => credit.status === status).length);
    expect(counts).toEqual([3, 6, 0, 1]);
    for (const status of statuses) {
      const expected = all.filter((credit) => credit.status === status);
      for (const limit of [1, 2, 6, 100]) {
        expect(await listAllPages((page) => engine.credits.list({ filter: { status }, page }), limit)).toEqual(
          expected,
        );
      }
      const ofA = await listAllPages((page) => engine.credits.list({ filter: { status, accountId: "a" }, page }), 1);
      expect(ofA).toEqual(expected.filter(({ credit }) => credit.accountId === "a"));
    }
  });
});

describe("the next page of credits", () => {
  test("S12.4 begins after an instant and an id, also with the account id that 0.1.0 returned", async () => {
    const { engine } = await setUpApril();
    const { items, next } = await engine.credits.list({ filter: {}, page: { limit: 3 } });
    const last = items.at(-1)?.credit;
    expect(next).toEqual({ createdAt: last?.createdAt, id: last?.id });
    const after = { createdAt: last?.createdAt ?? 0, id: last?.id ?? "", accountId: last?.accountId };
    const [expected, page] = await Promise.all(
      [next, after].map((key) => engine.credits.list({ filter: {}, page: { limit: 3, after: key } })),
    );
    expect(page).toEqual(expected);
    expect(page?.items.length).toBe(3);
  });
});

describe("all invoices", () => {
  test("S13.4 filtered by status equal the filtered complete list, whether they are stored or due", async () => {
    const { engine } = await setUpApril();
    const due = async (limit: number) =>
      listAllPages((page) => engine.invoices.list({ filter: { status: "DUE" }, page }), limit);
    const all = await listAllPages((page) => engine.invoices.list({ page }), 100);
    const expected = all.filter(({ invoice }) => invoice.status === "DUE");
    // 5 dollars for calls and the dollar for the grant, less credits of 2 and 1.
    expect(expected.map(({ invoice }) => invoice.revenueInfo.value.toFixed()).sort()).toEqual(["3", "3", "4", "4"]);
    for (const limit of [1, 3, 10]) expect(await due(limit)).toEqual(expected);
    const ids = expected.map(({ id }) => id);
    await engine.finalize();
    expect((await due(3)).map(({ id }) => id)).toEqual(ids);
    expect(
      (await engine.invoices.list({ filter: { status: "DUE", customerId: "b" } })).items.map(({ id }) => id),
    ).toEqual(expected.filter(({ invoice }) => invoice.accountId === "b").map(({ id }) => id));
    expect((await engine.invoices.list({ filter: { status: "DUE", accountId: "c" } })).items).toHaveLength(1);
    expect((await engine.invoices.list({ filter: { status: "PAID" } })).items).toEqual([]);
  });
});

describe("invoices of many accounts", () => {
  const ids = Array.from({ length: 104 }, (_, index) => `account-${String(index).padStart(3, "0")}`);

  /** Half of the accounts have cycles from the 1st, half from the 15th; each has usage every few days. */
  async function setUpManyAccounts(): Promise<{
    readonly engine: Engine;
    readonly computations: () => number;
    readonly at: (time: string) => void;
  }> {
    let [now, computations] = [Date.parse("2024-03-01T00:00:00Z"), 0];
    const inner = memoryStore();
    const store: Store = {
      ...inner,
      consistentView() {
        const view = inner.consistentView();
        const entries: LedgerView["entries"] = (accountIds, featureId) => {
          computations += accountIds.length;
          return view.entries(accountIds, featureId);
        };
        return { ...view, entries };
      },
    };
    const engine = createEngine({ store, clock: () => now });
    await activeSchema(engine);
    const meterId = await sumMeter(engine);
    await engine.usageMeters.activate(meterId);
    const planIds: string[] = [];
    for (const dayOffset of ["1", "15"]) {
      const cycles = { interval: "MONTHLY", startOffset: { dayOffset, monthOffset: "NIL" } } as const;
      const pricePlanDetails = { ...monthly(meterId), pricingCycleConfig: cycles };
      const { item } = await engine.pricePlans.create({ name: `From the ${dayOffset}`, pricePlanDetails });
      planIds.push((await engine.pricePlans.activate(item.id)).item.id);
    }
    await engine.customers.create({ id: "acme", name: "Acme" });
    for (const [index, id] of ids.entries()) {
      await engine.accounts.create({ id, name: id, customerId: "acme" });
      await engine.associate(id, { pricePlanId: planIds[index % 2] ?? "", effectiveFrom: "2024-03-01" });
    }
    for (const day of ["03-05", "03-20", "04-05", "04-20"]) {
      now = Date.parse(`2024-${day}T12:00:00Z`);
      await engine.ingest(ids.map((id) => callEvent(`${day} ${id}`, `2024-${day}T11:00:00Z`, 1, id)));
    }
    computations = 0;
    return { engine, computations: () => computations, at: (time) => void (now = Date.parse(time)) };
  }

  test("S13.4 a page equals that of the complete list, and only the accounts that may be on it are computed", async () => {
    const { engine, computations, at } = await setUpManyAccounts();
    at("2024-04-21T00:00:00Z");
    await engine.finalize();
    const separately: InvoiceSnapshot[] = [];
    for (const accountId of ids)
      separately.push(...(await engine.invoices.list({ filter: { accountId }, page: { limit: 100 } })).items);
    const expected = separately
      .map((snapshot) => ({ id: snapshot.id, start: snapshot.invoice.startDate }))
      .toSorted((a, b) => (a.start === b.start ? (a.id < b.id ? -1 : 1) : a.start > b.start ? -1 : 1))
      .map(({ id }) => id);
    // 52 accounts with March, and April as a draft; 52 with [1, 15) March, [15 March, 15 April), and the current draft.
    expect(expected).toHaveLength(52 * 2 + 52 * 3);
    for (const limit of [33, 400]) {
      const fromPages = await listAllPages((page) => engine.invoices.list({ page }), limit);
      expect(fromPages.map(({ id }) => id)).toEqual(expected);
    }
    const before = computations();
    await engine.invoices.list({ page: { limit: 10 } });
    // The first 50 accounts fill the page; of the others only those are computed whose draft comes before the end of
    // the page.
    const page = computations() - before;
    expect(page).toBeGreaterThan(0);
    expect(page).toBeLessThan(ids.length);
    await engine.invoices.list({ filter: { status: "DUE" }, page: { limit: 10 } });
    expect(computations() - before).toBe(page);
  });

  test("S2.4 the list is the same whether due work was processed before or not", async () => {
    const { engine, at } = await setUpManyAccounts();
    at("2024-05-20T00:00:00Z");
    const behind = await listAllPages((page) => engine.invoices.list({ page }), 50);
    await engine.finalize();
    const after = await listAllPages((page) => engine.invoices.list({ page }), 50);
    expect(after.map(({ id, invoice }) => [id, invoice])).toEqual(behind.map(({ id, invoice }) => [id, invoice]));
  });
});

describe("all license updates", () => {
  test("S10.1 include those of each account, newest first, page by page", async () => {
    const { engine, at } = await setUpApril();
    const seats = await engine.addOns.create({ name: "Seats", type: "LICENSE" });
    for (const [index, id] of [...IDS, ...IDS].entries()) {
      const update = { licenseId: seats.item.id, updateType: "RELATIVE" as const, quantity: 1 };
      await at(`2024-04-1${index}`).licenses.update(id, update);
    }
    const all = await listAllPages((page) => engine.licenses.list({ page }), 3);
    expect(all.map(({ accountId }) => accountId)).toEqual([...IDS, ...IDS].toReversed());
  });
});
