/** The limits, each with the figure in its row: accepted at the limit, rejected above it. */
import { expect } from "vitest";

import { type ApiAnswer, type Api, type Json, startContract, uniqueText, unique } from "./api.ts";
import { type Case, expectRefused, ruleCases, expectSuccess } from "./case.ts";
import { sendRow } from "./endpoint.ts";
import { aMigration, anEntry } from "./holdings.cases.ts";
import { figureIn, type Row } from "./reference.ts";
import { aMeter, anAccount, anEvent, aSchema, meterRequest } from "./resources.ts";

type Write = (api: Api, size: number) => Promise<ApiAnswer>;

/** Accepts a value of `max` and rejects one above; if there is a minimum, the same below. */
const checkBound =
  (name: string, write: Write) =>
  async (api: Api, { type }: Row): Promise<void> => {
    const [min, max = figureIn(type)] = /(\d+) to (\d+)/.exec(type)?.slice(1).map(Number) ?? [];
    await expectSuccess(write(api, max));
    await expectRefused(write(api, max + 1), name);
    if (min === undefined) return;
    await expectSuccess(write(api, min));
    await expectRefused(write(api, min - 1), name);
  };

/** A path id: one at the bound is unknown, one above it a 400. */
const inPath = async (api: Api, max: number, lines: readonly string[], body?: Json): Promise<void> => {
  for (const line of lines) {
    const [, name = ""] = /\{(\w+)\}/.exec(line) ?? [];
    const sendSize = async (size: number) => sendRow(api, line, { params: { [name]: uniqueText(size) }, body });
    expect([line, (await sendSize(max)).status]).toEqual([line, 404]);
    await expectRefused(sendSize(max + 1), name);
  }
};

const withAccount =
  (fields: (size: number) => Json): Write =>
  async (api, size) => {
    const id = unique("own");
    const account = { id, name: id, ...fields(size) };
    return api.ask("POST /customers", { body: { id, name: id, primaryEmail: "pay@acme.test", account } });
  };

const fieldsNamed = (size: number): readonly Json[] => Array.from({ length: size }, (_, at) => ({ name: `f${at}` }));

const withSchema =
  (list: string): Write =>
  async (api, size) => {
    const body = { name: unique("schema"), attributes: [], dimensions: [], [list]: fieldsNamed(size) };
    return api.ask("POST /event_schema", { body });
  };

/** Cases of the limits. */
export const LIMIT_CASES: readonly Case[] = ruleCases("Limits", {
  "accountIds items": async (api, row) => {
    const first = await anAccount(api);
    const group = { name: "A group", email: "pay@acme.test", dailyInvoiceConsolidation: true, accountIds: [first] };
    const { id } = await api.callOk("POST /invoice_groups", group);
    const most = Number(/to (\d+)/.exec(row.type)?.[1]);
    const accountIds = [first];
    // A customer is created with one account; the others are created with their own keys, because that takes many
    // requests.
    const other = await (await startContractKey(api))();
    for (const _ of fieldsNamed(most - 1)) accountIds.push(await anAccount(other));
    const write: Write = async (api, size) =>
      api.ask(`POST /invoice_groups/${id}/add_accounts`, {
        body: { accountIds: size > most ? [...accountIds, unique("one-more")] : accountIds.slice(0, size) },
      });
    await checkBound("accountIds", write)(api, row);
    expect((await api.callOk(`GET /invoice_groups/${id}`)).accountsCount).toBe(most);
  },
  "events deleted per request": async (api, { type }) => {
    const accountId = await anAccount(api);
    const schema = await aSchema(api);
    const events = fieldsNamed(figureIn(type) + 1).map(() => anEvent(accountId, schema));
    await api.callOk("POST /ingestBatch", { events });
    const undoAll = async () =>
      (await api.ask("DELETE /events", { query: { account_id: accountId } })).json.data.length;
    expect([await undoAll(), await undoAll(), await undoAll()]).toEqual([figureIn(type), 1, 0]);
  },
  "page size (list endpoints in general)": async (api, { type }) => {
    const lists = [
      "customers",
      "accounts",
      "aliases",
      "invoice_groups",
      "event_schema",
      "usage_meters",
      "features",
      "addons",
      "price_plans",
      "settings",
      "migrations",
    ];
    for (const list of lists) {
      const listWithSize = async (size: number) => api.ask(`GET /${list}`, { query: { pageSize: String(size) } });
      const { json } = await listWithSize(figureIn(type));
      expect([list, json.context.pageSize]).toEqual([list, figureIn(type)]);
      await expectRefused(listWithSize(figureIn(type) + 1), "pageSize");
    }
  },
  "page size (feature credit entries list)": async (api, { type }) => {
    const { path } = await anEntry(api);
    const most = figureIn(type);
    expect((await api.callOk(`GET ${path}`)).context.pageSize).toBe(figureIn(type.split("default")[1] ?? ""));
    expect((await api.ask(`GET ${path}`, { query: { pageSize: String(most) } })).status).toBe(200);
    await expectRefused(api.ask(`GET ${path}`, { query: { pageSize: String(most + 1) } }), "pageSize");
  },
  "account id, feature id, addon id, usage meter id, event schema name in path": async (api, { type }) => {
    await inPath(api, figureIn(type), [
      "GET /accounts/{account_id}",
      "DELETE /accounts/{account_id}",
      "GET /event_schema/{event_schema_name}",
      "GET /features/{feature_id}",
      "GET /addons/{addon_id}",
      "GET /usage_meters/{usage_meter_id}",
    ]);
    const patchPaths = ["features/{feature_id}", "addons/{addon_id}", "usage_meters/{usage_meter_id}"];
    await inPath(
      api,
      figureIn(type),
      patchPaths.map((path) => `PATCH /${path}`),
      { billableName: "Billed" },
    );
  },
  "invoice group id in path": async (api, { type }) =>
    inPath(api, figureIn(type), ["POST /invoice_groups/{invoice_group_id}/add_accounts"], { accountIds: ["x"] }),
  "sourceId, targetId": async (api, { type }) => {
    const { body } = await aMigration(api);
    for (const name of ["sourceId", "targetId"]) {
      const sendPlanId = async (size: number) =>
        api.ask("POST /migrations/price_plan", { body: { ...body, [name]: uniqueText(size) } });
      // At the bound it is only unknown.
      const { status, json } = await sendPlanId(figureIn(type));
      expect([status, json.message]).toEqual([400, expect.stringMatching(/^no /)]);
      const past = await sendPlanId(figureIn(type) + 1);
      expect(past.json.message).toBe(`${name}: expected at most 255 characters, got 256`);
    }
  },
  "name, billableName, description, displayName": async (api, row) => {
    const schema = await aSchema(api);
    const makers: readonly (readonly [string, Json, readonly string[]])[] = [
      ["/addons", { type: "LICENSE" }, ["name", "billableName"]],
      ["/features", {}, ["name", "billableName"]],
      ["/usage_meters", meterRequest(schema), ["billableName", "description"]],
      ["/event_schema", { attributes: [], dimensions: [] }, ["description"]],
      ["/price_plans", { pricePlanDetails: {} }, ["name"]],
    ];
    for (const [path, body, fields] of makers) {
      for (const field of fields) {
        const write: Write = async (api, size) =>
          api.ask(`POST ${path}`, { body: { ...body, name: unique("own"), [field]: uniqueText(size) } });
        await checkBound(field, write)(api, row);
      }
    }
    // A displayName is a billableName or a name, so it is not longer than they are.
    const longest = await api.callOk("POST /features", {
      name: unique("own"),
      billableName: uniqueText(figureIn(row.type)),
    });
    expect(longest.displayName).toHaveLength(figureIn(row.type));
    // A card writes one.
    const usageMeterId = await aMeter(api, schema);
    const rate = { currency: "USD", slabRates: [{ order: 1, rate: 2 }] };
    const slab = { order: 1, startAfter: 0, priceType: "PER_UNIT", slabConfig: {} };
    const card = { usageMeterId, ratePlan: { pricingModel: "TIERED", slabs: [slab] }, rateValues: [rate] };
    const write: Write = async (api, size) =>
      api.ask("POST /price_plans", {
        body: {
          name: unique("plan"),
          pricePlanDetails: {
            supportedCurrencies: ["USD"],
            usageRateCards: [{ ...card, displayName: uniqueText(size) }],
          },
        },
      });
    await checkBound("displayName", write)(api, row);
  },
  "usage meter name in responses": async (api, row) => {
    const schema = await aSchema(api);
    const write: Write = async (api, size) =>
      api.ask("POST /usage_meters", { body: { ...meterRequest(schema), name: uniqueText(size) } });
    await checkBound("name", write)(api, row);
    const meter = await aMeter(api, schema);
    const rename: Write = async (api, size) =>
      api.ask(`PATCH /usage_meters/${meter}`, { body: { name: uniqueText(size) } });
    await checkBound("name", rename)(api, row);
  },
  "usage meter id in responses": async (api, { type }) => {
    expect(api.document.components.schemas.UsageMeter.properties.id.maxLength).toBe(figureIn(type));
    for (const _ of fieldsNamed(3))
      expect((await aMeter(api, await aSchema(api))).length).toBeLessThanOrEqual(figureIn(type));
  },
  "account name": checkBound(
    "name",
    withAccount((size) => ({ name: uniqueText(size) })),
  ),
  primaryEmail: checkBound(
    "primaryEmail",
    withAccount((size) => ({ primaryEmail: `${uniqueText(size - 7)}@a.test` })),
  ),
  "aliases per account": async (api, row) => {
    const aliases = (size: number) => Array.from({ length: size }, () => unique("alias"));
    await checkBound(
      "aliases",
      withAccount((size) => ({ aliases: aliases(size) })),
    )(api, row);
    // Adding more later does not exceed the limit either.
    const id = await anAccount(api, { aliases: aliases(figureIn(row.type) - 1) });
    await api.callOk(`POST /accounts/${id}/add_aliases`, { aliases: aliases(1) });
    await expectRefused(api.ask(`POST /accounts/${id}/add_aliases`, { body: { aliases: aliases(1) } }), "aliases");
  },
  "attributes, dimensions per event schema": async (api, row) => {
    await checkBound("attributes", withSchema("attributes"))(api, row);
    await checkBound("dimensions", withSchema("dimensions"))(api, row);
    // Adding more to an ACTIVE one does not exceed the limit either.
    const name = await aSchema(api, { attributes: fieldsNamed(figureIn(row.type)) });
    await expectRefused(
      api.ask(`PATCH /event_schema/${name}`, { body: { attributes: [{ name: "more" }] } }),
      "attributes",
    );
  },
  "schemaAssociations per feature": async (api, { type }) => {
    const names = [];
    for (const _ of fieldsNamed(figureIn(type) + 1)) {
      const { json } = await withSchema("attributes")(api, 1);
      names.push(json.name);
    }
    const { id } = await api.callOk("POST /features", { name: unique("feature") });
    const patchFeature = async (schemaAssocitions: readonly string[]) =>
      api.ask(`PATCH /features/${id}`, { body: { schemaAssocitions } });
    const { schemaAssociations } = await expectSuccess(patchFeature(names.slice(0, figureIn(type))));
    expect(schemaAssociations).toHaveLength(figureIn(type));
    await expectRefused(patchFeature(names), "schemaAssocitions");
  },
  "error message": async (api, { type }) => {
    expect(api.document.components.schemas.Error.properties.message.maxLength).toBe(figureIn(type));
    // Thirty aliases of fifty characters that are all taken, each twice, exceed the length of a message.
    const aliases = Array.from({ length: 30 }, () => ({ value: uniqueText(50) }));
    for (const body of [
      { aliases: [...aliases, ...aliases] },
      { [uniqueText(9000)]: 1 },
      { aliases: uniqueText(9000) },
    ]) {
      const { status, json } = await api.ask("POST /aliases", { body });
      expect(status).toBeGreaterThanOrEqual(400);
      expect(json.message.length).toBeLessThanOrEqual(figureIn(type));
    }
  },
  "JWT lifetime": async (_, { type }) => {
    const own = await (await startContract())();
    const { token } = await own.callOk("POST /authenticate");
    const status = async () => (await own.ask("GET /features", { by: token })).status;
    own.server.pass(figureIn(type) * 3_600_000 - 1000);
    expect(await status()).toBe(200);
    own.server.pass(2000);
    expect(await status()).toBe(401);
  },
});

/** Callers of the same server with separate rate limits. */
async function startContractKey(api: Api): Promise<() => Promise<Api>> {
  const keys = [await api.server.key(), await api.server.key()];
  let count = 0;
  const rotateKeys: Api["ask"] = async (line, request = {}) => {
    count += 1;
    return api.ask(line, { ...request, by: keys[count % keys.length] ?? "" });
  };
  return async () => ({
    ...api,
    ask: rotateKeys,
    callOk: async (line, body) => expectSuccess(rotateKeys(line, body === undefined ? {} : { body })),
  });
}
