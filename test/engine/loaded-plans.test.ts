/** An account's plans in a loaded book count from when they were decided, not from when they were loaded (S9.2). */
import { describe, expect, test } from "vitest";

import { type Invoice, preview, readBook } from "../../src/index.ts";
import { formatDecimal } from "../../src/numbers/decimal.ts";
import { feeCards, planOfMonths } from "../book/builder.ts";
import { engineAt } from "./support.ts";

const inAdvance = { invoiceTiming: "IN_ADVANCE", enableProration: true };

const planBook = (...pricePlans: readonly object[]): object => ({
  organization: { id: "org", baseCurrency: "USD" },
  addOns: [{ id: "addon.fee", name: "Fee", type: "FIXED_FEE" }],
  pricePlans: [
    planOfMonths("a", feeCards(100, inAdvance)),
    planOfMonths("b", feeCards(70, inAdvance)),
    planOfMonths("c", feeCards(120, inAdvance)),
  ],
  customers: [{ id: "ann", name: "Ann" }],
  accounts: [{ id: "acc", name: "Account", customerId: "ann", pricePlans }],
});

const listAmounts = (invoices: readonly Invoice[]): readonly string[] =>
  invoices
    .map(({ invoiceDate, revenueInfo }) => `${invoiceDate.slice(0, 10)} ${formatDecimal(revenueInfo.value)}`)
    .toSorted();

describe("a book loaded into an engine before its first day", () => {
  test("S9.2 S9.5 S13.5 a plan change decided in the middle of a cycle refunds what was charged", async () => {
    const changing = planBook(
      { pricePlanId: "a", effectiveFrom: "2024-06-01" },
      { pricePlanId: "b", effectiveFrom: "2024-06-16" },
    );
    const { engine, at } = engineAt("2024-05-31");
    await engine.load(changing);
    at("2024-07-01");
    await engine.finalize();
    const finals = (await engine.invoices.list()).items.map(({ invoice }) => invoice);
    // 100 for June on the 1st. On the 16th 100 × 15/30 = 50 is refunded and pays 35 of plan b, 70 × 15/30; 15 are left
    // for July.
    const figures = ["2024-06-01 100", "2024-06-16 0", "2024-07-01 55"];
    expect(listAmounts(finals)).toEqual(figures);
    const { invoices } = preview(readBook(changing), [], { from: "2024-06-01", until: "2024-07-02" });
    expect(listAmounts(invoices)).toEqual(figures);
  });

  test("S9.2 S16.1 a plan associated afterwards overrides the book's plans for later days", async () => {
    const { engine, at } = engineAt("2024-05-31");
    const later = { pricePlanId: "b", effectiveFrom: "2024-09-01" };
    await engine.load(planBook({ pricePlanId: "a", effectiveFrom: "2024-06-01" }, later));
    at("2024-06-10T09:00:00Z");
    await engine.associate("acc", { pricePlanId: "c", effectiveFrom: "2024-07-01" });
    at("2024-10-01");
    await engine.finalize();
    const plans = (await engine.invoices.list()).items.map(({ invoice }) => invoice);
    const starts = plans.map(({ startDate, pricePlanId }) => `${startDate.slice(0, 7)} ${pricePlanId}`).toSorted();
    expect(starts).toEqual(["2024-06 a", "2024-07 c", "2024-08 c", "2024-09 c", "2024-10 c"]);
  });
});
