/** The limits, each with the figure in its row: accepted at the limit, rejected above it. */
import { expect } from "vitest";

import { type ApiAnswer, type Api, type Json, startContract, uniqueText, unique } from "./api.ts";
import { formatFieldPath, listPlaces } from "./bounds.ts";
import { type Case, expectRefused, ruleCases, expectSuccess } from "./case.ts";
import { anEntry, expectMessages, expectPageSizes } from "./holdings.cases.ts";
import { figureIn, type Row } from "./reference.ts";
import { aMeter, anAccount, anEvent, aSchema } from "./resources.ts";

type Write = (api: Api, size: number) => Promise<ApiAnswer>;

/** The bounds of a row, in characters or items. */
const boundsOf = (type: string): readonly [min: number | undefined, max: number] => {
  const [min, max = figureIn(type)] = /(\d+) to (\d+)/.exec(type)?.slice(1).map(Number) ?? [];
  return [min, max];
};

/** Accepts a value of `max` and rejects one above; if there is a minimum, the same below. */
const checkBound =
  (name: string, write: Write) =>
  async (api: Api, { type }: Row): Promise<void> => {
    const [min, max] = boundsOf(type);
    await expectSuccess(write(api, max));
    await expectRefused(write(api, max + 1), name);
    if (min === undefined) return;
    await expectSuccess(write(api, min));
    await expectRefused(write(api, min - 1), name);
  };

/**
 * The document has the bounds of the row in these bodies, as `POST /addons name`. That the server enforces them is tested
 * in bounds.test.ts and in test/server/routes/requests.test.ts.
 */
const inBodies =
  (...fields: readonly string[]) =>
  async ({ document }: Api, { type }: Row): Promise<void> => {
    const places = listPlaces(document);
    const [min, max] = boundsOf(type);
    for (const field of fields) {
      const place = places.find(({ line, fieldPath }) => `${line} ${formatFieldPath(fieldPath)}` === field);
      const { maxLength, maxItems, minLength, minItems } = place?.schema ?? {};
      expect([field, maxLength ?? maxItems]).toEqual([field, max]);
      if (min !== undefined) expect([field, minLength ?? minItems]).toEqual([field, min]);
    }
  };

/** The document has the bound of the row for an id in every path. */
const inPaths =
  (...names: readonly string[]) =>
  async ({ document }: Api, { type }: Row): Promise<void> => {
    const operations = Object.values<Json>(document.paths).flatMap((item) => Object.values<Json>(item));
    for (const name of names) {
      const schemas = operations.flatMap(({ parameters = [] }) =>
        parameters.filter((each: Json) => each.in === "path" && each.name === name).map(({ schema }: Json) => schema),
      );
      expect([name, ...new Set(schemas.map(({ maxLength }: Json) => maxLength))]).toEqual([name, figureIn(type)]);
    }
  };

const fieldsNamed = (size: number): readonly Json[] => Array.from({ length: size }, (_, at) => ({ name: `f${at}` }));

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
    const { json } = await api.ask("GET /customers", { query: { pageSize: String(figureIn(type)) } });
    expect(json.context.pageSize).toBe(figureIn(type));
    await expectRefused(api.ask("GET /customers", { query: { pageSize: String(figureIn(type) + 1) } }), "pageSize");
  },
  "page size (feature credit entries list)": async (api, { type }) => {
    const usual = figureIn(type.split("default")[1] ?? "");
    await expectPageSizes(api, (await anEntry(api)).path, figureIn(type), usual);
  },
  "account id, feature id, addon id, usage meter id, event schema name in path": inPaths(
    "account_id",
    "feature_id",
    "addon_id",
    "usage_meter_id",
    "event_schema_name",
  ),
  "invoice group id in path": inPaths("invoice_group_id"),
  "sourceId, targetId": inBodies("POST /migrations/price_plan sourceId", "POST /migrations/price_plan targetId"),
  "name, billableName, description, displayName": async (api, row) => {
    await inBodies(
      "POST /addons name",
      "POST /addons billableName",
      "POST /features name",
      "POST /features billableName",
      "POST /usage_meters billableName",
      "POST /usage_meters description",
      "POST /event_schema description",
      "POST /price_plans name",
      "POST /price_plans pricePlanDetails.usageRateCards[0].displayName",
    )(api, row);
    // A displayName is a billableName or a name, so it is not longer than they are.
    const longest = { name: unique("own"), billableName: uniqueText(figureIn(row.type)) };
    expect((await api.callOk("POST /features", longest)).displayName).toHaveLength(figureIn(row.type));
  },
  "usage meter name in responses": inBodies("POST /usage_meters name", "PATCH /usage_meters/{usage_meter_id} name"),
  "usage meter id in responses": async (api, { type }) => {
    expect(api.document.components.schemas.UsageMeter.properties.id.maxLength).toBe(figureIn(type));
    for (const _ of fieldsNamed(3))
      expect((await aMeter(api, await aSchema(api))).length).toBeLessThanOrEqual(figureIn(type));
  },
  "account name": inBodies("POST /accounts name", "PATCH /accounts/{account_id} name", "POST /customers account.name"),
  primaryEmail: inBodies("POST /accounts primaryEmail", "PATCH /accounts/{account_id} primaryEmail"),
  "aliases per account": async (api, row) => {
    const aliases = (size: number) => Array.from({ length: size }, () => unique("alias"));
    await inBodies("POST /accounts aliases", "POST /customers account.aliases")(api, row);
    // Adding more later does not exceed the limit either.
    const id = await anAccount(api, { aliases: aliases(figureIn(row.type) - 1) });
    await api.callOk(`POST /accounts/${id}/add_aliases`, { aliases: aliases(1) });
    await expectRefused(api.ask(`POST /accounts/${id}/add_aliases`, { body: { aliases: aliases(1) } }), "aliases");
  },
  "attributes, dimensions per event schema": async (api, row) => {
    await inBodies("POST /event_schema attributes", "POST /event_schema dimensions")(api, row);
    // Adding more to an ACTIVE one does not exceed the limit either.
    const name = await aSchema(api, { attributes: fieldsNamed(figureIn(row.type)) });
    await expectRefused(
      api.ask(`PATCH /event_schema/${name}`, { body: { attributes: [{ name: "more" }] } }),
      "attributes",
    );
  },
  "schemaAssociations per feature": inBodies(
    "POST /features schemaAssociations",
    "POST /features schemaAssocitions",
    "PATCH /features/{feature_id} schemaAssocitions",
  ),
  "error message": async (api, { type }) => expectMessages(api, figureIn(type)),
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
