/** What the pieces of a cycle that plan changes cut charge together (S9.1, S13.3). */
import { expect, test } from "vitest";

import { perUnit, plan, slabs } from "../../book/builder.ts";
import { linesOfType } from "../../support/invoice-lines.ts";
import { engineAt } from "../support.ts";

/** Seats at 10.00 in advance, whole, and 100.00 a month at least. */
const plans = [
  plan("committed", {
    licenseRateCards: [{ id: "addon.seats", invoiceTiming: "IN_ADVANCE", ...perUnit(10) }],
    minimumCommitment: { rateValues: [{ currency: "USD", rate: 100 }] },
  }),
  plan("free", {}),
];

/** What February is invoiced for until the 10th, where seats are added in that night and the plan ends in the morning. */
async function invoiced(seats: number, effectiveFrom: string): Promise<readonly string[]> {
  const { engine, at } = engineAt("2023-01-01");
  await engine.load({
    addOns: [{ id: "addon.seats", name: "Seats", type: "LICENSE" }],
    pricePlans: plans,
    customers: [{ id: "acme", name: "Acme" }],
    accounts: [
      {
        id: "a",
        name: "Acme a",
        customerId: "acme",
        pricePlans: [{ pricePlanId: "committed", effectiveFrom: "2023-02-01" }],
      },
    ],
  });
  const update = { licenseId: "addon.seats", updateType: "ABSOLUTE", quantity: seats, effectiveFrom } as const;
  await at("2023-02-10T05:00:00Z").licenses.update("a", update);
  await at("2023-02-10T09:00:00Z").associate("a", { pricePlanId: "free", effectiveFrom: "2023-02-10" });
  const { items } = await engine.invoices.list();
  return items
    .map(({ invoice }) => {
      const types = ["ADVANCED_LICENSE_RATE_CARD_AMOUNT", "TRUE_UP_AMOUNT"] as const;
      const amounts = types.map((type) => linesOfType(invoice, type).map(({ value }) => value.toFixed())[0] ?? "0");
      return `${invoice.invoiceType}: ${amounts.join(", ")}`;
    })
    .toSorted((a, b) => a.localeCompare(b));
}

// A cycle that is cut is open until then, also without grace: its true-up counts what was invoiced.
test.each(["2023-02-09T12:00:00Z", "2023-02-10T05:00:00Z"])(
  "S13.3 seats from %s on, which were charged on the day on which the plan ended, fill its commitment",
  async (effectiveFrom) => {
    // 100 × 9/28 = 32.14: 50 is more, and 20 lacks 12.14.
    expect(await invoiced(5, effectiveFrom)).toEqual(["AD_HOC: 50, 0"]);
    expect(await invoiced(2, effectiveFrom)).toEqual(["AD_HOC: 20, 0", "STANDARD: 0, 12.14"]);
  },
);

test("S9.1 S10.3 the paid level counts what pieces charged in advance before one in arrears, where more seats cost less", async () => {
  const { engine, at } = engineAt("2023-02-01");
  // Up to 10 seats at 10.00 each, above at 4.00 each.
  const versions = ["IN_ADVANCE", "IN_ARREARS", "IN_ADVANCE"].map((invoiceTiming, index) => {
    const card = { id: "addon.seats", invoiceTiming, ...slabs("VOLUME", [0, 10], [10, 4]) };
    return plan("p", { licenseRateCards: [card] }, { version: index + 1 });
  });
  await engine.load({
    addOns: [{ id: "addon.seats", name: "Seats", type: "LICENSE" }],
    pricePlans: versions,
    customers: [{ id: "acme", name: "Acme" }],
    accounts: [{ id: "a", name: "Acme a", customerId: "acme" }],
  });
  for (const [day, version, quantity] of [
    ["2023-02-01", 1, 10],
    ["2023-02-10", 2, 15],
    ["2023-02-20", 3, 20],
  ] as const) {
    await at(day).associate("a", { pricePlanId: "p", version, effectiveFrom: day });
    await at(`${day}T12:00:00Z`).licenses.update("a", { licenseId: "addon.seats", updateType: "ABSOLUTE", quantity });
  }
  const { items } = await engine.invoices.list();
  // 10 seats cost 100, and neither 15 (60) nor 20 (80) costs more.
  const amounts = items.map(({ invoice }) => invoice.revenueInfo.value.toNumber());
  expect(amounts.toSorted((a, b) => a - b)).toEqual([0, 0, 100]);
});
