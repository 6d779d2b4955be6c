/** Clients of two generators run a complete story against a server; one validates every answer strictly. */
import { Socket } from "node:net";

import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";

import { createEngine } from "../../src/engine/engine.ts";
import { manageApiKeys } from "../../src/server/access/credentials.ts";
import { type RunningServer, serve } from "../../src/server/serve.ts";
import { memoryStore } from "../../src/store/memory/memory.ts";
import { type Json, type Operation, listOperations } from "./document.ts";
import { type Clients, generateClients } from "./generate.ts";
import { type CallRequest, type Call, runStory } from "./story.ts";

/** A listening server over a memory store, with a key and a clock that can be set. */
interface Stage {
  readonly server: RunningServer;
  readonly key: string;
  readonly at: (time: string) => void;
}

async function startStage(port = 0): Promise<Stage> {
  let now = Date.parse("2024-06-15T12:00:00Z");
  const clockNow = (): number => now;
  const engine = createEngine({ store: memoryStore(), clock: clockNow });
  const server = await serve({ engine, clock: clockNow, port, billRunInterval: 0, log: { level: "silent" } });
  const { key } = await manageApiKeys(engine, clockNow).create({ name: "a client", role: "admin" });
  return { server, key, at: (time) => void (now = Date.parse(time)) };
}

/** A call: its arguments and its answer. */
interface CallRecord {
  readonly operation: string;
  readonly args: readonly unknown[];
  readonly status: number;
}

/** The arguments of a generated method: path ids, then the others in the generator's order. */
function buildArguments(
  { spec }: Operation,
  { path = [], query, body }: CallRequest,
  order: "body first" | "query first",
): Json[] {
  const hasQuery = (spec.parameters ?? []).some((each: Json) => each.in === "query");
  const queries = hasQuery ? [query ?? {}] : [];
  const bodies = spec.requestBody === undefined ? [] : [body];
  return order === "body first" ? [...path, ...bodies, ...queries] : [...path, ...queries, ...bodies];
}

let first: Stage;
/** How often the generators opened a connection. */
let connectionCount: number;
let clients: Clients;
let operations: ReadonlyMap<string, Operation>;

const operationOf = (id: string): Operation => {
  const operation = operations.get(id);
  if (operation === undefined) throw new Error(`the document has no operation ${id}`);
  return operation;
};

beforeAll(async () => {
  first = await startStage();
  const document: Json = await (await fetch(`${first.server.url}/openapi.json`)).json();
  operations = new Map(listOperations(document).map((operation) => [operation.id, operation]));
  const connect = vi.spyOn(Socket.prototype, "connect");
  clients = await generateClients(document, first.server.url);
  connectionCount = connect.mock.calls.length;
  connect.mockRestore();
});

afterAll(async () => {
  await first?.server.close();
  await clients?.remove();
});

/** The methods of a class client with their groups, one for each first path segment. */
function listMethods(api: Json): ReadonlyMap<string, { readonly group: string; readonly method: Json }> {
  const groups = Object.entries<Json>(api).filter(([name]) => name !== "http");
  return new Map(
    groups.flatMap(([group, own]) => Object.entries<Json>(own).map(([name, method]) => [name, { group, method }])),
  );
}

/** A program with the same calls and arguments, to be type-checked. */
function writeProgram(calls: readonly CallRecord[], head: string, method: (operation: string) => string): string {
  const lines = calls
    .filter(({ status }) => status < 300)
    .map(({ operation, args }) => {
      const list = args.map((argument) => JSON.stringify(argument)).join(", ");
      return `void ${method(operation)}(${list});`;
    });
  return `${head}\n${lines.join("\n")}\n`;
}

describe("generated clients", () => {
  test("are generated and compiled without a network", () => expect(connectionCount).toBe(0));

  test("have a method for each operation, and a schema for each of its answers", () => {
    const methods = listMethods(new clients.classes.Api(new clients.classes.HttpClient()));
    for (const [id, { spec }] of operations) {
      expect([id, typeof clients.functions[id], methods.has(id)]).toEqual([id, "function", true]);
      const statuses = Object.entries<Json>(spec.responses)
        .filter(([, { content }]) => content["application/json"] !== undefined)
        .map(([status]) => (status === "default" ? "Default" : status));
      const missing = statuses.filter((status) => clients.answers[`${id}${status}Response`] === undefined);
      expect([id, missing]).toEqual([id, []]);
    }
  });

  test("functions over fetch run the complete story, and strict schemas accept every answer", async () => {
    const calls: CallRecord[] = [];
    const headers = { authorization: `Bearer ${first.key}` };
    const callClient: Call = async (id, request = {}) => {
      const args = buildArguments(operationOf(id), request, "body first");
      const { status, data } = await clients.functions[id](...args, { headers });
      calls.push({ operation: id, args, status });
      const schema = clients.answers[`${id}${status}Response`];
      expect(`${id} ${status} ${schema === undefined ? "has no schema" : "has a schema"}`).toContain("has a schema");
      return { status, data: schema.parse(data) };
    };
    await runStory({ call: callClient, at: first.at });
    expect(new Set(calls.map(({ operation }) => operation)).size).toBeGreaterThanOrEqual(40);
    const head = 'import * as api from "./functions.js";';
    expect(await clients.check(writeProgram(calls, head, (operation) => `api.${operation}`))).toBe("");
    // The compiler must accept all calls.
    expect(await clients.check(`${head}\nvoid api.createCustomer({ id: 5 });\n`)).toContain("program.ts");
  });

  test("strict schemas reject a null, a text for a number and an extra field", async () => {
    const { listFeatures200Response: list, getCreditBalance200Response: balance } = clients.answers;
    const page = { data: [], nextToken: null, context: { pageSize: 20 } };
    expect(list.safeParse(page).success).toBe(true);
    expect(list.safeParse({ ...page, more: 1 }).success).toBe(false);
    expect(list.safeParse({ ...page, context: null }).success).toBe(false);
    const example = {
      accountId: "a",
      activeCredits: 1,
      availableBalance: 1,
      runningBalance: 1,
      inapplicableCredits: 0,
      unit: "USD",
      lastUpdatedAt: "2024-01-01T00:00:00.000Z",
    };
    expect(balance.safeParse(example).success).toBe(true);
    expect(balance.safeParse({ ...example, activeCredits: "1" }).success).toBe(false);
  });

  test("classes over fetch run the complete story", async () => {
    const own = await startStage();
    try {
      const { Api, HttpClient } = clients.classes;
      const http = new HttpClient({
        baseUrl: own.server.url,
        securityWorker: () => ({ headers: { authorization: `Bearer ${own.key}` } }),
      });
      const api: Json = new Api(http);
      const methods = listMethods(api);
      const calls: CallRecord[] = [];
      const callClient: Call = async (id, request = {}) => {
        const args = buildArguments(operationOf(id), request, "query first");
        // Answers that are not successes are thrown.
        const answer = await methods
          .get(id)
          ?.method(...args)
          .catch((error: unknown) => error);
        calls.push({ operation: id, args, status: answer.status });
        return { status: answer.status, data: answer.ok ? answer.data : answer.error };
      };
      await runStory({ call: callClient, at: own.at });
      const head = 'import { Api, HttpClient } from "./classes.js";\nconst api = new Api(new HttpClient());';
      const method = (operation: string) => `api.${methods.get(operation)?.group}.${operation}`;
      expect(await clients.check(writeProgram(calls, head, method))).toBe("");
    } finally {
      await own.server.close();
    }
  });
});
