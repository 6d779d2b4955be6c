/** The laws of `ratebook/testing` hold of every book and plan that its arbitraries draw. */
import fc from "fast-check";
import { describe, test } from "vitest";

import {
  bookArbitrary,
  linesAddUp,
  neverDecreases,
  orderOfEventsDoesNotMatter,
  planArbitrary,
  previewMatchesInvoices,
  revenueWithin,
  undoRestoresUsage,
} from "../../src/testing.ts";
import { runs } from "../support/runs.ts";

/** Each run draws a whole book. */
const RUNS = { numRuns: runs(25) };

describe("of all books", () => {
  test("S1.5 S7.2 lines add up", () => {
    fc.assert(linesAddUp(bookArbitrary()), RUNS);
  });

  test("S14.4 the order of events does not matter", () => {
    fc.assert(orderOfEventsDoesNotMatter(bookArbitrary()), RUNS);
  });

  test("S15.4 an undo restores what was", async () => {
    await fc.assert(undoRestoresUsage(bookArbitrary()), RUNS);
  });

  test("S13.5 a preview is the invoice", async () => {
    await fc.assert(previewMatchesInvoices(bookArbitrary()), RUNS);
  });

  test("S12.3 credits take no account below zero where no fee is below it", () => {
    fc.assert(revenueWithin(bookArbitrary({ fees: false }), { atLeast: 0 }), RUNS);
  });
});

describe("of all plans", () => {
  test("S7.2 a TIERED price never falls as the quantity grows", () => {
    const tieredPlans = planArbitrary().map((plan) => ({
      ...plan,
      pricePlanDetails: {
        ...plan.pricePlanDetails,
        usageRateCards: (plan.pricePlanDetails.usageRateCards ?? []).filter(
          ({ ratePlan }) => ratePlan.pricingModel === "TIERED",
        ),
        licenseRateCards: [],
        entitlementOverageRateCards: [],
      },
    }));
    fc.assert(neverDecreases(tieredPlans.filter(({ pricePlanDetails }) => pricePlanDetails.usageRateCards.length > 0)));
  });
});
