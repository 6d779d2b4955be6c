/** License updates in order of arrival (S10.1, S10.3). */
import { describe, expect, test } from "vitest";

import { LICENSE_UPDATES_MAX } from "../../../src/ledger/commands/licenses.ts";
import { formatDecimal } from "../../../src/numbers/decimal.ts";
import { calls, planOfMonths, seatCards } from "../../book/builder.ts";
import { type Ledger, listCardLines, openLedger } from "../plan-ledger.ts";

const inAdvance = { invoiceTiming: "IN_ADVANCE", enableProration: true, proratedRefundMode: "CREDITS" };
const PLANS = [
  planOfMonths("arrears", { ...seatCards(10, { config: { maxQuantity: 20 } }), ...calls(1) }),
  planOfMonths("few", seatCards(10, { config: { maxQuantity: 10 } })),
  planOfMonths("advance", seatCards(31, inAdvance)),
  planOfMonths("whole", seatCards(30, { invoiceTiming: "IN_ADVANCE" })),
];

async function openOnPlan(planId: string): Promise<Ledger> {
  const ledger = await openLedger(PLANS);
  await ledger.associate(planId, "2024-01-01");
  return ledger;
}

interface LicenseOptions {
  readonly from?: string;
  readonly updateType?: "ABSOLUTE" | "RELATIVE";
  readonly licenseId?: string;
}

/** Updates the seats; the quantity from then on. */
async function update({ at }: Ledger, quantity: number, now: string, { from, ...more }: LicenseOptions = {}) {
  const effectiveFrom = from?.length === 10 ? `${from}T00:00:00Z` : from;
  const request = { licenseId: "addon.seats", updateType: "ABSOLUTE", quantity, effectiveFrom, ...more } as const;
  return formatDecimal((await at(now).licenses.update("a", request)).quantity);
}

/** The date and the lines of each invoice. */
const listAdvanced = async (ledger: Ledger): Promise<readonly string[]> =>
  (await ledger.stored()).invoices.flatMap(({ invoice }) =>
    listCardLines(invoice).map((line) => `${invoice.invoiceDate.slice(0, 10)} ${line}`),
  );
const listCredits = async (ledger: Ledger): Promise<readonly string[]> =>
  (await ledger.stored()).credits.map(({ creditAmount, effectiveFrom }) =>
    [formatDecimal(creditAmount), new Date(effectiveFrom).toISOString().slice(0, 10)].join(" from "),
  );

describe("updates", () => {
  test("S10.1 ABSOLUTE sets and RELATIVE adds, by effectiveFrom; the answer has the new quantity", async () => {
    const ledger = await openOnPlan("arrears");
    expect(await update(ledger, 4, "2024-01-05")).toBe("4");
    expect(await update(ledger, 3, "2024-01-06", { updateType: "RELATIVE" })).toBe("7");
    expect(await update(ledger, -5, "2024-01-07", { updateType: "RELATIVE", from: "2024-01-20" })).toBe("2");
    await ledger.until("2024-02-01");
    // Without proration: the largest daily quantity, 7 at 10.
    expect(await ledger.finals()).toEqual(["STANDARD 2024-01-01..2024-02-01 of 2024-02-01 DUE 70"]);
  });

  test("S6.5 S10.1 a cycle that was closed stays closed for updates after the clock was set back", async () => {
    const weekly = { interval: "WEEKLY", startOffset: { dayOffset: "1" }, gracePeriod: 60 };
    const ledger = await openLedger([planOfMonths("weeks", { ...seatCards(10), pricingCycleConfig: weekly })]);
    await ledger.associate("weeks", "2024-01-01", "2024-01-01", { until: "2024-01-15" });
    await update(ledger, 2, "2024-01-02");
    await ledger.until("2024-04-01");
    // 2 at 10 in each week; the second one closed on March 15.
    expect(await ledger.finals()).toEqual([
      "STANDARD 2024-01-01..2024-01-08 of 2024-01-08 DUE 20",
      "STANDARD 2024-01-08..2024-01-15 of 2024-01-15 DUE 20",
    ]);
    await expect(update(ledger, 9, "2024-03-01", { from: "2024-01-10" })).rejects.toThrow(
      "2024-01-10T00:00:00.000Z is before 2024-01-15T00:00:00.000Z; the billing periods before it are closed",
    );
  });

  const outOfBounds = (quantity: number, from: string): string =>
    `the account would have ${quantity} of "addon.seats" from ${from}T00:00:00.000Z on; the quantity must be from 0 to 20`;
  const refusals: readonly (readonly [string, number, LicenseOptions, string])[] = [
    ["below 0", -5, { updateType: "RELATIVE" }, outOfBounds(-1, "2024-02-10")],
    ["above the maxQuantity", 21, {}, outOfBounds(21, "2024-02-10")],
    ["below 0 later on", 2, { from: "2024-02-15" }, outOfBounds(-1, "2024-02-20")],
    [
      "a final cycle",
      5,
      { from: "2024-01-31T23:59:59Z" },
      "the update cannot take effect: 2024-01-31T23:59:59.000Z is before 2024-02-01T00:00:00.000Z; the billing periods before it are closed",
    ],
    ["an unknown license", 5, { licenseId: "addon.none" }, 'no license has the id "addon.none"'],
    ["another type", 5, { licenseId: "addon.fee" }, 'the add-on "addon.fee" is of type FIXED_FEE, not LICENSE'],
    ["an archived license", 5, { licenseId: "addon.old" }, 'the add-on "addon.old" is archived'],
  ];

  test.each(refusals)("S10.1 rejects %s", async (_because, quantity, options, message) => {
    const ledger = await openOnPlan("arrears");
    await update(ledger, 4, "2024-01-05");
    await update(ledger, -3, "2024-02-05", { updateType: "RELATIVE", from: "2024-02-20" });
    const before = await ledger.stored();
    await expect(update(ledger, quantity, "2024-02-10", options)).rejects.toThrow(message);
    expect(await ledger.stored()).toEqual(before);
  });

  test("S10.1 an update that does not change a quantity above the limit is accepted", async () => {
    const ledger = await openOnPlan("arrears");
    await update(ledger, 15, "2024-01-05", { from: "2024-03-10" });
    // Since 1 March the limit is 10.
    await ledger.associate("few", "2024-03-01", "2024-01-06");
    expect(await update(ledger, 5, "2024-01-07", { from: "2024-03-05" })).toBe("5");
    await expect(update(ledger, 11, "2024-01-07", { from: "2024-03-06" })).rejects.toThrow(
      "the quantity must be from 0 to 10",
    );
  });

  test("S10.1 the maxQuantity is that of the plan in force; without one there is no limit", async () => {
    const ledger = await openLedger(PLANS);
    expect(await update(ledger, 500, "2024-01-05")).toBe("500");
  });
});

describe("in advance", () => {
  test("S10.3 an increase is charged at once for the remaining days, a decrease is refunded", async () => {
    const ledger = await openOnPlan("advance");
    await update(ledger, 2, "2024-01-01T09:00:00Z", { from: "2024-01-01" });
    await update(ledger, 5, "2024-01-11T09:00:00Z");
    await update(ledger, 4, "2024-01-21T09:00:00Z");
    await ledger.until("2024-01-25");
    // 2 × 31 at the start; 3 × 31 × 21/31 from the 11th.
    expect(await listAdvanced(ledger)).toEqual([
      "2024-01-01 ADVANCED_LICENSE_RATE_CARD_AMOUNT addon.seats 62",
      "2024-01-11 ADVANCED_LICENSE_RATE_CARD_AMOUNT addon.seats 63",
    ]);
    // On the day of the decrease there are still 5: 1 × 31 × 10/31 from the 22nd.
    expect(await listCredits(ledger)).toEqual(["10 from 2024-01-22"]);
  });

  test("S10.3 the refund of a decrease exists from the end of the day of the decrease", async () => {
    const ledger = await openOnPlan("advance");
    await update(ledger, 2, "2024-01-01T09:00:00Z", { from: "2024-01-01" });
    await update(ledger, 1, "2024-01-21T09:00:00Z");
    await ledger.until("2024-01-21T23:59:59.999Z");
    expect(await listCredits(ledger)).toEqual([]);
    await ledger.until("2024-01-22");
    expect(await listCredits(ledger)).toEqual(["10 from 2024-01-22"]);
  });

  test("S10.3 S13.4 a late update is charged from its own day, in addition to final invoices", async () => {
    const ledger = await openOnPlan("advance");
    await update(ledger, 2, "2024-01-01T09:00:00Z", { from: "2024-01-01" });
    await update(ledger, 5, "2024-01-21T09:00:00Z");
    await ledger.until("2024-01-22");
    const before = (await ledger.stored()).invoices;
    await update(ledger, 3, "2024-01-25T09:00:00Z", { from: "2024-01-11" });
    await ledger.until("2024-01-26");
    expect((await ledger.stored()).invoices.slice(0, before.length)).toEqual(before);
    // One more for the ten days from the 11th to the 20th: from the 21st on, 5 are paid already.
    expect(await listAdvanced(ledger)).toEqual([
      "2024-01-01 ADVANCED_LICENSE_RATE_CARD_AMOUNT addon.seats 62",
      "2024-01-21 ADVANCED_LICENSE_RATE_CARD_AMOUNT addon.seats 33",
      "2024-01-11 ADVANCED_LICENSE_RATE_CARD_AMOUNT addon.seats 10",
    ]);
    expect((await ledger.stored()).invoices.at(-1)?.finalizedAt).toBe(Date.parse("2024-01-25T09:00:00Z"));
  });

  test("S10.3 S13.4 a final charge at the cycle's start is not repeated for later updates", async () => {
    const ledger = await openOnPlan("advance");
    await update(ledger, 2, "2024-01-01T09:00:00Z", { from: "2024-01-01" });
    await ledger.until("2024-01-02");
    await update(ledger, 3, "2024-01-02T09:00:00Z", { from: "2024-01-01" });
    await ledger.until("2024-01-03");
    expect(await listAdvanced(ledger)).toEqual([
      "2024-01-01 ADVANCED_LICENSE_RATE_CARD_AMOUNT addon.seats 62",
      "2024-01-01 ADVANCED_LICENSE_RATE_CARD_AMOUNT addon.seats 31",
    ]);
  });

  test("S10.3 without proration only the seats above the largest paid quantity are charged, in full", async () => {
    const ledger = await openOnPlan("whole");
    await update(ledger, 2, "2024-01-01T09:00:00Z", { from: "2024-01-01" });
    await update(ledger, 1, "2024-01-10T09:00:00Z");
    await update(ledger, 4, "2024-01-20T09:00:00Z");
    // It arrives late and stays below the 4 paid seats.
    await update(ledger, 3, "2024-01-25T09:00:00Z", { from: "2024-01-15" });
    await ledger.until("2024-01-26");
    expect(await listAdvanced(ledger)).toEqual([
      "2024-01-01 ADVANCED_LICENSE_RATE_CARD_AMOUNT addon.seats 60",
      "2024-01-20 ADVANCED_LICENSE_RATE_CARD_AMOUNT addon.seats 60",
    ]);
    expect(await listCredits(ledger)).toEqual([]);
  });

  test("S9.5 an increase charged on the day of the end is refunded with the rest", async () => {
    const ledger = await openOnPlan("advance");
    await update(ledger, 1, "2024-01-01T09:00:00Z", { from: "2024-01-01" });
    await update(ledger, 3, "2024-01-11T09:00:00Z");
    await ledger.until("2024-01-11T10:00:00Z");
    await ledger.dissociate("2024-01-11", "2024-01-11T11:00:00Z");
    await ledger.until("2024-01-12");
    // 31 for January, and 2 × 31 × 21/31 from the 11th; the 21 days of both are refunded: 3 × 21.
    expect(await listAdvanced(ledger)).toEqual([
      "2024-01-01 ADVANCED_LICENSE_RATE_CARD_AMOUNT addon.seats 31",
      "2024-01-11 ADVANCED_LICENSE_RATE_CARD_AMOUNT addon.seats 42",
    ]);
    expect(await listCredits(ledger)).toEqual(["63 from 2024-01-11"]);
  });

  test("S10.3 two updates in one millisecond are two arrivals", async () => {
    const ledger = await openOnPlan("advance");
    await update(ledger, 2, "2024-01-01T09:00:00Z", { from: "2024-01-01" });
    await update(ledger, 3, "2024-01-11T09:00:00Z");
    await update(ledger, 4, "2024-01-11T09:00:00Z");
    await ledger.until("2024-01-11T09:00:00Z");
    expect(await listAdvanced(ledger)).toEqual([
      "2024-01-01 ADVANCED_LICENSE_RATE_CARD_AMOUNT addon.seats 62",
      "2024-01-11 ADVANCED_LICENSE_RATE_CARD_AMOUNT addon.seats 21",
      "2024-01-11 ADVANCED_LICENSE_RATE_CARD_AMOUNT addon.seats 21",
    ]);
  });
});

describe("a thousand updates of one license", () => {
  test("S10.1 are the maximum in one cycle; those of the next cycle are counted separately", async () => {
    const ledger = await openOnPlan("arrears");
    await update(ledger, 4, "2024-01-05");
    const { record } = await ledger.stored();
    const [first] = record.licenseUpdates;
    if (first === undefined) throw new Error("it was updated");
    const licenseUpdates = Array.from({ length: LICENSE_UPDATES_MAX - 1 }, (_, place) => ({
      ...first,
      id: `lu${place}`,
      createdAt: first.createdAt + place,
    }));
    await ledger.put({ accounts: [{ ...record, licenseUpdates }] });
    expect(await update(ledger, 5, "2024-01-06")).toBe("5");
    await expect(update(ledger, 6, "2024-01-07")).rejects.toThrow(
      `the license "addon.seats" was updated ${LICENSE_UPDATES_MAX} times in the cycle from 2024-01-01T00:00:00.000Z`,
    );
    expect((await ledger.stored()).record.licenseUpdates).toHaveLength(LICENSE_UPDATES_MAX);
    expect(await update(ledger, 7, "2024-01-07", { from: "2024-02-01" })).toBe("7");
    await ledger.until("2024-02-01");
    // The largest quantity of a day of January, 5 at 10.
    expect(await ledger.finals()).toEqual(["STANDARD 2024-01-01..2024-02-01 of 2024-02-01 DUE 50"]);
  });
});
