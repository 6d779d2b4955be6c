/** Lists over all accounts: complete, in order, and without duplicates of due items (S2.4, S12, S13). */
import { describe, expect, test } from "vitest";

import type { InvoiceSnapshot } from "../../../src/engine/billing/invoices.ts";
import type { Engine } from "../../../src/engine/engine.ts";
import { storeWithReads } from "../../support/stores.ts";
import { allPages, callBook, callEvent, type ClockedEngine, loadedAt } from "../support.ts";

const IDS = ["a", "b", "c", "d"];

/** Four accounts with calls to bill and a monthly credit of 2 from the plan; one is brought up to date in April. */
async function setUpApril(): Promise<ClockedEngine> {
  const credits = [{ id: "grant", amount: 2, flat: 1, for: "CYCLE", priority: 1 }];
  const accounts = IDS.map((id) => ({ id, name: `Acme ${id}`, plan: "team", from: "2024-03-01" }));
  const { engine, at } = await loadedAt("2024-03-01", { ...callBook([], { credits }), accounts });
  await engine.ingest(IDS.map((id) => callEvent(`e-${id}`, "2024-03-01T00:00:00Z", 5, id)));
  const welcome = { purpose: "welcome", creditAmount: 1, priority: 2, effectiveFrom: "2024-03-10" };
  await at("2024-03-10").credits.create(["a", "c"].map((accountId) => ({ accountId, ...welcome })));
  await at("2024-04-02").accounts.update("b", { netTermDays: 10 });
  return { engine, at };
}

const listCredits = async (engine: Engine, limit: number, accountId?: string) =>
  allPages((page) => engine.credits.list({ filter: accountId === undefined ? {} : { accountId }, page }), limit);

test("S2.4 a plan associated after the clock was set back appears in all lists at once, with what is due for it", async () => {
  const { engine, at } = await setUpApril();
  const accountId = "late";
  await at("2024-06-20").customers.create({ id: "late", name: "Late", account: { id: accountId, name: "Late" } });
  await engine.credits.create([{ accountId, purpose: "x", creditAmount: 1, priority: 2, effectiveFrom: "2024-06-20" }]);
  await at("2024-04-03").associate(accountId, { pricePlanId: "team", effectiveFrom: "2024-04-03" });
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

test.each([
  ["rate", { rate: -20 }],
  ["flat rate", { rate: 0, flat: -20 }],
  ["slab's maximum", { tiers: [{ rate: 0, maximum: -20 }] }],
  ["card's maximum", { rate: 0, maximum: -20 }],
])("S13.4 credits from invoices below zero that are due and not stored yet are listed: a %s", async (_, price) => {
  const { engine, at } = await loadedAt("2024-03-01", callBook(["prod"], { usage: [{ meter: "calls", ...price }] }));
  await engine.ingest([callEvent("e", "2024-03-01T00:00:00Z")]);
  at("2024-04-10");
  const all = await listCredits(engine, 100);
  expect(all.map(({ credit }) => credit.creditAmount.toFixed())).toContain("20");
  expect(all).toEqual(await listCredits(engine, 100, "prod"));
  for (const snapshot of all) expect(await engine.credits.get(snapshot.credit.id)).toEqual(snapshot);
});

test("S12.4 each credit has one status", async () => {
  const { engine } = await setUpApril();
  const active = (await listCredits(engine, 100)).filter(({ status }) => status === "ACTIVE");
  await engine.credits.void(active.at(-1)?.credit.id ?? "");
  const all = await listCredits(engine, 2);
  expect(all.find(({ credit }) => credit.purpose === "welcome")?.status).toBe("CONSUMED");
  // Four grants of March and two created by command are consumed; of April's four one is voided.
  const statuses = ["ACTIVE", "CONSUMED", "EXPIRED", "VOIDED"];
  expect(statuses.map((status) => all.filter((each) => each.status === status).length)).toEqual([3, 6, 0, 1]);
});

test("S12.4 the next page of credits begins after an instant and an id, also with the account id that 0.1.0 returned", async () => {
  const { engine } = await setUpApril();
  const { items, next } = await engine.credits.list({ filter: {}, page: { limit: 3 } });
  const { createdAt = 0, id = "", accountId } = items.at(-1)?.credit ?? {};
  expect(next).toEqual({ createdAt, id });
  const [expected, page] = await Promise.all(
    [next, { createdAt, id, accountId }].map((after) => engine.credits.list({ filter: {}, page: { limit: 3, after } })),
  );
  expect(page).toEqual(expected);
  expect(page?.items.length).toBe(3);
});

test("S13.4 due invoices are listed whether they are stored or not", async () => {
  const { engine } = await setUpApril();
  const listDue = () => allPages((page) => engine.invoices.list({ filter: { status: "DUE" }, page }), 3);
  const due = await listDue();
  // 5 dollars for calls and the dollar for the grant, less credits of 2 and 1.
  expect(due.map(({ invoice }) => invoice.revenueInfo.value.toFixed()).sort()).toEqual(["3", "3", "4", "4"]);
  await engine.finalize();
  expect((await listDue()).map(({ id }) => id)).toEqual(due.map(({ id }) => id));
  const ofB = await engine.invoices.list({ filter: { status: "DUE", customerId: "b" } });
  expect(ofB.items.map(({ invoice }) => invoice.accountId)).toEqual(["b"]);
  expect((await engine.invoices.list({ filter: { status: "PAID" } })).items).toEqual([]);
});

describe("invoices of many accounts", () => {
  const ids = Array.from({ length: 104 }, (_, index) => `account-${String(index).padStart(3, "0")}`);

  /** Half of the accounts have cycles from the 1st, half from the 15th; each has usage every few days. */
  async function setUpManyAccounts(): Promise<ClockedEngine & { readonly countComputations: () => number }> {
    let computations = 0;
    const store = storeWithReads((view) => ({
      entries(accountIds, featureId) {
        computations += accountIds.length;
        return view.entries(accountIds, featureId);
      },
    }));
    const { pricePlans, accounts, ...others } = callBook(ids);
    const book = {
      ...others,
      pricePlans: [1, 15].flatMap((day) =>
        pricePlans.map((plan) => ({ ...plan, id: `from-${day}`, cycle: { interval: "MONTHLY" as const, day } })),
      ),
      accounts: accounts.map((account, index) => ({ ...account, plan: index % 2 === 0 ? "from-1" : "from-15" })),
    };
    const { engine, at } = await loadedAt("2024-03-01", book, { store });
    for (const day of ["03-05", "03-20", "04-05", "04-20"]) {
      const { ingest } = at(`2024-${day}T12:00:00Z`);
      await ingest(ids.map((id) => callEvent(`${day} ${id}`, `2024-${day}T11:00:00Z`, 1, id)));
    }
    return { engine, at, countComputations: () => computations };
  }

  test("S13.4 a page equals that of the complete list, and only the accounts that may be on it are computed", async () => {
    const { engine, countComputations, at } = await setUpManyAccounts();
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
      const fromPages = await allPages((page) => engine.invoices.list({ page }), limit);
      expect(fromPages.map(({ id }) => id)).toEqual(expected);
    }
    const before = countComputations();
    await engine.invoices.list({ page: { limit: 10 } });
    // The first 50 accounts fill the page; of the others only those are computed whose draft comes before the end of
    // the page.
    const page = countComputations() - before;
    expect(page).toBeGreaterThan(0);
    expect(page).toBeLessThan(ids.length);
    await engine.invoices.list({ filter: { status: "DUE" }, page: { limit: 10 } });
    expect(countComputations() - before).toBe(page);
  });

  test("S2.4 the list is the same whether due work was processed before or not", async () => {
    const { engine, at } = await setUpManyAccounts();
    at("2024-05-20T00:00:00Z");
    const behind = await allPages((page) => engine.invoices.list({ page }), 50);
    await engine.finalize();
    const after = await allPages((page) => engine.invoices.list({ page }), 50);
    expect(after.map(({ id, invoice }) => [id, invoice])).toEqual(behind.map(({ id, invoice }) => [id, invoice]));
  });
});

test("S10.1 license updates of all accounts are listed newest first, page by page", async () => {
  const { engine, at } = await setUpApril();
  const seats = await engine.addOns.create({ name: "Seats", type: "LICENSE" });
  for (const [index, id] of [...IDS, ...IDS].entries()) {
    const update = { licenseId: seats.item.id, updateType: "RELATIVE" as const, quantity: 1 };
    await at(`2024-04-1${index}`).licenses.update(id, update);
  }
  const all = await allPages((page) => engine.licenses.list({ page }), 3);
  expect(all.map(({ accountId }) => accountId)).toEqual([...IDS, ...IDS].toReversed());
});
