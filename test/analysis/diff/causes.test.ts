/** S13.6: why lines changed, calculated by hand. If one input changed, it is the only cause. */
import { describe, expect, test } from "vitest";

import { formatDecimal } from "../../../src/numbers/decimal.ts";
import { feeCards, grantCards, seatCards, slabs } from "../../book/builder.ts";
import {
  CARD,
  changesOf,
  changesWithoutBooks,
  commitmentOf200,
  diffAccount,
  inBands,
  previewSide,
  type Side,
  usageCards,
} from "./example-books.ts";

const plan = (effectiveFrom: string, override?: object) => ({
  pricePlanId: "pp",
  effectiveFrom,
  ...(override && { pricePlanDetailsOverride: override }),
});
const dear = usageCards(slabs("TIERED", [0, 3], [100, 2]));
const commitmentOf = (rate: number) => ({ minimumCommitment: { rateValues: [{ currency: "USD", rate }] } });
/** The plan's own rates from 16 June on, and for some days in June. */
const override = { pricePlans: [plan("2026-06-01", dear), plan("2026-06-16")] };
const overrideTwice = { pricePlans: [plan("2026-06-01", dear), plan("2026-06-05"), plan("2026-06-10", dear)] };
const commitments = {
  pricePlans: [plan("2026-06-01", commitmentOf(6)), plan("2026-06-16", commitmentOf(8))],
};
const atRate = (rate: number, more: object = {}) => ({ ...usageCards(slabs("TIERED", [0, rate])), ...more });
const seats = {
  licenseUpdates: [
    { licenseId: "addon.seats", quantity: 10, effectiveFrom: "2026-06-01" },
    { licenseId: "addon.seats", quantity: 16, effectiveFrom: "2026-06-16" },
  ],
};
const feeInAdvance = (rate: number) => ({
  ...inBands,
  ...commitmentOf200,
  ...feeCards(rate, { invoiceTiming: "IN_ADVANCE" }),
});
const credit = { credits: [{ id: "c", purpose: "hello", creditAmount: 15, effectiveFrom: "2026-06-01" }] };

describe("one input that changed", () => {
  test.each<[title: string, before: Side, after: Side, ...changes: string[]]>([
    // From 16 June on the plan's own rates: 90 × 2 = 180; 100 × 2 + 20 × 1 = 220.
    [
      "S16.1 an association ends where the next begins: with the same version and other overrides, only usage changed",
      [inBands, 90, override],
      [inBands, 120, override],
      `${CARD} 40: usage 40`,
    ],
    // Back to the override: 90 × 3 = 270; 100 × 3 + 20 × 2 = 340.
    [
      "S16.1 also back to the override",
      [inBands, 90, overrideTwice],
      [inBands, 120, overrideTwice],
      `${CARD} 70: usage 70`,
    ],
    // 15 of 30 days: 3 of 6, all of it missing on both sides; 4 of 8, of which 2 are missing before and none after.
    [
      "S13.3 a commitment over one association of a version: the true-up of its half is 2 of 4, and 0 with 5 more units",
      [atRate(1), 2, commitments],
      [atRate(1), 7, commitments],
      "TRUE_UP_AMOUNT -2: usage -2",
      `${CARD} 5: usage 5`,
    ],
    [
      "S10.2 prorated seats are a change of days if the quantity is equal: 10 × 15/30 and 16 × 15/30 instead of 16",
      [seatCards(10, { enableProration: false }), 0, seats],
      [seatCards(10, { enableProration: true }), 0, seats],
      "LICENSE_RATE_CARD_AMOUNT -30: days -30",
    ],
    [
      "S13.3 a higher fee in advance lowers the true-up by its rate: 180 and 10, then 180 and 15, of 200",
      [feeInAdvance(10), 90],
      [feeInAdvance(15), 90],
      "ADVANCED_FIXED_FEE 5: rates 5",
      `${CARD} 0: none`,
      "TRUE_UP_AMOUNT -5: rates -5",
    ],
    [
      "S12.3 the amount paid by a credit changes by rates if only they changed: 10 of 15, then 15 of 30",
      [atRate(1), 10, credit],
      [atRate(3), 10, credit],
      "SUB_CREDITS -5: rates -5",
      `${CARD} 20: rates 20`,
    ],
  ])("%s", (_, before, after, ...changes) => {
    expect(changesOf(previewSide(before), previewSide(after))).toEqual(changes);
  });

  test.each([
    ["IN_ARREARS", "CREDIT_GRANT_RATE_CARD_AMOUNT"],
    ["IN_ADVANCE", "ADVANCED_CREDIT_GRANT_RATE_CARD_AMOUNT"],
  ])("S12.6 a credit grant %s: 5 at 1, then 10 at 1 and 30 at 0.9", (invoiceTiming, type) => {
    const bands = [
      { startAfter: 0, priceType: "PER_UNIT", rate: 1 },
      { startAfter: 10, priceType: "PER_UNIT", rate: "0.9" },
    ];
    const [small, large] = [5, 40].map((creditAmount) => {
      const currencySlabRateDetails = [{ currency: "USD", creditAmount, slabDetails: bands }];
      const rateDetails = { pricingModel: "TIERED", currencySlabRateDetails };
      const grantDetails = { expiryType: "PRICING_CYCLE" };
      return previewSide([grantCards(creditAmount, grantDetails, { invoiceTiming, rateDetails }), 0]);
    });
    if (small === undefined || large === undefined) throw new Error("two sides");
    expect(changesOf(small, large)).toEqual([`${type} 32: usage 32`]);
    expect(changesOf(large, small)).toEqual([`${type} -32: usage -32`]);
    expect(changesWithoutBooks(large, small)).toEqual([`${type} -32: usage -32`]);
  });

  test.each([
    ["IN_ARREARS", "LICENSE_RATE_CARD_AMOUNT"],
    ["IN_ADVANCE", "ADVANCED_LICENSE_RATE_CARD_AMOUNT"],
  ])("S7.5 no seats %s, charged 5 and then nothing, is a change of rates, not days", (invoiceTiming, type) => {
    const [some, none] = [5, 0].map((flatRate) => {
      const slab = { order: 1, startAfter: 0, priceType: "PER_UNIT", slabConfig: { chargeAtZero: true } };
      const ratePlan = { pricingModel: "TIERED", slabs: [slab] };
      const rateValues = [{ currency: "USD", slabRates: [{ order: 1, rate: 0, slabRateConfig: { flatRate } }] }];
      return previewSide([seatCards(0, { ratePlan, rateValues, invoiceTiming }), 0]);
    });
    if (some === undefined || none === undefined) throw new Error("two sides");
    // The side without a charge has no line and no invoice.
    expect(none[1]).toEqual([]);
    expect(changesOf(some, none)).toEqual([`${type} -5: rates -5`]);
    expect(changesOf(none, some)).toEqual([`${type} 5: rates 5`]);
  });

  test("S13.4 a discount in advance counts once: 20 less 5, then 40 less 5", () => {
    const details = atRate(2, feeCards(-5, { invoiceTiming: "IN_ADVANCE" }));
    const { lines, total } = diffAccount(previewSide([details, 10]), previewSide([details, 20]));
    expect([total.before, total.after].map(formatDecimal)).toEqual(["15", "35"]);
    expect(lines.map(({ type, difference }) => [type, formatDecimal(difference)])).toEqual([
      ["ADVANCED_FIXED_FEE", "0"],
      [CARD, "20"],
    ]);
  });
});
