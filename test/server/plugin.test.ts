import Fastify from "fastify";
import { describe, expect, test } from "vitest";

import { createEngine } from "../../src/engine/engine.ts";
import { RatebookError } from "../../src/errors.ts";
import { manageApiKeys } from "../../src/server/access/credentials.ts";
import { billingApi } from "../../src/server/plugin.ts";
import { memoryStore } from "../../src/store/memory/memory.ts";
import { type TestServer, startCompleteServer } from "./complete-server.ts";

interface Document {
  readonly openapi: string;
  readonly info: { readonly version: string };
  readonly servers: readonly unknown[];
  readonly paths: Readonly<Record<string, object>>;
}

describe("the plugin in a host's server", () => {
  const mountApi = async () => {
    const engine = createEngine({ store: memoryStore() });
    const host = Fastify();
    host.get("/", async () => ({ host: true }));
    host.post("/echo", (request, reply) => reply.send(request.body));
    await host.register(billingApi, { prefix: "/billing", engine });
    const { key } = await manageApiKeys(engine).create({ name: "k", role: "admin" });
    return { host, authorization: `Bearer ${key}` };
  };

  test("serves below its prefix", async () => {
    const { host, authorization } = await mountApi();
    const got = await host.inject({ url: "/billing/customers", headers: { authorization } });
    expect([got.statusCode, got.json().data]).toEqual([200, []]);
    expect((await host.inject("/customers")).json()).toMatchObject({ statusCode: 404 });
    expect((await host.inject("/billing/nothing")).json()).toEqual({ message: "there is no endpoint at this path" });
    for (const root of ["/billing", "/billing/", "/billing/?page=1"]) {
      const redirect = await host.inject(root);
      expect([redirect.statusCode, redirect.headers.location]).toEqual([302, "http://localhost:80/billing/docs"]);
      expect((await host.inject("/billing/docs")).statusCode).toBeLessThan(400);
      expect((await host.inject({ url: root, method: "POST" })).statusCode).toBe(404);
    }
  });

  test("does not affect the host's own routes, parsers, errors and headers", async () => {
    const { host } = await mountApi();
    const own = await host.inject("/");
    expect(own.json()).toEqual({ host: true });
    expect(own.headers).not.toHaveProperty("content-security-policy");
    expect(own.headers).not.toHaveProperty("x-request-id");
    const echo = { method: "POST", url: "/echo" } as const;
    expect((await host.inject({ ...echo, payload: { price: 0.1 } })).json()).toEqual({ price: 0.1 });
    const failure = await host.inject({ ...echo, payload: "{", headers: { "content-type": "application/json" } });
    expect(failure.json()).toMatchObject({ statusCode: 400, error: "Bad Request" });
  });

  test("has the request's or the configured address in its document", async () => {
    const { host } = await mountApi();
    const document = async (headers: Record<string, string>): Promise<Document> =>
      (await host.inject({ url: "/billing/openapi.json", headers })).json();
    expect((await document({ host: "api.example.com:8443" })).servers).toEqual([
      { url: "http://api.example.com:8443/billing" },
    ]);
    expect((await document({ host: '"><script>' })).servers).toEqual([{ url: "/billing" }]);
    const engine = createEngine({ store: memoryStore() });
    const other = Fastify();
    await other.register(billingApi, { engine, publicUrl: "https://example.com/v1/" });
    const { servers } = (await other.inject("/openapi.json")).json<Document>();
    expect(servers).toEqual([{ url: "https://example.com/v1" }]);
  });
});

describe("information about the server", () => {
  test("/health reports that the process runs, /ready whether the store is available", async () => {
    const store = memoryStore();
    let isUnavailable = false;
    const read = new Proxy(store.read, {
      get: (view, name: keyof typeof store.read) =>
        isUnavailable ? () => Promise.reject(createStoreError()) : view[name],
    });
    const api = await startCompleteServer({ store: { ...store, read } });
    expect((await api.ask("GET /ready")).json()).toEqual({ success: true });
    isUnavailable = true;
    expect((await api.ask("GET /health")).json()).toEqual({ success: true });
    const ready = await api.ask("GET /ready");
    expect([ready.statusCode, ready.headers["retry-after"]]).toEqual([503, "1"]);
    // The location of the database is not shown.
    expect(ready.json()).toEqual({ message: "database unavailable; retry later" });
    expect(api.log.join("")).toContain("ECONNREFUSED 10.0.0.1:5432");
    const by = `rb_${"x".repeat(43)}`;
    for (const line of ["GET /customers", "POST /authenticate"]) {
      const answer = await api.ask(line, { by });
      expect([answer.statusCode, answer.headers["retry-after"]]).toEqual([503, "1"]);
    }
  });
});

describe("answers", () => {
  test("every answer has a request id of the server, whatever the client sends, and is not cached", async () => {
    const api = await startCompleteServer();
    const by = await api.key();
    const ids = new Set<unknown>();
    for (const [line, question] of [
      ["GET /health", {}],
      ["GET /customers", { by }],
      ["GET /customers", {}],
      ["GET /nothing", {}],
      ["PUT /customers", { by }],
      ["GET /customers/%ff", { by }],
      ["POST /customers", { by, headers: { "content-type": "text/plain" }, body: 1 }],
    ] as const) {
      const answer = await api.ask(line, { ...question, headers: { "x-request-id": "mine", "request-id": "mine" } });
      expect(answer.headers["x-request-id"]).toMatch(/^[\da-f-]{36}$/);
      ids.add(answer.headers["x-request-id"]);
    }
    expect(ids.size).toBe(7);
  });

  test("no answer may execute or load anything, and no other origin may read it", async () => {
    const api = await startCompleteServer();
    const answer = await api.ask("GET /customers", {
      by: await api.key(),
      headers: { origin: "https://evil.example" },
    });
    expect(answer.headers["content-security-policy"]).toBe(
      "default-src 'none';base-uri 'none';form-action 'none';frame-ancestors 'none'",
    );
    expect(answer.headers["x-content-type-options"]).toBe("nosniff");
    expect(answer.headers["x-frame-options"]).toBe("DENY");
    expect(answer.headers["cache-control"]).toBe("no-store");
    expect(Object.keys(answer.headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
    expect((await api.ask("OPTIONS /customers")).statusCode).toBe(405);
  });

  test.each(["PUT", "OPTIONS", "TRACE", "PROPFIND", "PURGE"])(
    "%s on an existing path is answered with its allowed methods",
    async (method) => {
      for (const prefix of ["", "/v1.0"]) {
        const api = await startCompleteServer({ prefix });
        const allow = async (path: string): Promise<unknown> => {
          const { statusCode, headers } = await api.ask(`${method} ${prefix}${path}`);
          return [statusCode, headers["allow"]];
        };
        expect(await allow("/customers?a=b")).toEqual([405, "GET, POST"]);
        expect(await allow("/customers/acme%2Fx")).toEqual([405, "DELETE, GET, PATCH"]);
        expect(await allow("/accounts/a/add_aliases")).toEqual([405, "POST"]);
        expect(await allow("/custmers")).toEqual([404, undefined]);
        expect(await allow("/customers/a/b")).toEqual([404, undefined]);
      }
    },
  );

  test("the log names each request by its id and key, and contains no credential, query or body", async () => {
    const api = await startCompleteServer();
    const by = await api.key();
    const { token } = (await api.ask("POST /authenticate", { by })).json<{ token: string }>();
    const bad = `rb_${"7".repeat(43)}`;
    await api.ask("GET /customers?pageSize=7", { by: token });
    await api.ask("GET /customers", { by: bad });
    await api.ask("POST /customers", { by, body: { id: "c", name: "Hush Inc", primaryEmail: "hush@hush.test" } });
    const creation = await api.ask("POST /keys", { by, body: { name: "another", role: "read" } });
    await api.ask("GET /%ff?token=hush", { by });
    const log = api.log.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(log.map(({ method, path, status }) => [method, path, status])).toContainEqual(["GET", "/customers", 200]);
    expect(log.find(({ status }) => status === 201)).toMatchObject({
      keyId: `key.${by.slice(3, 11)}`,
      reqId: expect.stringMatching(/^[\da-f-]{36}$/),
    });
    const text = api.log.join("");
    for (const secret of [by, token, bad, creation.json<{ key: string }>().key, "pageSize", "Hush", "hush"]) {
      expect(text).not.toContain(secret);
    }
  });

  test("credentials pasted into a path are shortened in the log", async () => {
    const api = await startCompleteServer();
    const by = await api.key();
    const { token } = (await api.ask("POST /authenticate", { by })).json<{ token: string }>();
    const escapedKey = Buffer.from(by).toString("hex").replaceAll(/../g, "%$&");
    for (const path of [`/keys/${by}`, `/keys/${escapedKey}`, `/keys/Bearer%20${by}`]) {
      await api.ask(`DELETE ${path}`, { by });
    }
    for (const path of [`/events/${token}`, `/events/x.${token}`, `/${token}/nothing`]) {
      await api.ask(`GET ${path}`, { by });
    }
    await api.ask("GET /accounts/a%20b/nothing", { by });
    const text = api.log.join("");
    const paths = api.log.map((line) => (JSON.parse(line) as { path?: string }).path);
    expect(paths).toContain(`/keys/${by.slice(0, 11)}…`);
    expect(paths).toContain("/accounts/a%20b/nothing");
    for (const secret of [by.slice(11), escapedKey.slice(33), token.slice(20, 60), token.split(".")[2] ?? by]) {
      expect(text).not.toContain(secret);
    }
  });

  test("an internal error is answered without details; its cause is in the log, without details of drivers", async () => {
    const store = memoryStore();
    const failure = Object.assign(new Error("duplicate key value"), { detail: "Key (id)=(hush)", code: "99999" });
    const read: typeof store.read = { ...store.read, configurationRevision: () => Promise.reject(failure) };
    const api = await startCompleteServer({ store: { ...store, read } });
    const answer = await api.ask("GET /ready");
    expect([answer.statusCode, answer.json()]).toEqual([500, { message: "internal error" }]);
    const line = api.log.find((each) => each.includes("request failed")) ?? "";
    expect(JSON.parse(line).err).toMatchObject({ type: "Error", code: "99999", message: "duplicate key value" });
    expect(line).not.toContain("hush");
    expect(line).toContain(String(answer.headers["x-request-id"]));
  });
});

test("a path outside the prefix is unknown, with the same message", async () => {
  const api = await startCompleteServer({ prefix: "/v1" });
  expect((await api.ask("GET /v1/health")).statusCode).toBe(200);
  for (const path of ["/health", "/", "/v1/nothing"]) {
    const answer = await api.ask(`GET ${path}`);
    expect([answer.statusCode, answer.json()]).toEqual([404, { message: "there is no endpoint at this path" }]);
    expect(answer.headers["x-request-id"]).toMatch(/^[\da-f-]{36}$/);
  }
});

describe("the page at /docs", () => {
  /** The page as loaded by a browser: its HTML, and everything that it refers to. */
  const openPage = async ({ ask }: TestServer, path: string) => {
    const page = await ask(`GET ${path}`);
    expect(page.statusCode).toBe(200);
    const links = [...page.body.matchAll(/\b(?:src|href)="([^"]*)"/g)].map(([, link = ""]) => link);
    return { page, named: links };
  };
  const directives = (policy: unknown): Map<string, string> =>
    new Map(
      String(policy)
        .split("; ")
        .map((text) => [text.split(" ")[0] ?? "", text.split(" ").slice(1).join(" ")]),
    );

  test.each([
    ["", "/docs"],
    ["", "/docs/"],
    ["/v1", "/v1/docs"],
    ["/v1", "/v1/docs/"],
  ])("below %j, %s and everything that it refers to come from this server", async (prefix, path) => {
    const api = await startCompleteServer({ prefix });
    const { named: links } = await openPage(api, path);
    expect(links.length).toBeGreaterThan(5);
    for (const link of links) {
      expect(link).toMatch(/^\.?\//);
      expect(link).not.toMatch(/^\/\//);
      const asset = await api.ask(`GET ${new URL(link, `http://localhost${path}`).pathname}`);
      expect([link, asset.statusCode]).toEqual([link, 200]);
      const type = String(asset.headers["content-type"]);
      expect(type).toMatch(link.endsWith(".js") ? /javascript/ : link.endsWith(".css") ? /css/ : /^image\/png/);
    }
    const json = await api.ask(`GET ${path.replace(/\/$/, "")}/json`);
    const document = await api.ask(`GET ${prefix}/openapi.json`);
    expect(json.json()).toEqual(document.json());
  });

  test("works with its policy: nothing inline, nothing from other origins", async () => {
    const api = await startCompleteServer();
    const { page, named: links } = await openPage(api, "/docs");
    const policy = directives(page.headers["content-security-policy"]);
    expect(policy.get("default-src")).toBe("'none'");
    for (const name of ["script-src", "style-src", "connect-src"]) expect(policy.get(name)).toBe("'self'");
    expect(policy.get("img-src")).toBe("'self' data:");
    // Inline scripts, styles and handlers would be blocked, and leave the page blank.
    for (const [, attributes = "", content = ""] of page.body.matchAll(/<script([^>]*)>([^]*?)<\/script>/g)) {
      expect(attributes).toMatch(/ src="/);
      expect(content.trim()).toBe("");
    }
    expect(page.body).not.toMatch(/<style|\sstyle=|\son\w+=|javascript:/i);
    for (const link of links.filter((each) => each.endsWith(".css"))) {
      const { body } = await api.ask(`GET ${link}`);
      expect(body).not.toContain("@import");
      for (const [, url = ""] of body.matchAll(/url\(\s*["']?([^)]{0,60})/g)) expect(url).toMatch(/^data:/);
    }
    const initializer = await api.ask("GET /docs/static/swagger-initializer.js");
    expect(initializer.body).toContain("url: resolveUrl('./json')");
    expect(initializer.body).toContain("validatorUrl: null");
    expect(initializer.body).not.toMatch(/https?:\/\/(?!stackoverflow\.com\/)/);
  });
});

/** The error of an unavailable store. */
function createStoreError(): Error {
  return new RatebookError(
    "ERR_STORE_UNAVAILABLE",
    "the database cannot be reached: connect ECONNREFUSED 10.0.0.1:5432",
    {},
  );
}
