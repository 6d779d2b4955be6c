/** Opens a store by the name that programs take as `--database`. */
import { Socket } from "node:net";

import { Pool, type PoolConfig } from "pg";

import { openPglite } from "./embedded/pglite-directory.ts";
import { openPrivateServer, type PrivateServer } from "./embedded/private-server.ts";
import { memoryStore } from "./memory/memory.ts";
import type { ConnectionPool } from "./postgres/client.ts";
import { postgresStore } from "./postgres/postgres.ts";
import type { Store } from "./store.ts";

const PGLITE = "pglite:";
/** Timeout for connecting: a server that accepts packets but does not answer counts as unreachable. */
const CONNECT_MS = 10_000;

/** Options for opening a database. */
interface OpenOptions {
  /** Cancels opening: changes so far are reverted and the promise rejects, unless opening has already succeeded. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Opens a database: `postgres://…` is a server, `pglite:DIR` a PGlite in a directory, `memory` a store in memory, and
 * anything else a directory with a private server.
 *
 * @throws {RatebookError} ERR_STORE_UNAVAILABLE if it cannot be reached or started, is open in another process, or
 * opening was cancelled; ERR_REFUSED if a newer ratebook has changed it, or PostgreSQL is too old
 */
export async function openDatabase(name: string, { signal }: OpenOptions = {}): Promise<Store> {
  if (name === "memory") return memoryStore();
  if (name.startsWith(PGLITE)) return openPglite(name.slice(PGLITE.length));
  if (/^postgres(?:ql)?:\/\//.test(name)) {
    return openRemote(name, signal);
  }
  const store = await openRestartingPool(name, signal);
  return openStoreOver(store.pool, store.close);
}

/** Opens a store on a server. Waiting for its answer or its migration lock can be cancelled. */
async function openRemote(name: string, signal: AbortSignal | undefined): Promise<Store> {
  const sockets = new Set<Socket>();
  const destroySockets = (): void => sockets.forEach((socket) => socket.destroy());
  const connect = (): Socket => {
    const socket = new Socket().on("close", () => sockets.delete(socket));
    sockets.add(socket);
    if (signal?.aborted === true) queueMicrotask(destroySockets);
    return socket;
  };
  const pool = createPool({ connectionString: name, ...(signal === undefined ? {} : { stream: connect }) });
  signal?.addEventListener("abort", destroySockets);
  try {
    return await openStoreOver(pool, () => pool.end());
  } finally {
    signal?.removeEventListener("abort", destroySockets);
  }
}

/** A store that owns its pool. */
async function openStoreOver(pool: ConnectionPool, onClose: () => Promise<void>): Promise<Store> {
  try {
    return await postgresStore(pool, { onClose });
  } catch (error) {
    await onClose();
    throw error;
  }
}

function createPool(config: PoolConfig, onBreak: () => void = () => {}): Pool {
  // A connection that breaks while idle is replaced when needed. One that breaks just before it is handed out has no
  // listener yet: its event would end the process.
  return new Pool({ connectionTimeoutMillis: CONNECT_MS, keepAlive: true, ...config })
    .on("connect", (connection) => void connection.on("error", () => {}))
    .on("error", onBreak);
}

interface ServerWithPool {
  readonly server: PrivateServer;
  readonly pool: Pool;
}

interface RestartingPool {
  readonly pool: ConnectionPool;
  readonly close: () => Promise<void>;
}

/**
 * The pool of a private server, which is restarted if it ends, because nothing else would do that. Requests in the
 * meantime fail, because their outcome is unknown.
 */
async function openRestartingPool(directory: string, signal: AbortSignal | undefined): Promise<RestartingPool> {
  const withPool = (server: PrivateServer): ServerWithPool => ({
    server,
    pool: createPool(server.connection, restart),
  });
  let current: ServerWithPool;
  let reopening: Promise<void> | undefined;
  const closing = new AbortController();
  function restart(): void {
    if (!closing.signal.aborted) reopening ??= reopen();
  }
  async function reopen(): Promise<void> {
    try {
      const server = await openPrivateServer(directory, closing.signal);
      const before = current;
      // The server is running: the connection broke for another reason.
      if (server.pid === before.server.pid) {
        await server.close();
        return;
      }
      current = withPool(server);
      // Its connections in use are broken; each is released when its user gets the error.
      before.pool.end().catch(() => {});
      await before.server.close();
    } catch {
      // The next broken connection tries again.
    } finally {
      reopening = undefined;
    }
  }
  current = withPool(await openPrivateServer(directory, signal));
  return {
    pool: {
      async connect() {
        try {
          return await current.pool.connect();
        } catch (error) {
          restart();
          throw error;
        }
      },
    },
    close: async () => {
      closing.abort();
      await reopening;
      await current.pool.end();
      await current.server.close();
    },
  };
}
