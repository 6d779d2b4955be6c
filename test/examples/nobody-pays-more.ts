import fc from "fast-check";

import { priceQuantity } from "../../src/index.ts";
import { quantitiesArbitrary, type PlanInput } from "../../src/testing.ts";

function planAt(rate: string): PlanInput {
  return {
    id: "pp.team",
    name: "Team",
    pricePlanDetails: {
      usageRateCards: [
        {
          usageMeterId: "um.calls",
          ratePlan: { pricingModel: "TIERED", slabs: [{ order: 1, startAfter: 0, priceType: "PER_UNIT" }] },
          rateValues: [{ currency: "USD", slabRates: [{ order: 1, rate }] }],
        },
      ],
    },
  };
}

function priceAt(plan: PlanInput, quantity = "0") {
  const [card] = plan.pricePlanDetails.usageRateCards ?? [];
  const [rates] = card?.rateValues ?? [];
  if (card === undefined || rates === undefined) throw new Error("expected a usage card with rates");
  return priceQuantity(card.ratePlan, rates, quantity).amount;
}

const [old, draft] = [planAt("0.002"), planAt("0.0019")];
fc.assert(
  fc.property(quantitiesArbitrary(draft), ({ "um.calls": calls }) => priceAt(draft, calls).lte(priceAt(old, calls))),
);
console.log("nobody pays more");
