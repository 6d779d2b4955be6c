/** A minimum commitment if an override replaces the plan on the first day of a month (S13.3). */
import { expect, test } from "vitest";

import { feeCards, planOfMonths } from "../../book/builder.ts";
import { linesOfType } from "../../support/invoice-lines.ts";
import { engineAt } from "../support.ts";

const byDays = feeCards(25, { invoiceTiming: "IN_ADVANCE", enableProration: true });

test("S13.3 an override of the same version on the first day of a cycle counts like a new version", async () => {
  const { engine, at } = engineAt("2024-01-01");
  await engine.load({
    addOns: [{ id: "addon.fee", name: "Fee", type: "FIXED_FEE" }],
    pricePlans: [planOfMonths("p", { ...byDays, minimumCommitment: { rateValues: [{ currency: "USD", rate: 100 }] } })],
    customers: [{ id: "acme", name: "Acme" }],
    accounts: [{ id: "a", name: "Acme a", customerId: "acme" }],
  });
  await engine.associate("a", { pricePlanId: "p", effectiveFrom: "2024-01-01" });
  const pricePlanDetailsOverride = byDays as object;
  await at("2024-02-01T10:00:00Z").associate("a", {
    pricePlanId: "p",
    effectiveFrom: "2024-02-01",
    pricePlanDetailsOverride,
  });
  const { items } = await at("2024-03-02").invoices.list({ filter: { accountId: "a" } });
  const amounts = items
    .filter(({ invoice }) => invoice.startDate.startsWith("2024-02"))
    .map(({ invoice }) => {
      const [gross, trueUp] = ["GROSS_AMOUNT", "TRUE_UP_AMOUNT"].map((type) => linesOfType(invoice, type as never)[0]);
      return [gross, trueUp, invoice.revenueInfo].map((line) => line?.value.toFixed() ?? "0").join(" ");
    });
  // Gross, true-up, total: 25 at midnight, 25 by the override, paid by the refund of 25, and 100 − (25 + 25 − 25).
  expect(amounts.toSorted()).toEqual(["25 0 0", "25 0 25", "75 75 75"]);
});
