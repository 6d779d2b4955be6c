/** Accounts with plans of every kind of card, for the laws that hold of all invoices. */
import fc from "fast-check";

import { pricePlan, type PricePlanDetails } from "../../src/book/resources/price-plan.ts";
import { cycleConfigOf } from "../../src/calendar/cycle.ts";
import { DAY_MS, parseDate } from "../../src/calendar/instant.ts";
import type { AccountView, BillingCatalog } from "../../src/invoicing/account-view.ts";
import { NO_END, type PlanDecision } from "../../src/invoicing/timeline.ts";
import { Decimal } from "../../src/numbers/decimal.ts";

/** The first day of the accounts' plans. */
export const FIRST = parseDate("2024-01-10");
/** How many days of them the tests look at. */
export const SPAN_DAYS = 160;

const rate = (min: number, max: number): fc.Arbitrary<string> =>
  fc.integer({ min: min * 1000, max: max * 1000 }).map((thousandths) => new Decimal(thousandths).div(1000).toFixed());

const priced = fc
  .record({
    pricingModel: fc.constantFrom("TIERED", "VOLUME"),
    widths: fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 2 }),
    rates: fc.array(rate(0, 3), { minLength: 3, maxLength: 3 }),
    priceTypes: fc.array(fc.constantFrom("PER_UNIT", "FLAT", "PACKAGE"), { minLength: 3, maxLength: 3 }),
    minimumRate: fc.option(rate(0, 60)),
  })
  .map(({ pricingModel, widths, rates, priceTypes, minimumRate }) => {
    let startAfter = 0;
    const starts = [0, ...widths.map((width) => (startAfter += width))];
    return (currency: string) => ({
      ratePlan: {
        pricingModel,
        slabs: starts.map((start, index) => ({
          order: index + 1,
          startAfter: start,
          priceType: priceTypes[index],
          ...(priceTypes[index] === "PACKAGE" ? { slabConfig: { packageSize: 7 } } : {}),
        })),
      },
      rateValues: [
        {
          currency,
          slabRates: starts.map((_, index) => ({ order: index + 1, rate: rates[index] })),
          ...(minimumRate === null ? {} : { rateConfig: { minimumRate } }),
        },
      ],
    });
  });

const invoiceTiming = fc.constantFrom("IN_ARREARS", "IN_ADVANCE");
const recurrenceConfig = fc.record({ interval: fc.integer({ min: 1, max: 3 }), offset: fc.nat(2) });

const details = (currency: string): fc.Arbitrary<PricePlanDetails> =>
  fc
    .record({
      usage: fc.option(priced),
      fees: fc.array(
        fc.record({
          rateValues: rate(-20, 90).map((fee) => [{ currency, rate: fee }]),
          invoiceTiming,
          enableProration: fc.boolean(),
          type: fc.constantFrom("RECURRING", "ONE_TIME"),
          recurrenceConfig,
        }),
        { maxLength: 2 },
      ),
      seats: fc.option(
        fc.record({ card: priced, invoiceTiming, enableProration: fc.boolean(), refunds: fc.boolean() }),
      ),
      grant: fc.option(
        fc.record({
          invoiceTiming,
          recurrenceConfig,
          amount: rate(0, 40),
          expiryType: fc.constantFrom("NO_EXPIRY", "PRICING_CYCLE"),
        }),
      ),
      commitment: fc.option(rate(0, 100)),
    })
    .map(({ usage, fees, seats, grant, commitment }) =>
      pricePlan.shape.pricePlanDetails.parse({
        usageRateCards: usage === null ? [] : [{ usageMeterId: "um.calls", tag: "Traffic", ...usage(currency) }],
        fixedFeeRateCards: fees.map((fee, index) => ({ id: `addon.fee${index}`, ...fee })),
        licenseRateCards:
          seats === null
            ? []
            : [
                {
                  id: "addon.seats",
                  ...seats.card(currency),
                  invoiceTiming: seats.invoiceTiming,
                  enableProration: seats.enableProration,
                  proratedRefundMode: seats.refunds ? "CREDITS" : "NONE",
                },
              ],
        creditGrantRateCards:
          grant === null
            ? []
            : [
                {
                  id: "addon.grant",
                  invoiceTiming: grant.invoiceTiming,
                  recurrenceConfig: grant.recurrenceConfig,
                  rateDetails: {
                    pricingModel: "TIERED",
                    currencySlabRateDetails: [
                      {
                        currency,
                        creditAmount: grant.amount,
                        slabDetails: [{ startAfter: 0, priceType: "PER_UNIT", rate: "0.9" }],
                      },
                    ],
                  },
                  grantDetails: { expiryType: grant.expiryType },
                },
              ],
        minimumCommitment: commitment === null ? null : { rateValues: [{ currency, rate: commitment }] },
      }),
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
    .map((made) => {
      let now = FIRST;
      return made.map(({ wait, ahead, days, planId, details }, index) => {
        if (index > 0) now += wait * DAY_MS;
        const from = index === 0 ? FIRST : now + ahead * DAY_MS;
        const cycleConfig = cycleConfigOf({ interval: "MONTHLY", startOffset: { dayOffset: "1" } }, from);
        const plan = { planId, version: index + 1, details, cycleConfig, gracePeriodDays: index % 3 };
        return { from, until: days === null ? NO_END : from + days * DAY_MS, decidedAt: now, plan };
      });
    });

/** An account and its catalog. */
export interface Billed {
  readonly view: AccountView;
  readonly catalog: BillingCatalog;
}

/** Accounts in currencies with 0, 2 and 3 decimals, rounded in every way. */
export const billed: fc.Arbitrary<Billed> = fc
  .record({ currency: fc.constantFrom("USD", "JPY", "KWD"), rounding: fc.constantFrom("HALF_UP", "HALF_EVEN", "DOWN") })
  .chain(({ currency, rounding }) =>
    fc
      .record({
        decisions: decisionsIn(currency),
        seats: fc.array(fc.record({ day: fc.nat(SPAN_DAYS), quantity: fc.nat(30) }), { maxLength: 5 }),
        perDay: fc.array(rate(-1, 4), { minLength: 1, maxLength: 5 }),
        credits: fc.array(fc.record({ amount: rate(0, 80), priority: fc.nat(2) }), { maxLength: 2 }),
      })
      .map(({ decisions, seats, perDay, credits }): Billed => ({
        catalog: {
          rounding,
          meters: new Map([["um.calls", "calls"]]),
          addOns: new Map([["addon.seats", "Seats"]]),
          features: new Map(),
        },
        view: {
          accountId: "acc",
          customerId: "ann",
          currency,
          netTermDays: 0,
          decisions,
          licenseChanges: seats.map(({ day, quantity }) => ({
            licenseId: "addon.seats",
            updateType: "ABSOLUTE",
            quantity: new Decimal(quantity),
            effectiveFrom: FIRST + day * DAY_MS,
          })),
          credits: credits.map(({ amount, priority }, index) => ({
            id: `credit.${index}`,
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
          overage: () => new Decimal(0),
        },
      })),
  );
