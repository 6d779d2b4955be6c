import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { Pool } from "pg";
import { afterAll, beforeAll, describe, test } from "vitest";

import { storeConformance } from "../../src/store/conformance.ts";
import { postgresStore } from "../../src/store/postgres/postgres.ts";
import { openPrivateServer, type PrivateServer } from "../../src/store/postgres/private-server.ts";

/** Making and removing the files of a database takes a while on a busy machine. */
const HOOK_MS = 60_000;

let directory: string;
let server: PrivateServer;
let pool: Pool;
let schemas = 0;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "ratebook-test-"));
  server = await openPrivateServer(directory);
  pool = new Pool({ ...server.connection, max: 20 }).on("error", () => {});
}, HOOK_MS);

afterAll(async () => {
  await pool.end();
  await server.close();
  await rm(directory, { recursive: true });
}, HOOK_MS);

describe("the storage port: PostgreSQL", () => {
  for (const { name, run } of storeConformance) {
    test(name, () => run(() => postgresStore(pool, { schema: `case ${(schemas += 1)}` })));
  }
});
