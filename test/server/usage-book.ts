/** Calls are metered and priced; chats consume a feature of which the account has 10. */
import { monthlyWithGrace, perUnit, planOfMonths, sumMeter } from "../book/builder.ts";
export const USAGE_BOOK = {
  organization: { id: "default", baseCurrency: "USD" },
  eventSchemas: [
    { name: "api calls", attributes: [{ name: "n" }], dimensions: [{ name: "region" }], status: "ACTIVE" },
    { name: "chat", attributes: [{ name: "tokens" }], status: "ACTIVE" },
  ],
  features: [{ id: "ft-chat", name: "chat", schemaAssociations: ["chat"] }],
  usageMeters: [sumMeter("um-calls", "api calls", "n", { name: "calls" })],
  pricePlans: [
    planOfMonths("pp", {
      ...monthlyWithGrace(3),
      usageRateCards: [{ displayName: "Calls", usageMeterId: "um-calls", ...perUnit(0.5) }],
    }),
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
