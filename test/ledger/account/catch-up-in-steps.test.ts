/** Processing years of due cycles in steps gives the same result as processing them week by week (S2.4). */
import { expect, test } from "vitest";

import { DAY_MS } from "../../../src/calendar/instant.ts";
import { createWorkspace } from "../../../src/ledger/account-state.ts";
import { catchUp, catchUpInSteps } from "../../../src/ledger/account/catch-up.ts";
import { createCredits } from "../../../src/ledger/commands/credits.ts";
import { updateLicense } from "../../../src/ledger/commands/licenses.ts";
import { parseDecimal } from "../../../src/numbers/decimal.ts";
import { calls, feeCards, planOfMonths, seatCards } from "../../book/builder.ts";
import { bookWithPlans } from "../../book/catalog-book.ts";
import { toTime, finals, type Ledger, openLedger } from "../account-harness.ts";

const weekly = (gracePeriod = 0) => ({ interval: "WEEKLY", startOffset: { dayOffset: "1" }, gracePeriod });
/** 2024-01-01 is a Monday; 150 weeks later. */
const END = toTime("2024-01-01") + 150 * 7 * DAY_MS;

function startLedger(details: object, associatedAt = "2024-01-01"): Ledger {
  const ledger = openLedger(bookWithPlans([planOfMonths("p", details)]));
  ledger.associate("p", "2024-01-01", associatedAt);
  return ledger;
}

function addCredit(ledger: Ledger, creditAmount: number, now = "2024-01-01"): Ledger {
  ledger.runAll(["a"], ([work]) => {
    if (work === undefined) throw new Error("no account");
    const request = { accountId: "a", purpose: "goodwill", priority: 1, effectiveFrom: toTime("2024-01-01") };
    createCredits(
      ledger.catalog,
      { find: () => work },
      [{ ...request, creditAmount: parseDecimal(creditAmount) }],
      toTime(now),
      ledger.ids,
    );
  });
  return ledger;
}

test("S12.3 of history that closes at one instant, a credit pays the earliest invoices, over all steps", () => {
  const ledger = addCredit(
    startLedger({ ...feeCards(10), pricingCycleConfig: weekly() }, "2026-11-16T12:00:00Z"),
    455,
    "2026-11-16T12:00:00Z",
  );
  ledger.until("2026-11-18");
  // 150 weeks at 10: 455 pays 45 of them and half of one.
  const totals = ledger
    .parts()
    .invoices.map(({ invoice }) => [invoice.startDate.slice(0, 10), invoice.revenueInfo.value.toNumber()]);
  expect(totals).toHaveLength(150);
  expect(totals.slice(0, 45).every(([, total]) => total === 0)).toBe(true);
  expect(totals[45]).toEqual(["2024-11-11", 5]);
  expect(totals.slice(46).every(([, total]) => total === 10)).toBe(true);
});

/** The line of an invoice in advance for a week of 2025. */
const due =
  (total: number) =>
  (week: string): string =>
    `STANDARD_ADVANCED 2025-${week} of 2025-${week.slice(0, 5)} DUE ${total}`;

test("S12.3 S13.4 an invoice in advance uses no credit from an invoice that becomes final after it, over all steps", () => {
  // Seats in advance from week 54 on, 10 each; from week 53 on a discount of 3 each week, which is final ten weeks
  // after it.
  const details = {
    ...feeCards(-3, { recurrenceConfig: { interval: 1, offset: 52 } }),
    ...seatCards(10, { invoiceTiming: "IN_ADVANCE" }),
    pricingCycleConfig: weekly(70),
  };
  const [once, often] = [startLedger(details), startLedger(details)];
  for (const ledger of [once, often]) {
    const update = { licenseId: "addon.seats", updateType: "ABSOLUTE", quantity: parseDecimal(1) } as const;
    const effectiveFrom = toTime("2025-01-06");
    ledger.run((work) =>
      updateLicense(ledger.catalog, work, { ...update, effectiveFrom }, toTime("2024-01-02"), ledger.ids),
    );
  }
  for (let now = toTime("2024-01-08"); now <= END; now += 7 * DAY_MS) often.until(now);
  once.until(END);
  const inAdvance = finals(once).filter((line) => line.startsWith("STANDARD_ADVANCED"));
  // Week 53 closes when week 64 begins, on 17 March: until then there is no credit, and from then on one of 3 for each
  // week.
  expect(inAdvance.slice(0, 12)).toEqual([
    ...["01-06..2025-01-13", "01-13..2025-01-20", "01-20..2025-01-27", "01-27..2025-02-03", "02-03..2025-02-10"].map(
      due(10),
    ),
    ...["02-10..2025-02-17", "02-17..2025-02-24", "02-24..2025-03-03", "03-03..2025-03-10", "03-10..2025-03-17"].map(
      due(10),
    ),
    ...["03-17..2025-03-24", "03-24..2025-03-31"].map(due(7)),
  ]);
  expect(inAdvance.slice(12).every((line) => line.endsWith(" DUE 7"))).toBe(true);
  expect(inAdvance).toHaveLength(98);
  expect(once.parts()).toEqual(often.parts());
});

test("S6.5 S12.3 a cycle that ends within a day of its plan uses no credit from history that closes after it", () => {
  // Known on Sunday: its week is final at midnight, the 149 weeks before it, of 3 below zero, a day after the plan was
  // created.
  const ledgers = [1, 2].map(() => {
    const ledger = startLedger({ ...feeCards(-3), ...calls(2), pricingCycleConfig: weekly() }, "2026-11-15T13:00:00Z");
    ledger.run((work) => work.addUsage("um.calls", END / DAY_MS - 3, 10));
    return ledger;
  });
  const [once, often] = ledgers as [Ledger, Ledger];
  often.until(END);
  for (const ledger of ledgers) ledger.until("2026-11-18");
  const [first, ...more] = finals(once);
  expect(first).toBe("STANDARD 2026-11-09..2026-11-16 of 2026-11-16 DUE 17");
  expect(more).toHaveLength(149);
  expect(once.parts()).toEqual(often.parts());
});

test("each step calculates a few cycles, whether they close one by one or at one instant", () => {
  for (const associatedAt of ["2024-01-01", "2026-11-16T12:00:00Z"]) {
    const ledger = startLedger({ ...feeCards(10), pricingCycleConfig: weekly() }, associatedAt);
    const workspace = createWorkspace(ledger.catalog, [ledger.parts()]);
    const work = workspace.account("a");
    let idCount = 0;
    for (const _ of catchUpInSteps(ledger.catalog, work, toTime("2026-11-18"))) {
      const now = work.invoices().length;
      expect(now - idCount).toBeLessThanOrEqual(64);
      idCount = now;
    }
    expect(work.invoices()).toHaveLength(150);
    catchUp(ledger.catalog, work, toTime("2026-11-18"));
    expect(work.invoices()).toHaveLength(150);
  }
});
