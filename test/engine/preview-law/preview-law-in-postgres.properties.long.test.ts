import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { Pool } from "pg";
import { afterAll, beforeAll } from "vitest";

import { openPrivateServer, type PrivateServer } from "../../../src/store/embedded/private-server.ts";
import { postgresStore } from "../../../src/store/postgres/postgres.ts";
import { testPreviewLaw } from "./law-tests.ts";

let directory: string;
let server: PrivateServer;
let pool: Pool;
let schemas = 0;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "ratebook-test-"));
  server = await openPrivateServer(directory);
  pool = new Pool(server.connection).on("error", () => {});
});

afterAll(async () => {
  await pool.end();
  await server.close();
  await rm(directory, { recursive: true });
});

testPreviewLaw("PostgreSQL", () => postgresStore(pool, { schema: `run ${(schemas += 1)}` }), {
  events: 20,
  invoices: 20,
  long: 5,
});
