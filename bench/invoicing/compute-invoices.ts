/**
 * Drawing invoices from prepared usage, compared with a direct calculation of the totals. Each has 30 days of usage,
 * one usage card with three slabs, one fee and one credit.
 */
import { Decimal } from "decimal.js";

import { pricePlan } from "../../src/book/resources/price-plan.ts";
import { resolveCycleConfig } from "../../src/calendar/cycle.ts";
import { dayOf, parseDate } from "../../src/calendar/instant.ts";
import { computeInvoices } from "../../src/invoicing/compute-invoices.ts";
import type { Invoice } from "../../src/invoicing/invoice.ts";
import {
  type AccountView,
  type BillingCatalog,
  type AssociatedPlan,
  buildTimeline,
  NO_END,
} from "../../src/invoicing/timeline.ts";
import { UsageTally } from "../../src/metering/usage.ts";
import { Decimal as OurDecimal } from "../../src/numbers/decimal.ts";
import { createTableFinder } from "../../src/rating/rated-table.ts";
import { type Bench, measure } from "../bench.ts";

const FROM = parseDate("2024-06-01");
const UNTIL = parseDate("2024-07-01");
const DAYS = 30;
const METER = "um.tokens";
const SLABS = [
  { startAfter: 0, endAt: 10_000, rate: "0.012" },
  { startAfter: 10_000, endAt: 100_000, rate: "0.0095" },
  { startAfter: 100_000, endAt: null, rate: "0.00725" },
];
const FEE = "49.5";
const CREDIT = "25";

const cycle = { interval: "MONTHLY", startOffset: { dayOffset: "1", monthOffset: "NIL" } } as const;
const plan: AssociatedPlan = {
  planId: "plan",
  version: 1,
  details: pricePlan.shape.pricePlanDetails.parse({
    usageRateCards: [
      {
        usageMeterId: METER,
        ratePlan: {
          pricingModel: "TIERED",
          slabs: SLABS.map(({ startAfter, endAt }, index) => ({
            order: index + 1,
            startAfter,
            endAt,
            priceType: "PER_UNIT",
          })),
        },
        rateValues: [{ currency: "USD", slabRates: SLABS.map(({ rate }, index) => ({ order: index + 1, rate })) }],
      },
    ],
    fixedFeeRateCards: [{ id: "addon.fee", rateValues: [{ currency: "USD", rate: FEE }] }],
  }),
  cycleConfig: resolveCycleConfig(cycle, FROM),
  gracePeriodDays: 0,
};
const catalog: BillingCatalog = {
  rounding: "HALF_UP",
  meters: new Map([[METER, "Tokens"]]),
  featuresByMeter: new Map(),
  keyedMeters: new Map(),
  levelMeters: new Map(),
  findTable: createTableFinder(new Map()),
  addOns: new Map([["addon.fee", "Platform fee"]]),
  features: new Map(),
};

/** An account's usage on a day in whole units, some of it beyond the second slab. */
function usageOn(account: number, day: number): number {
  return ((account * 7919 + day * 104_729) % 9000) + (account % 5) * 100;
}

function buildTallies(accounts: number): UsageTally {
  const ids = Array.from({ length: accounts }, (_, account) => `account.${account}`);
  const tallies = new UsageTally(ids, [METER]);
  for (let account = 0; account < accounts; account++) {
    for (let day = 0; day < DAYS; day++) tallies.add(account, 0, dayOf(FROM) + day, usageOn(account, day));
  }
  return tallies;
}

function createView(tallies: UsageTally, account: number): AccountView {
  const decisions = [{ from: FROM, until: NO_END, decidedAt: FROM, plan }];
  return {
    accountId: `account.${account}`,
    customerId: `customer.${account}`,
    currency: "USD",
    netTermDays: 30,
    graceAfterAssociationDays: 0,
    decisions,
    timeline: buildTimeline(decisions),
    licenseChanges: [],
    credits: [
      {
        id: `credit.${account}`,
        kind: "MANUAL",
        purpose: "welcome",
        creditAmount: new OurDecimal(CREDIT),
        left: new OurDecimal(CREDIT),
        priority: 1,
        effectiveFrom: FROM,
        createdAt: FROM,
      },
    ],
    usage: (meterId, from, until) => tallies.between(`account.${account}`, meterId, from, until),
    usageByGroup: () => [],
    overage: () => new OurDecimal(0),
  };
}

/** A direct calculation of the total for this plan. */
const Plain = Decimal.clone({ precision: 100 });
const bareSlabs = SLABS.map(({ startAfter, endAt, rate }) => ({ startAfter, endAt, rate: new Plain(rate) }));

function computeTotalByHand(account: number): Decimal {
  let quantity = 0;
  for (let day = 0; day < DAYS; day++) quantity += usageOn(account, day);
  let amount = new Plain(0);
  for (const { startAfter, endAt, rate } of bareSlabs) {
    if (quantity <= startAfter) break;
    amount = amount.plus(rate.times(Math.min(quantity, endAt ?? quantity) - startAfter));
  }
  const gross = amount.toDecimalPlaces(2, Decimal.ROUND_HALF_UP).plus(FEE);
  return gross.minus(Plain.min(CREDIT, gross));
}

function run(size: "smoke" | "full"): readonly string[] {
  const accounts = size === "full" ? 10_000 : 50;
  const tallies = buildTallies(accounts);
  const views = Array.from({ length: accounts }, (_, account) => createView(tallies, account));
  for (const [account, view] of views.entries()) {
    const invoices = computeInvoices(view, catalog, { from: FROM, until: UNTIL });
    const total = invoices[0]?.revenueInfo.value.toFixed();
    if (invoices.length !== 1 || total !== computeTotalByHand(account).toFixed()) {
      throw new Error(`account ${account}: the two sides differ`);
    }
  }
  let [invoiceSeconds, totalSeconds] = [Infinity, Infinity];
  // Keeps all invoices in memory, as a caller that writes them together would, because this costs garbage collection.
  let results: readonly (readonly Invoice[])[] = [];
  for (let round = 0; round < (size === "full" ? 7 : 1); round++) {
    invoiceSeconds = Math.min(
      invoiceSeconds,
      measure(() => {
        results = views.map((view) => computeInvoices(view, catalog, { from: FROM, until: UNTIL }));
      }),
    );
    totalSeconds = Math.min(
      totalSeconds,
      measure(() => views.forEach((_, account) => computeTotalByHand(account))),
    );
  }
  if (results.length !== accounts) throw new Error("invoices are missing");
  const accountsPerSecond = (seconds: number): string => `${Math.round(accounts / seconds).toLocaleString("en")}/s`;
  return [
    `totals by hand with decimal.js: ${accountsPerSecond(totalSeconds)}`,
    `invoices: ${accountsPerSecond(invoiceSeconds)}, ratio ${(totalSeconds / invoiceSeconds).toFixed(2)} (target 10,000/s on an idle core)`,
  ];
}

export const invoicingBenches: readonly Bench[] = [{ name: "invoices from ready tallies", run }];
