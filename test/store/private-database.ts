/** A private server for the tests of a file that do not stop it, and a pool of connections. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { Pool } from "pg";
import { afterAll, beforeAll } from "vitest";

import { openPrivateServer, type PrivateServer } from "../../src/store/embedded/private-server.ts";
import { copyEmptyDatabase } from "../support/new-database.ts";

/** Available while the tests run. */
export interface PrivateDatabase {
  readonly pool: Pool;
  readonly connection: PrivateServer["connection"];
  readonly directory: string;
}

/** Starts a server before the tests of the calling file, and removes it with its files afterwards. */
export function privateDatabase(): PrivateDatabase {
  let directory: string;
  let server: PrivateServer;
  let pool: Pool;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "ratebook-test-"));
    await copyEmptyDatabase(directory);
    server = await openPrivateServer(directory);
    pool = new Pool({ ...server.connection, max: 20 }).on("error", () => {});
    // The machine keeps running, so nothing has to be flushed to disk.
    await pool.query("alter system set fsync = off");
    await pool.query("select pg_reload_conf()");
  });
  afterAll(async () => {
    await pool.end();
    await server.close();
    await rm(directory, { recursive: true });
  });
  return {
    get pool() {
      return pool;
    },
    get connection() {
      return server.connection;
    },
    get directory() {
      return directory;
    },
  };
}
