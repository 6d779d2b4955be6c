import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { Pool } from "pg";
import { afterAll, beforeAll, describe, test } from "vitest";

import { storeConformance } from "../../src/store/conformance.ts";
import { postgresStore } from "../../src/store/postgres/postgres.ts";
import { openPrivateServer, type PrivateServer } from "../../src/store/postgres/private-server.ts";

let directory: string;
let server: PrivateServer;
let pool: Pool;
let schemas = 0;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "ratebook-test-"));
  server = await openPrivateServer(directory);
  pool = new Pool({ ...server.connection, max: 20 }).on("error", () => {});
});

afterAll(async () => {
  await pool.end();
  await server.close();
  await rm(directory, { recursive: true });
});

describe("the storage port: PostgreSQL", () => {
  for (const { name, run } of storeConformance) {
    test(name, () => run(() => postgresStore(pool, { schema: `case ${(schemas += 1)}` })));
  }
});
