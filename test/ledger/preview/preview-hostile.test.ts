/**
 * Extreme previews: the end of time, long recurrences, thousands of cards, exact parts of cycles that are cut often.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { DAY_MS, formatDate, parseDate } from "../../../src/calendar/instant.ts";
import { preview, type PreviewOptions } from "../../../src/ledger/preview/preview.ts";
import { verify } from "../../../src/verify.ts";
import { catalogBook } from "../../book/catalog-book.ts";
import { compactLines, headOf, linesOfType } from "../../support/invoice-lines.ts";

const MONTHLY = { interval: "MONTHLY", startOffset: { dayOffset: "1" } };

function feeOf(rate: string | number, more: Readonly<Record<string, unknown>> = {}): unknown {
  return { id: "addon.fee", rateValues: [{ currency: "USD", rate }], ...more };
}

function hostilePlan(details: Readonly<Record<string, unknown>>, version = 1): unknown {
  return {
    id: "plan",
    name: "Plan",
    version,
    pricePlanDetails: { supportedCurrencies: ["USD"], pricingCycleConfig: MONTHLY, ...details },
  };
}

function previewPlans(
  plans: readonly unknown[],
  pricePlans: readonly unknown[],
  options: PreviewOptions,
  more: Readonly<Record<string, unknown>> = {},
) {
  const accounts = [{ id: "acc", name: "Account", customerId: "ann", pricePlans }];
  return preview(catalogBook({ pricePlans: plans, accounts, ...more }), [], { explain: true, ...options }).invoices;
}

function summary(invoices: ReturnType<typeof previewPlans>): readonly string[] {
  return invoices.map((invoice) => `${headOf(invoice)} = ${invoice.revenueInfo.value.toFixed()}`);
}

describe("the end of time", () => {
  test("S6.2 the last month before 9999 has its invoice", () => {
    const invoices = previewPlans(
      [hostilePlan({ fixedFeeRateCards: [feeOf(10)] })],
      [{ pricePlanId: "plan", effectiveFrom: "9998-11-15" }],
      {
        from: "9998-12-01",
        until: "9999-01-01",
      },
    );
    expect(summary(invoices)).toEqual(["STANDARD 9998-12-01/9999-01-01 on 9999-01-01 = 10"]);
  });

  test("S6.4 a year that begins in 9998 is cut at the date that means no end", () => {
    const plan = hostilePlan({
      pricingCycleConfig: { interval: "ANNUALLY", startOffset: { dayOffset: "1", monthOffset: "3" } },
      fixedFeeRateCards: [feeOf(365, { enableProration: true })],
    });
    const invoices = previewPlans([plan], [{ pricePlanId: "plan", effectiveFrom: "9998-03-01" }], {
      from: "9998-06-01",
      until: "9998-06-02",
    });
    // 1 March 9998 to 1 January 9999: 306 of 365 days.
    expect(summary(invoices)).toEqual(["STANDARD 9998-03-01/9999-01-01 on 9999-01-01 = 306"]);
  });

  test("S9.5 thousands of years of cycles may precede the one that is shown", () => {
    const plan = hostilePlan({
      fixedFeeRateCards: [feeOf(10, { invoiceTiming: "IN_ADVANCE", enableProration: true })],
    });
    const invoices = previewPlans([plan], [{ pricePlanId: "plan", effectiveFrom: "2024-01-01" }], { at: "9998-06-15" });
    expect(summary(invoices)).toEqual(["STANDARD_ADVANCED 9998-06-01/9998-07-01 on 9998-06-01 = 10"]);
  });
});

describe("long recurrences", () => {
  test("S9.1 a fee for 1200 months falls due in the last of them", () => {
    const plan = hostilePlan({
      fixedFeeRateCards: [feeOf("120.00", { recurrenceConfig: { interval: 1200, offset: 3 } })],
    });
    const associations = [{ pricePlanId: "plan", effectiveFrom: "2024-01-01" }];
    // n = 4 is April 2024, the 1200th month from there is March 2124.
    expect(summary(previewPlans([plan], associations, { from: "2024-01-01", until: "2025-01-01" }))).toEqual([]);
    expect(summary(previewPlans([plan], associations, { from: "2124-01-01", until: "2124-06-01" }))).toEqual([
      "STANDARD 2124-03-01/2124-04-01 on 2124-04-01 = 120",
    ]);
  });

  test("S9.3 a prorated fee falls due with the association's last cycle if that is sooner", () => {
    const card = feeOf(36524, { recurrenceConfig: { interval: 1200 }, enableProration: true });
    const associations = [{ pricePlanId: "plan", effectiveFrom: "2024-01-01", effectiveUntil: "2024-01-11" }];
    // Of 2024 to 2123, 2024 to 2096 have 19 leap years, 2104 to 2120 have 5, and 2100 is none: 36,500 + 24 days.
    expect(
      summary(previewPlans([hostilePlan({ fixedFeeRateCards: [card] })], associations, { at: "2024-01-01" })),
    ).toEqual(["STANDARD 2024-01-01/2024-01-11 on 2024-01-11 = 10"]);
  });
});

describe("size", () => {
  test("a plan of 3,000 fees has 3,000 lines that add up", () => {
    const many = Array.from({ length: 3000 }, (_, index) => `addon.${index}`);
    const addOns = many.map((id) => ({ id, name: id, type: "FIXED_FEE" }));
    const plan = hostilePlan({ fixedFeeRateCards: many.map((id) => feeOf("0.01", { id })) });
    const [invoice] = previewPlans(
      [plan],
      [{ pricePlanId: "plan", effectiveFrom: "2024-06-01" }],
      { at: "2024-06-01" },
      { addOns },
    );
    expect(invoice?.revenueInfo.value.toFixed()).toBe("30");
    expect(invoice && compactLines(invoice)).toHaveLength(3002);
  });

  test("S8.2 the exact parts of a month that is cut on any days add up to the whole", () => {
    const days = fc.uniqueArray(fc.integer({ min: 2, max: 30 }), { maxLength: 8 });
    fc.assert(
      fc.property(days, fc.integer({ min: 1, max: 10 ** 9 }), (cuts, thousandths) => {
        const rate = `${Math.floor(thousandths / 1000)}.${String(thousandths % 1000).padStart(3, "0")}`;
        const starts = [1, ...cuts].toSorted((a, b) => a - b);
        const dateInJune = (day: number): string => formatDate(parseDate("2024-06-01") + (day - 1) * DAY_MS);
        const invoices = previewPlans(
          starts.map((_, index) =>
            hostilePlan({ fixedFeeRateCards: [feeOf(rate, { enableProration: true })] }, index + 1),
          ),
          starts.map((day, index) => ({ pricePlanId: "plan", version: index + 1, effectiveFrom: dateInJune(day) })),
          { from: "2024-06-01", until: "2024-07-01" },
        );
        expect(verify({ invoices: JSON.parse(JSON.stringify(invoices)) }).differences).toEqual([]);
        // Exact amounts in thousandths of thirtieths, added as whole numbers.
        const parts = invoices.flatMap((invoice) =>
          linesOfType(invoice, "FIXED_FEE_RATE_CARD_AMOUNT").map(({ explanation }) => {
            if (explanation?.of !== "CARD") throw new Error("S13.6: a card's line explains a card");
            const { numerator, denominator } = explanation.exact;
            return BigInt(numerator.times(1000).toFixed(0)) * BigInt(30 / denominator);
          }),
        );
        expect(parts.reduce((total, part) => total + part, 0n)).toBe(BigInt(thousandths) * 30n);
      }),
    );
  });
});
