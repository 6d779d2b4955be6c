/** The twenty endpoints: what their rows say of paths, queries, bodies and answers. */
import { expect } from "vitest";

import { type Answered, type Api, type Json, textOf, unique } from "./api.ts";
import { type Case, refused, ruleCases } from "./case.ts";
import { aCredit, aMigration, anEntry, migrations } from "./holdings.cases.ts";
import { anAccount, anAddOn, anEvent, aSchema, meterOf, MONTHLY } from "./made.ts";
import { figureIn, type Row, rowOf, rowsIn } from "./reference.ts";
import { fieldsOfTable, misfits, misfitsOf, parseFields, parseType, type Type } from "./types.ts";

/** A request that succeeds. */
export interface Ready {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Json;
}

/** How an endpoint is proved. */
interface EndpointCase {
  /** Makes what a request needs, each time anew. */
  readonly ready: (api: Api) => Promise<Ready>;
  /** Rows of other tables whose bounds are the narrower ones. */
  readonly narrower?: Readonly<Record<string, string>>;
  /** What else the row says. */
  readonly also?: (api: Api) => Promise<void>;
}

/** Sends what is ready, with other parts. */
export async function send(api: Api, row: string, { params = {}, query, body }: Ready): Promise<Answered> {
  const line = row.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ""));
  return api.ask(line, { ...(query && { query }), ...(body !== undefined && { body }) });
}

const endpointCase =
  ({ ready, narrower = {}, also }: EndpointCase) =>
  async (api: Api, row: Row): Promise<void> => {
    const request = row.cells["Request"] ?? "";
    const first = await ready(api);
    const answer = await send(api, row.name, first);
    expect([answer.status, answer.json.message]).toEqual([200, undefined]);
    expect(wrongIn(row.cells["Success response"] ?? "", answer.json)).toEqual([]);
    await provePath(api, row.name, request, () => ready(api));
    await proveQuery(api, row.name, request, () => ready(api));
    await proveBody(api, row, narrower, () => ready(api));
    await also?.(api);
  };

/** What is wrong with an answer, which the reference describes in words. */
function wrongIn(said: string, json: Json): readonly string[] {
  const paged = /paged list envelope of ([\w ]+?)(?: \(|$)/.exec(said)?.[1];
  if (paged !== undefined) {
    expect(json).toHaveProperty("nextToken");
    return wrongItems(paged, json.data);
  }
  const list = /^\{data: array of ([\w ]+)\}$/.exec(said)?.[1];
  if (list !== undefined) return wrongItems(list, json.data);
  const array = /^array of ([\w ]+)$/.exec(said)?.[1];
  if (array !== undefined) return wrongItems(array, json);
  if (said.startsWith("{")) return misfits(parseType(said.replaceAll(":", "")), json, "answer");
  const fields = fieldsOfTable(said);
  expect(Object.keys(fields).length).toBeGreaterThan(0);
  expect(Object.keys(json).filter((name) => fields[name] !== undefined).length).toBeGreaterThan(0);
  return misfits({ kind: "object", nullable: false, values: [], fields }, json, said);
}

function wrongItems(table: string, items: readonly Json[]): readonly string[] {
  expect(items.length).toBeGreaterThan(0);
  return items.flatMap((item) => wrongIn(table, item));
}

/** An id of the path that is too long is a 400, one at the bound is only unknown. */
async function provePath(api: Api, line: string, request: string, ready: () => Promise<Ready>): Promise<void> {
  const said = /path ([\w ]+?) \(strings?, max (\d+)\)/.exec(request);
  if (said === null) return;
  const most = Number(said[2]);
  for (const name of (said[1] ?? "").split(" and ")) {
    const given = await ready();
    const at = await send(api, line, { ...given, params: { ...given.params, [name]: textOf(most) } });
    expect([404, 422]).toContain(at.status);
    await refused(send(api, line, { ...given, params: { ...given.params, [name]: textOf(most + 1) } }), name);
  }
}

/** A query that is said is taken; another is refused by its name. */
async function proveQuery(api: Api, line: string, request: string, ready: () => Promise<Ready>): Promise<void> {
  const given = await ready();
  await refused(send(api, line, { ...given, query: { ...given.query, unheard: "x" } }), "unheard");
  if (!request.includes("nextToken (string)")) return;
  const size = /pageSize \(integer, max (\d+), default (\d+)\)/.exec(request);
  const most = size === null ? figureIn(rowsIn("Pagination rules")[0]?.type ?? "") : Number(size[1]);
  const asked = async (pageSize: string) => send(api, line, { ...given, query: { pageSize } });
  for (const [pageSize, shown] of [
    ["1", 1],
    [String(most), most],
  ] as const) {
    const { status, json } = await asked(pageSize);
    expect(status).toBe(200);
    if (json.context !== undefined) expect(json.context.pageSize).toBe(shown);
  }
  for (const wrong of ["0", String(most + 1), "-1", "1.5", "ten"]) await refused(asked(wrong), "pageSize");
  if (size !== null) expect((await send(api, line, given)).json.context.pageSize).toBe(Number(size[2]));
  await refused(send(api, line, { ...given, query: { nextToken: "forged" } }), "nextToken");
}

/** The fields of a body by the row, or by the table that it refers to. */
function bodyOf(row: Row): Readonly<Record<string, Type & { readonly max?: number }>> | undefined {
  const request = row.cells["Request"] ?? "";
  if (request === "body below") {
    const table = row.name.startsWith("POST /migrations") ? "Migrate price plan" : "Update event schema";
    const rows = rowsIn(table).filter(({ name }) => !/^rule|^dependencies$|^fields$/.test(name));
    return Object.fromEntries(rows.map(({ name, type, notes }) => [name, bounded(parseType(type, notes), notes)]));
  }
  const said = /body:? (.*)$/s.exec(request)?.[1];
  if (said === undefined || request === "no body") return undefined;
  const list = said.startsWith("{") ? said.slice(1, said.lastIndexOf("}")) : said;
  // The items of a list are counted by its limit's own row.
  const types = parseFields(list.replace(/: (?=array)/, " ").replace(/, \d+ to \d+ items$/, ""));
  return Object.fromEntries(
    Object.entries(types).map(([name, type]) => {
      const own = new RegExp(`\\b${name}[ (]([^)]*)`).exec(list)?.[1] ?? "";
      return [name, bounded(type, own)];
    }),
  );
}

function bounded(type: Type, notes: string): Type & { readonly max?: number } {
  const max = /max (\d+)/.exec(notes)?.[1];
  return max === undefined ? type : { ...type, max: Number(max) };
}

async function proveBody(
  api: Api,
  row: Row,
  narrower: Readonly<Record<string, string>>,
  ready: () => Promise<Ready>,
): Promise<void> {
  const fields = bodyOf(row);
  const given = await ready();
  const sent = async (name: string, value: unknown) => {
    const anew = await ready();
    return send(api, row.name, { ...anew, body: { ...anew.body, [name]: value } });
  };
  if (!row.name.startsWith("GET")) await refused(sent("unheard", 1), "unheard");
  if (fields === undefined) {
    expect(given.body).toBeUndefined();
    return;
  }
  // What is sent is what the row says, no more and no less.
  expect(Object.keys(given.body).toSorted()).toEqual(Object.keys(fields).toSorted());
  for (const [name, type] of Object.entries(fields)) {
    for (const wrong of misfitsOf(type)) {
      const { status, json } = await sent(name, wrong);
      expect([name, status, json.message]).toEqual([name, 400, expect.stringContaining(name)]);
    }
    const other = narrower[name];
    const max = other === undefined ? type.max : figureIn(rowOf(other).notes);
    if (max === undefined) continue;
    const size = type.kind === "array" ? Array.from({ length: max + 1 }, () => unique("none")) : textOf(max + 1);
    const past = await sent(name, size);
    expect([name, past.status, past.json.message]).toEqual([name, 400, expect.stringContaining(`at most ${max}`)]);
    const at = await sent(name, size.slice(0, max));
    // An id at its bound may be of nothing; it is not too long.
    expect([name, at.json.message ?? ""]).toEqual([name, expect.not.stringMatching(/at most|characters/)]);
  }
}

const aDraft = async (api: Api): Promise<string> =>
  (await api.done("POST /price_plans", { name: unique("plan"), type: "BILLING", pricePlanDetails: {} })).id;

/** Cases of the endpoints. */
export const ENDPOINT_CASES: readonly Case[] = ruleCases("Endpoints", {
  "POST /authenticate": endpointCase({ ready: async () => ({}) }),
  "DELETE /accounts/{account_id}": endpointCase({
    ready: async (api) => ({ params: { account_id: await anAccount(api) } }),
  }),
  "GET /accounts/{account_id}": endpointCase({
    ready: async (api) => ({ params: { account_id: await anAccount(api) } }),
    also: async (api) => {
      const account_id = await anAccount(api);
      const asked = async (query: Readonly<Record<string, string>>) =>
        send(api, "GET /accounts/{account_id}", { params: { account_id }, query });
      const timestamp = "2024-06-15T12:00:00Z";
      expect((await asked({ effectiveOn: timestamp, includeGroupDetails: "true" })).json.id).toBe(account_id);
      await refused(asked({ effectiveOn: "yesterday" }), "effectiveOn");
      await refused(asked({ includeGroupDetails: "yes" }), "includeGroupDetails");
    },
  }),
  "POST /invoice_groups/{invoice_group_id}/add_accounts": endpointCase({
    ready: async (api) => {
      const accountIds = [await anAccount(api)];
      const group = { name: "A group", email: "pay@acme.test", dailyInvoiceConsolidation: true, accountIds };
      const { id } = await api.done("POST /invoice_groups", group);
      return { params: { invoice_group_id: id }, body: { accountIds: [await anAccount(api)] } };
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
    also: async (api) => {
      const id = await aDraft(api);
      await refused(api.ask(`PATCH /price_plans/${id}`, { body: { mode: "AT_ONCE" } }), "mode");
      const body = { pricePlanDetails: { pricingCycleConfig: MONTHLY } };
      const { pricingSchedule } = await api.done(`PATCH /price_plans/${id}`, body);
      expect(pricingSchedule[0].pricePlanDetails.pricingCycleConfig).toEqual(MONTHLY);
    },
  }),
  "PATCH /usage_meters/{usage_meter_id}": endpointCase({
    // A longer name could not be answered.
    narrower: { name: "Usage meter / name" },
    ready: async (api) => {
      const { id } = await api.done("POST /usage_meters", meterOf(await aSchema(api)));
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
        await api.done("POST /event_schema", { name: unique("s"), attributes: [{ name: "n" }], dimensions: [] })
      ).name;
      const { id } = await api.done("POST /features", { name: unique("feature") });
      return {
        params: { feature_id: id },
        body: { name: unique("feature"), billableName: "Billed", schemaAssocitions: [schema] },
      };
    },
  }),
  "GET /features": endpointCase({
    ready: async (api) => {
      await api.done("POST /features", { name: unique("feature") });
      return {};
    },
  }),
  "PATCH /settings/{setting_id_str}": endpointCase({
    ready: async (api) => {
      const body = { id: unique("s"), namespace: "USER", name: "A setting", dataType: "STRING", value: "1" };
      const { id } = await api.done("POST /settings", body);
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
      await api.done("POST /ingest", { event: anEvent(account_id, await aSchema(api)) });
      return { query: { account_id } };
    },
  }),
  "GET /event_schema/{event_schema_name}": endpointCase({
    ready: async (api) => ({ params: { event_schema_name: await aSchema(api) } }),
    also: async (api) => {
      const event_schema_name = await aSchema(api);
      await api.done(`PATCH /event_schema/${event_schema_name}`, { attributes: [{ name: "more" }] });
      const versionOf = async (query: Readonly<Record<string, string>>) =>
        send(api, "GET /event_schema/{event_schema_name}", { params: { event_schema_name }, query });
      expect((await versionOf({})).json.version).toBe(2);
      expect((await versionOf({ version: "1" })).json.version).toBe(1);
      expect((await versionOf({ version: "3" })).status).toBe(404);
      await refused(versionOf({ version: "0" }), "version");
    },
  }),
  "PATCH /event_schema/{event_schema_name}": endpointCase({
    ready: async (api) => ({
      params: {
        event_schema_name: (
          await api.done("POST /event_schema", { name: unique("schema"), attributes: [], dimensions: [] })
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
