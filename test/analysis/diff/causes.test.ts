/** S13.6: why lines changed, calculated by hand. If one input changed, it is the only cause. */
import { describe, expect, test } from "vitest";

import { diffInvoices } from "../../../src/analysis/diff/diff-invoices.ts";
import { formatDecimal } from "../../../src/numbers/decimal.ts";
import { feeCards, slabs } from "../../book/builder.ts";
import {
  bands,
  diffBook,
  CARD,
  commitmentOf200,
  diffAccount,
  describeLines,
  previewUnits,
  usageCards,
} from "./example-books.ts";

describe("one input that changed", () => {
  /** The commitment of one association, overriding that of the plan. */
  const commitmentOverride = (rate: number) => ({
    pricePlanDetailsOverride: { minimumCommitment: { rateValues: [{ currency: "USD", rate }] } },
  });

  test("S16.1 an association ends where the next begins: with the same version and other overrides, only usage changed", () => {
    const own = { pricePlanDetailsOverride: usageCards(slabs("TIERED", [0, 3], [100, 2])) };
    const first = { pricePlanId: "pp", effectiveFrom: "2026-06-01", ...own };
    const second = { pricePlanId: "pp", effectiveFrom: "2026-06-16" };
    const book = diffBook(usageCards(bands), { pricePlans: [first, second] });
    // From 16 June on the plan's own rates: 90 × 2 = 180; 100 × 2 + 20 × 1 = 220.
    expect(describeLines(diffAccount(previewUnits(book, 90), previewUnits(book, 120)))).toEqual([
      { type: CARD, difference: "40", usage: "40" },
    ]);
    // Back to the override: 90 × 3 = 270; 100 × 3 + 20 × 2 = 340.
    const back = diffBook(usageCards(bands), {
      pricePlans: [first, { ...second, effectiveFrom: "2026-06-05" }, { ...first, effectiveFrom: "2026-06-10" }],
    });
    expect(describeLines(diffAccount(previewUnits(back, 90), previewUnits(back, 120)))).toEqual([
      { type: CARD, difference: "70", usage: "70" },
    ]);
  });

  test("S13.3 a commitment over one association of a version: the true-up of its half is 2 of 4, and 0 with 5 more units", () => {
    const book = diffBook(usageCards(slabs("TIERED", [0, 1])), {
      pricePlans: [
        { pricePlanId: "pp", effectiveFrom: "2026-06-01", ...commitmentOverride(6) },
        { pricePlanId: "pp", effectiveFrom: "2026-06-16", ...commitmentOverride(8) },
      ],
    });
    // 15 of 30 days: 3 of 6, all of it missing on both sides; 4 of 8, of which 2 are missing before and none after.
    expect(describeLines(diffAccount(previewUnits(book, 2), previewUnits(book, 7)))).toEqual([
      { type: "TRUE_UP_AMOUNT", difference: "-2", usage: "-2" },
      { type: CARD, difference: "5", usage: "5" },
    ]);
  });

  test.each(["IN_ARREARS", "IN_ADVANCE"])(
    "S12.6 a credit grant %s: 5 at 1, then 10 at 1 and 30 at 0.9",
    (invoiceTiming) => {
      const grants = (creditAmount: number) => ({
        creditGrantRateCards: [
          {
            id: "addon.grant",
            invoiceTiming,
            rateDetails: {
              pricingModel: "TIERED",
              currencySlabRateDetails: [
                {
                  currency: "USD",
                  creditAmount,
                  slabDetails: [
                    { startAfter: 0, priceType: "PER_UNIT", rate: 1 },
                    { startAfter: 10, priceType: "PER_UNIT", rate: "0.9" },
                  ],
                },
              ],
            },
            grantDetails: { expiryType: "PRICING_CYCLE" },
          },
        ],
      });
      const [small, large] = [previewUnits(diffBook(grants(5)), 0), previewUnits(diffBook(grants(40)), 0)];
      const type =
        invoiceTiming === "IN_ADVANCE" ? "ADVANCED_CREDIT_GRANT_RATE_CARD_AMOUNT" : "CREDIT_GRANT_RATE_CARD_AMOUNT";
      expect(describeLines(diffAccount(small, large))).toEqual([{ type, difference: "32", usage: "32" }]);
      expect(describeLines(diffAccount(large, small))).toEqual([{ type, difference: "-32", usage: "-32" }]);
      const [alone] = diffInvoices(large[1], small[1]).accounts;
      expect(alone && describeLines(alone)).toEqual([{ type, difference: "-32", usage: "-32" }]);
    },
  );

  const seatCards = (rate: number, more: object = {}) => {
    const card = slabs("TIERED", [0, rate]);
    const [slab] = card.ratePlan.slabs;
    const ratePlan = { ...card.ratePlan, slabs: [{ ...slab, slabConfig: { chargeAtZero: true } }] };
    const rateValues = [{ currency: "USD", slabRates: [{ order: 1, rate: 0, slabRateConfig: { flatRate: rate } }] }];
    return diffBook({ licenseRateCards: [{ id: "addon.seats", ratePlan, rateValues, ...more }] });
  };

  test.each(["IN_ARREARS", "IN_ADVANCE"])(
    "S7.5 no seats %s, charged 5 and then nothing, is a change of rates, not days",
    (invoiceTiming) => {
      const type = invoiceTiming === "IN_ADVANCE" ? "ADVANCED_LICENSE_RATE_CARD_AMOUNT" : "LICENSE_RATE_CARD_AMOUNT";
      const [some, none] = [
        previewUnits(seatCards(5, { invoiceTiming }), 0),
        previewUnits(seatCards(0, { invoiceTiming }), 0),
      ];
      // The side without a charge has no line and no invoice.
      expect(none[1]).toEqual([]);
      expect(describeLines(diffAccount(some, none))).toEqual([{ type, difference: "-5", rates: "-5" }]);
      expect(describeLines(diffAccount(none, some))).toEqual([{ type, difference: "5", rates: "5" }]);
    },
  );

  test("S10.2 prorated seats are a change of days if the quantity is equal: 10 × 15/30 and 16 × 15/30 instead of 16", () => {
    const card = (enableProration: boolean) => ({
      licenseRateCards: [{ id: "addon.seats", ...slabs("TIERED", [0, 10]), enableProration }],
    });
    const own = {
      licenseUpdates: [
        { licenseId: "addon.seats", quantity: 10, effectiveFrom: "2026-06-01" },
        { licenseId: "addon.seats", quantity: 16, effectiveFrom: "2026-06-16" },
      ],
    };
    const account = diffAccount(
      previewUnits(diffBook(card(false), own), 0),
      previewUnits(diffBook(card(true), own), 0),
    );
    expect(describeLines(account)).toEqual([{ type: "LICENSE_RATE_CARD_AMOUNT", difference: "-30", days: "-30" }]);
  });

  test("S13.3 a higher fee in advance lowers the true-up by its rate: 180 and 10, then 180 and 15, of 200", () => {
    const details = (rate: number) => ({
      ...usageCards(bands),
      ...commitmentOf200,
      ...feeCards(rate, { invoiceTiming: "IN_ADVANCE" }),
    });
    expect(
      describeLines(diffAccount(previewUnits(diffBook(details(10)), 90), previewUnits(diffBook(details(15)), 90))),
    ).toEqual([
      { type: "ADVANCED_FIXED_FEE", difference: "5", rates: "5" },
      { type: CARD, difference: "0" },
      { type: "TRUE_UP_AMOUNT", difference: "-5", rates: "-5" },
    ]);
  });

  test("S13.4 a discount in advance counts once: 20 less 5, then 40 less 5", () => {
    const book = diffBook({ ...usageCards(slabs("TIERED", [0, 2])), ...feeCards(-5, { invoiceTiming: "IN_ADVANCE" }) });
    const { lines, total } = diffAccount(previewUnits(book, 10), previewUnits(book, 20));
    expect([total.before, total.after].map(formatDecimal)).toEqual(["15", "35"]);
    expect(lines.map(({ type, difference }) => [type, formatDecimal(difference)])).toEqual([
      ["ADVANCED_FIXED_FEE", "0"],
      [CARD, "20"],
    ]);
  });

  test("S12.3 the amount paid by a credit changes by rates if only they changed: 10 of 15, then 15 of 30", () => {
    const credit = { credits: [{ id: "c", purpose: "hello", creditAmount: 15, effectiveFrom: "2026-06-01" }] };
    const [before, after] = [1, 3].map((rate) =>
      previewUnits(diffBook(usageCards(slabs("TIERED", [0, rate])), credit), 10),
    );
    if (before === undefined || after === undefined) throw new Error("two sides");
    expect(describeLines(diffAccount(before, after))).toEqual([
      { type: "SUB_CREDITS", difference: "-5", rates: "-5" },
      { type: CARD, difference: "20", rates: "20" },
    ]);
  });
});
