/** Accounts with plans of every kind of card, for laws of all invoices. */
import fc from "fast-check";

import { type PricePlanDetails, pricePlan } from "../../src/book/resources/price-plan.ts";
import { resolveCycleConfig } from "../../src/calendar/cycle.ts";
import { DAY_MS, parseDate } from "../../src/calendar/instant.ts";
import { type AccountView, type BillingCatalog, NO_END, type PlanDecision } from "../../src/invoicing/timeline.ts";
import { Decimal } from "../../src/numbers/decimal.ts";
import { createTableFinder } from "../../src/rating/rated-table.ts";
import { CATALOG, planArbitrary } from "../../src/testing/plan-arbitrary.ts";
import { seatsFrom, viewOf } from "./plans.ts";

/** The first day of the accounts' plans. */
export const FIRST = parseDate("2024-01-10");
/** The number of tested days. */
export const SPAN_DAYS = 160;

const arbitraryRate = (min: number, max: number): fc.Arbitrary<string> =>
  fc.integer({ min: min * 1000, max: max * 1000 }).map((thousandths) => new Decimal(thousandths).div(1000).toFixed());

/** Plans with some of every kind of card. */
const details = (currency: string): fc.Arbitrary<PricePlanDetails> =>
  planArbitrary({ currency, meters: ["um.calls"] }).map(({ pricePlanDetails }) =>
    pricePlan.shape.pricePlanDetails.parse(pricePlanDetails),
  );

const decisionsIn = (currency: string): fc.Arbitrary<readonly PlanDecision[]> =>
  fc
    .array(
      fc.record({
        wait: fc.integer({ min: 1, max: 50 }),
        ahead: fc.nat(20),
        days: fc.option(fc.integer({ min: 1, max: 90 })),
        planId: fc.constantFrom("plan", "plan", "other"),
        details: details(currency),
      }),
      { minLength: 1, maxLength: 4 },
    )
    .map((decisionTuple) => {
      let now = FIRST;
      return decisionTuple.map(({ wait, ahead, days, planId, details }, index) => {
        if (index > 0) now += wait * DAY_MS;
        const from = index === 0 ? FIRST : now + ahead * DAY_MS;
        const cycleConfig = resolveCycleConfig({ interval: "MONTHLY", startOffset: { dayOffset: "1" } }, from);
        const plan = { planId, version: index + 1, details, cycleConfig, gracePeriodDays: index % 3 };
        return { from, until: days === null ? NO_END : from + days * DAY_MS, decidedAt: now, plan };
      });
    });

/** An account and its catalog. */
export interface AccountToBill {
  readonly view: AccountView;
  readonly catalog: BillingCatalog;
}

/** Accounts in currencies with 0, 2 and 3 decimals, with every rounding. */
export const billedAccounts: fc.Arbitrary<AccountToBill> = fc
  .record({ currency: fc.constantFrom("USD", "JPY", "KWD"), rounding: fc.constantFrom("HALF_UP", "HALF_EVEN", "DOWN") })
  .chain(({ currency, rounding }) =>
    fc
      .record({
        decisions: decisionsIn(currency),
        seats: fc.array(fc.record({ day: fc.nat(SPAN_DAYS), quantity: fc.nat(30) }), { maxLength: 5 }),
        perDay: fc.array(arbitraryRate(-1, 4), { minLength: 1, maxLength: 5 }),
        credits: fc.array(fc.record({ amount: arbitraryRate(0, 80), priority: fc.nat(2) }), { maxLength: 2 }),
      })
      .map(({ decisions, seats, perDay, credits }): AccountToBill => ({
        catalog: {
          rounding,
          meters: new Map([["um.calls", "calls"]]),
          featuresByMeter: new Map(),
          keyedMeters: new Map(),
          levelMeters: new Map(),
          findTable: createTableFinder(new Map()),
          addOns: new Map([[CATALOG.seats, "Seats"]]),
          features: new Map(),
        },
        view: viewOf(decisions, {
          currency,
          licenseChanges: seats.map(({ day, quantity }) => seatsFrom(FIRST + day * DAY_MS, quantity, CATALOG.seats)),
          credits: credits.map(({ amount, priority }, index) => ({
            id: `credit.${index}`,
            kind: "MANUAL",
            purpose: "welcome",
            creditAmount: new Decimal(amount),
            left: new Decimal(amount),
            priority,
            effectiveFrom: FIRST,
            createdAt: index,
          })),
          usage: (_, from, until) => {
            let total = new Decimal(0);
            for (let day = from; day < until; day++) total = total.plus(perDay[day % perDay.length] ?? 0);
            return total;
          },
        }),
      })),
  );
