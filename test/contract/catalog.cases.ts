/** Event schemas, usage meters, features, add-ons and settings. */
import { expect } from "vitest";

import { type Api, type Json, oncePerServer, uniqueText, unique } from "./api.ts";
import { type Case, tableCases } from "./case.ts";
import { rowsIn } from "./reference.ts";
import { aFeature, aMeter, anAccount, anAddOn, anEvent, aPlan, aSchema, meterRequest, PER_UNIT } from "./resources.ts";
import { listMismatches, parseType, listUnseen } from "./types.ts";

/** Answers have billableName, or the name if there is none. */
const showsDisplayName =
  (path: string, body: Json) =>
  async (api: Api): Promise<void> => {
    const name = unique("plain");
    expect((await api.callOk(`POST ${path}`, { ...body, name })).displayName).toBe(name);
    const billedItem = await api.callOk(`POST ${path}`, { ...body, name: unique("plain"), billableName: "Billed" });
    expect(billedItem.displayName).toBe("Billed");
  };

const ENRICHMENTS = {
  dependencies: [{ type: "SETTING", key: "setting.user.rates", name: "rates" }],
  fields: [
    {
      name: "double",
      type: "ATTRIBUTE",
      enrichmentType: "JSON_LOGIC",
      value: '{"*":[{"var":"attribute.count"},{"var":"dependencies.rates.double"}]}',
      order: 1,
    },
    { name: "zone", type: "DIMENSION", enrichmentType: "JSON_LOGIC", value: '{"var":"dimensions.region"}', order: 2 },
  ],
};

/** In each state. */
export const schemas = oncePerServer(async (api): Promise<readonly Json[]> => {
  const value = '{"double":2}';
  await api.ask("POST /settings", { body: { id: "rates", namespace: "USER", name: "Rates", dataType: "JSON", value } });
  const name = await aSchema(api, { description: "A schema", eventLevelRevenue: true, enrichments: ENRICHMENTS });
  await aFeature(api, name);
  const active = await api.callOk(`GET /event_schema/${name}`);
  await api.callOk(`PATCH /event_schema/${name}`, { attributes: [{ name: "more" }] });
  const older = (await api.ask(`GET /event_schema/${name}`, { query: { version: "1" } })).json;
  expect([active.status, active.version, older.status, older.version]).toEqual(["ACTIVE", 1, "ARCHIVED", 1]);
  const fields = { attributes: [{ name: "f0" }], dimensions: [] };
  const draft = await api.callOk("POST /event_schema", { name: unique("es"), ...fields });
  const inactive = await aSchema(api);
  return [active, older, draft, await api.callOk(`POST /event_schema/${inactive}/deactivate`)];
});

/** In each state. */
export const meters = oncePerServer(async (api): Promise<readonly Json[]> => {
  const draft = await api.callOk("POST /usage_meters", { ...meterRequest(await aSchema(api)), aggregation: "COUNT" });
  const schema = await aSchema(api);
  const meterNames = { billableName: "Billed", description: "A meter" };
  const active = await api.callOk(`GET /usage_meters/${await aMeter(api, schema, meterNames)}`);
  const inactive = await api.callOk(`POST /usage_meters/${await aMeter(api, schema)}/deactivate`);
  const archivedId = await aMeter(api, schema);
  await api.callOk(`POST /usage_meters/${archivedId}/deactivate`);
  await api.callOk(`DELETE /usage_meters/${archivedId}`);
  return [draft, active, inactive, await api.callOk(`GET /usage_meters/${archivedId}`)];
});

/** The open invoice of an account that used 5 and 7 in one region and 100 in another, on a plan that charges meters. */
async function openInvoice(api: Api, schema: string, meterIds: readonly string[]): Promise<Json> {
  const cards = meterIds.map((usageMeterId) => ({ usageMeterId, ...PER_UNIT }));
  const pricePlanId = await aPlan(api, { usageRateCards: cards });
  const accountId = await anAccount(api);
  await api.callOk(`POST /accounts/${accountId}/price_plans`, { pricePlanId, effectiveFrom: "2024-06-01" });
  const usageEvent = (value: number, region: string) =>
    anEvent(accountId, schema, { attributes: [{ name: "count", value }], dimensions: { region } });
  await api.callOk("POST /ingestBatch", { events: [usageEvent(5, "eu"), usageEvent(7, "eu"), usageEvent(100, "us")] });
  const list = await api.callOk(`GET /invoices?account_id=${accountId}`);
  return api.callOk(`GET /invoices/${list.data[0].id}`);
}

const METER_CASES = tableCases({
  table: "Usage meter",
  component: "UsageMeter",
  samples: meters,
  fields: {
    displayName: {
      says: async (api) => showsDisplayName("/usage_meters", meterRequest(await aSchema(api)))(api),
    },
    billableName: {
      says: async (api) => {
        const schema = await aSchema(api);
        const meter = await aMeter(api, schema, { billableName: "Calls of the API" });
        const { usageInfo } = await openInvoice(api, schema, [meter]);
        expect(usageInfo[0].lineItems).toMatchObject([{ id: meter, description: "Calls of the API" }]);
      },
    },
    aggregation: {
      says: async (api) => {
        const schema = await aSchema(api);
        const ids = [await aMeter(api, schema), await aMeter(api, schema, { aggregation: "COUNT" })];
        const { usageInfo } = await openInvoice(api, schema, ids);
        const quantities = new Map(usageInfo[0].lineItems.map(({ id, quantity }: Json) => [id, quantity]));
        // 5 + 7 of the two matching events, and a count of two.
        expect(ids.map((id) => quantities.get(id))).toEqual([12, 2]);
      },
    },
  },
});

const SCHEMA_CASES = tableCases({
  table: "Event schema",
  component: "EventSchema",
  samples: schemas,
  fields: {
    name: {
      says: async (api) => {
        const name = await aSchema(api);
        const body = { name, attributes: [], dimensions: [] };
        expect((await api.ask("POST /event_schema", { body })).status).toBe(409);
      },
    },
    // That ARCHIVED is an older version is checked where the samples are created.
    status: { says: async (api) => void (await schemas(api)) },
    enrichments: {
      says: async (api) => {
        const [{ enrichments }] = await schemas(api);
        for (const { name, type } of rowsIn("Update event schema").slice(-2)) {
          const parsedType = parseType(type);
          expect([
            ...listMismatches(parsedType, enrichments[name], name),
            ...listUnseen(parsedType, [enrichments[name]], name),
          ]).toEqual([]);
        }
      },
    },
  },
});

const FEATURE_CASES = tableCases({
  table: "Feature",
  component: "Feature",
  samples: async (api) => {
    const schemaAssociations = [{ schemaName: await aSchema(api), attributeName: "count" }];
    const body = { name: unique("f"), billableName: "Billed", description: "A feature", schemaAssociations };
    return [await api.callOk("POST /features", body)];
  },
  fields: {
    displayName: { says: showsDisplayName("/features", {}) },
    schemaAssociations: {
      says: async (api) => {
        const name = await aSchema(api);
        const feature = await api.callOk(`GET /features/${await aFeature(api, name)}`);
        expect(feature.schemaAssociations).toEqual([name]);
      },
    },
  },
});

/** Of each type and in each state. */
export const addOns = oncePerServer(async (api): Promise<readonly Json[]> => {
  const addOnIds = await Promise.all(
    ["LICENSE", "FIXED_FEE", "CREDIT_GRANT"].map(async (type) =>
      api.callOk("POST /addons", { name: unique("a"), type, billableName: "Billed" }),
    ),
  );
  const archivedId = await anAddOn(api, "LICENSE");
  await api.callOk(`DELETE /addons/${archivedId}`);
  return [...addOnIds, await api.callOk(`GET /addons/${archivedId}`)];
});

const ADD_ON_CASES = tableCases({
  table: "Add-on",
  component: "AddOn",
  samples: addOns,
  fields: {
    type: {
      // Each kind of card accepts add-ons of its own type; all three are in the plan of the price plan cases.
      says: async (api) => {
        const fee = await anAddOn(api, "FIXED_FEE");
        const card = { id: fee, ...PER_UNIT };
        const pricePlanDetails = { supportedCurrencies: ["USD"], licenseRateCards: [card] };
        const body = { name: unique("plan"), type: "BILLING", pricePlanDetails };
        expect((await api.ask("POST /price_plans", { body })).status).toBe(400);
        const license = { ...card, id: await anAddOn(api, "LICENSE") };
        const right = { ...body, pricePlanDetails: { ...pricePlanDetails, licenseRateCards: [license] } };
        expect((await api.ask("POST /price_plans", { body: right })).status).toBe(200);
      },
    },
    displayName: { says: showsDisplayName("/addons", { type: "LICENSE" }) },
  },
});

const SETTING = { namespace: "USER", name: "A setting", entityType: "ORGANIZATION" };

const SETTING_CASES = tableCases({
  table: "Setting",
  component: "Setting",
  samples: async (api) => [
    await api.callOk("POST /settings", { id: unique("s"), ...SETTING, dataType: "STRING", value: "1" }),
    await api.callOk("POST /settings", { id: unique("s"), ...SETTING, dataType: "JSON", value: '{ "a": [1.50] }' }),
  ],
  fields: {
    value: {
      says: async (api) => {
        const body = { id: unique("s"), ...SETTING, dataType: "JSON" };
        const { id } = await api.callOk("POST /settings", { ...body, value: '{ "a": [1.50] }' });
        expect((await api.callOk(`GET /settings/${id}`)).value).toBe('{ "a": [1.50] }');
        expect(
          (await api.ask("POST /settings", { body: { ...body, id: uniqueText(9), value: { a: 1 } } })).status,
        ).toBe(400);
        expect((await api.ask("POST /settings", { body: { ...body, id: uniqueText(9), value: "{" } })).status).toBe(
          400,
        );
      },
    },
  },
});

/** Cases of the catalog. */
export const CATALOG_CASES: readonly Case[] = [
  ...SCHEMA_CASES,
  ...METER_CASES,
  ...FEATURE_CASES,
  ...ADD_ON_CASES,
  ...SETTING_CASES,
];
