import { describe, expect, test } from "vitest";

import { DAY_MS, formatDate, parseDate } from "../../../src/calendar/instant.ts";
import { createPlanLookup } from "../../../src/ledger/account/account-plan.ts";
import { perUnit } from "../../book/builder.ts";
import { decision, spanText } from "../../invoicing/plans.ts";

const pricing = perUnit(1);
const overageCards = (more: Readonly<Record<string, unknown>>) => ({
  entitlementOverageRateCards: [{ featureId: "f", ...pricing, ...more }],
});
describe("the period of an event", () => {
  const clock = createPlanLookup([
    decision("2024-01-15", { graceDays: 3, until: "2024-03-10" }),
    decision("2024-04-01", { graceDays: 0 }),
  ]);

  test("S6.5 is the account's cycle, open until its end and the grace days", () => {
    const period = clock.periodAt(parseDate("2024-02-29"));
    expect(spanText(period)).toBe("2024-02-01/2024-03-01");
    expect(formatDate(period.openUntil ?? 0)).toBe("2024-03-04");
    expect(spanText(clock.periodAt(parseDate("2024-03-10") - 1))).toBe("2024-03-01/2024-03-10");
  });

  test("S16.7 is open for the invoice group's grace days, if the group sets them", () => {
    const groupClock = createPlanLookup([decision("2024-01-15", { graceDays: 3 })], { groupGraceDays: 10 });
    expect(formatDate(groupClock.periodAt(parseDate("2024-02-29")).openUntil ?? 0)).toBe("2024-03-11");
  });

  test("S6.5 is the time between two plans if none is in force, and never closes", () => {
    const gap = clock.periodAt(parseDate("2024-03-10"));
    expect([spanText(gap), gap.openUntil]).toEqual(["2024-03-10/2024-04-01", undefined]);
    const before = clock.periodAt(parseDate("2024-01-15") - 1);
    expect([before.start, formatDate(before.end)]).toEqual([Number.NEGATIVE_INFINITY, "2024-01-15"]);
    const none = createPlanLookup([]).periodAt(0);
    expect([none.start, none.end]).toEqual([Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]);
  });
});

describe("the allowed overage of an event", () => {
  const noonOf = (date: string) => parseDate(date) + DAY_MS / 2;
  const now = noonOf("2024-08-01");

  test("S11.7 is counted over the billing window, which ends with the association at the latest", () => {
    const details = overageCards({ billingConfig: { interval: 3, startOffset: 1 }, maxQuantity: 5 });
    const clock = createPlanLookup([decision("2024-01-15", { details, until: "2024-07-20" })]);
    const windowAt = (date: string): string | undefined => {
      const limit = clock.overageAt("f", noonOf(date), noonOf(date));
      return limit && spanText(limit.window);
    };
    // January, n = 1, is before startOffset; windows are n = 2 to 4, 5 to 7.
    expect(windowAt("2024-01-20")).toBe("2024-01-15/2024-02-01");
    expect(windowAt("2024-03-20")).toBe("2024-02-01/2024-05-01");
    expect(windowAt("2024-06-20")).toBe("2024-05-01/2024-07-20");
    expect(windowAt("2024-07-20")).toBeUndefined();
    expect(clock.overageAt("f", noonOf("2024-03-20"), now)?.maxQuantity?.toFixed()).toBe("5");
  });

  test("S11.3 is zero if the plan in force has no card for the feature", () => {
    const clock = createPlanLookup([decision("2024-01-15", { details: overageCards({}) })]);
    expect(clock.overageAt("g", noonOf("2024-02-01"), now)).toBeUndefined();
    expect(clock.overageAt("f", noonOf("2024-02-01"), now)?.maxQuantity).toBeUndefined();
    expect(clock.overageAt("f", parseDate("2024-01-15") - 1, now)).toBeUndefined();
  });

  test("S9.2 S11.3 is that of the plan known at the time, if a later decision is retroactive", () => {
    const [limited, free] = [overageCards({ maxQuantity: 0 }), overageCards({ maxQuantity: 7 })];
    const recordedAt = noonOf("2024-01-01");
    const clock = createPlanLookup([
      { ...decision("2024-01-15", { details: free }), recordedAt },
      { ...decision("2024-02-01", { details: limited }), recordedAt, decidedAt: noonOf("2024-02-10") },
    ]);
    const limitAt = (knownAt: string) =>
      clock.overageAt("f", noonOf("2024-02-05"), noonOf(knownAt))?.maxQuantity?.toFixed();
    expect(["2024-02-05", "2024-02-10", "2024-02-09"].map(limitAt)).toEqual(["7", "0", "7"]);
    // A plan decided in the ledger counts at once, also if its clock stands still.
    const lateClock = createPlanLookup([
      { ...decision("2024-02-01", { details: limited }), decidedAt: noonOf("2024-02-10") },
    ]);
    expect(lateClock.overageAt("f", noonOf("2024-02-05"), noonOf("2024-02-05"))?.maxQuantity?.toFixed()).toBe("0");
  });

  test("S11.3 a maximum of 0 allows none", () => {
    const clock = createPlanLookup([decision("2024-01-15", { details: overageCards({ maxQuantity: 0 }) })]);
    expect(clock.overageAt("f", noonOf("2024-02-01"), now)?.maxQuantity?.toFixed()).toBe("0");
  });
});
