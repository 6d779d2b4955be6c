/**
 * Example bodies for the API documentation: a small API that is sold per call, with licenses and tokens. Where a
 * request needs an id that the server generates, it is `<id of …>`.
 */

const ADDRESS = { line1: "1 Main Street", postalCode: "12345", city: "Springfield", country: "US" };

/** Prices of a unit, each above a number of units. */
function perUnit(pricingModel: string, ...tiers: readonly (readonly [startAfter: number, rate: number | string])[]) {
  const slabs = tiers.map(([startAfter], at) => ({ order: at + 1, startAfter, priceType: "PER_UNIT" }));
  const slabRates = tiers.map(([, rate], at) => ({ order: at + 1, rate }));
  return { ratePlan: { pricingModel, slabs }, rateValues: [{ currency: "USD", slabRates }] };
}

/** A plan with tiered calls, licenses, a fee in advance, and tokens of which 1,000 a month are included. */
const TEAM = {
  supportedCurrencies: ["USD"],
  pricingCycleConfig: { interval: "MONTHLY", startOffset: { dayOffset: "1", monthOffset: "NIL" }, gracePeriod: 3 },
  usageRateCards: [{ usageMeterId: "calls", displayName: "API calls", ...perUnit("TIERED", [0, 0], [1000, "0.01"]) }],
  fixedFeeRateCards: [
    { id: "Platform", invoiceTiming: "IN_ADVANCE", enableProration: true, rateValues: [{ currency: "USD", rate: 20 }] },
  ],
  licenseRateCards: [{ id: "Seats", enableProration: true, ...perUnit("VOLUME", [0, 12]) }],
  billingEntitlementRateCards: [
    {
      featureId: "Tokens",
      featureConfigs: [{ featureCreditLimit: 1000, effectiveUntil: "P1M" }],
      ...perUnit("TIERED", [0, 0]),
    },
  ],
};

/**
 * The example body by endpoint id. Events have their examples in their schema, because their time should be the
 * present.
 */
export const BODY_EXAMPLES: Readonly<Record<string, unknown>> = {
  createKey: { name: "till 4", role: "ingest" },

  createEventSchema: {
    name: "api_calls",
    description: "One call of the API",
    attributes: [{ name: "count" }, { name: "tokens" }],
    dimensions: [{ name: "region" }],
  },
  updateEventSchema: { description: "Calls of the API" },
  createUsageMeter: {
    name: "calls",
    billableName: "API calls",
    type: "COUNTER",
    aggregation: "SUM",
    eventSchemaName: "api_calls",
    computations: [
      {
        order: 1,
        matcher: { "!=": [{ var: "dimension.region" }, "test"] },
        computation: { var: "attribute.count" },
      },
    ],
  },
  updateUsageMeter: { billableName: "Calls of the API" },
  createFeature: { name: "Tokens", schemaAssociations: [{ schemaName: "api_calls", attributeName: "tokens" }] },
  updateFeature: { billableName: "Tokens of the model" },
  createAddOn: { name: "Platform", type: "FIXED_FEE" },
  updateAddOn: { billableName: "Platform fee" },
  createSetting: { id: "discount", namespace: "user", name: "Discount", dataType: "NUMERIC", value: "0.1" },
  updateSetting: { value: "0.15" },

  createPricePlan: { name: "Team", type: "BILLING", pricePlanDetails: TEAM },
  updatePricePlan: {
    description: "With a minimum commitment",
    pricePlanDetails: { minimumCommitment: { rateValues: [{ currency: "USD", rate: 50 }] } },
  },
  activatePricePlan: { currencies: ["USD"] },
  createPricePlanVersion: { description: "The next version" },
  addRateRows: {
    usageMeterId: "calls by region",
    rows: [{ when: { region: "eu" }, from: "2026-07-01", rate: "0.008" }],
  },
  migratePricePlan: {
    sourceId: "<id of Team>",
    sourceVersion: 1,
    targetId: "<id of Team>",
    targetVersion: 2,
    migrationMode: "NEXT_CYCLE",
  },

  createCustomer: {
    id: "acme",
    name: "Acme Corp",
    primaryEmail: "billing@acme.example",
    address: ADDRESS,
    account: { id: "acme-prod", name: "Acme production", invoiceCurrency: "USD" },
  },
  updateCustomer: { name: "Acme Corporation" },
  createAccount: { id: "acme-test", name: "Acme test", customerId: "acme", netTermDays: 30 },
  updateAccount: { netTermDays: 14 },
  addAliasesToAccount: { aliases: ["key-17"] },
  removeAliasesFromAccount: { aliases: ["key-17"] },
  createAliases: { aliases: [{ value: "key-18", accountId: "acme-prod" }] },
  createInvoiceGroup: {
    name: "All of Acme",
    email: "billing@acme.example",
    dailyInvoiceConsolidation: true,
    accountIds: ["acme-prod"],
  },
  addAccountsToInvoiceGroup: { accountIds: ["acme-test"] },
  removeAccountsFromInvoiceGroup: { accountIds: ["acme-test"] },
  changePricePlanOfAccount: { pricePlanId: "<id of Team>", effectiveFrom: "2026-01-01" },

  grantFeatureEntry: {
    granted: 500,
    effectiveFrom: "2026-01-01",
    effectiveUntil: "2031-01-01",
    idempotencyKey: "order-4711",
  },
  updateFeatureEntry: { granted: 600 },
  updateLicense: { accountId: "acme-prod", licenseId: "<id of Seats>", updateType: "ABSOLUTE", quantity: 5 },
  createCredits: {
    creditRequests: [
      { accountId: "acme-prod", purpose: "Welcome", creditAmount: 25, priority: 1, effectiveFrom: "2026-01-01" },
    ],
  },
  runBills: {},
  calculateRevenue: {
    pricePlanDetailsConfig: { mode: "PRICE_PLAN", pricePlanId: "<id of Team>" },
    usageConfig: { mode: "CUSTOM", usageMap: { "<id of calls>": 2500 } },
    licenseEntriesConfig: { "<id of Seats>": [{ quantity: 5 }] },
  },
  getMetrics: {
    startTime: "2026-01-01",
    endTime: "2026-02-01",
    metricQueries: [{ id: "by day", name: "REVENUE", aggregationPeriod: "DAY", groupBy: "ACCOUNT_ID" }],
  },
};
