/**
 * Opens the store that a database's name says: how programs take `--database`.
 *
 * @module
 */
import { Socket } from "node:net";

import { Pool, type PoolConfig } from "pg";

import { openPglite } from "./embedded/pglite-directory.ts";
import { openPrivateServer, type PrivateServer } from "./embedded/private-server.ts";
import { memoryStore } from "./memory/memory.ts";
import type { ConnectionPool } from "./postgres/client.ts";
import { postgresStore } from "./postgres/postgres.ts";
import type { Store } from "./store.ts";

const PGLITE = "pglite:";
/** Time limit for connecting: a server that accepts packets and never answers counts as unreachable. */
const CONNECT_MS = 10_000;

/** How a database is opened. */
export interface OpenOptions {
  /**
   * Gives up opening: what was begun is left as it was found, and the promise is rejected, unless it is about to be kept.
   */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Opens a database: `postgres://…` is a server, `pglite:DIR` a PGlite in a directory, `memory` a store in memory, and any
 * other text a directory with a private server.
 *
 * @throws {RatebookError} ERR_STORE_UNAVAILABLE when it cannot be reached, started, or is open elsewhere, or opening was
 * given up; ERR_REFUSED when a newer ratebook has changed it, or PostgreSQL is too old
 */
export async function openDatabase(name: string, { signal }: OpenOptions = {}): Promise<Store> {
  if (name === "memory") return memoryStore();
  if (name.startsWith(PGLITE)) return openPglite(name.slice(PGLITE.length));
  if (/^postgres(?:ql)?:\/\//.test(name)) {
    return openRemote(name, signal);
  }
  const revived = await openRevived(name, signal);
  return storeOver(revived.pool, revived.close);
}

/** A server that does not answer is waited for, and so is a lock that another process holds on it. */
async function openRemote(name: string, signal: AbortSignal | undefined): Promise<Store> {
  const sockets = new Set<Socket>();
  const cut = (): void => sockets.forEach((socket) => socket.destroy());
  const connect = (): Socket => {
    const socket = new Socket().on("close", () => sockets.delete(socket));
    sockets.add(socket);
    if (signal?.aborted === true) queueMicrotask(cut);
    return socket;
  };
  const pool = createPool({ connectionString: name, ...(signal === undefined ? {} : { stream: connect }) });
  signal?.addEventListener("abort", cut);
  try {
    return await storeOver(pool, () => pool.end());
  } finally {
    signal?.removeEventListener("abort", cut);
  }
}

/** A store over a pool of its own. */
async function storeOver(pool: ConnectionPool, onClose: () => Promise<void>): Promise<Store> {
  try {
    return await postgresStore(pool, { onClose });
  } catch (error) {
    await onClose();
    throw error;
  }
}

function createPool(config: PoolConfig, onBreak: () => void = () => {}): Pool {
  // A connection that breaks while it is idle is replaced when it is needed. One that breaks at the moment at which it is
  // handed out is nobody's yet: its event would end the process.
  return new Pool({ connectionTimeoutMillis: CONNECT_MS, keepAlive: true, ...config })
    .on("connect", (connection) => void connection.on("error", () => {}))
    .on("error", onBreak);
}

interface OpenedServer {
  readonly server: PrivateServer;
  readonly pool: Pool;
}

interface RevivedServer {
  readonly pool: ConnectionPool;
  readonly close: () => Promise<void>;
}

/**
 * The pool of a private server, which is started again if it ends, as nothing else would do that. What is asked in the
 * meantime fails, since its outcome is unknown.
 */
async function openRevived(directory: string, signal: AbortSignal | undefined): Promise<RevivedServer> {
  const toOpenedServer = (server: PrivateServer): OpenedServer => ({
    server,
    pool: createPool(server.connection, revive),
  });
  let current: OpenedServer;
  let reviving: Promise<void> | undefined;
  const closing = new AbortController();
  function revive(): void {
    if (!closing.signal.aborted) reviving ??= reopen();
  }
  async function reopen(): Promise<void> {
    try {
      const server = await openPrivateServer(directory, closing.signal);
      const before = current;
      // The server still runs: the connection broke for another reason.
      if (server.pid === before.server.pid) {
        await server.close();
        return;
      }
      current = toOpenedServer(server);
      // Its connections in use are broken; each is released when its user gets the error.
      before.pool.end().catch(() => {});
      await before.server.close();
    } catch {
      // The next broken connection tries again.
    } finally {
      reviving = undefined;
    }
  }
  current = toOpenedServer(await openPrivateServer(directory, signal));
  return {
    pool: {
      async connect() {
        try {
          return await current.pool.connect();
        } catch (error) {
          revive();
          throw error;
        }
      },
    },
    close: async () => {
      closing.abort();
      await reviving;
      await current.pool.end();
      await current.server.close();
    },
  };
}
