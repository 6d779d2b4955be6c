/** A book with every kind of card, and an account on its plan; figures are easy to calculate by hand. */
import type { BookInput } from "../../src/index.ts";
import type { EventInput } from "../../src/metering/event-envelope.ts";
import { MONTHLY, planOfMonths, slabs, sumMeter } from "../book/builder.ts";

/** Calls: the first 100 at 2, above at 1. */
export const CALLS = { usageMeterId: "um.calls", ...slabs("TIERED", [0, 2], [100, 1]) };

/** Calls at 2 and 1, a fee of 30, prorated seats at 10 and at most 20, tokens beyond entitlements at 0.5. */
export const TEAM = {
  ...MONTHLY,
  usageRateCards: [CALLS],
  fixedFeeRateCards: [{ id: "addon.fee", rateValues: [{ currency: "USD", rate: 30 }], enableProration: true }],
  licenseRateCards: [
    { id: "addon.seats", enableProration: true, config: { maxQuantity: 20 }, ...slabs("TIERED", [0, 10]) },
  ],
  entitlementOverageRateCards: [{ featureId: "feature.tokens", ...slabs("TIERED", [0, 0.5]) }],
};

/** The book of these tests; by default `prod` has the plan from 2024-01-01 on. */
export function teamBook(
  associations: readonly object[] = [{ pricePlanId: "pp.team", effectiveFrom: "2024-01-01" }],
  plans: readonly object[] = [],
): BookInput {
  const book: object = {
    organization: { id: "acme", name: "Acme", baseCurrency: "USD" },
    eventSchemas: ["call", "save"].map((name) => ({ name, attributes: ["count"] })),
    usageMeters: [sumMeter("um.calls", "call", "count"), sumMeter("um.writes", "save", "count")],
    features: [{ id: "feature.tokens", name: "Tokens" }],
    addOns: [
      { id: "addon.fee", name: "Platform", type: "FIXED_FEE" },
      { id: "addon.seats", name: "Seats", type: "LICENSE" },
      { id: "addon.grant", name: "Welcome", type: "CREDIT_GRANT" },
    ],
    pricePlans: [planOfMonths("pp.team", TEAM, { name: "Team" }), ...plans],
    customers: [{ id: "acme", name: "Acme" }],
    accounts: [
      { id: "prod", name: "Acme prod", customerId: "acme", invoiceCurrency: "USD", pricePlans: associations },
      { id: "idle", name: "Acme idle", customerId: "acme", invoiceCurrency: "USD" },
    ],
  };
  return book;
}

/** An event of the schema `call`, or of another one. */
export function countEvent(
  id: string,
  timestamp: string,
  count: number | string,
  schemaName = "call",
  accountId = "prod",
): EventInput {
  return { schemaName, id, accountId, timestamp, attributes: [{ name: "count", value: count }], dimensions: {} };
}
