/** Databases in directories: who starts them, who stops them, and what survives. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { type FSWatcher, rmSync, watch } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { Pool, type PoolClient, type QueryConfig } from "pg";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";

import { account, cell, event, TODAY } from "../../src/store/conformance/samples.ts";
import { openPrivateServer, type PrivateServer } from "../../src/store/embedded/private-server.ts";
import { processOf } from "../../src/store/embedded/processes.ts";
import { openDatabase } from "../../src/store/open-database.ts";
import type { ConnectionPool } from "../../src/store/postgres/client.ts";
import { postgresStore } from "../../src/store/postgres/postgres.ts";
import { sleep } from "../../src/store/sleep.ts";
import type { Store } from "../../src/store/store.ts";
import { newDatabaseIn } from "../support/new-database.ts";

let directory: string;
const started: ChildProcess[] = [];

beforeEach(async () => {
  // A directory that only its owner may enter: where this is root, the server's user may not.
  directory = await mkdtemp(join(tmpdir(), "ratebook-test-"));
  await newDatabaseIn(directory);
});

afterEach(async () => {
  for (const child of started.splice(0)) child.kill("SIGKILL");
  await rm(directory, { recursive: true, force: true, maxRetries: 5 });
});

/** A pool to a server that may stop before the pool has ended. */
function poolOf(server: PrivateServer): Pool {
  return new Pool(server.connection).on("error", () => {});
}

/** A process that does nothing. */
function bystander(): ChildProcess & { readonly pid: number } {
  const child = spawn(process.execPath, ["-e", "setTimeout(() => {}, 60000)"], { stdio: "ignore" });
  started.push(child);
  if (child.pid === undefined) throw new Error("no process was started");
  return child as ChildProcess & { readonly pid: number };
}

/** Waits for something that comes to hold at some time; a test whose time is over says that it never did. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(20);
}

async function put(store: Store, quantity: string): Promise<void> {
  const changes = { accounts: [account("a")], usage: [cell("a", "m", TODAY, quantity)] };
  const scope = { configuration: "shared", accountIds: ["a"], eventIds: [] } as const;
  await store.transact(scope, async () => ({ result: undefined, changes }));
}

async function total(store: Store): Promise<string | undefined> {
  return (await store.read.usage(["a"], TODAY, TODAY + 1))[0]?.quantity.toFixed();
}

/** Does something as soon as the server answers again. */
async function whenBack<Result>(work: () => Promise<Result>): Promise<Result> {
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

describe("a private server", () => {
  test("is used together, and stopped by the last one that closes it", async () => {
    const empty = join(directory, "empty");
    const [first, second] = await Promise.all([openPrivateServer(empty), openPrivateServer(empty)]);
    expect(second.pid).toBe(first.pid);
    await first.close();
    await first.close();
    const pool = poolOf(second);
    expect((await pool.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
    await pool.end();
    await second.close();
    expect(processOf(first.pid)).toBeUndefined();
  });

  test("stops by itself when those that opened it were killed", async () => {
    const server = await openPrivateServer(directory);
    const other = bystander();
    await writeFile(join(directory, "users", `${other.pid}.opener`), "");
    await server.close();
    expect(processOf(server.pid)?.name).toBe("postgres");
    other.kill("SIGKILL");
    await until(() => processOf(server.pid) === undefined);
  });

  test("stops by itself though another program has the number of one that was killed by now", async () => {
    const server = await openPrivateServer(directory);
    const [own = ""] = await readdir(join(directory, "users"));
    const began = await readFile(join(directory, "users", own), "utf8");
    expect(began).toBe(processOf(process.pid)?.began);
    const other = bystander();
    await writeFile(join(directory, "users", `${other.pid}.killed`), began === "1" ? "2" : "1");
    await rm(join(directory, "users", own));
    await until(() => processOf(server.pid) === undefined);
    await server.close();
  });

  test("brings back what was acknowledged before it was killed", async () => {
    const server = await openPrivateServer(directory);
    const store = await openDatabase(directory);
    await put(store, "0.1");
    process.kill(server.pid, "SIGKILL");
    await until(() => processOf(server.pid) === undefined);
    await expect(put(store, "1")).rejects.toMatchObject({ code: "ERR_STORE_UNAVAILABLE" });
    const again = await openDatabase(directory);
    await put(again, "0.2");
    expect(await total(again)).toBe("0.3");
    await Promise.all([again.close(), store.close(), server.close()]);
  });

  test("that dies while a transaction is under way ends the transaction, not the process", async () => {
    const server = await openPrivateServer(directory);
    const pool = poolOf(server);
    const store = await postgresStore(pool);
    const scope = { configuration: "shared", accountIds: ["a"], eventIds: [] } as const;
    const dying = store.transact(scope, async () => {
      process.kill(server.pid, "SIGKILL");
      await until(() => processOf(server.pid) === undefined);
      await sleep(100);
      return { result: undefined, changes: { accounts: [account("a")] } };
    });
    await expect(dying).rejects.toMatchObject({ code: "ERR_STORE_UNAVAILABLE" });
    await pool.end();
    await server.close();
  });

  test("starts where the file of a killed one names a process that is another program now", async () => {
    const server = await openPrivateServer(directory);
    const file = join(directory, "postgres", "postmaster.pid");
    const text = await readFile(file, "utf8");
    await server.close();
    await writeFile(file, text.replace(/^\d+/, String(bystander().pid)));
    const again = await openPrivateServer(directory);
    expect(again.pid).not.toBe(server.pid);
    await again.close();
  });

  test("says why it cannot be started", async () => {
    const server = await openPrivateServer(directory);
    await server.close();
    await writeFile(join(directory, "postgres", "postgresql.conf"), "no_such_setting = 1\n");
    await expect(openPrivateServer(directory)).rejects.toMatchObject({
      code: "ERR_STORE_UNAVAILABLE",
      message: expect.stringContaining("configuration file") as string,
    });
  });
});

/** A pool that loses the answer to a commit. */
interface LosingPool extends ConnectionPool {
  /** Whether it has. */
  readonly hasLost: () => boolean;
}

/** A pool whose first commit of usage ends otherwise: `commit` does what becomes of it, and the connection is lost. */
function withLostCommit(pool: Pool, commit: (connection: PoolClient) => Promise<unknown>): LosingPool {
  let state: "waiting" | "armed" | "over" = "waiting";
  return {
    hasLost: () => state === "over",
    async connect() {
      const connection = await pool.connect();
      return {
        async query(statement: QueryConfig) {
          if (statement.text.includes('"usage_cells"') && state === "waiting") state = "armed";
          if (!/(?:^|; )commit$/.test(statement.text) || state !== "armed") return connection.query(statement);
          state = "over";
          await commit(connection);
          throw new Error("Connection terminated unexpectedly");
        },
        on: (event, listener) => connection.on(event, listener),
        off: (event, listener) => connection.off(event, listener),
        release: (error) => connection.release(error),
      };
    },
  };
}

/** A pool whose first commit with changes is not answered; `isLost` says whether the server has had it. */
function withUnansweredCommit(pool: Pool, isLost: boolean): LosingPool {
  return withLostCommit(pool, (connection) => connection.query(isLost ? "rollback" : "commit"));
}

describe("the socket of a private server", () => {
  test("is beside the files of the database, in a directory that only the server's user may enter", async () => {
    await (await openPrivateServer(directory)).close();
    const data = join(directory, "postgres");
    // What a server leaves that went down with its machine.
    await mkdir(join(data, "ratebook-before"));
    const server = await openPrivateServer(directory);
    const { host } = server.connection;
    expect(dirname(host)).toBe(data);
    expect((await stat(host)).mode & 0o777).toBe(0o700);
    const folders = async (): Promise<readonly string[]> =>
      (await readdir(data)).filter((name) => name.startsWith("ratebook-")).map((name) => join(data, name));
    expect(await folders()).toEqual([host]);
    await server.close();
    await vi.waitFor(async () => expect(await folders()).toEqual([]), 120_000);
  });

  test("is in the directory of temporary files where the path is too long for a socket", async () => {
    const server = await openPrivateServer(join(directory, "d".repeat(80)));
    expect(dirname(server.connection.host)).toBe(tmpdir());
    await server.close();
  });

  test("is refused, with the places that were tried, where the server can listen in none", async () => {
    await (await openPrivateServer(directory)).close();
    await writeFile(join(directory, "postgres", "postgresql.conf"), "unix_socket_group = 'no such group'\n");
    await expect(openPrivateServer(directory)).rejects.toMatchObject({
      code: "ERR_STORE_UNAVAILABLE",
      message: expect.stringContaining(`none could be made in ${directory}`) as string,
    });
  });

  test("is made elsewhere where it cannot stay in the first place", async () => {
    await (await openPrivateServer(directory)).close();
    const data = join(directory, "postgres");
    // The directory of the server before may only now go.
    const before = new Set(await readdir(data));
    const watcher: FSWatcher = watch(data, (_, name) => {
      if (name?.startsWith("ratebook-") !== true || before.has(name)) return;
      watcher.close();
      rmSync(join(data, name), { recursive: true, force: true });
    });
    const server = await openPrivateServer(directory);
    expect(dirname(server.connection.host)).toBe(tmpdir());
    await server.close();
  });

  test("that was taken away is missed by many at once, who start one server again", async () => {
    const server = await openPrivateServer(directory);
    const store = await openDatabase(directory);
    await put(store, "1");
    await rm(server.connection.host, { recursive: true });
    const [first, second, third] = await Promise.all([
      openPrivateServer(directory),
      openPrivateServer(directory),
      openDatabase(directory),
    ]);
    expect(processOf(server.pid)).toBeUndefined();
    expect([first.pid, first.connection]).toEqual([second.pid, second.connection]);
    expect(dirname(first.connection.host)).toBe(join(directory, "postgres"));
    // Who had it open before finds the new one.
    await whenBack(() => put(store, "2"));
    expect(await total(third)).toBe("3");
    await Promise.all([store.close(), third.close(), first.close(), second.close(), server.close()]);
    expect(processOf(first.pid)).toBeUndefined();
  });

  test("that was taken away is missed when a connection is needed, and the store goes on", async () => {
    const server = await openPrivateServer(directory);
    const pool = poolOf(server);
    const store = await openDatabase(directory);
    await put(store, "1");
    await pool.query("select 1");
    await rm(server.connection.host, { recursive: true });
    await pool.query("select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid()");
    await whenBack(() => put(store, "2"));
    expect(await total(store)).toBe("3");
    await Promise.all([pool.end(), store.close(), server.close()]);
  });

  test("does not keep a store from closing once it is gone, and the next one opens", async () => {
    const server = await openPrivateServer(directory);
    const pool = poolOf(server);
    const store = await openDatabase(directory);
    await put(store, "1");
    await pool.query("select 1");
    await rm(server.connection.host, { recursive: true });
    await pool.query("select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid()");
    await pool.end();
    await expect(put(store, "2")).rejects.toMatchObject({ code: "ERR_STORE_UNAVAILABLE" });
    await Promise.all([store.close(), server.close()]);
    expect(processOf(server.pid)).toBeUndefined();
    const again = await openDatabase(directory);
    expect(await total(again)).toBe("1");
    await again.close();
  });

  test("of a server that does not answer is left when opening is given up", async () => {
    const server = await openPrivateServer(directory);
    process.kill(server.pid, "SIGSTOP");
    const giveUp = new AbortController();
    const opening = openPrivateServer(directory, giveUp.signal);
    setTimeout(() => giveUp.abort(), 200);
    await expect(opening).rejects.toMatchObject({ message: "opening was given up" });
    process.kill(server.pid, "SIGCONT");
    await server.close();
  });

  test("in a copy of a directory that was open leads nobody to the server of the original", async () => {
    const [original, copy] = [join(directory, "original"), join(directory, "copy")];
    await newDatabaseIn(original);
    const store = await openDatabase(original);
    await put(store, "1");
    const server = await openPrivateServer(original);
    // As `cp -a` does, which leaves a socket to which nobody listens.
    const copied = spawnSync("cp", ["-a", original, copy]);
    expect(copied.status).toBe(0);
    const other = await openPrivateServer(copy);
    expect(other.pid).not.toBe(server.pid);
    expect(processOf(server.pid)?.name).toBe("postgres");
    await put(store, "2");
    expect(await total(store)).toBe("3");
    await Promise.all([store.close(), server.close(), other.close()]);
  });

  test("is not looked for at the server of another directory, whose process has the id of a killed one", async () => {
    await newDatabaseIn(join(directory, "other"));
    await newDatabaseIn(join(directory, "own"));
    const other = await openPrivateServer(join(directory, "other"));
    const server = await openPrivateServer(join(directory, "own"));
    const file = join(directory, "own", "postgres", "postmaster.pid");
    const text = await readFile(file, "utf8");
    await server.close();
    await writeFile(file, text.replace(/^\d+/, String(other.pid)));
    const again = await openPrivateServer(join(directory, "own"));
    expect(again.pid).not.toBe(other.pid);
    expect(processOf(other.pid)?.name).toBe("postgres");
    await Promise.all([again.close(), other.close()]);
  });
});

describe("a commit that is not answered", () => {
  test.each([
    ["was done is not done again", false],
    ["was lost is done again", true],
  ])("and %s", async (_, isLost) => {
    const server = await openPrivateServer(directory);
    const pool = poolOf(server);
    const losing = withUnansweredCommit(pool, isLost);
    const store = await postgresStore(losing);
    await put(store, "1");
    expect(losing.hasLost()).toBe(true);
    expect(await total(store)).toBe("1");
    await pool.end();
    await server.close();
  });
});

describe("an undo whose commit is not answered", () => {
  test.each([
    ["was done is not done again", false],
    ["was lost is done again", true],
  ])("and %s", async (_, isLost) => {
    const server = await openPrivateServer(directory);
    const pool = poolOf(server);
    const first = await postgresStore(pool);
    const stored = event("a", 1, { eventId: "x" });
    const scope = { configuration: "shared", accountIds: ["a"], eventIds: ["x"] } as const;
    await first.transact(scope, async () => ({
      result: undefined,
      changes: { accounts: [account("a")], events: [stored], usage: [cell("a", "m", TODAY, "3")] },
    }));
    const losing = withUnansweredCommit(pool, isLost);
    const store = await postgresStore(losing);
    await store.transact({ ...scope, eventIds: [] }, async () => ({
      result: undefined,
      changes: { events: [{ ...stored, reverted: true }], usage: [cell("a", "m", TODAY, "-1")] },
    }));
    expect(losing.hasLost()).toBe(true);
    expect(await total(store)).toBe("2");
    expect(await store.read.acceptedIds(["x"])).toEqual([]);
    await pool.end();
    await server.close();
  });
});

/** A pool whose statements are given up after a tenth of a second from `hurry` on, by the server or by the driver. */
function impatient(pool: Pool, by: "the server" | "the driver"): ConnectionPool & { readonly hurry: () => void } {
  let isHurried = false;
  return {
    hurry: () => void (isHurried = true),
    async connect() {
      const connection = await pool.connect();
      if (isHurried && by === "the server") await connection.query("set lock_timeout = 100");
      const hurried = isHurried && by === "the driver" ? { query_timeout: 100 } : {};
      return {
        query: (statement: QueryConfig) => connection.query({ ...statement, ...hurried }),
        on: (event, listener) => connection.on(event, listener),
        off: (event, listener) => connection.off(event, listener),
        release: (error) => connection.release(error),
      };
    },
  };
}

describe("a transaction that takes longer than it may", () => {
  test.each(["the server", "the driver"] as const)("by %s is ended, and nothing of it is written", async (by) => {
    const server = await openPrivateServer(directory);
    const [pool, hurried] = [poolOf(server), poolOf(server)];
    const hurrying = impatient(hurried, by);
    const [store, late] = [await postgresStore(pool), await postgresStore(hurrying)];
    await put(store, "1");
    hurrying.hurry();
    await store.transact({ configuration: "shared", accountIds: ["a"], eventIds: [] }, async () => {
      await expect(put(late, "10")).rejects.toMatchObject({ code: "ERR_STORE_UNAVAILABLE" });
      return { result: undefined, changes: { usage: [cell("a", "m", TODAY, "1")] } };
    });
    expect(await total(store)).toBe("2");
    await Promise.all([pool.end(), hurried.end()]);
    await server.close();
  });
});

/** A pool in which a process of the server crashes before the first commit of usage, and others commit before it is asked for. */
function withCrash(pool: Pool, others: () => Promise<void>): LosingPool {
  return withLostCommit(pool, async (connection) => {
    const { rows } = await connection.query<{ pid: number }>("select pg_backend_pid() as pid");
    process.kill(rows[0]?.pid ?? 0, "SIGKILL");
    await connection.query("commit").catch(() => {});
    await others();
  });
}

describe("a commit before which a process of the server crashed", () => {
  test("is not taken for another one that got its number afterwards", async () => {
    const server = await openPrivateServer(directory);
    const pool = poolOf(server);
    const other = await postgresStore(pool);
    await put(other, "0.1");
    const others = async (): Promise<void> => {
      for (let count = 0; count < 20; count++) await whenBack(() => put(other, "0.1"));
    };
    const store = await postgresStore(withCrash(pool, others));
    const answer = await put(store, "100").then(
      () => "done",
      ({ code }: { code: string }) => code,
    );
    expect([answer, await total(other)]).toEqual(["ERR_STORE_UNAVAILABLE", "2.1"]);
    await pool.end();
    await server.close();
  });
});

describe("a database by its name", () => {
  test("is a directory, a URL or memory", async () => {
    const store = await openDatabase(directory);
    await put(store, "5");
    const server = await openPrivateServer(directory);
    const url = `postgres://ratebook@localhost/postgres?host=${encodeURIComponent(server.connection.host)}`;
    const same = await openDatabase(url);
    expect(await total(same)).toBe("5");
    await Promise.all([same.close(), store.close()]);
    await server.close();
    expect((await openDatabase("memory")).name).toBe("memory");
  });

  test("is refused when nothing answers there", async () => {
    await expect(openDatabase(`postgres://x@localhost/x?host=${directory}`)).rejects.toMatchObject({
      code: "ERR_STORE_UNAVAILABLE",
    });
  });

  test("may be started by many at once, and one of a newer version is left alone", async () => {
    const server = await openPrivateServer(directory);
    const pool = poolOf(server);
    const stores = await Promise.all(Array.from({ length: 5 }, () => postgresStore(pool)));
    await Promise.all(stores.map((store) => put(store, "1")));
    await pool.query("insert into ratebook.migration (version) values (999)");
    await expect(postgresStore(pool)).rejects.toMatchObject({ code: "ERR_REFUSED" });
    await pool.end();
    await server.close();
  });
});
