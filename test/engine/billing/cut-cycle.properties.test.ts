/** The charges of all parts of a cycle that plan changes cut (S9.1, S13.3). */
import fc from "fast-check";
import { expect, test } from "vitest";

import { perUnit, planOfMonths, slabs } from "../../book/builder.ts";
import { linesOfType } from "../../support/invoice-lines.ts";
import { runs } from "../../support/runs.ts";
import { engineAt } from "../support.ts";

/** Seats at 10.00 in advance without proration, and at least 100.00 a month. */
const plans = [
  planOfMonths("committed", {
    licenseRateCards: [{ id: "addon.seats", invoiceTiming: "IN_ADVANCE", ...perUnit(10) }],
    minimumCommitment: { rateValues: [{ currency: "USD", rate: 100 }] },
  }),
  planOfMonths("free", {}),
];

/**
 * The invoices of February until the 10th, where seats are added in the night before and the plan ends in the morning.
 */
async function listFebruaryLines(seats: number, effectiveFrom: string): Promise<readonly string[]> {
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

// A cut cycle is open until then, also without grace: its true-up counts what was invoiced.
test.each(["2023-02-09T12:00:00Z", "2023-02-10T05:00:00Z"])(
  "S13.3 seats from %s on, charged on the day on which the plan ended, count toward its commitment",
  async (effectiveFrom) => {
    // 100 × 9/28 = 32.14: 50 exceeds it, and 20 is 12.14 short.
    expect(await listFebruaryLines(5, effectiveFrom)).toEqual(["AD_HOC: 50, 0"]);
    expect(await listFebruaryLines(2, effectiveFrom)).toEqual(["AD_HOC: 20, 0", "STANDARD: 0, 12.14"]);
  },
);

/** From a day of February on: how a version charges seats, and the number of seats from noon of that day on. */
interface Piece {
  readonly day: number;
  readonly isInAdvance: boolean;
  readonly seats: number;
}

/** Up to 10 seats at 10.00 each; more seats at 4.00 each, for all of them. */
const priceOf = (seats: number): number => seats * (seats > 10 ? 4 : 10);

/** The total cost of February. */
async function chargedFor(pieces: readonly Piece[]): Promise<number> {
  const { engine, at } = engineAt("2023-02-01");
  await engine.load({
    addOns: [{ id: "addon.seats", name: "Seats", type: "LICENSE" }],
    pricePlans: ["IN_ADVANCE", "IN_ARREARS"].map((invoiceTiming, index) => {
      const card = { id: "addon.seats", invoiceTiming, ...slabs("VOLUME", [0, 10], [10, 4]) };
      return planOfMonths("p", { licenseRateCards: [card] }, { version: index + 1 });
    }),
    customers: [{ id: "acme", name: "Acme" }],
    accounts: [{ id: "a", name: "Acme a", customerId: "acme" }],
  });
  for (const { day, isInAdvance, seats: quantity } of pieces) {
    const date = `2023-02-${String(day).padStart(2, "0")}`;
    await at(date).associate("a", { pricePlanId: "p", version: isInAdvance ? 1 : 2, effectiveFrom: date });
    await at(`${date}T12:00:00Z`).licenses.update("a", { licenseId: "addon.seats", updateType: "ABSOLUTE", quantity });
  }
  const { items } = await engine.invoices.list();
  return items.reduce((total, { invoice }) => total + invoice.revenueInfo.value.toNumber(), 0);
}

test("S9.1 S10.3 the paid level includes what was charged in advance before a part in arrears", async () => {
  const pieces = [
    { day: 1, isInAdvance: true, seats: 10 },
    { day: 10, isInAdvance: false, seats: 15 },
    { day: 20, isInAdvance: true, seats: 20 },
  ];
  // 10 seats cost 100, and neither 15 (60) nor 20 (80) costs more.
  expect(await chargedFor(pieces)).toBe(100);
});

test("S9.1 S10.3 the parts of a cycle charge unprorated seats up to the highest price of a charged quantity", async () => {
  const piece = fc.record({
    day: fc.integer({ min: 1, max: 28 }),
    isInAdvance: fc.boolean(),
    // Around the quantity above which more seats cost less.
    seats: fc.integer({ min: 8, max: 18 }),
  });
  const someDays = fc.uniqueArray(piece, { minLength: 3, maxLength: 5, selector: ({ day }) => day });
  await fc.assert(
    fc.asyncProperty(someDays, async (pieces) => {
      const sortedPieces = pieces.toSorted((a, b) => a.day - b.day);
      let [seatCount, total, level] = [0, 0, 0];
      for (const { isInAdvance, seats } of sortedPieces) {
        // In arrears the maximum of the part, in advance each quantity.
        for (const quantity of isInAdvance ? [seatCount, seats] : [Math.max(seatCount, seats)]) {
          if (quantity > total) [total, level] = [quantity, Math.max(level, priceOf(quantity))];
        }
        seatCount = seats;
      }
      expect(await chargedFor(sortedPieces)).toBe(level);
    }),
    { numRuns: runs(150) },
  );
});
