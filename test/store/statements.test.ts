/** How many statements an operation asks of PostgreSQL, one after the other: each costs a round trip. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { Pool, type QueryConfig } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";

import { createEngine, type Engine } from "../../src/engine/engine.ts";
import { openPrivateServer, type PrivateServer } from "../../src/store/embedded/private-server.ts";
import { postgresStore } from "../../src/store/postgres/postgres.ts";

const HOOK_MS = 60_000;

let directory: string;
let server: PrivateServer;
let pool: Pool;
let engine: Engine;
let statements: string[] = [];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "ratebook-test-"));
  server = await openPrivateServer(directory);
  pool = new Pool(server.connection).on("error", () => {});
  const counting = {
    async connect() {
      const connection = await pool.connect();
      return {
        query(statement: QueryConfig) {
          statements.push(statement.text.replace(/\s+/g, " ").slice(0, 60));
          return connection.query(statement);
        },
        release: (error?: Error | boolean) => connection.release(error),
      };
    },
  };
  engine = createEngine({ store: await postgresStore(counting), clock: () => Date.parse("2024-06-02T00:00:00Z") });
  await engine.load({
    eventSchemas: [{ name: "call", attributes: [{ name: "count" }] }],
    usageMeters: [
      {
        id: "um.calls",
        name: "Calls",
        aggregation: "SUM",
        eventSchemaName: "call",
        computations: [{ order: 1, computation: { var: "attribute.count" } }],
      },
    ],
    customers: [{ id: "c", name: "Customer" }],
    accounts: [{ id: "a", name: "Account", customerId: "c" }],
  });
  await engine.ingest([call("warm")]);
}, HOOK_MS);

afterAll(async () => {
  await pool.end();
  await server.close();
  await rm(directory, { recursive: true });
}, HOOK_MS);

function call(id: string): unknown {
  const attributes = [{ name: "count", value: 1 }];
  return { schemaName: "call", id, accountId: "a", timestamp: "2024-06-01T08:00:00Z", attributes };
}

test.each<[operation: string, most: number, work: () => Promise<unknown>]>([
  ["a single ingest", 5, () => engine.ingest([call("one")])],
  [
    "an ingest of a thousand events",
    6,
    () => engine.ingest(Array.from({ length: 1_000 }, (_, n) => call(`many ${n}`))),
  ],
  ["an undo of one event", 13, () => engine.undo({ event_id: "one", account_id: "a" })],
  ["a page of events", 1, () => engine.events.list({}, { limit: 50 })],
  ["a page of an account's events", 1, () => engine.events.list({ accountId: "a" }, { limit: 50 })],
  ["a page of accounts", 1, () => engine.accounts.list({}, { limit: 50 })],
])("%s asks at most %i statements", async (operation, most, work) => {
  statements = [];
  await work();
  process.stdout.write(`${operation}: ${statements.length}\n${statements.map((text) => `  ${text}\n`).join("")}`);
  expect(statements.length).toBeGreaterThan(0);
  expect(statements.length).toBeLessThanOrEqual(most);
});
