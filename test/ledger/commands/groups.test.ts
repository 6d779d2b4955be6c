/** Invoice groups: their terms, and their invoices as one (S16.7). */
import { describe, expect, test } from "vitest";

import { calls, planOfMonths } from "../../book/builder.ts";
import { describeRefusal } from "../../engine/support.ts";
import { accountWith, type Ledger, openLedger } from "../plan-ledger.ts";

const pricingCycleConfig = { interval: "MONTHLY", startOffset: { dayOffset: "1" }, gracePeriod: 3 };
const PLAN = planOfMonths("p", { ...calls(1), pricingCycleConfig });
const slow = { id: "slow", gracePeriod: 10, netTermDays: 30, dailyInvoiceConsolidation: true };
const late = { id: "late", netTermDays: 36_500, dailyInvoiceConsolidation: true };
/** Each group has an account that is never billed, because a group ends with its last account. */
const PARTS = {
  accounts: [accountWith("a"), accountWith("b"), accountWith("euro", { invoiceCurrency: "EUR" }), accountWith("seed")],
  invoiceGroups: [{ ...slow, name: "Slow", accountIds: ["seed"] }],
};
const FINAL = "STANDARD 2024-01-01..2024-02-01 of 2024-02-01 DUE 10";

/** Accounts `a` and `b` with 10 and 20 calls in January, and the group `slow`. */
async function openWithUsage(): Promise<Ledger> {
  const ledger = await openLedger([PLAN], PARTS);
  for (const [id, quantity] of Object.entries({ a: 10, b: 20 })) {
    await ledger.associate("p", "2024-01-01", "2024-01-01", {}, id);
    await ledger.use(quantity, "2024-01-10T00:00:00Z", "2024-01-10T00:00:00Z", id);
  }
  return ledger;
}

const add = ({ at }: Ledger, ids: readonly string[], now: string, group = "slow") =>
  at(now).invoiceGroups.addAccounts(group, ids);
/** A group without grace, of these accounts. */
const addToFast = async ({ at }: Ledger, accountIds: readonly string[], now: string): Promise<void> => {
  const terms = { name: "Fast", email: "bills@example.com", gracePeriod: 0, dailyInvoiceConsolidation: false };
  await at(now).invoiceGroups.create({ ...terms, accountIds });
};

/** `date, due date, total: account total, …` of every composite invoice, after a bill run. */
async function composites(ledger: Ledger, now: string): Promise<readonly string[]> {
  await ledger.until(now);
  const { items } = await ledger.engine.compositeInvoices.list();
  return items.map(({ invoiceDate, dueDate, total, invoices }) => {
    const dates = [invoiceDate, dueDate].map((each) => new Date(each).toISOString().slice(0, 10));
    const parts = invoices.map((each) => `${each.accountId} ${each.total.toFixed()}`);
    return `${[...dates, total.toFixed()].join(", ")}: ${parts.join(", ")}`;
  });
}
const TOGETHER = "2024-02-11, 2024-03-12, 30: a 10, b 20";

describe("terms", () => {
  test("S16.7 the group's grace and net terms take precedence over the plan's and the account's", async () => {
    const ledger = await openWithUsage();
    await add(ledger, ["a"], "2024-01-20");
    await ledger.until("2024-02-10T23:59:59Z");
    expect(await ledger.finals()).toEqual([]);
    await ledger.until("2024-02-11");
    expect(await ledger.finals()).toEqual([FINAL]);
    expect((await ledger.stored()).invoices[0]?.invoice.dueDate).toBe("2024-03-02T00:00:00.000Z");
  });

  test("S16.7 a cycle that the new terms close is final from the change on", async () => {
    const ledger = await openWithUsage();
    await addToFast(ledger, ["a"], "2024-02-02T09:00:00Z");
    expect(await ledger.finals()).toEqual([FINAL]);
    expect((await ledger.stored()).invoices[0]?.finalizedAt).toBe(Date.parse("2024-02-02T09:00:00Z"));
  });

  test("S16.7 a cycle that the new terms leave open stays a draft", async () => {
    const ledger = await openWithUsage();
    await add(ledger, ["a"], "2024-02-03");
    expect(await ledger.drafts("2024-02-05")).toEqual([FINAL.replace("DUE", "DRAFT")]);
    await ledger.at("2024-02-06").invoiceGroups.removeAccounts("slow", ["a"]);
    expect(await ledger.finals()).toEqual([FINAL]);
    expect((await ledger.stored()).record.invoiceGroupId).toBeUndefined();
  });

  test("S6.5 S16.7 a closed cycle stays closed, even if nothing in it was invoiced", async () => {
    const ledger = await openLedger([PLAN], PARTS);
    await ledger.associate("p", "2024-01-01");
    await add(ledger, ["a"], "2024-03-04");
    // The plan's three days of grace closed January and February, on 4 February and 4 March.
    const accepted = [];
    for (const day of ["2024-01-10", "2024-02-10", "2024-03-02"])
      accepted.push(await ledger.use(1, `${day}T00:00:00Z`, "2024-03-05T00:00:00Z"));
    expect(accepted).toEqual([false, false, true]);
  });

  test("S16.7 adding an account of the group has no effect, nor does removing one that is not in it", async () => {
    const ledger = await openWithUsage();
    await add(ledger, ["a"], "2024-01-20");
    const before = await ledger.stored();
    await add(ledger, ["a"], "2024-01-20");
    await ledger.engine.invoiceGroups.removeAccounts("slow", ["b"]);
    expect(await ledger.stored()).toEqual(before);
  });

  test.each([
    ['the account "euro" is invoiced in EUR, but the invoice group "slow" is in USD', ["a", "euro"]],
    ['the account "b" is already in the invoice group "ig.', ["a", "b"]],
  ])("S16.7 rejected: %s, and none is added", async (message, ids) => {
    const ledger = await openWithUsage();
    await addToFast(ledger, ["b"], "2024-01-20");
    expect(await describeRefusal(add(ledger, ids, "2024-01-21"))).toContain(message);
    expect((await ledger.stored()).record.invoiceGroupId).toBeUndefined();
  });
});

describe("consolidation", () => {
  test("S16.7 invoices due on the same day become one composite invoice when the day is over", async () => {
    const ledger = await openWithUsage();
    await add(ledger, ["a", "b"], "2024-01-20");
    expect(await composites(ledger, "2024-02-11T23:59:59Z")).toEqual([]);
    expect(await ledger.finals()).toEqual([FINAL]);
    expect(await composites(ledger, "2024-02-20")).toEqual([TOGETHER]);
    const [composite] = (await ledger.engine.compositeInvoices.list()).items;
    expect(composite?.createdAt).toBe(Date.parse("2024-02-12T00:00:00Z"));
    for (const id of ["a", "b"]) {
      const merged = (await ledger.stored(id)).invoices.map(({ invoice, mergedInto }) => [invoice.status, mergedInto]);
      expect(merged).toEqual([["MERGED", composite?.id]]);
    }
  });

  test("S16.7 repeating it, also later, has no effect", async () => {
    const [ledger, lateLedger] = [await openWithUsage(), await openWithUsage()];
    for (const each of [ledger, lateLedger]) await add(each, ["a", "b"], "2024-01-20");
    expect(await composites(ledger, "2024-02-12")).toEqual([TOGETHER]);
    for (const each of [ledger, lateLedger]) expect(await composites(each, "2024-02-28")).toEqual([TOGETHER]);
    const [[composite], [lateComposite]] = [
      (await ledger.engine.compositeInvoices.list()).items,
      (await lateLedger.engine.compositeInvoices.list()).items,
    ];
    expect(lateComposite).toEqual(composite);
    expect((await lateLedger.stored()).invoices).toEqual((await ledger.stored()).invoices);
  });

  test("S16.7 a composite invoice is never due after the last date, like a single one", async () => {
    const invoiceGroups = [{ ...late, name: "Late", accountIds: ["seed"] }];
    const ledger = await openLedger([PLAN], { ...PARTS, invoiceGroups });
    await ledger.associate("p", "9990-01-01");
    await ledger.use(10, "9990-01-10T00:00:00Z");
    await add(ledger, ["a"], "9990-01-20", "late");
    expect(await composites(ledger, "9990-02-20")).toEqual(["9990-02-04, 9999-01-01, 10: a 10"]);
    expect((await ledger.stored()).invoices[0]?.invoice.dueDate).toBe("9999-01-01T00:00:00.000Z");
  });

  test("S16.7 an invoice of a day that ended before the account was in the group stays single", async () => {
    const ledger = await openWithUsage();
    await ledger.until("2024-02-04");
    await add(ledger, ["a"], "2024-02-05T00:00:00Z");
    expect(await composites(ledger, "2024-03-01")).toEqual([]);
    expect(await ledger.finals()).toEqual([FINAL]);
  });
});
