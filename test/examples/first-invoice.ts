import { preview, readBook } from "../../src/index.ts";

const book = readBook({
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
      status: "ACTIVE",
      pricePlanDetails: {
        supportedCurrencies: ["USD"],
        pricingCycleConfig: { interval: "MONTHLY", startOffset: { dayOffset: "1" } },
        usageRateCards: [
          {
            usageMeterId: "um.calls",
            // The first thousand calls are free; each further call costs 0.002.
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
                  { order: 2, rate: "0.002" },
                ],
              },
            ],
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

const event = { schemaName: "api_call", id: "e-1", accountId: "contoso-prod", timestamp: "2026-01-05T09:00:00Z" };
const { invoices } = preview(book, [{ ...event, attributes: { calls: 2500 } }]);
for (const { accountId, startDate, revenueInfo, currency } of invoices) {
  console.log(accountId, startDate.slice(0, 10), revenueInfo.value.toFixed(2), currency);
}
