/** The laws of `ratebook/testing` are true for every book and plan of its arbitraries. */
import fc from "fast-check";
import { describe, test } from "vitest";

import {
  bookArbitrary,
  linesAddUp,
  neverDecreases,
  orderOfEventsDoesNotMatter,
  orderOfRowsDoesNotMatter,
  planArbitrary,
  previewMatchesInvoices,
  revenueWithin,
  undoRestoresUsage,
} from "../../src/testing.ts";
import { runs } from "../support/runs.ts";

/** Each run generates a whole book. */
const RUNS = { numRuns: runs(25) };

describe("for all books", () => {
  test("S1.5 S7.2 lines add up", () => {
    fc.assert(linesAddUp(bookArbitrary()), RUNS);
  });

  test("S14.4 the order of events does not matter", () => {
    fc.assert(orderOfEventsDoesNotMatter(bookArbitrary()), RUNS);
  });

  test("S18.2 the order of rows of price tables does not matter without an allowance that they share", () => {
    const bookWithoutAllowance = bookArbitrary().filter((book) => !JSON.stringify(book).includes('"over":"ALL_ROWS"'));
    fc.assert(orderOfRowsDoesNotMatter(bookWithoutAllowance), RUNS);
  });

  test("S15.4 an undo restores the previous state", async () => {
    await fc.assert(undoRestoresUsage(bookArbitrary()), RUNS);
  });

  test("S13.5 a preview equals the invoice", async () => {
    await fc.assert(previewMatchesInvoices(bookArbitrary()), RUNS);
  });

  test("S12.3 credits never make an account's total negative if no fee is", () => {
    fc.assert(revenueWithin(bookArbitrary({ fees: false }), { atLeast: 0 }), RUNS);
  });
});

describe("for all plans", () => {
  test("S7.2 a TIERED price never falls as the quantity grows", () => {
    const tieredPlans = planArbitrary().map((plan) => ({
      ...plan,
      pricePlanDetails: {
        ...plan.pricePlanDetails,
        usageRateCards: (plan.pricePlanDetails.usageRateCards ?? []).filter(
          ({ ratePlan }) => ratePlan?.pricingModel === "TIERED",
        ),
        licenseRateCards: [],
        entitlementOverageRateCards: [],
      },
    }));
    fc.assert(neverDecreases(tieredPlans.filter(({ pricePlanDetails }) => pricePlanDetails.usageRateCards.length > 0)));
  });
});
