import fc from "fast-check";

import { defineBook } from "../../src/index.ts";
import { eventsArbitrary, revenueWithin } from "../../src/testing.ts";

const book = defineBook({
  eventSchemas: [{ name: "api_call", attributes: [{ name: "calls" }] }],
  usageMeters: [
    {
      id: "um.calls",
      name: "API calls",
      aggregation: "SUM",
      eventSchemaName: "api_call",
      computations: [{ order: 1, computation: { var: "attribute.calls" } }],
    },
  ],
  pricePlans: [
    {
      id: "pp.team",
      name: "Team",
      pricePlanDetails: {
        supportedCurrencies: ["USD"],
        pricingCycleConfig: { interval: "MONTHLY", startOffset: { dayOffset: "1" } },
        usageRateCards: [
          {
            usageMeterId: "um.calls",
            ratePlan: { pricingModel: "TIERED", slabs: [{ order: 1, startAfter: 0, priceType: "PER_UNIT" }] },
            rateValues: [{ currency: "USD", slabRates: [{ order: 1, rate: "0.002" }] }],
          },
        ],
      },
    },
  ],
  customers: [{ id: "contoso", name: "Contoso" }],
  accounts: [
    {
      id: "contoso-prod",
      name: "Contoso production",
      customerId: "contoso",
      pricePlans: [{ pricePlanId: "pp.team", effectiveFrom: "2026-01-01" }],
    },
  ],
});

// A trial: at most ten events of a hundred calls in January. 1,000 × 0.002 = 2.
const january = { from: "2026-01-01", until: "2026-02-01" };
const trial = eventsArbitrary(book, { ...january, values: fc.nat(100), eventsMax: 10 });
fc.assert(revenueWithin(book, { ...january, atMost: 2, events: trial }));
console.log("a trial costs at most 2.00");
