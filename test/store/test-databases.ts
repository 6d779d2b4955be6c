/** Databases for tests: a directory for each test of a file, a server for all of them, and operations on them. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { PGlite } from "@electric-sql/pglite";
import { Pool, type PoolClient, type QueryConfig, type QueryResult } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";

import { commit } from "../../src/store/conformance/case.ts";
import { account, cell, TODAY } from "../../src/store/conformance/samples.ts";
import { openPrivateServer, type PrivateServer } from "../../src/store/embedded/private-server.ts";
import { findProcess } from "../../src/store/embedded/processes.ts";
import type { ConnectionPool, PostgresClient } from "../../src/store/postgres/client.ts";
import { postgresStore } from "../../src/store/postgres/postgres.ts";
import type { Store } from "../../src/store/store.ts";
import { sleep } from "../../src/store/yielder.ts";
import { childrenOf } from "../support/database-processes.ts";
import { copyEmptyDatabase } from "../support/new-database.ts";

const children: ChildProcess[] = [];

/** Creates a directory with a database before each test of the calling file, and removes it after the test. */
export function databaseDirectory(): { readonly path: string } {
  let directory: string;
  beforeEach(async () => {
    // A directory that only its owner may enter: if this process is root, the server's user may not.
    directory = await mkdtemp(join(tmpdir(), "ratebook-test-"));
    await copyEmptyDatabase(directory);
  });
  afterEach(async () => {
    for (const child of children.splice(0)) child.kill("SIGKILL");
    await rm(directory, { recursive: true, force: true, maxRetries: 5 });
  });
  return {
    get path() {
      return directory;
    },
  };
}

/** Available while the tests run. */
export interface PrivateDatabase {
  readonly pool: Pool;
  readonly connection: PrivateServer["connection"];
  readonly directory: string;
  /** Kills the server like a power failure; the pool then has no connections. */
  readonly kill: () => Promise<void>;
  /** Starts the killed server, with a new pool. */
  readonly restart: () => Promise<void>;
}

/** Starts a server before the tests of the calling file, and removes it with its files afterwards. */
export function privateDatabase(): PrivateDatabase {
  let directory: string;
  let server: PrivateServer;
  let pool: Pool;
  const start = async (): Promise<void> => {
    server = await openPrivateServer(directory);
    pool = new Pool({ ...server.connection, max: 20 }).on("error", () => {});
  };
  const stop = async (): Promise<void> => {
    await pool.end();
    await server.close();
  };
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "ratebook-test-"));
    await copyEmptyDatabase(directory);
    await start();
    // The machine keeps running, so nothing has to be flushed to disk.
    await pool.query("alter system set fsync = off");
    await pool.query("select pg_reload_conf()");
  });
  afterAll(async () => {
    await stop();
    await rm(directory, { recursive: true, force: true, maxRetries: 5 });
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
    kill: async () => {
      const processes = [server.pid, ...childrenOf(server.pid)];
      process.kill(server.pid, "SIGKILL");
      await until(() => !processes.some((pid) => findProcess(pid)?.name === "postgres"));
    },
    restart: async () => {
      await stop();
      await start();
    },
  };
}

/** Opens a PGlite in memory before the tests of the calling file, and closes it afterwards. */
export function pgliteDatabase(): { readonly client: PGlite } {
  let client: PGlite;
  beforeAll(async () => {
    client = await PGlite.create();
  });
  afterAll(() => client.close());
  return {
    get client() {
      return client;
    },
  };
}

/** A pool for a server that may stop before the pool has ended. */
export function poolOf({ connection }: Pick<PrivateServer, "connection">): Pool {
  return new Pool(connection).on("error", () => {});
}

/** A pool whose connections run their statements in another way. */
export function poolThat(
  pool: Pick<Pool, "connect">,
  query: (connection: PoolClient, statement: QueryConfig) => Promise<QueryResult>,
): ConnectionPool {
  return {
    async connect() {
      const connection = await pool.connect();
      return {
        query: (statement: QueryConfig) => query(connection, statement),
        on: (event, listener) => connection.on(event, listener),
        off: (event, listener) => connection.off(event, listener),
        release: (error) => connection.release(error),
      };
    },
  };
}

/** A process that does nothing. */
export function bystander(): ChildProcess & { readonly pid: number } {
  const child = spawn(process.execPath, ["-e", "setTimeout(() => {}, 60000)"], { stdio: "ignore" });
  children.push(child);
  if (child.pid === undefined) throw new Error("no process was started");
  return child as ChildProcess & { readonly pid: number };
}

/** Waits until a condition is true; if the test times out, the error names the condition. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(20);
}

/** Adds to the usage of an account. */
export async function addUsage(store: Store, quantity: string): Promise<void> {
  await commit(store, { accounts: [account("a")], usage: [cell("a", "m", TODAY, quantity)] });
}

/** The usage of the account. */
export async function readUsage(store: Store): Promise<string | undefined> {
  return (await store.read.usage(["a"], TODAY, TODAY + 1))[0]?.quantity.toFixed();
}

/** Does something as soon as the server answers again. */
export async function whenBack<Result>(work: () => Promise<Result>): Promise<Result> {
  const deadline = Date.now() + 120_000;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await sleep(20);
    }
  }
}

const EMPTIED = "emptied";

/** All written rows except the version of the tables. */
const EMPTY = `do $$
  declare written text;
  begin
    for written in select tablename from pg_tables
      where schemaname = '${EMPTIED}' and tablename not in ('migration', 'configuration')
    loop
      execute format('delete from ${EMPTIED}.%I', written);
    end loop;
    update ${EMPTIED}.configuration set revision = 0;
    alter sequence ${EMPTIED}.event_number restart;
  end $$`;

/**
 * Opens a store after emptying the tables of the previous one, which must be closed: creating the tables for each takes a
 * hundred times as long.
 */
export async function emptiedStore(client: PostgresClient & { query(text: string): Promise<unknown> }): Promise<Store> {
  const store = await postgresStore(client, { schema: EMPTIED });
  await client.query(EMPTY);
  return store;
}
