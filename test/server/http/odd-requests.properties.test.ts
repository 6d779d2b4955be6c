/** No request of a client causes an internal error. */
import { Agent, type IncomingHttpHeaders, METHODS, request } from "node:http";

import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { createEngine } from "../../../src/engine/engine.ts";
import { manageApiKeys } from "../../../src/server/access/credentials.ts";
import { ENDPOINTS } from "../../../src/server/routes/routes.ts";
import { type RunningServer, serve } from "../../../src/server/serve.ts";
import { memoryStore } from "../../../src/store/memory/memory.ts";
import { runs } from "../../support/runs.ts";

let server: RunningServer;
let key: string;
const log: string[] = [];
const agent = new Agent({ keepAlive: true });

beforeAll(async () => {
  const engine = createEngine({ store: memoryStore() });
  ({ key } = await manageApiKeys(engine).create({ name: "k", role: "admin" }));
  server = await serve({
    engine,
    port: 0,
    billRunInterval: 0,
    rateLimits: "off",
    log: { level: "error", stream: { write: (line) => void log.push(line) } },
  });
});
afterAll(async () => {
  agent.destroy();
  await server.close();
});

interface OddRequest {
  readonly method: string;
  /** As written in the request line. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

async function sendRequest({ method, path, headers = {}, body }: OddRequest): Promise<Reply> {
  return new Promise((resolve, fail) => {
    const port = new URL(server.url).port;
    const outgoing = request({ agent, port, method, path, headers: { ...headers } }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
    });
    outgoing.on("error", fail).end(body);
  });
}

const BUNDLE = "/docs/static/swagger-ui-bundle.js";
const CSS = "/docs/static/swagger-ui.css";

describe("without a key", () => {
  test.each<[string, OddRequest, number]>([
    ["a folder above the files of the page", { method: "GET", path: "/docs/static/.." }, 404],
    ["a file above them", { method: "GET", path: "/docs/static/../package.json" }, 404],
    ["the same in percent encoding", { method: "GET", path: "/docs/static/%2e%2e%2fpackage.json" }, 404],
    ["a path with a NUL byte", { method: "GET", path: "/docs/static/a%00b" }, 404],
    ["a path that is not UTF-8", { method: "GET", path: "/docs/static/%ff" }, 400],
    ["the folder of the files", { method: "GET", path: "/docs/static/" }, 200],
    ["the document as YAML", { method: "GET", path: "/docs/yaml" }, 404],
    ["a range of a file", { method: "GET", path: CSS, headers: { range: "bytes=0-9" } }, 206],
    ["a range behind its end", { method: "GET", path: CSS, headers: { range: "bytes=99999999-" } }, 416],
    ["another version of a file", { method: "GET", path: CSS, headers: { "if-match": '"x"' } }, 412],
    [
      "an older version of a file",
      { method: "GET", path: CSS, headers: { "if-unmodified-since": "Thu, 01 Jan 1970 00:00:00 GMT" } },
      412,
    ],
    ["the method POST at a file", { method: "POST", path: BUNDLE }, 405],
    ["the method PUT at the page", { method: "PUT", path: "/docs" }, 405],
    ["the method DELETE at the document", { method: "DELETE", path: "/docs/json" }, 405],
    ["a path without an endpoint", { method: "POST", path: "/nothing", body: "{" }, 404],
  ])("%s", async (_, odd, status) => {
    const reply = await sendRequest(odd);
    expect(reply.status).toBe(status);
    expect(reply.headers["cache-control"]).toBe("no-store");
    expect(reply.headers["x-request-id"]).toMatch(/^[\da-f-]{36}$/);
    expect(log).toEqual([]);
  });

  test.each(["/customers", "/health", "/docs", "/docs/json", CSS, "/invoices/x"])(
    "the method QUERY at %s is a 405 that lists the allowed methods, with and without a body",
    async (path) => {
      // Node accepts the method from version 22 on; before that the request is malformed.
      if (!METHODS.includes("QUERY")) return expect(METHODS).toContain("GET");
      for (const headers of [{}, { "content-type": "application/json" }]) {
        const reply = await sendRequest({ method: "QUERY", path, headers, body: "{}" });
        expect([reply.status, reply.headers.allow]).toEqual([405, expect.stringContaining("GET")]);
      }
    },
  );

  test.each(["/openapi.json", "/docs/json"])("%s is serialized once, with its location", async (path) => {
    const first = await sendRequest({ method: "GET", path, headers: { host: "a.test" } });
    const second = await sendRequest({ method: "GET", path, headers: { host: "b.test" } });
    expect(JSON.parse(first.text)).toMatchObject({ openapi: "3.1.0", servers: [{ url: "http://a.test" }] });
    expect(second.text).toBe(first.text.replace("http://a.test", "http://b.test"));
  });
});

const segments = fc.oneof(
  fc.constantFrom(
    "..",
    ".",
    "%00",
    "%2e%2e%2f",
    "%ff",
    "%",
    "a%20b",
    "x",
    "@1",
    "__proto__",
    "toString",
    "-1",
    "1e9",
    "*",
  ),
  fc.string({ maxLength: 5 }).map(encodeURIComponent),
  fc.constant("y".repeat(600)),
);
const PATHS = [
  ...new Set(ENDPOINTS.map(({ path }) => path)),
  "/docs",
  "/docs/json",
  "/docs/static/{x}",
  "/keys",
  "/play",
];
const paths = fc
  .tuple(fc.constantFrom(...PATHS), fc.array(segments, { minLength: 5, maxLength: 5 }), fc.option(segments))
  .map(([path, ids, more]) => {
    const restIds = ids.values();
    const filledPath = path.replaceAll(/\{\w+\}/g, () => restIds.next().value ?? "x");
    return more === null ? filledPath : `${filledPath}/${more}`;
  });
const queries = fc.oneof(
  fc.constantFrom("", "", "?", "?pageSize=1", "?pageSize=1e9", "?nextToken=x", "?a=1&a=2", "?%00=%ff", "?format=html"),
  fc.string({ maxLength: 8 }).map((text) => `?account_id=${encodeURIComponent(text)}`),
);
const headers = fc.dictionary(
  fc.constantFrom(
    "content-type",
    "content-encoding",
    "range",
    "if-match",
    "if-none-match",
    "if-unmodified-since",
    "if-range",
    "accept-encoding",
    "expect",
    "host",
    "x-forwarded-for",
    "cookie",
  ),
  fc.constantFrom(
    "application/json",
    "text/html;charset=x",
    "bytes=9-1",
    "bytes=0-0,2-3",
    '"x"',
    "*",
    "gzip",
    "x",
    ",,;=",
  ),
  { maxKeys: 3 },
);
const bodies = fc.option(
  fc.oneof(
    fc.json({ maxDepth: 4 }),
    fc.constantFrom(
      "null",
      "{",
      "[]",
      '{"events":[null,1,[],{}]}',
      '{"event":{"id":1e999}}',
      '{"__proto__":{}}',
      '"\\ud800"',
    ),
    fc.string({ maxLength: 20 }),
  ),
  { nil: undefined },
);
/** CONNECT opens a tunnel, which no endpoint supports: the connection is closed. */
const methods = fc.constantFrom(...METHODS.filter((method) => method !== "CONNECT"));

test("no request is answered with a 5xx, nor logged as an internal error", async () => {
  const odd = fc.record({ method: methods, path: paths, query: queries, headers, body: bodies, withKey: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(odd, async ({ path, query, withKey, headers: outgoing, ...rest }) => {
      const authorization = withKey ? { authorization: `Bearer ${key}`, "content-type": "application/json" } : {};
      const { status, text } = await sendRequest({
        ...rest,
        path: `${path}${query}`,
        headers: { ...authorization, ...outgoing },
      });
      expect(status >= 500 ? text : "").toBe("");
      expect(log).toEqual([]);
    }),
    { numRuns: runs(3000) },
  );
});
