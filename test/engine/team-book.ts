/** A book with every kind of card, and an account on its plan; figures are easy to work out by hand. */
import type { BookInput } from "../../src/index.ts";

/** What prices a quantity on a card. */
interface Priced {
  readonly ratePlan: {
    readonly pricingModel: "TIERED" | "VOLUME";
    readonly slabs: { readonly order: number; readonly startAfter: number; readonly priceType: "PER_UNIT" }[];
  };
  readonly rateValues: {
    readonly currency: string;
    readonly slabRates: { readonly order: number; readonly rate: number }[];
  }[];
}

/** Slabs of one pricing model, each `[startAfter, rate]` for a unit, in dollars. */
export function slabs(pricingModel: "TIERED" | "VOLUME", ...bands: readonly (readonly [number, number])[]): Priced {
  return {
    ratePlan: {
      pricingModel,
      slabs: bands.map(([startAfter], at) => ({ order: at + 1, startAfter, priceType: "PER_UNIT" as const })),
    },
    rateValues: [{ currency: "USD", slabRates: bands.map(([, rate], at) => ({ order: at + 1, rate })) }],
  };
}

/** Monthly from the first, in dollars. */
export const MONTHLY = {
  supportedCurrencies: ["USD"],
  pricingCycleConfig: { interval: "MONTHLY" as const, startOffset: { dayOffset: "1", monthOffset: "NIL" } },
};

/** Calls: the first 100 at 2, above at 1. */
export const CALLS = { usageMeterId: "um.calls", ...slabs("TIERED", [0, 2], [100, 1]) };

/** Calls 2 and 1, a fee of 30, seats at 10 by days and at most 20, tokens beyond entitlements at 0.5. */
export const TEAM = {
  ...MONTHLY,
  usageRateCards: [CALLS],
  fixedFeeRateCards: [{ id: "addon.fee", rateValues: [{ currency: "USD", rate: 30 }], enableProration: true }],
  licenseRateCards: [
    { id: "addon.seats", enableProration: true, config: { maxQuantity: 20 }, ...slabs("TIERED", [0, 10]) },
  ],
  entitlementOverageRateCards: [{ featureId: "feature.tokens", ...slabs("TIERED", [0, 0.5]) }],
};

const schema = (name: string): NonNullable<BookInput["eventSchemas"]>[number] => ({
  name,
  status: "ACTIVE",
  attributes: [{ name: "count" }],
  dimensions: [],
});
const meter = (name: string, eventSchemaName: string): NonNullable<BookInput["usageMeters"]>[number] => ({
  id: `um.${name}`,
  name,
  type: "COUNTER",
  aggregation: "SUM",
  status: "ACTIVE",
  eventSchemaName,
  computations: [{ order: 1, computation: '{"var":"attribute.count"}' }],
});

/** The book of these tests; `prod` has the plan from 2024-01-01 on unless other plans are given. */
export function teamBook(
  associations: readonly object[] = [{ pricePlanId: "pp.team", effectiveFrom: "2024-01-01" }],
  plans: readonly object[] = [],
): BookInput {
  const book = {
    organization: { id: "acme", name: "Acme", baseCurrency: "USD" },
    eventSchemas: [schema("call"), schema("save")],
    usageMeters: [meter("calls", "call"), meter("writes", "save")],
    features: [{ id: "feature.tokens", name: "Tokens" }],
    addOns: [
      { id: "addon.fee", name: "Platform", type: "FIXED_FEE" },
      { id: "addon.seats", name: "Seats", type: "LICENSE" },
      { id: "addon.grant", name: "Welcome", type: "CREDIT_GRANT" },
    ],
    pricePlans: [{ id: "pp.team", name: "Team", status: "ACTIVE", version: 1, pricePlanDetails: TEAM }, ...plans],
    customers: [{ id: "acme", name: "Acme" }],
    accounts: [
      { id: "prod", name: "Acme prod", customerId: "acme", invoiceCurrency: "USD", pricePlans: associations },
      { id: "idle", name: "Acme idle", customerId: "acme", invoiceCurrency: "USD" },
    ],
  };
  return book as BookInput;
}

/** An event of the schema `call`, or of another one. */
export function counted(
  id: string,
  timestamp: string,
  count: number | string,
  schemaName = "call",
  accountId = "prod",
): Readonly<Record<string, unknown>> {
  return { schemaName, id, accountId, timestamp, attributes: [{ name: "count", value: count }], dimensions: {} };
}
