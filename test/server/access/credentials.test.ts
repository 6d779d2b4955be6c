import { createHash, createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";

import Fastify from "fastify";
import { SignJWT } from "jose";
import { describe, expect, test } from "vitest";

import { createEngine } from "../../../src/engine/engine.ts";
import { createAccessControl } from "../../../src/server/access/access.ts";
import { manageApiKeys, isKey, createSecretSource } from "../../../src/server/access/credentials.ts";
import type { Role } from "../../../src/server/http/endpoint.ts";
import { createApiParts, billingApi } from "../../../src/server/plugin.ts";
import { ENDPOINTS } from "../../../src/server/routes/routes.ts";
import { memoryStore } from "../../../src/store/memory/memory.ts";
import { type TestServer, START, startCompleteServer } from "../complete-server.ts";

const SECRET = "a secret of more than thirty-two bytes, for tests";
const BAD = "the API key or token is unknown, revoked or expired";
const DAY = 86_400;
const NOW = START / 1000;

const tokenOf = async (api: TestServer, by: string): Promise<string> =>
  (await api.ask("POST /authenticate", { by })).json<{ token: string }>().token;

describe("API keys", () => {
  test("a key is rb_ and 43 letters or digits, and only its SHA-256 is stored", async () => {
    const { keys, engine } = await startCompleteServer();
    const { key, id, prefix } = await keys.create({ name: "till", role: "full" });
    expect(key).toMatch(/^rb_[0-9A-Za-z]{43}$/);
    expect(isKey(key)).toBe(true);
    expect(prefix).toBe(key.slice(0, 11));
    const [document] = await engine.store.read.allDocuments("apiKey");
    expect(document?.id).toBe(id);
    expect(document?.body["sha256"]).toBe(createHash("sha256").update(key).digest("hex"));
    expect(JSON.stringify(document)).not.toContain(key.slice(11));
  });

  test("a thousand keys are distinct, and end with each of the 62 characters", async () => {
    const keys = manageApiKeys({ store: memoryStore() });
    const newKeys = await Promise.all(Array.from({ length: 1000 }, () => keys.create({ name: "k", role: "read" })));
    expect(new Set(newKeys.map(({ key }) => key)).size).toBe(1000);
    expect(new Set(newKeys.map(({ key }) => key.at(-1))).size).toBe(62);
  });

  test("the first key is created once, by the first server, and never again", async () => {
    const store = memoryStore();
    const servers = [manageApiKeys({ store }), manageApiKeys({ store }), manageApiKeys({ store })];
    const newKeys = (await Promise.all(servers.map((keys) => keys.createFirst()))).filter((key) => key !== undefined);
    expect(newKeys.map(({ role }) => role)).toEqual(["admin"]);
    await servers[0]?.revoke(newKeys[0]?.id ?? "");
    expect(await servers[1]?.createFirst()).toBeUndefined();
  });

  test("the first key can be set, but not to any text", async () => {
    const keys = manageApiKeys({ store: memoryStore() });
    const otherKey = `rb_${"x".repeat(43)}`;
    await expect(keys.createFirst("rb_short")).rejects.toMatchObject({ code: "ERR_OPTION_INVALID" });
    expect(await keys.createFirst(otherKey)).toMatchObject({ key: otherKey, role: "admin" });
  });

  test("over HTTP a key is created, listed without its secret, and revoked", async () => {
    const api = await startCompleteServer();
    const by = await api.key();
    api.pass(1000);
    const newKeys = await api.ask("POST /keys", { by, body: { name: "till", role: "ingest" } });
    expect(newKeys.statusCode).toBe(201);
    const { key, ...shown } = newKeys.json<Record<string, string>>();
    expect(key).toMatch(/^rb_\w{43}$/);
    expect(shown).toEqual({
      id: `key.${key?.slice(3, 11)}`,
      name: "till",
      role: "ingest",
      prefix: key?.slice(0, 11),
      status: "ACTIVE",
      createdAt: "2024-06-15T12:00:01.000Z",
    });
    const firstPage = await api.ask("GET /keys?pageSize=1", { by });
    expect(firstPage.json().data).toEqual([shown]);
    expect(firstPage.body).not.toContain(key);
    const rest = await api.ask(`GET /keys?nextToken=${firstPage.json<{ nextToken: string }>().nextToken}`, { by });
    expect(rest.json().data).toHaveLength(1);
    expect(rest.json().nextToken).toBeNull();
    expect((await api.ask(`DELETE /keys/${shown["id"]}`, { by })).json()).toEqual({ success: true });
    const after = (await api.ask("GET /keys?pageSize=1", { by })).json<{ data: { status: string }[] }>();
    expect(after.data[0]).toEqual({ ...shown, status: "REVOKED", revokedAt: "2024-06-15T12:00:01.000Z" });
  });

  test.each([
    ["POST /keys", { name: "", role: "read" }, 400, /^name: /],
    ["POST /keys", { name: "x".repeat(256), role: "read" }, 400, /^name: expected at most 255 characters, got 256$/],
    ["POST /keys", { name: "x", role: "root" }, 400, /^role: /],
    ["POST /keys", { name: "x", role: "read", key: "rb_mine" }, 400, /^key: unknown field$/],
    ["DELETE /keys/key.nobody", undefined, 404, /^no API key has the id "key.nobody"$/],
    [`DELETE /keys/${"x".repeat(51)}`, undefined, 400, /^key_id: expected at most 50 characters, got 51$/],
  ] as const)("%s %j is a %i", async (line, body, status, message) => {
    const api = await startCompleteServer();
    const answer = await api.ask(line, { by: await api.key(), body });
    expect(answer.statusCode).toBe(status);
    expect(answer.json().message).toMatch(message);
  });
});

describe("bearer tokens", () => {
  test.each(["Bearer", "bearer", "BEARER", "bEaReR"])("%s is accepted", async (word) => {
    const api = await startCompleteServer();
    const authorization = `${word} ${await api.key()}`;
    expect((await api.ask("GET /keys", { headers: { authorization } })).statusCode).toBe(200);
  });

  test.each([undefined, "", "   "])("no credential (%j) is a 401, any number of times", async (authorization) => {
    const api = await startCompleteServer();
    for (let time = 0; time < 10; time++) {
      const answer = await api.ask("GET /keys", { headers: authorization === undefined ? {} : { authorization } });
      expect(answer.statusCode).toBe(401);
      expect(answer.headers["www-authenticate"]).toBe("Bearer");
      expect(answer.json()).toEqual({
        message: "missing header Authorization: Bearer <API key or token>",
      });
    }
  });

  test("the digest of a key is not a key", async () => {
    const api = await startCompleteServer();
    const digest = createHash("sha256")
      .update(await api.key())
      .digest("hex");
    expect((await api.ask("GET /keys", { by: digest })).statusCode).toBe(401);
  });
});

describe("tokens", () => {
  test("a key gets a token for 24 hours", async () => {
    const api = await startCompleteServer({ jwtSecret: SECRET });
    const by = await api.key("read");
    const token = await tokenOf(api, by);
    const parts = token.split(".", 2).map((part): unknown => JSON.parse(Buffer.from(part, "base64url").toString()));
    const [header, payload] = parts;
    expect(header).toEqual({ alg: "HS256", typ: "JWT" });
    expect(payload).toEqual({
      sub: `key.${by.slice(3, 11)}`,
      iss: "ratebook",
      aud: "ratebook-api",
      iat: NOW,
      exp: NOW + DAY,
    });
  });

  test("a token has the role of its key", async () => {
    const api = await startCompleteServer();
    const by = await tokenOf(api, await api.key("read"));
    expect((await api.ask("GET /customers", { by })).statusCode).toBe(200);
    expect((await api.ask("GET /keys", { by })).statusCode).toBe(403);
    expect((await api.ask("DELETE /customers/x", { by })).statusCode).toBe(403);
  });

  test("revoking a key invalidates its tokens at once", async () => {
    const api = await startCompleteServer();
    const admin = await api.key();
    const key = await api.key("read");
    const token = await tokenOf(api, key);
    expect((await api.ask("GET /customers", { by: token })).statusCode).toBe(200);
    await api.ask(`DELETE /keys/key.${key.slice(3, 11)}`, { by: admin });
    expect((await api.ask("GET /customers", { by: token })).json()).toEqual({ message: BAD });
    expect((await api.ask("GET /customers", { by: key })).statusCode).toBe(401);
  });

  test("a revocation by another server takes effect within 5 seconds, without a read for each request", async () => {
    const store = memoryStore();
    let reads = 0;
    const read: typeof store.read = {
      ...store.read,
      document: (kind, id) => {
        if (kind === "apiKey") reads += 1;
        return store.read.document(kind, id);
      },
    };
    const api = await startCompleteServer({ store: { ...store, read } });
    const key = await api.key("read");
    const token = await tokenOf(api, key);
    reads = 0;
    for (let time = 0; time < 50; time++) {
      expect((await api.ask("GET /customers", { by: time % 2 === 0 ? key : token })).statusCode).toBe(200);
    }
    expect(reads).toBe(0);
    await manageApiKeys({ store }).revoke(`key.${key.slice(3, 11)}`);
    api.pass(4999);
    expect((await api.ask("GET /customers", { by: key })).statusCode).toBe(401);
    expect((await api.ask("GET /customers", { by: token })).statusCode).toBe(401);
    expect(reads).toBe(1);
  });

  let shared: Promise<TestServer> | undefined;
  /** A valid token except for one change. */
  const forgeToken = async (
    api: TestServer,
    change: Partial<Record<string, unknown>>,
    header = {},
    secret = SECRET,
  ) => {
    const sub = `key.${(await api.key()).slice(3, 11)}`;
    const claims = { sub, iss: "ratebook", aud: "ratebook-api", iat: NOW, exp: NOW + DAY, ...change };
    return new SignJWT(claims).setProtectedHeader({ alg: "HS256", typ: "JWT", ...header }).sign(Buffer.from(secret));
  };

  test.each<[string, Partial<Record<string, unknown>>, object, string, number]>([
    ["nothing", {}, {}, SECRET, 200],
    ["another secret", {}, {}, `${SECRET}.`, 401],
    ["another algorithm", {}, { alg: "HS512" }, SECRET, 401],
    ["another type", {}, { typ: "at+jwt" }, SECRET, 401],
    ["no type", {}, { typ: undefined }, SECRET, 401],
    ["another issuer", { iss: "ratebooks" }, {}, SECRET, 401],
    ["no issuer", { iss: undefined }, {}, SECRET, 401],
    ["another audience", { aud: "ratebook" }, {}, SECRET, 401],
    ["no audience", { aud: undefined }, {}, SECRET, 401],
    ["a time that is over", { iat: NOW - DAY, exp: NOW }, {}, SECRET, 401],
    ["no end", { exp: undefined }, {}, SECRET, 401],
    ["a year instead of a day", { iat: NOW - DAY - 1, exp: NOW + 365 * DAY }, {}, SECRET, 401],
    ["no beginning", { iat: undefined }, {}, SECRET, 401],
    ["a beginning in an hour", { iat: NOW + 3600 }, {}, SECRET, 200],
    ["a beginning in more than an hour", { iat: NOW + 3601 }, {}, SECRET, 401],
    ["a first use in an hour", { nbf: NOW + 3600 }, {}, SECRET, 200],
    ["a first use in more than an hour", { nbf: NOW + 3601 }, {}, SECRET, 401],
    ["a start that is not a number", { iat: "now" }, {}, SECRET, 401],
    ["no key", { sub: undefined }, {}, SECRET, 401],
    ["an invalid key", { sub: "key.00000000" }, {}, SECRET, 401],
    ["the key of another kind of document", { sub: "server" }, {}, SECRET, 401],
    ["an unknown role", { role: "admin" }, {}, SECRET, 200],
  ])("a token that differs by %s", async (what, change, header, secret, status) => {
    const api = await (shared ??= startCompleteServer({ jwtSecret: SECRET }));
    const by = await forgeToken(api, change, header, secret);
    expect((await api.ask("GET /keys", { by, from: what })).statusCode).toBe(status);
  });

  test("a clock set back by an hour rejects no token; by more, it says so and counts no bad credential", async () => {
    const api = await startCompleteServer();
    const by = await tokenOf(api, await api.key());
    api.pass(-3_600_000);
    expect((await api.ask("GET /customers", { by })).statusCode).toBe(200);
    api.pass(-1000);
    for (let time = 0; time < 7; time++) {
      const answer = await api.ask("GET /customers", { by });
      expect([answer.statusCode, answer.json().message]).toEqual([
        401,
        "the token becomes valid in 3601 s by this server's clock; correct the clock or create a new token",
      ]);
    }
    // It expires when it did before: a day after it was created.
    api.pass(3_601_000 + DAY * 1000);
    expect((await api.ask("GET /customers", { by })).json()).toEqual({ message: BAD });
  });

  test("a token without a signature, or with that of other content, is invalid", async () => {
    const api = await startCompleteServer({ jwtSecret: SECRET });
    const [head = "", body = "", signature = ""] = (await tokenOf(api, await api.key("read"))).split(".");
    const admin = `key.${(await api.key()).slice(3, 11)}`;
    const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
    const claims = part({ ...JSON.parse(Buffer.from(body, "base64url").toString()), sub: admin });
    const none = part({ alg: "none", typ: "JWT" });
    const empty = createHmac("sha256", "").update(`${head}.${claims}`).digest("base64url");
    const tries = [
      `${none}.${claims}.`,
      `${none}.${claims}`,
      `${none}.${claims}.${signature}`,
      `${part({ alg: "None", typ: "JWT" })}.${claims}.`,
      `${head}.${claims}.${signature}`,
      `${head}.${claims}.`,
      `${head}.${claims}.${empty}`,
      `${head}.${body}.${signature.slice(0, -2)}`,
      `${head}.${body}.${signature}.${signature}`,
      part({ payload: body, protected: head, signature }),
      "..",
      "x".repeat(8000),
    ];
    for (const [place, by] of tries.entries()) {
      const answer = await api.ask("GET /customers", { by, from: `10.0.1.${place}` });
      expect([by.slice(0, 80), answer.statusCode]).toEqual([by.slice(0, 80), 401]);
    }
  });

  test("the secret is created once, also by servers that start together, and has 32 bytes", async () => {
    const store = memoryStore();
    const servers = await Promise.all([startCompleteServer({ store }), startCompleteServer({ store })]);
    const [first, second] = servers;
    const keys = await Promise.all(servers.map((api) => api.key("read")));
    const tokens = await Promise.all(servers.map((api, index) => tokenOf(api, keys[index] ?? "")));
    expect((await first.ask("GET /customers", { by: tokens[1] ?? "" })).statusCode).toBe(200);
    expect((await second.ask("GET /customers", { by: tokens[0] ?? "" })).statusCode).toBe(200);
    const secrets = await store.read.allDocuments("serverSecret");
    expect(secrets.map(({ body }) => Buffer.from(String(body["secret"]), "base64url").length)).toEqual([32]);
  });

  test("a secret of less than 32 bytes is rejected", async () => {
    await expect(startCompleteServer({ jwtSecret: "x".repeat(31) })).rejects.toMatchObject({
      code: "ERR_OPTION_INVALID",
      message: "jwtSecret: expected at least 32 bytes, got 31",
    });
    expect(await startCompleteServer({ jwtSecret: "ä".repeat(16) })).toBeDefined();
  });

  test("a cursor is signed with a different secret than tokens", async () => {
    const api = await startCompleteServer({ jwtSecret: SECRET });
    const by = await api.key();
    await api.key();
    const { nextToken } = (await api.ask("GET /keys?pageSize=1", { by })).json<{ nextToken: string }>();
    const [body = "", signature] = nextToken.split(".");
    const direct = createHmac("sha256", SECRET).update("cursor:").update(body).digest();
    expect(signature).not.toBe(direct.subarray(0, 16).toString("base64url"));
  });
});

describe("roles", () => {
  /** The permissions of each role in http-api.md. */
  const may: Readonly<Record<Role, (method: string, path: string) => boolean>> = {
    admin: () => true,
    full: (_, path) => !path.startsWith("/keys"),
    ingest: (_, path) => ["/ingest", "/ingestBatch", "/entitled", "/authenticate"].includes(path),
    read: (method, path) =>
      (method === "GET" && !path.startsWith("/keys")) ||
      ["/metrics", "/revenue_calculator", "/authenticate"].includes(path),
  };

  test.each(Object.keys(may) as Role[])("%s has its permissions at every endpoint, else it is a 403", async (role) => {
    const api = await startCompleteServer();
    const access = createAccessControl({
      engine: api.engine,
      secret: createSecretSource(api.engine, SECRET, Date.now),
      rateLimits: {},
      clock: Date.now,
    });
    const endpoints = [...ENDPOINTS, ...createApiParts(access).extraEndpoints];
    const by = await api.key(role);
    const wrong: string[] = [];
    for (const { method, path, access } of endpoints) {
      if (access === "public") continue;
      const answer = await api.ask(`${method} ${path.replaceAll(/\{\w+\}/g, "x")}`, { by });
      const refusal = { message: `the role ${role} does not permit this request` };
      const isRefused = answer.statusCode === 403;
      if (isRefused) expect(answer.json()).toEqual(refusal);
      if (isRefused === may[role](method, path) || [401, 429, 500].includes(answer.statusCode)) {
        wrong.push(`${method} ${path}: ${answer.statusCode} ${answer.body}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  test("every route requires a credential, except those that docs/operate/deployment.md lists", async () => {
    const routes: { readonly method: string; readonly url: string }[] = [];
    const app = Fastify();
    app.addHook("onRoute", ({ method, url }) => {
      for (const each of [method].flat()) routes.push({ method: each, url });
    });
    const engine = createEngine({ store: memoryStore() });
    await app.register(billingApi, { engine, rateLimits: "off", jwtSecret: SECRET });
    await app.ready();
    expect(routes.length).toBeGreaterThan(100);
    const open = new Set(["/"]);
    for (const { method, url } of routes) {
      const path = url.replaceAll(/:\w+/g, "x").replace("*", "swagger-ui.css");
      const { statusCode } = await app.inject({ method: method as "GET", url: path });
      if (statusCode === 404 || statusCode === 401) continue;
      open.add(url.replace(/(.)\/$/, "$1").replace("*", "…"));
    }
    const [, table = ""] =
      readFileSync(resolve(import.meta.dirname, "../../../docs/operate/deployment.md"), "utf8").split(
        "| without a key | |\n|---|---|\n",
      ) ?? [];
    const rows = table.split("\n\n")[0] ?? "";
    const firstPage = rows
      .split("\n")
      .flatMap((row) => [...(row.split("|")[1] ?? "").matchAll(/`(\/[^`]*)`/g)].map(([, path = ""]) => path));
    expect(open).toEqual(new Set(firstPage));
  });
});
