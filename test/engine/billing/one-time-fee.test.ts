/** A fee that is one-time in one version of a plan and recurring in the next, with the same id. */
import { expect, test } from "vitest";

import { feeCards, type Part, planOfMonths } from "../../book/builder.ts";
import { linesOfType } from "../../support/invoice-lines.ts";
import { engineAt } from "../support.ts";

/** The charges by cycle if the version with the recurring fee of 280.00 is in force from a day on. */
async function chargesByCycle(changeDate: string, recurring: Part): Promise<Readonly<Record<string, number>>> {
  const { engine, at } = engineAt("2023-01-01");
  await engine.load({
    addOns: [{ id: "addon.fee", name: "Fee", type: "FIXED_FEE" }],
    pricePlans: [
      planOfMonths("pp", feeCards(50, { type: "ONE_TIME" })),
      planOfMonths("pp", feeCards(280, recurring), { version: 2 }),
    ],
    customers: [{ id: "acme", name: "Acme" }],
    accounts: [
      {
        id: "a",
        name: "Acme a",
        customerId: "acme",
        pricePlans: [{ pricePlanId: "pp", version: 1, effectiveFrom: "2023-01-01" }],
      },
    ],
  });
  await at(`${changeDate}T09:00:00Z`).associate("a", { pricePlanId: "pp", version: 2, effectiveFrom: changeDate });
  const { items } = await at("2023-03-31").invoices.list();
  const amounts = items.map(({ invoice }): [string, number] => {
    const gross = linesOfType(invoice, "GROSS_AMOUNT").map(({ value }) => Number(value.toFixed()));
    return [invoice.startDate.slice(0, 10), gross[0] ?? 0];
  });
  return Object.fromEntries(amounts);
}

test.each(["IN_ARREARS", "IN_ADVANCE"])(
  "S9.1 after the cycle of the one-time fee, a recurring one %s charges from its first day on",
  async (invoiceTiming) => {
    // 14 of 28 days.
    expect(await chargesByCycle("2023-02-15", { invoiceTiming, enableProration: true })).toEqual({
      "2023-01-01": 50,
      "2023-02-15": 140,
      "2023-03-01": 280,
    });
    expect(await chargesByCycle("2023-02-15", { invoiceTiming })).toEqual({
      "2023-01-01": 50,
      "2023-02-15": 280,
      "2023-03-01": 280,
    });
  },
);

test("S9.1 in the cycle of the one-time fee, the recurring one is not charged too", async () => {
  expect(await chargesByCycle("2023-01-15", {})).toEqual({ "2023-01-01": 50, "2023-02-01": 280, "2023-03-01": 280 });
});
