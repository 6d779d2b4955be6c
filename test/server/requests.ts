/** Requests that create a catalog and accounts over HTTP: the setup of tests of endpoints. */
import { type Calls, startApi, type TestApi } from "./support.ts";

type Send = Calls["send"];

/** The body of a customer with that id. */
export const ACME = { id: "acme", name: "Acme Corp", primaryEmail: "pay@acme.test" };

/** An address with every part. */
export const ADDRESS = {
  phoneNumber: "+49 30 1234",
  line1: "1 Main St",
  line2: "2nd floor",
  postalCode: "10115",
  city: "Berlin",
  state: "BE",
  country: "DE",
};

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

/** An API with a customer and its account `prod`, at noon of 15 June 2024. */
export async function withAccount(time?: string): Promise<TestApi> {
  const api = await startApi(time);
  await api.send("POST /customers", { ...ACME, account: { id: "prod", name: "Acme prod" } });
  return api;
}

/** Creates an ACTIVE schema of calls. */
export async function activeSchema(send: Send): Promise<void> {
  await send("POST /event_schema", CALLS);
  await send("POST /event_schema/api+calls/activate");
}

/**
 * Creates an ACTIVE schema and an ACTIVE meter.
 *
 * @returns the meter's id
 */
export async function activeMeter(send: Send): Promise<string> {
  await activeSchema(send);
  const { id } = await send("POST /usage_meters", SUM);
  await send(`POST /usage_meters/${id}/activate`);
  return id;
}

/**
 * Creates an ACTIVE plan.
 *
 * @returns its id
 */
export async function activePlan(send: Send, details: object = DETAILS, name = "Team"): Promise<string> {
  const { id } = await send("POST /price_plans", { name, type: "BILLING", pricePlanDetails: details });
  await send(`POST /price_plans/${id}/activate`);
  return id;
}

/**
 * Creates an add-on named as its type.
 *
 * @returns its id
 */
export async function addOn(send: Send, type: "FIXED_FEE" | "LICENSE" | "CREDIT_GRANT"): Promise<string> {
  return (await send("POST /addons", { name: type, type })).id;
}

/** Associates the account `prod` with a plan. */
export async function subscribe(send: Send, pricePlanId: string, effectiveFrom = "2024-06-01"): Promise<void> {
  await send("POST /accounts/prod/price_plans", { pricePlanId, effectiveFrom });
}

/** `count` items created from their index, from 0. */
export function times<Item>(count: number, make: (at: number) => Item): Item[] {
  return Array.from({ length: count }, (_, at) => make(at));
}
