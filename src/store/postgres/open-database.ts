/**
 * Opens the store that a database's name says: how programs take `--database`.
 *
 * @module
 */
import { Pool, type PoolConfig } from "pg";

import { memoryStore } from "../memory.ts";
import type { Store } from "../store.ts";
import { openPglite } from "./pglite-directory.ts";
import { postgresStore } from "./postgres.ts";
import { openPrivateServer } from "./private-server.ts";

const PGLITE = "pglite:";

/**
 * Opens a database: `postgres://…` is a server, `pglite:DIR` a PGlite in a directory, `memory` a store in memory, and any
 * other text a directory with a private server.
 *
 * @throws {RatebookError} ERR_STORE_UNAVAILABLE when it cannot be reached, started, or is open elsewhere; ERR_REFUSED when
 * a newer ratebook has changed it
 */
export async function openDatabase(name: string): Promise<Store> {
  if (name === "memory") return memoryStore();
  if (name.startsWith(PGLITE)) return openPglite(name.slice(PGLITE.length));
  if (/^postgres(?:ql)?:\/\//.test(name)) return storeOver({ connectionString: name }, async () => {});
  const server = await openPrivateServer(name);
  return storeOver(server.connection, () => server.close());
}

/** A store over a pool of its own. */
async function storeOver(config: PoolConfig, afterwards: () => Promise<void>): Promise<Store> {
  const pool = new Pool(config);
  // A connection that breaks while it is idle is replaced when it is needed.
  pool.on("error", () => {});
  const onClose = async (): Promise<void> => {
    await pool.end();
    await afterwards();
  };
  try {
    return await postgresStore(pool, { onClose });
  } catch (error) {
    await onClose();
    throw error;
  }
}
