/** Processing years of due cycles in steps gives the same result as processing them week by week (S2.4). */
import { expect, test } from "vitest";

import { DAY_MS, parseInstant } from "../../../src/calendar/instant.ts";
import { catchUp, catchUpInSteps } from "../../../src/ledger/account/catch-up.ts";
import { calls, feeCards, planOfMonths, seatCards } from "../../book/builder.ts";
import { type Ledger, openLedger } from "../plan-ledger.ts";
import { toSortedState } from "./account-steps.ts";

const weekly = (gracePeriod = 0) => ({ interval: "WEEKLY", startOffset: { dayOffset: "1" }, gracePeriod });
/** 2024-01-01 is a Monday; 150 weeks later. */
const END = Date.parse("2024-01-01") + 150 * 7 * DAY_MS;

async function startLedger(details: object, associatedAt = "2024-01-01"): Promise<Ledger> {
  const ledger = await openLedger([planOfMonths("p", details)]);
  await ledger.associate("p", "2024-01-01", associatedAt);
  return ledger;
}

test("S12.3 of history that closes at one instant, a credit pays the earliest invoices, over all steps", async () => {
  const ledger = await startLedger({ ...feeCards(10), pricingCycleConfig: weekly() }, "2026-11-16T12:00:00Z");
  const credit = { accountId: "a", purpose: "goodwill", priority: 1, effectiveFrom: "2024-01-01" };
  await ledger.engine.credits.create([{ ...credit, creditAmount: 455 }]);
  await ledger.until("2026-11-18");
  // 150 weeks at 10: 455 pays 45 of them and half of one.
  const { invoices } = await ledger.stored();
  const totals = invoices.map(
    ({ invoice: { startDate, revenueInfo } }) => `${startDate.slice(0, 10)} ${revenueInfo.value.toFixed()}`,
  );
  expect(totals).toHaveLength(150);
  expect(totals.slice(0, 45).every((line) => line.endsWith(" 0"))).toBe(true);
  expect(totals[45]).toBe("2024-11-11 5");
  expect(totals.slice(46).every((line) => line.endsWith(" 10"))).toBe(true);
});

test("S12.3 S13.4 an invoice in advance uses no credit from an invoice that becomes final after it, over all steps", async () => {
  // Seats in advance from week 54 on, 10 each; from week 53 on a discount of 3 each week, which is final ten weeks
  // after it.
  const details = {
    ...feeCards(-3, { recurrenceConfig: { interval: 1, offset: 52 } }),
    ...seatCards(10, { invoiceTiming: "IN_ADVANCE" }),
    pricingCycleConfig: weekly(70),
  };
  const [once, often] = [await startLedger(details), await startLedger(details)];
  const update = { licenseId: "addon.seats", updateType: "ABSOLUTE", quantity: 1 } as const;
  for (const { at } of [once, often])
    await at("2024-01-02").licenses.update("a", { ...update, effectiveFrom: "2025-01-06T00:00:00Z" });
  for (let now = Date.parse("2024-01-08"); now <= END; now += 7 * DAY_MS) await often.until(now);
  await once.until(END);
  const inAdvance = (await once.finals()).filter((line) => line.startsWith("STANDARD_ADVANCED"));
  // Week 53 closes when week 64 begins, on 17 March: until then there is no credit, and from then on one of 3 for each
  // week.
  const totals = inAdvance.map((line) => line.replace(/^STANDARD_ADVANCED (.*)\.\..* DUE/, "$1"));
  expect(totals.slice(0, 10)).toEqual(
    Array.from({ length: 10 }, (_, week) => {
      const start = new Date(Date.parse("2025-01-06") + week * 7 * DAY_MS);
      return `${start.toISOString().slice(0, 10)} 10`;
    }),
  );
  expect(totals[10]).toBe("2025-03-17 7");
  expect(totals.slice(10).every((line) => line.endsWith(" 7"))).toBe(true);
  expect(totals).toHaveLength(98);
  expect(await toSortedState(once)).toEqual(await toSortedState(often));
});

test("S6.5 S12.3 a cycle that ends within a day of its plan uses no credit from history that closes after it", async () => {
  // Known on Sunday: its week is final at midnight, the 149 weeks before it, of 3 below zero, a day after the plan was
  // created.
  const details = { ...feeCards(-3), ...calls(2), pricingCycleConfig: weekly() };
  const known = "2026-11-15T13:00:00Z";
  const [once, often] = [await startLedger(details, known), await startLedger(details, known)];
  for (const ledger of [once, often]) await ledger.use(10, "2026-11-13T00:00:00Z", known);
  await often.until(END);
  for (const ledger of [once, often]) await ledger.until("2026-11-18");
  const [first, ...more] = await once.finals();
  expect(first).toBe("STANDARD 2026-11-09..2026-11-16 of 2026-11-16 DUE 17");
  expect(more).toHaveLength(149);
  expect(await toSortedState(once)).toEqual(await toSortedState(often));
});

test("each step calculates a few cycles, whether they close one by one or at one instant", async () => {
  for (const associatedAt of ["2024-01-01", "2026-11-16T12:00:00Z"]) {
    const ledger = await startLedger({ ...feeCards(10), pricingCycleConfig: weekly() }, associatedAt);
    const now = parseInstant("2026-11-18T00:00:00Z");
    await ledger.decide((catalog, account) => {
      let before = 0;
      for (const _ of catchUpInSteps(catalog, account, now)) {
        const { length } = account.invoices();
        expect(length - before).toBeLessThanOrEqual(64);
        before = length;
      }
      expect(account.invoices()).toHaveLength(150);
      catchUp(catalog, account, now);
      expect(account.invoices()).toHaveLength(150);
    });
  }
});
