import fc from "fast-check";
import { expect, test } from "vitest";

import { type PricePlanDetails, pricePlan } from "../../src/book/resources/price-plan.ts";
import { type CycleConfig, resolveCycleConfig } from "../../src/calendar/cycle.ts";
import { DAY_MS, parseDate } from "../../src/calendar/instant.ts";
import { computeAdvanceBilling } from "../../src/invoicing/advance.ts";
import { chargeInArrears } from "../../src/invoicing/arrears.ts";
import { findDueCycles } from "../../src/invoicing/due-work.ts";
import { type AccountView, cyclesIn, NO_END, type PlanDecision } from "../../src/invoicing/timeline.ts";
import {
  addFractions,
  type Fraction,
  negateFraction,
  ZERO_FRACTION,
  formatFraction,
} from "../../src/numbers/fraction.ts";
import { runToCompletion } from "../../src/numbers/steps.ts";
import { createTableFinder } from "../../src/rating/rated-table.ts";
import { perUnit } from "../book/builder.ts";
import { seatsFrom, viewOf } from "./plans.ts";

const FIRST = parseDate("2024-01-10");
/** After every plan, license and charge of the accounts below. */
const LAST = FIRST + 900 * DAY_MS;

type Timing = "IN_ARREARS" | "IN_ADVANCE";

/** One account, to be charged in advance or in arrears. */
interface Terms {
  readonly cycleConfig: CycleConfig;
  readonly prorated: boolean;
  readonly recurrence: { readonly interval: number; readonly offset: number };
  /** A version of the plan, or none, over days counted from the first. */
  readonly plans: readonly {
    readonly version: number | null;
    readonly wait: number;
    readonly ahead: number;
    readonly days: number | null;
  }[];
  /** When each version charges. */
  readonly timings: readonly [Timing, Timing];
  readonly licenses: readonly { readonly hour: number; readonly quantity: number }[];
}

const terms: fc.Arbitrary<Terms> = fc.record({
  cycleConfig: fc
    .record({ day: fc.integer({ min: 1, max: 31 }), interval: fc.constantFrom("MONTHLY", "QUARTERLY") })
    .map(({ day, interval }) => {
      const startOffset = { dayOffset: String(day), ...(interval === "MONTHLY" ? {} : { monthOffset: "2" }) };
      return resolveCycleConfig({ interval, startOffset }, FIRST);
    }),
  prorated: fc.boolean(),
  recurrence: fc.record({ interval: fc.integer({ min: 1, max: 3 }), offset: fc.nat(2) }),
  plans: fc.array(
    fc.record({
      version: fc.option(fc.integer({ min: 1, max: 2 })),
      wait: fc.nat(60),
      ahead: fc.oneof(fc.constant(0), fc.nat(100)),
      days: fc.option(fc.integer({ min: 1, max: 200 })),
    }),
    { minLength: 1, maxLength: 5 },
  ),
  timings: fc.tuple(fc.constantFrom("IN_ARREARS", "IN_ADVANCE"), fc.constantFrom("IN_ARREARS", "IN_ADVANCE")),
  licenses: fc.array(fc.record({ hour: fc.nat(400 * 24), quantity: fc.nat(20) }), { maxLength: 5 }),
});

function buildDetails({ prorated, recurrence }: Terms, invoiceTiming: Timing): PricePlanDetails {
  const timing = { invoiceTiming, enableProration: prorated };
  return pricePlan.shape.pricePlanDetails.parse({
    fixedFeeRateCards: [
      { id: "addon.fee", rateValues: [{ currency: "USD", rate: 97 }], recurrenceConfig: recurrence, ...timing },
    ],
    licenseRateCards: [
      {
        id: "addon.seats",
        proratedRefundMode: "CREDITS",
        ...perUnit(13),
        ...timing,
      },
    ],
  });
}

/** Unprorated items are charged by what was known, so there everything is known from the start. */
function buildDecisions(account: Terms): readonly PlanDecision[] {
  const { plans, prorated, cycleConfig, timings } = account;
  let today = FIRST;
  const decisions = plans.map(({ version, wait, ahead, days }, index): PlanDecision => {
    today += index === 0 ? 0 : wait * DAY_MS;
    const from = today + ahead * DAY_MS;
    const plan =
      version === null
        ? null
        : {
            planId: "plan",
            version,
            details: buildDetails(account, timings[version - 1] ?? "IN_ARREARS"),
            cycleConfig,
            gracePeriodDays: 0,
          };
    const until = days === null ? NO_END : from + days * DAY_MS;
    return { from, until, decidedAt: prorated ? today : FIRST, plan };
  });
  return [...decisions, { from: LAST, until: NO_END, decidedAt: prorated ? today : FIRST, plan: null }];
}

function buildView(account: Terms): AccountView {
  const licenseChanges = account.licenses.map(({ hour, quantity }) => seatsFrom(FIRST + hour * 3_600_000, quantity));
  return viewOf(buildDecisions(account), { licenseChanges });
}

function sumAmounts(amounts: readonly Fraction[]): string {
  return formatFraction(amounts.reduce(addFractions, ZERO_FRACTION));
}

/** The total of an account's charges less refunds. */
function chargeAndRefund(account: Terms): string {
  const view = buildView(account);
  const { charges, refunds } = runToCompletion(computeAdvanceBilling(view, findDueCycles(view.decisions, LAST)));
  expect(new Set(refunds.map(({ key }) => key)).size).toBe(refunds.length);
  const { timeline } = view;
  const inArrears = cyclesIn(timeline, FIRST, LAST).flatMap((cycle) =>
    chargeInArrears(view, cycle, { findTable: createTableFinder(new Map()), keyedMeters: new Map() }),
  );
  return sumAmounts([
    ...charges.flatMap(({ rate }) => rate()?.bounded ?? []),
    ...refunds.map(({ amount }) => negateFraction(amount)),
    ...inArrears.map(({ bounded }) => bounded),
  ]);
}

test("S9.1 S9.5 S10.3 charges in advance less refunds equal those in arrears, whenever decisions were made", () => {
  fc.assert(
    fc.property(terms, (account) => {
      const late = chargeAndRefund({ ...account, timings: ["IN_ARREARS", "IN_ARREARS"] });
      expect(chargeAndRefund({ ...account, timings: ["IN_ADVANCE", "IN_ADVANCE"] })).toBe(late);
      // Also if one version of a plan charges in advance and another in arrears.
      expect(chargeAndRefund(account)).toBe(late);
    }),
  );
});
