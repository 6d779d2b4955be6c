/** Calls are metered and priced; chats consume a feature of which the account was given 10. */
export const USAGE_BOOK = {
  organization: { id: "default", baseCurrency: "USD" },
  eventSchemas: [
    { name: "api calls", attributes: [{ name: "n" }], dimensions: [{ name: "region" }], status: "ACTIVE" },
    { name: "chat", attributes: [{ name: "tokens" }], status: "ACTIVE" },
  ],
  features: [{ id: "ft-chat", name: "chat", schemaAssociations: ["chat"] }],
  usageMeters: [
    {
      id: "um-calls",
      name: "calls",
      type: "COUNTER",
      aggregation: "SUM",
      eventSchemaName: "api calls",
      computations: [{ order: 1, computation: { var: "attribute.n" } }],
      status: "ACTIVE",
    },
  ],
  pricePlans: [
    {
      id: "pp",
      name: "plan",
      type: "BILLING",
      status: "ACTIVE",
      pricePlanDetails: {
        supportedCurrencies: ["USD"],
        pricingCycleConfig: {
          interval: "MONTHLY",
          startOffset: { dayOffset: "1", monthOffset: "NIL" },
          gracePeriod: 3,
        },
        usageRateCards: [
          {
            displayName: "Calls",
            usageMeterId: "um-calls",
            ratePlan: { pricingModel: "TIERED", slabs: [{ order: 1, startAfter: 0, priceType: "PER_UNIT" }] },
            rateValues: [{ currency: "USD", slabRates: [{ order: 1, rate: 0.5 }] }],
          },
        ],
      },
    },
  ],
  customers: [{ id: "acme", name: "Acme" }],
  accounts: [
    {
      id: "acme",
      name: "Acme",
      customerId: "acme",
      aliases: ["acme-eu"],
      pricePlans: [{ pricePlanId: "pp", effectiveFrom: "2024-05-01" }],
      featureCredits: [
        { id: "fc", featureId: "ft-chat", granted: 10, effectiveFrom: "2024-06-01", effectiveUntil: "2024-07-01" },
      ],
    },
  ],
};
