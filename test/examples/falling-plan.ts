import fc from "fast-check";

import { checkPlan } from "../../src/index.ts";
import { neverDecreases } from "../../src/testing.ts";

const book = {
  eventSchemas: [{ name: "api_call", attributes: ["calls"] }],
  usageMeters: [{ id: "um.calls", name: "API calls", schema: "api_call", sum: "calls" }],
};
const usage = [{ meter: "um.calls", volumeTiers: [{ upTo: 100, rate: 2 }, { rate: 1 }] }];
const plan = checkPlan({ id: "pp.team", cycle: "MONTHLY", usage }, book);

try {
  fc.assert(neverDecreases(plan), { seed: 1 });
} catch (failure) {
  if (!(failure instanceof Error)) throw failure;
  const cause = failure.cause instanceof Error ? failure.cause.message : "";
  console.log(failure.message.split("\n").slice(2, 11).join("\n"));
  console.log(cause);
}
