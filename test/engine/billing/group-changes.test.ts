/** Accounts that leave an invoice group and rejoin it: every invoice is on one composite invoice, or single (S16.7). */
import { expect, test } from "vitest";

import type { BookInput } from "../../../src/book/resources/book.ts";
import type { Engine } from "../../../src/engine/engine.ts";
import { RatebookError } from "../../../src/errors.ts";
import { createEngine } from "../../../src/index.ts";
import { memoryStore } from "../../../src/store/memory/memory.ts";
import { feeCards, perUnit, planOfMonths } from "../../book/builder.ts";
import { linesOfType } from "../../support/invoice-lines.ts";
import { engineAt } from "../support.ts";

const associationOn = (pricePlanId: string) => ({ pricePlanId, effectiveFrom: "2023-01-01" });
/** Account `a` pays 10.00 a month, `b` 200.00; both are in a group whose invoices are consolidated. */
const BOOK: BookInput = {
  addOns: [{ id: "addon.fee", name: "Fee", type: "FIXED_FEE" }],
  pricePlans: [planOfMonths("ten", feeCards(10)), planOfMonths("two-hundred", feeCards(200))],
  customers: [{ id: "acme", name: "Acme" }],
  accounts: [
    { id: "a", name: "Acme a", customerId: "acme", pricePlans: [associationOn("ten")] },
    { id: "b", name: "Acme b", customerId: "acme", pricePlans: [associationOn("two-hundred")] },
  ],
  invoiceGroups: [{ id: "both", dailyInvoiceConsolidation: true, accountIds: ["a", "b"] }],
};

/** `date: account total, …; grand total`, and the single invoices. */
async function listBilled(engine: Engine): Promise<{ composite: readonly string[]; single: readonly string[] }> {
  const composites = (await engine.compositeInvoices.list()).items;
  const { items } = await engine.invoices.list({ filter: { status: "DUE" } });
  return {
    composite: composites.map(({ invoiceDate, invoices, total }) => {
      const parts = invoices.map((each) => `${each.accountId} ${each.total.toFixed()}`);
      return `${new Date(invoiceDate).toISOString().slice(0, 10)}: ${parts.join(", ")}; ${total.toFixed()}`;
    }),
    single: items.map(({ invoice }) => `${invoice.accountId} ${invoice.revenueInfo.value.toFixed()}`),
  };
}

test.each([
  ["without a bill run", []],
  ["with one on the day itself", ["2023-02-01T12:00:00Z"]],
  ["with one before it comes back", ["2023-02-05T12:00:00Z"]],
  ["with both", ["2023-02-01T12:00:00Z", "2023-02-05T12:00:00Z"]],
])("S16.7 an account that leaves on the day is not in the composite invoice of that day, %s", async (_, bills) => {
  const { engine, at } = engineAt("2023-01-01");
  await engine.load(BOOK);
  await at("2023-02-01T09:00:00Z").invoiceGroups.removeAccounts("both", ["a"]);
  for (const time of bills) await at(time).finalize();
  await at("2023-02-10").invoiceGroups.addAccounts("both", ["a"]);
  await at("2023-02-12").finalize();
  expect(await listBilled(engine)).toEqual({ composite: ["2023-02-01: b 200; 200"], single: ["a 10"] });
});

test("S16.7 a day that ends while an account leaves is consolidated with it", async () => {
  // The clock advances by a minute at each call.
  let now = Date.parse("2023-01-01T00:00:00Z");
  let step = 0;
  const engine = createEngine({ store: memoryStore(), clock: () => (now += step) });
  await engine.load(BOOK);
  now = Date.parse("2023-02-01T23:58:30Z");
  step = 60_000;
  await engine.invoiceGroups.removeAccounts("both", ["a"]);
  step = 0;
  expect(await listBilled(engine)).toEqual({ composite: ["2023-02-01: a 10, b 200; 210"], single: [] });
});

test("S16.7 when the last account leaves a group, the days of the group are already consolidated", async () => {
  const { engine, at } = engineAt("2023-01-01");
  await engine.load(BOOK);
  expect(await at("2023-02-02T09:00:00Z").invoiceGroups.removeAccounts("both", ["a", "b"])).toBeUndefined();
  expect(await listBilled(engine)).toEqual({ composite: ["2023-02-01: a 10, b 200; 210"], single: [] });
});

test("S16.7 a composite invoice made while an account was not in the group is unchanged when it rejoins", async () => {
  let now = Date.parse("2023-01-01T00:00:00Z");
  let isFailing = false;
  const store = memoryStore();
  const engine = createEngine({
    store: {
      ...store,
      async transact(scope, work) {
        const fails = isFailing && scope.accountIds.includes("b");
        if (fails) throw new RatebookError("ERR_STORE_CONFLICT", "lost every race", {});
        return store.transact(scope, work);
      },
    },
    clock: () => now,
  });
  await engine.load(BOOK);
  // The bill of b can't be calculated when a leaves: the day waits.
  isFailing = true;
  now = Date.parse("2023-02-02T09:00:00Z");
  await engine.invoiceGroups.removeAccounts("both", ["a"]);
  isFailing = false;
  await engine.finalize();
  const january = { composite: ["2023-02-01: b 200; 200"], single: ["a 10"] };
  expect(await listBilled(engine)).toEqual(january);
  now = Date.parse("2023-02-03T09:00:00Z");
  await engine.invoiceGroups.addAccounts("both", ["a"]);
  now = Date.parse("2023-02-04T09:00:00Z");
  expect((await engine.finalize()).consolidated).toBe(0);
  expect(await listBilled(engine)).toEqual(january);
});

/**
 * At least 100.00 a month: 30.00 for three months, and seats at 10.00 in advance; 30 days of grace, of the plan or of a
 * group.
 */
const commitmentBook = (gracePeriod: number): BookInput => ({
  addOns: [
    { id: "addon.fee", name: "Fee", type: "FIXED_FEE" },
    { id: "addon.seats", name: "Seats", type: "LICENSE" },
  ],
  pricePlans: [
    planOfMonths("p", {
      pricingCycleConfig: { interval: "MONTHLY", startOffset: { dayOffset: "1" }, gracePeriod },
      ...feeCards(30, { recurrenceConfig: { interval: 3 } }),
      licenseRateCards: [{ id: "addon.seats", invoiceTiming: "IN_ADVANCE", ...perUnit(10) }],
      minimumCommitment: { rateValues: [{ currency: "USD", rate: 100 }] },
    }),
    planOfMonths("free", {}),
  ],
  customers: [{ id: "acme", name: "Acme" }],
  accounts: ["a", "b"].map((id) => ({
    id,
    name: `Acme ${id}`,
    customerId: "acme",
    pricePlans: gracePeriod === 0 || id === "a" ? [associationOn("p")] : [],
  })),
  invoiceGroups: [
    gracePeriod === 0
      ? { id: "slow", gracePeriod: 30, accountIds: ["a", "b"] }
      : { id: "fast", gracePeriod: 0, accountIds: ["b"] },
  ],
});

/** `kind: fee, seats, true-up` of the invoices of January. */
async function listJanuary(engine: Engine): Promise<readonly string[]> {
  const { items } = await engine.invoices.list({ filter: { accountId: "a" } });
  return items
    .filter(({ invoice }) => invoice.startDate.startsWith("2023-01"))
    .map(({ invoice }) => {
      const types = ["FIXED_FEE_RATE_CARD_AMOUNT", "ADVANCED_LICENSE_RATE_CARD_AMOUNT", "TRUE_UP_AMOUNT"] as const;
      const amounts = types.map((type) => linesOfType(invoice, type).map(({ value }) => value.toFixed())[0] ?? "0");
      return `${invoice.invoiceType}: ${amounts.join(", ")}`;
    })
    .toSorted((a, b) => a.localeCompare(b));
}

test.each([
  ["leaves a group with a long grace", 0],
  ["comes into a group with a short grace", 30],
] as const)(
  "S13.3 S16.7 if an account %s, its open cycle closes then, including everything invoiced by then",
  async (_, grace) => {
    const regroup = async ({ invoiceGroups }: Engine): Promise<unknown> =>
      grace === 0 ? invoiceGroups.removeAccounts("slow", ["a"]) : invoiceGroups.addAccounts("fast", ["a"]);
    const seats = engineAt("2023-01-01");
    await seats.engine.load(commitmentBook(grace));
    const update = {
      licenseId: "addon.seats",
      updateType: "ABSOLUTE",
      quantity: 5,
      effectiveFrom: "2023-01-20",
    } as const;
    await seats.at("2023-02-03").licenses.update("a", update);
    await regroup(seats.at("2023-02-05"));
    // 50 of 100 are invoiced.
    expect(await listJanuary(seats.engine)).toEqual(["AD_HOC: 0, 50, 0", "STANDARD: 0, 0, 50"]);

    const lateEngine = engineAt("2023-01-01");
    await lateEngine.engine.load(commitmentBook(grace));
    await lateEngine.at("2023-02-01T09:00:00Z").associate("a", { pricePlanId: "free", effectiveFrom: "2023-02-01" });
    await regroup(lateEngine.at("2023-02-05"));
    // January's invoice was open when the plan ended with it: it contains the fee of three months.
    expect(await listJanuary(lateEngine.engine)).toEqual(["STANDARD: 30, 0, 70"]);
  },
);
