/** A small valid book with every kind of resource and rate card, for tests that break one part of it. */
import type { BookInput } from "../../src/book/resources/book.ts";
import { MONTHLY, perUnit } from "./builder.ts";

/** A new copy each time. */
export function sampleBook(): BookInput {
  return structuredClone<BookInput>({
    organization: { id: "acme", name: "Acme", baseCurrency: "USD" },
    settings: [
      { id: "per_unit", namespace: "user", dataType: "NUMERIC", value: "1000" },
      { id: "greeting", value: "hello" },
    ],
    eventSchemas: [
      {
        name: "llm_request",
        attributes: [{ name: "context_tokens" }, { name: "generated_tokens" }],
        dimensions: [{ name: "service" }],
        enrichments: {
          dependencies: [{ type: "SETTING", key: "setting.user.per_unit", name: "per_unit" }],
          fields: [
            {
              name: "kilotokens",
              type: "ATTRIBUTE",
              enrichmentType: "JSON_LOGIC",
              value: '{"/":[{"var":"attribute.context_tokens"},{"var":"dependencies.per_unit"}]}',
              order: 1,
            },
            {
              name: "doubled",
              type: "ATTRIBUTE",
              enrichmentType: "JSON_LOGIC",
              value: { "*": [{ var: "attribute.kilotokens" }, 2] },
              order: 2,
            },
            { name: "region", type: "DIMENSION", enrichmentType: "VALUE", value: "eu", order: 3 },
          ],
        },
      },
      { name: "login", attributes: [{ name: "count" }] },
      { name: "heartbeat" },
    ],
    usageMeters: [
      {
        id: "um.context",
        name: "context tokens",
        aggregation: "SUM",
        eventSchemaName: "llm_request",
        computations: [
          {
            order: 1,
            matcher: '{"==":[{"var":"dimension.service"},"code"]}',
            computation: '{"var":"attribute.context_tokens"}',
          },
        ],
      },
      {
        id: "um.requests",
        name: "requests",
        billableName: "API requests",
        aggregation: "COUNT",
        eventSchemaName: "llm_request",
        computations: [{ order: 1 }],
      },
    ],
    features: [
      {
        id: "feature.tokens",
        name: "Tokens",
        schemaAssociations: [{ schemaName: "llm_request", attributeName: "generated_tokens" }],
      },
      { id: "feature.logins", name: "Logins", schemaAssocitions: ["login"] },
    ],
    addOns: [
      { id: "addon.platform", name: "Platform fee", type: "FIXED_FEE" },
      { id: "addon.seats", name: "Seats", type: "LICENSE" },
      { id: "addon.grant", name: "Monthly credit", type: "CREDIT_GRANT" },
    ],
    pricePlans: [
      {
        id: "pp.main",
        name: "Main",
        status: "ACTIVE",
        version: 1,
        pricePlanDetails: {
          ...MONTHLY,
          usageRateCards: [{ usageMeterId: "um.context", displayName: "Context", ...perUnit("0.002") }],
          fixedFeeRateCards: [{ id: "addon.platform", rateValues: [{ currency: "USD", rate: 20 }] }],
          licenseRateCards: [{ id: "addon.seats", config: { maxQuantity: 100 }, ...perUnit("10") }],
          billingEntitlementRateCards: [
            {
              featureId: "feature.tokens",
              featureConfigs: [{ featureCreditLimit: 1000, effectiveUntil: "P1M" }],
              ...perUnit("0"),
            },
          ],
          creditGrantRateCards: [
            {
              id: "addon.grant",
              rateDetails: {
                pricingModel: "TIERED",
                currencySlabRateDetails: [
                  {
                    currency: "USD",
                    creditAmount: 5,
                    slabDetails: [{ startAfter: 0, priceType: "PER_UNIT", rate: 1 }],
                  },
                ],
              },
              grantDetails: { priority: 1, expiryType: "PRICING_CYCLE", applicableEntityIds: ["um.context"] },
            },
          ],
          entitlementOverageRateCards: [{ featureId: "feature.tokens", maxQuantity: 500, ...perUnit("0.01") }],
          minimumCommitment: { displayName: "Commitment", rateValues: [{ currency: "USD", rate: 100 }] },
        },
      },
    ],
    customers: [{ id: "contoso", name: "Contoso", primaryEmail: "billing@contoso.example" }],
    accounts: [
      {
        id: "contoso-prod",
        name: "Contoso production",
        customerId: "contoso",
        aliases: ["c-1", { alias: "c-2", status: "ACTIVE" }],
        pricePlans: [{ pricePlanId: "pp.main", effectiveFrom: "2023-11-01" }],
        licenseUpdates: [{ licenseId: "addon.seats", effectiveFrom: "2023-11-01", quantity: 10 }],
        credits: [{ purpose: "welcome", creditAmount: 50, priority: 1, effectiveFrom: "2023-11-01" }],
        featureCredits: [
          { featureId: "feature.tokens", granted: 1000, effectiveFrom: "2023-11-01", effectiveUntil: "2024-11-01" },
        ],
      },
      { id: "contoso-test", name: "Contoso test", customerId: "Contoso" },
    ],
    invoiceGroups: [{ id: "group-1", name: "All of Contoso", accountIds: ["contoso-prod", "Contoso test"] }],
  });
}
