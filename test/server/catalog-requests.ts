/** Requests that create a catalog over HTTP: the setup of tests of its endpoints. */
import type { TestApi } from "./support.ts";

/** The calls of an API. */
export type Call = TestApi["call"];

/** A schema of calls with a count and a region. */
export const CALLS = {
  name: "api calls",
  description: "Calls of the API",
  attributes: [{ name: "count" }],
  dimensions: [{ name: "region" }],
};

/** A meter that sums the counts. */
export const SUM = {
  name: "calls",
  type: "COUNTER",
  aggregation: "SUM",
  computations: [{ id: "a", order: 1, computation: { var: "attribute.count" } }],
  eventSchemaName: "api calls",
};

/** One price for every unit, in dollars, with all fields of answers. */
export const PER_UNIT = {
  ratePlan: {
    pricingModel: "TIERED",
    slabs: [{ order: 1, startAfter: 0, priceType: "PER_UNIT", slabConfig: {}, endAt: null }],
  },
  rateValues: [{ currency: "USD", slabRates: [{ order: 1, rate: 2, slabRateConfig: null }] }],
  tag: null,
};

/** Cycles that begin on the first of every month. */
export const MONTHLY = { interval: "MONTHLY", startOffset: { dayOffset: "1", monthOffset: "NIL" }, gracePeriod: 3 };

/** Details of a plan in dollars. */
export const DETAILS = { supportedCurrencies: ["USD"], pricingCycleConfig: MONTHLY };

/** Details of a DRAFT as returned: with every list of cards, and with the values of omitted fields. */
export function answeredDetails(details: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { pricingCycleConfig } = details;
  return {
    usageRateCards: [],
    fixedFeeRateCards: [],
    licenseRateCards: [],
    billingEntitlementRateCards: [],
    creditGrantRateCards: [],
    entitlementOverageRateCards: [],
    type: "BILLING",
    activeCurrencies: [],
    rateDetails: null,
    entitlementRateCards: null,
    ...details,
    ...(typeof pricingCycleConfig === "object" && {
      pricingCycleConfig: { gracePeriod: 0, anniversaryCycle: false, ...pricingCycleConfig },
    }),
  };
}

/**
 * Creates an ACTIVE schema and an ACTIVE meter.
 *
 * @returns the meter's id
 */
export async function activeMeter(call: Call): Promise<string> {
  await call("POST /event_schema", { body: CALLS });
  await call("POST /event_schema/api+calls/activate");
  const { json } = await call("POST /usage_meters", { body: SUM });
  await call(`POST /usage_meters/${json.id}/activate`);
  return json.id;
}

/**
 * Creates an ACTIVE plan.
 *
 * @returns its id
 */
export async function activePlan(call: Call, details: object = DETAILS, name = "Team"): Promise<string> {
  const { json } = await call("POST /price_plans", { body: { name, type: "BILLING", pricePlanDetails: details } });
  await call(`POST /price_plans/${json.id}/activate`);
  return json.id;
}

/** `count` items created from their index, from 0. */
export function times<Item>(count: number, make: (at: number) => Item): Item[] {
  return Array.from({ length: count }, (_, at) => make(at));
}
