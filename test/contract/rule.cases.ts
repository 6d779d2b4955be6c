/** The rules of pagination, authentication, errors and versions. */
import { expect } from "vitest";

import { type Api, type Json, startContract, uniqueText, unique } from "./api.ts";
import { type Case, expectRefused, ruleCases } from "./case.ts";
import { anEntry, aMigration, expectPageSizes, listPages, refusedMigrations } from "./holdings.cases.ts";
import { figureIn, rowsIn } from "./reference.ts";
import { anAccount, aPlan, aPlannedAccount, aSchema } from "./resources.ts";
import { valuesIn } from "./types.ts";

/**
 * A customer with accounts.
 *
 * @returns its id and the ids of the accounts, newest first
 */
async function someAccounts(api: Api, count: number): Promise<readonly [string, readonly string[]]> {
  const customerId = await anAccount(api);
  const ids = [customerId];
  for (let at = 1; at < count; at += 1) {
    api.server.pass(1);
    const id = unique("acc");
    await api.callOk("POST /accounts", { id, name: id, customerId });
    ids.unshift(id);
  }
  return [customerId, ids];
}

const idsOnPage = (page: Json): readonly string[] => page.data.map(({ id }: Json) => id);

const PAGINATION: readonly Case[] = ruleCases("Pagination rules", {
  "rule 1": async (api, { type }) => {
    const [customer_id, ids] = await someAccounts(api, 3);
    const first = await api.ask("GET /accounts", { query: { customer_id, pageSize: "2" } });
    expect(idsOnPage(first.json)).toEqual(ids.slice(0, 2));
    expect(typeof first.json.nextToken).toBe("string");
    await expectRefused(api.ask("GET /accounts", { query: { pageSize: String(figureIn(type) + 1) } }), "pageSize");
    expect((await api.ask("GET /accounts", { query: { pageSize: String(figureIn(type)) } })).status).toBe(200);
  },
  "rule 2": async (api) => {
    const [customer_id, ids] = await someAccounts(api, 4);
    const pages = await listPages(api, "/accounts", { customer_id });
    expect(pages.flatMap(idsOnPage)).toEqual(ids);
    // Also if some are added in between: they come before the first page.
    const query = { customer_id, pageSize: "2" };
    const { json } = await api.ask("GET /accounts", { query });
    await api.callOk("POST /accounts", { id: unique("acc"), name: "Later", customerId: customer_id });
    const next = await api.ask("GET /accounts", { query: { nextToken: json.nextToken } });
    expect(idsOnPage(next.json)).toEqual(ids.slice(2));
  },
  "rule 3": async (api) => {
    const [customer_id, ids] = await someAccounts(api, 3);
    const { json } = await api.ask("GET /accounts", { query: { customer_id, pageSize: "1", status: "ACTIVE" } });
    const next = await api.ask("GET /accounts", { query: { nextToken: json.nextToken } });
    expect([idsOnPage(next.json), next.json.context]).toEqual([[ids[1]], { pageSize: 1 }]);
    // They may be repeated, but not changed.
    const again = { nextToken: json.nextToken, customer_id, pageSize: "1" };
    expect(idsOnPage((await api.ask("GET /accounts", { query: again })).json)).toEqual([ids[1]]);
    await expectRefused(api.ask("GET /accounts", { query: { ...again, pageSize: "2" } }), "pageSize");
    await expectRefused(api.ask("GET /accounts", { query: { ...again, status: "ARCHIVED" } }), "status");
    // It is valid only for its own list.
    await expectRefused(api.ask("GET /customers", { query: { nextToken: json.nextToken } }), "nextToken");
  },
  "rule 4": async (api) => {
    const [customer_id] = await someAccounts(api, 4);
    for (const pageSize of ["1", "2", "3", "4", "5"]) {
      let page = (await api.ask("GET /accounts", { query: { customer_id, pageSize } })).json;
      while (page.nextToken !== null) {
        expect(page.data).toHaveLength(Number(pageSize));
        page = (await api.ask("GET /accounts", { query: { nextToken: page.nextToken } })).json;
      }
      expect(page).toHaveProperty("nextToken", null);
    }
  },
  "rule 5": async (api, { type }) => {
    const [customers = "", entries = ""] = type.split(". ");
    const [most = "", usual = ""] = entries.split("with default");
    expect((await api.callOk("GET /customers")).context.pageSize).toBe(figureIn(customers));
    await expectPageSizes(api, (await anEntry(api)).path, figureIn(most), figureIn(usual));
  },
  "rule 6": async (api) => {
    const id = await anAccount(api);
    const archivedId = await anAccount(api);
    await api.callOk(`DELETE /accounts/${archivedId}`);
    const findIds = async (query: Readonly<Record<string, string>>) =>
      idsOnPage((await api.ask("GET /accounts", { query })).json);
    expect(await findIds({ customer_id: id })).toEqual([id]);
    expect(await findIds({ customer_id: archivedId, status: "ARCHIVED" })).toEqual([archivedId]);
    expect(await findIds({ customer_id: archivedId, status: "ACTIVE" })).toEqual([]);
  },
});

/** The endpoints of the reference with values in their paths. */
const LINES = rowsIn("Endpoints").map(({ name }) => name.replaceAll(/\{\w+\}/g, "some-id"));

const AUTHENTICATION: readonly Case[] = ruleCases("Authentication", {
  "rule 1": async ({ server }) => {
    expect(LINES).toHaveLength(20);
    const key = await server.key();
    for (const [at, line] of LINES.entries()) {
      const from = `10.0.0.${at}`;
      const statuses = [];
      for (const authorization of [undefined, `Basic ${key}`, key, "Bearer", `Bearer ${key}x`]) {
        const headers = authorization === undefined ? {} : { authorization };
        const { statusCode, headers: responseHeaders } = await server.ask(line, { headers, from });
        statuses.push(statusCode, responseHeaders["www-authenticate"]);
      }
      expect([line, statuses]).toEqual([line, Array.from({ length: 5 }, () => [401, "Bearer"]).flat()]);
      const good = await server.ask(line, { headers: { authorization: `Bearer ${key}` }, from });
      expect([line, good.statusCode]).not.toEqual([line, 401]);
    }
  },
  "rule 2": async (api) => {
    const key = await api.server.key();
    const { token } = (await api.ask("POST /authenticate", { by: key })).json;
    expect((await api.ask("GET /features", { by: key })).status).toBe(200);
    expect((await api.ask("GET /features", { by: token })).status).toBe(200);
    // Another first character makes another signature.
    const [head = "", payload = "", signature = ""] = token.split(".");
    const wrongSignature = `${signature.startsWith("A") ? "B" : "A"}${signature.slice(1)}`;
    expect((await api.ask("GET /features", { by: `${head}.${payload}.${wrongSignature}` })).status).toBe(401);
  },
  "rule 3": async (_, { type }) => {
    const own = await (await startContract())();
    const { token } = await own.callOk("POST /authenticate");
    const [, payload = ""] = token.split(".");
    const { iat, exp } = JSON.parse(Buffer.from(payload, "base64url").toString());
    expect(exp - iat).toBe(figureIn(type) * 3600);
    expect((await own.ask("POST /authenticate", { by: token })).json).toEqual({ token });
    own.server.pass(3_600_000);
    expect((await own.ask("POST /authenticate", { by: token })).json).toEqual({ token });
    own.server.pass(figureIn(type) * 3_600_000);
    expect((await own.ask("POST /authenticate", { by: token })).status).toBe(401);
  },
  // Each is a server with its own database: resources and credentials of one are unknown to the other.
  "rule 4": async (api) => {
    const sandbox = await (await startContract())();
    const name = unique("feature");
    const { id } = await sandbox.callOk("POST /features", { name });
    const { status } = await api.ask(`GET /features/${id}`);
    expect(status).toBe(404);
    const { statusCode } = await api.server.ask("GET /features", { by: await sandbox.server.key(), from: "10.1.0.1" });
    expect(statusCode).toBe(401);
    const { servers } = (await api.server.ask("GET /openapi.json", { headers: { host: "billing.test" } })).json();
    expect(servers).toEqual([{ url: "http://billing.test" }]);
  },
  "rule 5": async (api) => {
    const keyAnswer = await api.callOk("POST /keys", { name: "A key", role: "read" });
    expect((await api.ask("GET /features", { by: keyAnswer.key })).status).toBe(200);
    expect((await api.ask("POST /features", { by: keyAnswer.key, body: { name: unique("f") } })).status).toBe(403);
    await api.callOk(`DELETE /keys/${keyAnswer.id}`);
    expect((await api.ask("GET /features", { by: keyAnswer.key })).status).toBe(401);
  },
});

/** A failure of each status that a request alone can cause. */
async function failures(api: Api): Promise<ReadonlyMap<number, Json>> {
  const name = await aSchema(api);
  const accountId = await anAccount(api);
  const limitedKey = await api.server.key();
  for (const _ of Array.from({ length: 200 })) await api.server.ask("GET /features/none", { by: limitedKey });
  const requests: readonly (readonly [number, string, Parameters<Api["ask"]>[1]])[] = [
    [400, "GET /features", { query: { pageSize: "0" } }],
    [400, "POST /ingest", { body: { event: {} } }],
    [401, "GET /features", { by: "" }],
    [403, "POST /features", { by: await api.server.key("read"), body: { name: "A feature" } }],
    [404, "GET /features/none", {}],
    [404, "GET /no/such/path", {}],
    [405, "PUT /features", {}],
    [409, "POST /accounts", { body: { id: accountId, name: "Taken", customerId: accountId } }],
    [413, "POST /features", { body: { name: "x".repeat(1_100_000) } }],
    [415, "POST /features", { body: { name: "A feature" }, headers: { "content-type": "text/plain" } }],
    [429, "GET /features", { by: limitedKey }],
    [422, "POST /entitled", { body: { event: { schemaName: name, id: "1", accountId: accountId } } }],
  ];
  const failuresByStatus = new Map<number, Json>();
  for (const [expected, line, request] of requests) {
    const { status, json } = await api.ask(line, request);
    expect([line, status]).toEqual([line, expected]);
    failuresByStatus.set(status, json);
  }
  return failuresByStatus;
}

/** The responses of an endpoint in the document. */
async function responsesOf(api: Api, line: string): Promise<Json> {
  const { paths } = api.document;
  const [method = "", path = ""] = line.split(" ");
  return paths[path][method.toLowerCase()].responses;
}

const ERROR = { "application/json": { schema: { $ref: "#/components/schemas/Error" } } };

const ERRORS: readonly Case[] = ruleCases("Errors", {
  "rule 1": async (api, { type }) => {
    expect(api.document.components.schemas.Error.properties.message.maxLength).toBe(figureIn(type));
    expect(Object.keys(api.document.components.schemas.Error.properties)).toEqual(["message"]);
    for (const json of (await failures(api)).values()) {
      expect(Object.keys(json)).toEqual(["message"]);
      expect(json.message.length).toBeLessThanOrEqual(figureIn(type));
    }
  },
  "rule 2": async (api, { type }) => {
    const responses = await responsesOf(api, "DELETE /accounts/{account_id}");
    const statuses = type.match(/\b\d{3}\b/g) ?? [];
    expect(statuses).toEqual(["400", "401", "403", "404", "429"]);
    for (const status of [...statuses, "default"]) expect(responses[status].content).toEqual(ERROR);
    const account = await aPlannedAccount(api);
    const deleteAccount = async (id: string, by?: string) =>
      (await api.ask(`DELETE /accounts/${id}`, by === undefined ? {} : { by })).status;
    const answers = [
      await deleteAccount(account),
      await deleteAccount(account, ""),
      await deleteAccount(account, await api.server.key("read")),
      await deleteAccount("nobody"),
    ];
    const busy = await api.server.key();
    for (const _ of Array.from({ length: 200 })) await api.server.ask("DELETE /accounts/nobody", { by: busy });
    const { status, headers } = await api.ask("DELETE /accounts/nobody", { by: busy });
    expect([...answers, status].map(String)).toEqual(statuses);
    expect(Number(headers["retry-after"])).toBeGreaterThan(0);
    expect(await deleteAccount(uniqueText(51))).toBe(400);
  },
  "rule 3": async (api) => {
    const least: Readonly<Record<string, number>> = { "POST /authenticate": 5, "GET /aliases": 2, "DELETE /events": 5 };
    for (const { name } of rowsIn("Endpoints")) {
      const bodies = Object.entries<Json>(await responsesOf(api, name)).filter(([status]) => !status.startsWith("2"));
      expect(bodies.length).toBeGreaterThanOrEqual(least[name] ?? 6);
      for (const [, { content }] of bodies) expect(content).toEqual(ERROR);
    }
  },
  "rule 4": async (api, { type }) => {
    const refusal = figureIn(/returns \d+/.exec(type)?.[0] ?? "");
    for (const body of await refusedMigrations(api))
      expect((await api.ask("POST /migrations/price_plan", { body })).status).toBe(refusal);
  },
  "rule 5": async (api) => {
    const id = await aPlan(api);
    const { status } = await api.ask(`PATCH /price_plans/${id}`, { body: { description: "New" } });
    expect(status).toBe(400);
  },
  "rule 6": async (api) => {
    expect([...(await failures(api)).keys()]).toEqual([400, 401, 403, 404, 405, 409, 413, 415, 429, 422]);
  },
});

const VERSIONING: readonly Case[] = ruleCases("Versioning", {
  "rule 1": async (api, { type }) => {
    const { info, paths } = api.document;
    expect(info.version).toBe(/\d+\.\d+/.exec(type)?.[0]);
    expect(Object.keys(paths).filter((path) => /\/v\d/.test(path))).toEqual([]);
  },
  "rule 2": async (api, { type }) => {
    const name = await aSchema(api);
    await api.callOk(`PATCH /event_schema/${name}`, { attributes: [{ name: "more" }] });
    const readVersion = async (version: string) =>
      (await api.ask(`GET /event_schema/${name}`, { query: { version } })).json;
    const latest = await api.callOk(`GET /event_schema/${name}`);
    expect([latest.version, latest.status]).toEqual([2, "ACTIVE"]);
    expect(await readVersion("2")).toEqual(latest);
    expect((await api.ask(`GET /event_schema/${name}`, { query: { version: "3" } })).status).toBe(404);
    const older = await readVersion("1");
    expect([older.version, older.attributes]).toEqual([1, [{ name: "count" }]]);
    expect(valuesIn(type)).toEqual([older.status]);
    const least = figureIn(type);
    expect((await readVersion(String(least))).version).toBe(least);
    expect((await readVersion(String(least - 1))).message).toContain("version");
  },
  "rule 3": async (api) => {
    const { accountId, body } = await aMigration(api);
    const schedules = async () => (await api.callOk(`GET /accounts/${accountId}/pricing_schedules`)).data;
    const { pricingSchedule } = await api.callOk(`GET /price_plans/${body.sourceId}`);
    expect(pricingSchedule.map(({ version }: Json) => version)).toEqual([1]);
    await api.callOk(`POST /price_plans/${body.targetId}/versions`);
    await api.callOk(`POST /price_plans/${body.targetId}/activate`);
    await api.callOk("POST /migrations/price_plan", { ...body, targetVersion: 2 });
    const target = await api.callOk(`GET /price_plans/${body.targetId}`);
    expect(target.pricingSchedule.map((each: Json) => each.version)).toEqual([1, 2]);
    expect(target.pricingSchedule[0].endDate).toBe(target.pricingSchedule[1].startDate);
    const { pricePlanId, version } = (await schedules()).at(-1);
    expect([pricePlanId, version]).toEqual([body.targetId, 2]);
  },
  // The API version can't be selected: a header has no effect, and a path with a version doesn't exist.
  "rule 4": async (api) => {
    const headers = { "accept-version": "9.0", "api-version": "9.0", accept: "application/vnd.ratebook.v9+json" };
    const plain = await api.ask("GET /features");
    expect((await api.ask("GET /features", { headers })).json).toEqual(plain.json);
    expect((await api.ask("GET /v1/features")).status).toBe(404);
  },
});

/** Cases of the rules that hold for all endpoints. */
export const RULE_CASES: readonly Case[] = [...PAGINATION, ...AUTHENTICATION, ...ERRORS, ...VERSIONING];
