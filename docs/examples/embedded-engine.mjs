import { createEngine, memoryStore } from "ratebook";

// Calls at one cent each, the first 1,000 of a month free; two days of grace.
const book = {
  organization: { id: "acme", baseCurrency: "USD" },
  eventSchemas: [{ name: "api_call", attributes: [{ name: "calls" }] }],
  usageMeters: [
    {
      id: "um.calls",
      name: "calls",
      aggregation: "SUM",
      eventSchemaName: "api_call",
      computations: [{ order: 1, computation: { var: "attribute.calls" } }],
    },
  ],
  pricePlans: [
    {
      id: "pp.team",
      name: "Team",
      status: "ACTIVE",
      pricePlanDetails: {
        supportedCurrencies: ["USD"],
        pricingCycleConfig: { interval: "MONTHLY", startOffset: { dayOffset: "1" }, gracePeriod: 2 },
        usageRateCards: [
          {
            usageMeterId: "um.calls",
            ratePlan: {
              pricingModel: "TIERED",
              slabs: [
                { order: 1, startAfter: 0, priceType: "PER_UNIT" },
                { order: 2, startAfter: 1000, priceType: "PER_UNIT" },
              ],
            },
            rateValues: [
              {
                currency: "USD",
                slabRates: [
                  { order: 1, rate: 0 },
                  { order: 2, rate: "0.01" },
                ],
              },
            ],
          },
        ],
      },
    },
  ],
};

// With a clock of its own, this program passes a month in a moment. The default is the system clock.
let now = Date.parse("2024-06-01T09:00:00Z");
const engine = createEngine({ store: memoryStore(), clock: () => now });
await engine.load(book);
await engine.customers.create({ id: "globex", name: "Globex" });
await engine.accounts.create({ id: "globex-prod", name: "Globex production", customerId: "globex" });
await engine.associate("globex-prod", { pricePlanId: "pp.team", effectiveFrom: "2024-06-01" });

async function printInvoices() {
  const { items } = await engine.invoices.list({ filter: { accountId: "globex-prod" } });
  for (const { invoice } of items) console.log(invoice.status, invoice.revenueInfo.value.toFixed(2));
}

// Ingest a batch. The third event repeats the first.
now = Date.parse("2024-06-20T12:00:00Z");
const event = (id, calls) => ({
  schemaName: "api_call",
  id,
  accountId: "globex-prod",
  timestamp: "2024-06-20T11:59:00Z",
  attributes: { calls },
});
for (const { status } of await engine.ingest([event("e1", 1500), event("e2", 900), event("e1", 1500)])) {
  console.log(status);
}

for (const { event, status } of await engine.undo({ account: "globex-prod", eventId: "e2" })) {
  console.log(event.eventId, status);
}
await printInvoices();

// The grace period of June ends on 3 July.
now = Date.parse("2024-07-03T00:00:00Z");
console.log(JSON.stringify(await engine.finalize()));
await printInvoices();
await engine.close();
