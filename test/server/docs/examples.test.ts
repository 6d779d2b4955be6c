import { describe, expect, test } from "vitest";

import { BODY_EXAMPLES } from "../../../src/server/docs/examples.ts";
import { createOpenApiDocument } from "../../../src/server/docs/openapi.ts";
import { ENDPOINTS } from "../../../src/server/routes/routes.ts";
import { startApi } from "../support.ts";

/** The body of an operation in the document, by its schema or by its example. */
interface Content {
  readonly schema: { readonly properties?: Readonly<Record<string, { readonly $ref?: string }>> };
  readonly example?: unknown;
}

const BODIES = ENDPOINTS.filter(({ body }) => body !== undefined);

/** An event in the examples that matches their schema. */
function eventExample(): Readonly<Record<string, unknown>> {
  const { components } = createOpenApiDocument(ENDPOINTS) as {
    components: { schemas: Record<string, { properties: Record<string, { examples?: readonly unknown[] }> }> };
  };
  const { properties = {} } = components.schemas["UsageEvent"] ?? {};
  return Object.fromEntries(Object.entries(properties).map(([name, { examples = [] }]) => [name, examples[0]]));
}

describe("an example of a body", () => {
  test("is in the document of every endpoint with a body, except events, which have theirs in their schema", () => {
    const { paths } = createOpenApiDocument(ENDPOINTS) as {
      paths: Record<string, Record<string, { requestBody?: { content: { "application/json": Content } } }>>;
    };
    for (const { id, method, path } of BODIES) {
      const content = paths[path]?.[method.toLowerCase()]?.requestBody?.content["application/json"];
      const example = BODY_EXAMPLES[id];
      expect([id, content?.example]).toEqual([id, example]);
      if (example === undefined) expect([id, JSON.stringify(content?.schema)].join(" ")).toContain("UsageEvent");
    }
  });

  test("omits the bounds of safe integers", () => {
    expect(JSON.stringify(createOpenApiDocument(ENDPOINTS))).not.toMatch(/9007199254740991/);
  });

  test("can be sent unchanged, in an order that creates what the next one needs", async () => {
    const api = await startApi("2026-06-15T12:00:00Z");
    const ids: Record<string, string> = {};
    const usedIds = new Set<string>();
    const sendExample = async (
      id: string,
      path: Readonly<Record<string, string>> = {},
      requestBody?: object,
    ): Promise<string> => {
      const endpoint = ENDPOINTS.find((each) => each.id === id);
      if (endpoint === undefined) throw new Error(`no endpoint has the id ${id}`);
      usedIds.add(id);
      const url = endpoint.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(path[name] ?? ""));
      // The server's ids are filled in.
      const text = JSON.stringify(requestBody ?? BODY_EXAMPLES[id]);
      const body = text?.replaceAll(/<id of (\w+)>/g, (_, name: string) => ids[name] ?? "");
      const { status, json } = await api.call(`${endpoint.method} ${url as `/${string}`}`, { body });
      expect(`${id} ${status} ${json.message ?? ""}`).toMatch(/^\w+ 20[012] $/);
      return String(json.id);
    };

    await sendExample("createEventSchema");
    await sendExample("updateEventSchema", { event_schema_name: "api_calls" });
    ids["Tokens"] = await sendExample("createFeature");
    await sendExample("updateFeature", { feature_id: ids["Tokens"] });
    await sendExample("activateEventSchema", { event_schema_name: "api_calls" });
    ids["calls"] = await sendExample("createUsageMeter");
    await sendExample("updateUsageMeter", { usage_meter_id: ids["calls"] });
    await sendExample("activateUsageMeter", { usage_meter_id: ids["calls"] });
    ids["Platform"] = await sendExample("createAddOn");
    await sendExample("updateAddOn", { addon_id: ids["Platform"] });
    ids["Seats"] = await sendExample("createAddOn", {}, { name: "Seats", type: "LICENSE" });
    await sendExample("createSetting");
    await sendExample("updateSetting", { setting_id_str: "setting.user.discount" });
    ids["Team"] = await sendExample("createPricePlan");
    await sendExample("updatePricePlan", { price_plan_id: ids["Team"] });
    await sendExample("activatePricePlan", { price_plan_id: ids["Team"] });
    const meter = { ...(BODY_EXAMPLES["createUsageMeter"] as object), name: "calls by region", groupBy: ["region"] };
    await sendExample("activateUsageMeter", { usage_meter_id: await sendExample("createUsageMeter", {}, meter) });
    const card = { usageMeterId: "calls by region", rateTable: { rows: [{ rate: "0.01" }] } };
    const pricePlanDetails = {
      supportedCurrencies: ["USD"],
      pricingCycleConfig: { interval: "MONTHLY", startOffset: { dayOffset: "1", monthOffset: "NIL" } },
      usageRateCards: [card],
    };
    ids["Regions"] = await sendExample("createPricePlan", {}, { name: "Regions", pricePlanDetails });
    await sendExample("activatePricePlan", { price_plan_id: ids["Regions"] });
    await sendExample("addRateRows", { price_plan_id: ids["Regions"] });

    await sendExample("createCustomer");
    await sendExample("updateCustomer", { customer_id: "acme" });
    await sendExample("createAccount");
    await sendExample("updateAccount", { account_id: "acme-test" });
    await sendExample("addAliasesToAccount", { account_id: "acme-prod" });
    await sendExample("removeAliasesFromAccount", { account_id: "acme-prod" });
    await sendExample("createAliases");
    ids["group"] = await sendExample("createInvoiceGroup");
    await sendExample("addAccountsToInvoiceGroup", { invoice_group_id: ids["group"] });
    await sendExample("removeAccountsFromInvoiceGroup", { invoice_group_id: ids["group"] });
    await sendExample("changePricePlanOfAccount", { account_id: "acme-prod" });

    const event = { ...eventExample(), timestamp: "2026-06-15T12:00:00Z" };
    for (const [line, body] of [
      ["POST /ingest", { event }],
      ["POST /ingestBatch", { events: [{ ...event, id: "call-2" }] }],
      ["POST /entitled", { event: { ...event, id: "call-3" } }],
    ] as const) {
      const { status, json } = await api.call(line, { body });
      expect([line, status, json.success]).toEqual([line, line === "POST /entitled" ? 200 : 202, true]);
    }

    const feature = { account_id: "acme-prod", feature_id: ids["Tokens"] };
    ids["entry"] = await sendExample("grantFeatureEntry", feature);
    await sendExample("updateFeatureEntry", { ...feature, entry_id: ids["entry"] });
    await sendExample("updateLicense");
    await sendExample("createCredits");
    await sendExample("runBills");
    await sendExample("calculateRevenue");
    await sendExample("getMetrics");

    await sendExample("createPricePlanVersion", { price_plan_id: ids["Team"] });
    await sendExample("activatePricePlan", { price_plan_id: ids["Team"] });
    await sendExample("migratePricePlan");
    expect(Object.keys(BODY_EXAMPLES).filter((id) => !usedIds.has(id))).toEqual(["createKey"]);
  });
});
