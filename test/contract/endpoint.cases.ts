/** The twenty endpoints. */
import { expect } from "vitest";

import { type Api, unique } from "./api.ts";
import { type Case, ruleCases } from "./case.ts";
import { endpointCase } from "./endpoint.ts";
import { aCredit, aMigration, anEntry, migrations } from "./holdings.cases.ts";
import { rowOf } from "./reference.ts";
import { anAccount, anAddOn, anEvent, aSchema, meterRequest, MONTHLY } from "./resources.ts";

const aDraft = async (api: Api): Promise<string> =>
  (await api.callOk("POST /price_plans", { name: unique("plan"), type: "BILLING", pricePlanDetails: {} })).id;

/** Cases of the endpoints. What their query parameters and modes do is tested in test/server/routes. */
export const ENDPOINT_CASES: readonly Case[] = ruleCases("Endpoints", {
  "POST /authenticate": endpointCase({ ready: async () => ({}) }),
  "DELETE /accounts/{account_id}": endpointCase({
    ready: async (api) => ({ params: { account_id: await anAccount(api) } }),
  }),
  "GET /accounts/{account_id}": endpointCase({
    ready: async (api) => ({ params: { account_id: await anAccount(api) } }),
  }),
  "POST /invoice_groups/{invoice_group_id}/add_accounts": endpointCase({
    ready: async (api) => {
      const accountIds = [await anAccount(api)];
      const group = { name: "A group", email: "pay@acme.test", dailyInvoiceConsolidation: true, accountIds };
      const { id } = await api.callOk("POST /invoice_groups", group);
      return { params: { invoice_group_id: id }, body: { accountIds: [await anAccount(api)] } };
    },
    // The number is tested with the limit, which is the same.
    also: async (_, { cells }) => {
      expect(cells["Request"]).toContain(
        `accountIds: array of string, ${rowOf("Limits / accountIds items").type} items`,
      );
    },
  }),
  "POST /price_plans": endpointCase({
    ready: async () => ({
      body: { name: unique("plan"), type: "BILLING", pricePlanDetails: {}, description: "A plan" },
    }),
  }),
  "PATCH /price_plans/{price_plan_id}": endpointCase({
    ready: async (api) => ({
      params: { price_plan_id: await aDraft(api) },
      body: {
        description: "New",
        pricePlanDetails: { pricingCycleConfig: MONTHLY },
        mode: "IMMEDIATE_IGNORE_OVERRIDE",
      },
    }),
  }),
  "PATCH /usage_meters/{usage_meter_id}": endpointCase({
    // A longer name could not be returned.
    narrower: { name: "Usage meter / name" },
    ready: async (api) => {
      const { id } = await api.callOk("POST /usage_meters", meterRequest(await aSchema(api)));
      return {
        params: { usage_meter_id: id },
        body: {
          name: unique("meter"),
          billableName: "Billed",
          description: "New",
          type: "COUNTER",
          aggregation: "SUM",
          computations: [{ computation: { var: "attribute.count" }, order: 1, id: "b", matcher: "true" }],
        },
      };
    },
  }),
  "PATCH /features/{feature_id}": endpointCase({
    ready: async (api) => {
      const schema = (
        await api.callOk("POST /event_schema", { name: unique("s"), attributes: [{ name: "n" }], dimensions: [] })
      ).name;
      const { id } = await api.callOk("POST /features", { name: unique("feature") });
      return {
        params: { feature_id: id },
        body: { name: unique("feature"), billableName: "Billed", schemaAssocitions: [schema] },
      };
    },
  }),
  "GET /features": endpointCase({
    ready: async (api) => {
      await api.callOk("POST /features", { name: unique("feature") });
      return {};
    },
  }),
  "PATCH /settings/{setting_id_str}": endpointCase({
    ready: async (api) => {
      const body = { id: unique("s"), namespace: "USER", name: "A setting", dataType: "STRING", value: "1" };
      const { id } = await api.callOk("POST /settings", body);
      return { params: { setting_id_str: id }, body: { value: "{}", name: "Another", dataType: "JSON" } };
    },
  }),
  "POST /addons": endpointCase({
    ready: async () => ({ body: { name: unique("add-on"), type: "CREDIT_GRANT", billableName: "Billed" } }),
  }),
  "PATCH /addons/{addon_id}": endpointCase({
    ready: async (api) => ({
      params: { addon_id: await anAddOn(api, "LICENSE") },
      body: { name: unique("add-on"), billableName: "Billed" },
    }),
  }),
  "GET /accounts/{account_id}/features/{feature_id}/entries": endpointCase({
    ready: async (api) => {
      const { accountId, featureId } = await anEntry(api);
      return { params: { account_id: accountId, feature_id: featureId } };
    },
  }),
  "POST /credits/{credit_id}/void": endpointCase({
    ready: async (api) => ({ params: { credit_id: (await aCredit(api)).id } }),
  }),
  "GET /aliases": endpointCase({
    ready: async (api) => {
      await anAccount(api, { aliases: [unique("alias")] });
      return {};
    },
  }),
  "DELETE /events": endpointCase({
    ready: async (api) => {
      const account_id = await anAccount(api);
      await api.callOk("POST /ingest", { event: anEvent(account_id, await aSchema(api)) });
      return { query: { account_id } };
    },
  }),
  "GET /event_schema/{event_schema_name}": endpointCase({
    ready: async (api) => ({ params: { event_schema_name: await aSchema(api) } }),
  }),
  "PATCH /event_schema/{event_schema_name}": endpointCase({
    ready: async (api) => ({
      params: {
        event_schema_name: (
          await api.callOk("POST /event_schema", { name: unique("schema"), attributes: [], dimensions: [] })
        ).name,
      },
      body: {
        description: "New",
        status: "ACTIVE",
        attributes: [{ name: "count" }],
        dimensions: [{ name: "region" }],
        enrichments: { dependencies: [], fields: [] },
      },
    }),
  }),
  "POST /migrations/price_plan": endpointCase({
    ready: async (api) => {
      const { body } = await aMigration(api);
      return { body };
    },
  }),
  "GET /migrations": endpointCase({
    ready: async (api) => {
      await migrations(api);
      return {};
    },
  }),
});
