import fc from "fast-check";

import { neverDecreases, type PlanInput } from "../../src/testing.ts";

const plan: PlanInput = {
  id: "pp.team",
  name: "Team",
  pricePlanDetails: {
    supportedCurrencies: ["USD"],
    pricingCycleConfig: { interval: "MONTHLY", startOffset: { dayOffset: "1" } },
    usageRateCards: [
      {
        usageMeterId: "um.calls",
        ratePlan: {
          pricingModel: "VOLUME",
          slabs: [
            { order: 1, startAfter: 0, priceType: "PER_UNIT" },
            { order: 2, startAfter: 100, priceType: "PER_UNIT" },
          ],
        },
        rateValues: [
          {
            currency: "USD",
            slabRates: [
              { order: 1, rate: 2 },
              { order: 2, rate: 1 },
            ],
          },
        ],
      },
    ],
  },
};

try {
  fc.assert(neverDecreases(plan), { seed: 1 });
} catch (failure) {
  if (!(failure instanceof Error)) throw failure;
  const cause = failure.cause instanceof Error ? failure.cause.message : "";
  console.log(failure.message.split("\n").slice(2, 11).join("\n"));
  console.log(cause);
}
