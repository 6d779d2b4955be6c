/** The same operations come to the same over every store. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { PGlite } from "@electric-sql/pglite";
import fc from "fast-check";
import { Pool } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { Store } from "../../src/index.ts";
import { openPrivateServer, type PrivateServer } from "../../src/store/embedded/private-server.ts";
import { postgresStore } from "../../src/store/postgres/postgres.ts";
import { check, opened, operations, perform, shownOf } from "./model-run.ts";

/** Databases take a while to start on a busy machine. */
const HOOK_MS = 60_000;

let directory: string;
let server: PrivateServer;
let pool: Pool;
let embedded: PGlite;
let schemas = 0;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "ratebook-test-"));
  server = await openPrivateServer(directory);
  pool = new Pool({ ...server.connection, max: 8 }).on("error", () => {});
  embedded = await PGlite.create();
}, HOOK_MS);

afterAll(async () => {
  await embedded.close();
  await pool.end();
  await server.close();
  await rm(directory, { recursive: true });
}, HOOK_MS);

const STORES: readonly [string, () => Promise<Store>][] = [
  ["PGlite", () => postgresStore(embedded, { schema: `run ${(schemas += 1)}` })],
  ["PostgreSQL", () => postgresStore(pool, { schema: `run ${(schemas += 1)}` })],
];

describe.each(STORES)("the engine over %s", (_, open) => {
  test("S14.4 does what it does over the memory store, and what the model says", async () => {
    await fc.assert(
      fc.asyncProperty(operations, async (sequence) => {
        const inMemory = await opened();
        const inDatabase = await opened(await open());
        for (const each of sequence) {
          await perform(inMemory, each);
          await perform(inDatabase, each);
        }
        await check(inDatabase);
        expect(await shownOf(inDatabase)).toEqual(await shownOf(inMemory));
      }),
      { numRuns: 4 },
    );
  }, 60_000);
});
