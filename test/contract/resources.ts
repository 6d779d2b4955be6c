/** Creates resources over HTTP for the cases. */
import { type Api, type Json, unique } from "./api.ts";

/**
 * An account with its own customer.
 *
 * @returns its id
 */
export async function anAccount(api: Api, fields: Json = {}): Promise<string> {
  const id = unique("acc");
  const account = { id, name: `Account ${id}`, ...fields };
  await api.callOk("POST /customers", { id, name: `Customer ${id}`, primaryEmail: "pay@acme.test", account });
  return account.id;
}

/** An ACTIVE schema with the attribute `count`. @returns its name */
export async function aSchema(api: Api, fields: Json = {}): Promise<string> {
  const name = unique("schema");
  const schema = { name, attributes: [{ name: "count" }], dimensions: [{ name: "region" }], ...fields };
  await api.callOk("POST /event_schema", schema);
  await api.callOk(`POST /event_schema/${name}/activate`);
  return name;
}

/**
 * An ACTIVE meter that sums the counts of a schema.
 *
 * @returns its id
 */
export async function aMeter(api: Api, eventSchemaName: string, fields: Json = {}): Promise<string> {
  const { id } = await api.callOk("POST /usage_meters", { ...meterRequest(eventSchemaName), ...fields });
  await api.callOk(`POST /usage_meters/${id}/activate`);
  return id;
}

/** A request for a meter. */
export function meterRequest(eventSchemaName: string): Json {
  return {
    name: unique("meter"),
    type: "COUNTER",
    aggregation: "SUM",
    computations: [
      {
        id: "a",
        order: 1,
        matcher: { "==": [{ var: "dimensions.region" }, "eu"] },
        computation: { var: "attribute.count" },
      },
    ],
    eventSchemaName,
  };
}

/** A feature of a schema's attribute. @returns its id */
export async function aFeature(api: Api, schemaName: string): Promise<string> {
  const schemaAssocitions = [{ schemaName, attributeName: "count" }];
  return (await api.callOk("POST /features", { name: unique("feature"), schemaAssocitions })).id;
}

/** An add-on of a type. @returns its id */
export async function anAddOn(api: Api, type: string): Promise<string> {
  return (await api.callOk("POST /addons", { name: unique("add-on"), type })).id;
}

/** Cycles that begin on the first of every month. */
export const MONTHLY = {
  interval: "MONTHLY",
  startOffset: { dayOffset: "1", monthOffset: "NIL" },
  gracePeriod: 3,
  anniversaryCycle: false,
};

/** A plan of monthly cycles, ACTIVE. @returns its id */
export async function aPlan(api: Api, details: Json = {}): Promise<string> {
  const pricePlanDetails = { supportedCurrencies: ["USD"], pricingCycleConfig: MONTHLY, ...details };
  const { id } = await api.callOk("POST /price_plans", { name: unique("plan"), type: "BILLING", pricePlanDetails });
  await api.callOk(`POST /price_plans/${id}/activate`);
  return id;
}

/** An account with a plan since 1 June 2024. @returns its id */
export async function aPlannedAccount(api: Api, details: Json = {}): Promise<string> {
  const id = await anAccount(api);
  const pricePlanId = await aPlan(api, details);
  await api.callOk(`POST /accounts/${id}/price_plans`, { pricePlanId, effectiveFrom: "2024-06-01" });
  return id;
}

/** An event of a schema with a count. */
export function anEvent(accountId: string, schemaName: string, fields: Json = {}): Json {
  return {
    id: unique("event"),
    schemaName,
    accountId,
    timestamp: "2024-06-15T11:00:00Z",
    attributes: [{ name: "count", value: 5, unit: "calls" }],
    dimensions: { region: "eu" },
    ...fields,
  };
}

/** Two dollars for every unit. */
export const PER_UNIT = {
  ratePlan: { pricingModel: "TIERED", slabs: [{ order: 1, startAfter: 0, priceType: "PER_UNIT", slabConfig: {} }] },
  rateValues: [{ currency: "USD", slabRates: [{ order: 1, rate: 2 }] }],
};
