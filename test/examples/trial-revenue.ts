import fc from "fast-check";

import { defineBook } from "../../src/index.ts";
import { eventsArbitrary, revenueWithin } from "../../src/testing.ts";

const book = defineBook({
  eventSchemas: [{ name: "api_call", attributes: ["calls"] }],
  usageMeters: [{ id: "um.calls", name: "API calls", schema: "api_call", sum: "calls" }],
  pricePlans: [{ id: "pp.team", cycle: "MONTHLY", usage: [{ meter: "um.calls", rate: "0.002" }] }],
  accounts: [{ id: "contoso", plan: "pp.team", from: "2026-01-01" }],
});

// A trial: at most ten events of a hundred calls in January. 1,000 × 0.002 = 2.
const january = { from: "2026-01-01", until: "2026-02-01" };
const trial = eventsArbitrary(book, { ...january, values: fc.nat(100), eventsMax: 10 });
fc.assert(revenueWithin(book, { ...january, atMost: 2, events: trial }));
console.log("a trial costs at most 2.00");
