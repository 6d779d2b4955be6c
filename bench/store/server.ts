/** PostgreSQL servers for benchmarks. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { Pool, type PoolConfig } from "pg";

import { openPrivateServer } from "../../src/store/embedded/private-server.ts";

/** Runs `work` with a temporary server, whose directory is removed afterwards. */
export async function withServer<Result>(
  work: (pool: Pool, connection: PoolConfig) => Promise<Result>,
): Promise<Result> {
  const directory = await mkdtemp(join(tmpdir(), "ratebook-bench-"));
  const server = await openPrivateServer(directory);
  const pool = new Pool(server.connection).on("error", () => {});
  try {
    return await work(pool, server.connection);
  } finally {
    await pool.end();
    await server.close();
    await rm(directory, { recursive: true, force: true });
  }
}
