/** The cards that price one quantity or none: usage, fixed fee, entitlement, grant, overage, commitment. */
import { describe, expect, test } from "vitest";

import { minimumCommitment } from "../../src/book/resources/price-plan.ts";
import {
  type FixedFeeRateCard,
  type UsageRateCard,
  billingEntitlementRateCard,
  creditGrantRateCard,
  entitlementOverageRateCard,
  fixedFeeRateCard,
  usageRateCard,
} from "../../src/book/resources/rate-card.ts";
import { formatFraction, sumFractions } from "../../src/numbers/fraction.ts";
import {
  rateBillingEntitlement,
  computeTrueUp,
  creditAmountOf,
  rateCreditGrant,
  rateOverage,
  refundFixedFee,
  rateFixedFee,
  rateUsage,
} from "../../src/rating/cards.ts";
import { roundLines } from "../../src/rating/charge.ts";
import { type CardBounds, createRateValue } from "../../src/testing/price-arbitrary.ts";
import { d, days, HALF_JUNE, JUNE, LATE_JUNE, createSlabPricing, exactAmount } from "./cards.ts";

const parseUsageCard = (rate: string, bounds?: CardBounds): UsageRateCard =>
  usageRateCard.parse({ usageMeterId: "um.calls", ...createSlabPricing("TIERED", [{ after: 0, rate }], bounds) });

describe("usage", () => {
  test("S7.4 a card's bounds are prorated by days in a cut cycle, its slabs are not", () => {
    const card = parseUsageCard("0.5", { minimumRate: 100, maximumRate: 200 });
    // Of the bounds, 15 of 30 days count: 50 and 100.
    expect(exactAmount(rateUsage(card, "USD", d(4), HALF_JUNE))).toBe("50");
    expect(exactAmount(rateUsage(card, "USD", d(120), HALF_JUNE))).toBe("60");
    expect(exactAmount(rateUsage(card, "USD", d(1000), HALF_JUNE))).toBe("100");
    expect(formatFraction(rateUsage(card, "USD", d(1000), HALF_JUNE).charged)).toBe("500");
  });

  test("S7.4 the adjustment is the rounded bound minus the rounded charge", () => {
    // 100 × 16 ÷ 30 is 53.333…, and 3 × 0.335 is 1.005.
    const charge = rateUsage(parseUsageCard("0.335", { minimumRate: 100 }), "USD", d(3), LATE_JUNE);
    const lines = roundLines(charge, 2, "HALF_UP");
    expect([lines.value.toFixed(), lines.slabs.map(String), lines.adjustment.toFixed()]).toEqual([
      "53.33",
      ["1.01"],
      "52.32",
    ]);
  });

  test("S7.5 a negative quantity costs nothing, with a notice", () => {
    const charge = rateUsage(parseUsageCard("0.5"), "USD", d("-2.5"), JUNE);
    expect([exactAmount(charge), charge.quantity?.toFixed(), charge.notices]).toEqual([
      "0",
      "-2.5",
      ["um.calls: the negative quantity -2.5 was priced as zero"],
    ]);
  });

  test("S7.7 the entry of the currency is used, and a currency without one is an error", () => {
    const rows = [{ after: 0, rate: 3 }];
    const card = usageRateCard.parse({
      usageMeterId: "um.calls",
      ...createSlabPricing("TIERED", [{ after: 0, rate: 2 }]),
      rateValues: [createRateValue([{ after: 0, rate: 2 }]), createRateValue(rows, undefined, "EUR")],
    });
    expect(exactAmount(rateUsage(card, "EUR", d(10), JUNE))).toBe("30");
    expect(() => rateUsage(card, "JPY", d(10), JUNE)).toThrow(
      expect.objectContaining({
        code: "ERR_RATES_INVALID",
        message: "there are no rates in JPY for um.calls",
      }),
    );
  });
});

describe("fixed fees", () => {
  const parseFeeCard = (rate: string, more: object = {}): FixedFeeRateCard =>
    fixedFeeRateCard.parse({
      id: "addon.fee",
      rateValues: [{ currency: "USD", rate }],
      enableProration: true,
      ...more,
    });

  test.each([
    ["100", LATE_JUNE, "53.33", "16 of 30 days: 53.333…"],
    ["9.99", { served: days("2026-06-06", "2026-07-01"), natural: JUNE.natural }, "8.33", "25 of 30 days: 8.325"],
    ["-10", HALF_JUNE, "-5.00", "S9.4 a discount"],
  ])("S8.1 S9.2 a fee of %s is prorated by whole days (%#)", (rate, period, value, _because) => {
    const { value: rounded } = roundLines(rateFixedFee(parseFeeCard(rate), "USD", period), 2, "HALF_UP");
    expect(rounded.toFixed(2)).toBe(value);
  });

  test("S8.2 the exact parts of a cut cycle add up to the whole; their rounded lines may not", () => {
    const cuts = ["2026-06-01", "2026-06-11", "2026-06-21", "2026-07-01"];
    const pieces = cuts
      .slice(1)
      .map((until, index) =>
        rateFixedFee(parseFeeCard("100"), "USD", { served: days(cuts[index] ?? "", until), natural: JUNE.natural }),
      );
    expect(formatFraction(sumFractions(pieces.map(({ bounded }) => bounded)))).toBe("100");
    expect(pieces.map((piece) => roundLines(piece, 2, "HALF_UP").value.toFixed())).toEqual(["33.33", "33.33", "33.33"]);
  });

  test("S9.2 without proration the full rate is charged", () => {
    expect(exactAmount(rateFixedFee(parseFeeCard("100", { enableProration: false }), "USD", HALF_JUNE))).toBe("100");
  });

  test("S9.1 ONE_TIME is never prorated", () => {
    expect(exactAmount(rateFixedFee(parseFeeCard("100", { type: "ONE_TIME" }), "USD", HALF_JUNE))).toBe("100");
  });

  test("S9.2 the natural period of a charge for three cycles is those three cycles", () => {
    // From 1 May in the second quarter of 2026: 61 of 91 days of 91 is 61.
    const period = { served: days("2026-05-01", "2026-07-01"), natural: days("2026-04-01", "2026-07-01") };
    expect(exactAmount(rateFixedFee(parseFeeCard("91"), "USD", period))).toBe("61");
  });

  test("S9.5 an association that ends early refunds the unserved days of a prorated fee, and of no other", () => {
    const unusedDays = days("2026-06-21", "2026-07-01");
    const refund = refundFixedFee(parseFeeCard("90"), "USD", unusedDays, JUNE);
    expect(refund && formatFraction(refund.amount)).toBe("30");
    expect(refund?.explanation.parts.map(({ because }) => because)).toEqual(["fee for the unused 10 of 30 days"]);
    expect(refundFixedFee(parseFeeCard("90", { enableProration: false }), "USD", unusedDays, JUNE)).toBeUndefined();
    expect(refundFixedFee(parseFeeCard("90", { type: "ONE_TIME" }), "USD", unusedDays, JUNE)).toBeUndefined();
    expect(refundFixedFee(parseFeeCard("-90"), "USD", unusedDays, JUNE)).toBeUndefined();
  });
});

describe("grants and overage", () => {
  test("S11.1 an entitlement charges the price of the sum of its limits, in full", () => {
    const card = billingEntitlementRateCard.parse({
      featureId: "feature.tokens",
      featureConfigs: [
        { featureCreditLimit: 100, effectiveUntil: "P1M" },
        { featureCreditLimit: "50.5", effectiveUntil: "P1Y" },
      ],
      ...createSlabPricing("TIERED", [{ after: 0, rate: 2 }], { minimumRate: 302 }),
    });
    // 150.5 × 2 = 301, raised to the whole minimum although 15 of 30 days are served.
    const charge = rateBillingEntitlement(card, "USD", HALF_JUNE);
    expect([charge.quantity?.toFixed(), formatFraction(charge.charged), exactAmount(charge)]).toEqual([
      "150.5",
      "301",
      "302",
    ]);
  });

  test("S12.6 a credit grant charges the price of its creditAmount, in full", () => {
    const card = creditGrantRateCard.parse({
      id: "addon.prepaid",
      rateDetails: {
        pricingModel: "TIERED",
        currencySlabRateDetails: [
          {
            currency: "USD",
            creditAmount: 1000,
            slabDetails: [
              { startAfter: 0, endAt: 500, priceType: "PER_UNIT", rate: 1 },
              { startAfter: 500, priceType: "PER_UNIT", rate: "0.8" },
            ],
          },
        ],
      },
      grantDetails: { expiryType: "NO_EXPIRY" },
    });
    // 500 × 1 + 500 × 0.8
    expect(exactAmount(rateCreditGrant(card, "USD", HALF_JUNE))).toBe("900");
    expect(creditAmountOf(card, "USD").toFixed()).toBe("1000");
    expect(() => creditAmountOf(card, "EUR")).toThrow("there are no rates in EUR for addon.prepaid");
  });

  test("S11.7 the overage of a window is priced from 0, and only the card's bounds are prorated", () => {
    const rows = [
      { after: 0, rate: 2 },
      { after: 100, rate: 1 },
    ];
    const plain = entitlementOverageRateCard.parse({
      featureId: "feature.tokens",
      ...createSlabPricing("TIERED", rows),
    });
    expect(exactAmount(rateOverage(plain, "USD", d(150), HALF_JUNE))).toBe("250");
    const bounded = entitlementOverageRateCard.parse({
      featureId: "feature.tokens",
      ...createSlabPricing("TIERED", rows, { maximumRate: 400 }),
    });
    expect(exactAmount(rateOverage(bounded, "USD", d(150), HALF_JUNE))).toBe("200");
  });
});

describe("S13.3 the minimum commitment", () => {
  const commitment = minimumCommitment.parse({ rateValues: [{ currency: "USD", rate: 100 }] });
  const cents = { digits: 2, mode: "HALF_UP" } as const;

  test.each([
    ["60", JUNE, "40", "100 − 60"],
    ["120", JUNE, undefined, "nothing is lacking"],
    ["-10", JUNE, "110", "a discount is made up for"],
    ["20", LATE_JUNE, "33.33", "100 × 16 ÷ 30 is 53.333…, less 20"],
    ["53.33", LATE_JUNE, undefined, "a third of a cent is nothing"],
  ])("S13.3 with %s invoiced (%#)", (alreadyInvoiced, period, amount, _because) => {
    expect(
      computeTrueUp(commitment, "USD", period, { alreadyCharged: d(alreadyInvoiced) }, cents)?.amount.toFixed(),
    ).toBe(amount);
  });

  test("S7.7 a commitment without a rate in the currency is an error", () => {
    expect(() => computeTrueUp(commitment, "EUR", JUNE, { alreadyCharged: d(0) }, cents)).toThrow(
      "there are no rates in EUR for the minimum commitment",
    );
  });
});
