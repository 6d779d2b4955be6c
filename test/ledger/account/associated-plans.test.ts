import { describe, expect, test } from "vitest";

import { formatDate, formatInstant } from "../../../src/calendar/instant.ts";
import { buildTimeline } from "../../../src/invoicing/timeline.ts";
import { toDecisions } from "../../../src/ledger/account/account-plan.ts";
import { findPlanIn } from "../../../src/ledger/catalog.ts";
import { catalogBook } from "../../book/catalog-book.ts";

const monthly = (dayOffset: string) => ({ interval: "MONTHLY", startOffset: { dayOffset } });
const feeCards = (rate: number) => ({
  fixedFeeRateCards: [{ id: "addon.fee", rateValues: [{ currency: "USD", rate }] }],
});

function planWithFee(id: string, dayOffset: string, more: Readonly<Record<string, unknown>> = {}): unknown {
  const details = { supportedCurrencies: ["USD"], pricingCycleConfig: monthly(dayOffset), ...feeCards(30), ...more };
  return { id, name: id, pricePlanDetails: details };
}

function decisionsFor(pricePlans: readonly unknown[], plans = [planWithFee("five", "5"), planWithFee("one", "1")]) {
  const accounts = [{ id: "acc", name: "Account", customerId: "ann", pricePlans }];
  const book = catalogBook({ pricePlans: plans, accounts });
  const [account] = book.accounts;
  if (account === undefined) throw new Error("the book has one account");
  return { book, decisions: toDecisions(account, findPlanIn(book.pricePlans)) };
}

describe("an account's plans as decisions", () => {
  test("S9.2 an association without decidedAt is decided at its effectiveFrom", () => {
    const { decisions } = decisionsFor([
      { pricePlanId: "five", effectiveFrom: "2024-01-10" },
      { pricePlanId: "one", effectiveFrom: "2024-03-01", effectiveUntil: "2024-04-01" },
    ]);
    expect(decisions.map(({ from, until, decidedAt }) => [from, until, decidedAt].map(formatDate))).toEqual([
      ["2024-01-10", "9999-01-01", "2024-01-10"],
      ["2024-03-01", "2024-04-01", "2024-03-01"],
    ]);
  });

  test("S9.2 an association is not decided after a later one of the book that has decidedAt", () => {
    const { decisions } = decisionsFor([
      { pricePlanId: "five", effectiveFrom: "2024-06-01" },
      { pricePlanId: "one", effectiveFrom: "2024-06-11", decidedAt: "2024-05-20T09:00:00Z" },
    ]);
    expect(decisions.map(({ decidedAt }) => formatInstant(decidedAt))).toEqual([
      "2024-05-20T09:00:00.000Z",
      "2024-05-20T09:00:00.000Z",
    ]);
    expect(buildTimeline(decisions).map(({ plan, until }) => [plan.planId, formatDate(until)])).toEqual([
      ["five", "2024-06-11"],
      ["one", "9999-01-01"],
    ]);
  });

  test("S16.2 an override replaces the plan's card of its kind and billable; the plan's cycle is unchanged", () => {
    const { decisions } = decisionsFor([
      { pricePlanId: "five", effectiveFrom: "2024-01-10", pricePlanDetailsOverride: feeCards(12) },
    ]);
    const plan = decisions[0]?.plan;
    expect(plan?.details.fixedFeeRateCards.map(({ rateValues }) => rateValues[0]?.rate.toFixed())).toEqual(["12"]);
    expect(plan?.cycleConfig.dayOffset).toBe(5);
  });

  test("S16.5 retained offsets are those of the previous plan; an overridden cycle takes precedence", () => {
    const retaining = { pricePlanId: "one", effectiveFrom: "2024-03-01", retainStartOffsets: true };
    const before = { pricePlanId: "five", effectiveFrom: "2024-01-10" };
    expect(decisionsFor([before, retaining]).decisions[1]?.plan?.cycleConfig.dayOffset).toBe(5);
    const override = { pricePlanDetailsOverride: { pricingCycleConfig: monthly("9") } };
    expect(decisionsFor([before, { ...retaining, ...override }]).decisions[1]?.plan?.cycleConfig.dayOffset).toBe(9);
  });

  test("S16.5 the grace period of retained cycles is that of the previous plan, also over several plans", () => {
    const graceful = planWithFee("graceful", "5", { pricingCycleConfig: { ...monthly("5"), gracePeriod: 4 } });
    const { decisions } = decisionsFor(
      [
        { pricePlanId: "graceful", effectiveFrom: "2024-01-10" },
        { pricePlanId: "one", effectiveFrom: "2024-03-01", retainStartOffsets: true },
        { pricePlanId: "five", effectiveFrom: "2024-05-01", retainStartOffsets: true },
        { pricePlanId: "five", effectiveFrom: "2024-07-01" },
      ],
      [graceful, planWithFee("one", "1"), planWithFee("five", "5")],
    );
    expect(decisions.map(({ plan }) => plan?.gracePeriodDays)).toEqual([4, 4, 4, 0]);
  });
});
