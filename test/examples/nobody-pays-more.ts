import fc from "fast-check";

import { checkPlan, type PricePlan, priceQuantity } from "../../src/index.ts";
import { quantitiesArbitrary } from "../../src/testing.ts";

const book = {
  eventSchemas: [{ name: "api_call", attributes: ["calls"] }],
  usageMeters: [{ id: "um.calls", name: "API calls", schema: "api_call", sum: "calls" }],
};

function planAt(rate: string) {
  return checkPlan({ id: "pp.team", cycle: "MONTHLY", usage: [{ meter: "um.calls", rate }] }, book);
}

function priceAt(plan: PricePlan, quantity = "0") {
  const [card] = plan.pricePlanDetails.usageRateCards;
  const [rates] = card?.rateValues ?? [];
  if (card === undefined || rates === undefined) throw new Error("expected a usage card with rates");
  return priceQuantity(card.ratePlan, rates, quantity).amount;
}

const [old, draft] = [planAt("0.002"), planAt("0.0019")];
fc.assert(
  fc.property(quantitiesArbitrary(draft), ({ "um.calls": calls }) => priceAt(draft, calls).lte(priceAt(old, calls))),
);
console.log("nobody pays more");
