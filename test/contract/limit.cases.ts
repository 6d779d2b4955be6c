/** The limits, each with the figure that its row says: taken at it, refused past it. */
import { expect } from "vitest";

import { type Answered, type Api, type Json, startContract, textOf, unique } from "./api.ts";
import { type Case, refused, ruleCases, taken } from "./case.ts";
import { send } from "./endpoint.ts";
import { aMigration, anEntry } from "./holdings.cases.ts";
import { aMeter, anAccount, anEvent, aSchema, meterOf } from "./made.ts";
import { figureIn, type Row } from "./reference.ts";

type Write = (api: Api, size: number) => Promise<Answered>;

/** Takes a value of `max` and refuses one above; where there is a minimum, the same below. */
const bound =
  (name: string, write: Write) =>
  async (api: Api, { type }: Row): Promise<void> => {
    const [min, max = figureIn(type)] = /(\d+) to (\d+)/.exec(type)?.slice(1).map(Number) ?? [];
    await taken(write(api, max));
    await refused(write(api, max + 1), name);
    if (min === undefined) return;
    await taken(write(api, min));
    await refused(write(api, min - 1), name);
  };

/** An id in a path: one at the bound is unknown, one past it a 400. */
const inPath = async (api: Api, max: number, lines: readonly string[], body?: Json): Promise<void> => {
  for (const line of lines) {
    const [, name = ""] = /\{(\w+)\}/.exec(line) ?? [];
    const sent = async (size: number) => send(api, line, { params: { [name]: textOf(size) }, body });
    expect([line, (await sent(max)).status]).toEqual([line, 404]);
    await refused(sent(max + 1), name);
  }
};

const withAccount =
  (fields: (size: number) => Json): Write =>
  async (api, size) => {
    const id = unique("own");
    const account = { id, name: id, ...fields(size) };
    return api.ask("POST /customers", { body: { id, name: id, primaryEmail: "pay@acme.test", account } });
  };

const named = (size: number): readonly Json[] => Array.from({ length: size }, (_, at) => ({ name: `f${at}` }));

const withSchema =
  (list: string): Write =>
  async (api, size) => {
    const body = { name: unique("schema"), attributes: [], dimensions: [], [list]: named(size) };
    return api.ask("POST /event_schema", { body });
  };

/** Cases of the limits. */
export const LIMIT_CASES: readonly Case[] = ruleCases("Limits", {
  "accountIds items": async (api, row) => {
    const first = await anAccount(api);
    const group = { name: "A group", email: "pay@acme.test", dailyInvoiceConsolidation: true, accountIds: [first] };
    const { id } = await api.done("POST /invoice_groups", group);
    const most = Number(/to (\d+)/.exec(row.type)?.[1]);
    const accountIds = [first];
    // A customer has one account by itself; the others are made with keys of their own, as making them takes requests.
    const other = await (await startContractKey(api))();
    for (const _ of named(most - 1)) accountIds.push(await anAccount(other));
    const write: Write = async (asked, size) =>
      asked.ask(`POST /invoice_groups/${id}/add_accounts`, {
        body: { accountIds: size > most ? [...accountIds, unique("one-more")] : accountIds.slice(0, size) },
      });
    await bound("accountIds", write)(api, row);
    expect((await api.done(`GET /invoice_groups/${id}`)).accountsCount).toBe(most);
  },
  "events deleted per request": async (api, { type }) => {
    const accountId = await anAccount(api);
    const schema = await aSchema(api);
    const events = named(figureIn(type) + 1).map(() => anEvent(accountId, schema));
    await api.done("POST /ingestBatch", { events });
    const undo = async () => (await api.ask("DELETE /events", { query: { account_id: accountId } })).json.data.length;
    expect([await undo(), await undo(), await undo()]).toEqual([figureIn(type), 1, 0]);
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
      const asked = async (size: number) => api.ask(`GET /${list}`, { query: { pageSize: String(size) } });
      const { json } = await asked(figureIn(type));
      expect([list, json.context.pageSize]).toEqual([list, figureIn(type)]);
      await refused(asked(figureIn(type) + 1), "pageSize");
    }
  },
  "page size (feature credit entries list)": async (api, { type }) => {
    const { path } = await anEntry(api);
    const most = figureIn(type);
    expect((await api.done(`GET ${path}`)).context.pageSize).toBe(figureIn(type.split("default")[1] ?? ""));
    expect((await api.ask(`GET ${path}`, { query: { pageSize: String(most) } })).status).toBe(200);
    await refused(api.ask(`GET ${path}`, { query: { pageSize: String(most + 1) } }), "pageSize");
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
    const patched = ["features/{feature_id}", "addons/{addon_id}", "usage_meters/{usage_meter_id}"];
    await inPath(
      api,
      figureIn(type),
      patched.map((path) => `PATCH /${path}`),
      { billableName: "Billed" },
    );
  },
  "invoice group id in path": async (api, { type }) =>
    inPath(api, figureIn(type), ["POST /invoice_groups/{invoice_group_id}/add_accounts"], { accountIds: ["x"] }),
  "sourceId, targetId": async (api, { type }) => {
    const { body } = await aMigration(api);
    for (const name of ["sourceId", "targetId"]) {
      const sent = async (size: number) =>
        api.ask("POST /migrations/price_plan", { body: { ...body, [name]: textOf(size) } });
      // At the bound it is only unknown.
      const { status, json } = await sent(figureIn(type));
      expect([status, json.message]).toEqual([400, expect.stringMatching(/^no /)]);
      const past = await sent(figureIn(type) + 1);
      expect(past.json.message).toBe(`${name}: expected at most 255 characters, got 256`);
    }
  },
  "name, billableName, description, displayName": async (api, row) => {
    const schema = await aSchema(api);
    const makers: readonly (readonly [string, Json, readonly string[]])[] = [
      ["/addons", { type: "LICENSE" }, ["name", "billableName"]],
      ["/features", {}, ["name", "billableName"]],
      ["/usage_meters", meterOf(schema), ["billableName", "description"]],
      ["/event_schema", { attributes: [], dimensions: [] }, ["description"]],
      ["/price_plans", { pricePlanDetails: {} }, ["name"]],
    ];
    for (const [path, body, fields] of makers) {
      for (const field of fields) {
        const write: Write = async (asked, size) =>
          asked.ask(`POST ${path}`, { body: { ...body, name: unique("own"), [field]: textOf(size) } });
        await bound(field, write)(api, row);
      }
    }
    // A displayName is a billableName or a name, so it is no longer than they are.
    const longest = await api.done("POST /features", { name: unique("own"), billableName: textOf(figureIn(row.type)) });
    expect(longest.displayName).toHaveLength(figureIn(row.type));
    // One of a card is written.
    const usageMeterId = await aMeter(api, schema);
    const rate = { currency: "USD", slabRates: [{ order: 1, rate: 2 }] };
    const slab = { order: 1, startAfter: 0, priceType: "PER_UNIT", slabConfig: {} };
    const card = { usageMeterId, ratePlan: { pricingModel: "TIERED", slabs: [slab] }, rateValues: [rate] };
    const write: Write = async (asked, size) =>
      asked.ask("POST /price_plans", {
        body: {
          name: unique("plan"),
          pricePlanDetails: { supportedCurrencies: ["USD"], usageRateCards: [{ ...card, displayName: textOf(size) }] },
        },
      });
    await bound("displayName", write)(api, row);
  },
  "usage meter name in responses": async (api, row) => {
    const schema = await aSchema(api);
    const write: Write = async (asked, size) =>
      asked.ask("POST /usage_meters", { body: { ...meterOf(schema), name: textOf(size) } });
    await bound("name", write)(api, row);
    const meter = await aMeter(api, schema);
    const rename: Write = async (asked, size) =>
      asked.ask(`PATCH /usage_meters/${meter}`, { body: { name: textOf(size) } });
    await bound("name", rename)(api, row);
  },
  "usage meter id in responses": async (api, { type }) => {
    expect(api.document.components.schemas.UsageMeter.properties.id.maxLength).toBe(figureIn(type));
    for (const _ of named(3))
      expect((await aMeter(api, await aSchema(api))).length).toBeLessThanOrEqual(figureIn(type));
  },
  "account name": bound(
    "name",
    withAccount((size) => ({ name: textOf(size) })),
  ),
  primaryEmail: bound(
    "primaryEmail",
    withAccount((size) => ({ primaryEmail: `${textOf(size - 7)}@a.test` })),
  ),
  "aliases per account": async (api, row) => {
    const aliases = (size: number) => Array.from({ length: size }, () => unique("alias"));
    await bound(
      "aliases",
      withAccount((size) => ({ aliases: aliases(size) })),
    )(api, row);
    // Nor are there more when some are added later.
    const id = await anAccount(api, { aliases: aliases(figureIn(row.type) - 1) });
    await api.done(`POST /accounts/${id}/add_aliases`, { aliases: aliases(1) });
    await refused(api.ask(`POST /accounts/${id}/add_aliases`, { body: { aliases: aliases(1) } }), "aliases");
  },
  "attributes, dimensions per event schema": async (api, row) => {
    await bound("attributes", withSchema("attributes"))(api, row);
    await bound("dimensions", withSchema("dimensions"))(api, row);
    // Nor are there more when some are added to an ACTIVE one.
    const name = await aSchema(api, { attributes: named(figureIn(row.type)) });
    await refused(api.ask(`PATCH /event_schema/${name}`, { body: { attributes: [{ name: "more" }] } }), "attributes");
  },
  "schemaAssociations per feature": async (api, { type }) => {
    const names = [];
    for (const _ of named(figureIn(type) + 1)) {
      const { json } = await withSchema("attributes")(api, 1);
      names.push(json.name);
    }
    const { id } = await api.done("POST /features", { name: unique("feature") });
    const patch = async (schemaAssocitions: readonly string[]) =>
      api.ask(`PATCH /features/${id}`, { body: { schemaAssocitions } });
    const { schemaAssociations } = await taken(patch(names.slice(0, figureIn(type))));
    expect(schemaAssociations).toHaveLength(figureIn(type));
    await refused(patch(names), "schemaAssocitions");
  },
  "error message": async (api, { type }) => {
    expect(api.document.components.schemas.Error.properties.message.maxLength).toBe(figureIn(type));
    // Thirty aliases of fifty characters that are all taken twice over are more than a sentence holds.
    const aliases = Array.from({ length: 30 }, () => ({ value: textOf(50) }));
    for (const body of [{ aliases: [...aliases, ...aliases] }, { [textOf(9000)]: 1 }, { aliases: textOf(9000) }]) {
      const { status, json } = await api.ask("POST /aliases", { body });
      expect(status).toBeGreaterThanOrEqual(400);
      expect(json.message.length).toBeLessThanOrEqual(figureIn(type));
    }
  },
  "JWT lifetime": async (_, { type }) => {
    const own = await (await startContract())();
    const { token } = await own.done("POST /authenticate");
    const status = async () => (await own.ask("GET /features", { by: token })).status;
    own.served.pass(figureIn(type) * 3_600_000 - 1000);
    expect(await status()).toBe(200);
    own.served.pass(2000);
    expect(await status()).toBe(401);
  },
});

/** Callers of the same server with buckets of their own. */
async function startContractKey(api: Api): Promise<() => Promise<Api>> {
  const keys = [await api.served.key(), await api.served.key()];
  let count = 0;
  const ask: Api["ask"] = async (line, asked = {}) => {
    count += 1;
    return api.ask(line, { ...asked, by: keys[count % keys.length] ?? "" });
  };
  return async () => ({
    ...api,
    ask,
    done: async (line, body) => taken(ask(line, body === undefined ? {} : { body })),
  });
}
