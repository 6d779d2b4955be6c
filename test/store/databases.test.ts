/** Databases by name, broken connections, and commits whose answer is lost. */
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";

import type { Pool, PoolClient } from "pg";
import { beforeEach, describe, expect, test } from "vitest";

import { commit } from "../../src/store/conformance/case.ts";
import { cell, event, TODAY } from "../../src/store/conformance/samples.ts";
import { openDatabase } from "../../src/store/open-database.ts";
import type { ConnectionPool } from "../../src/store/postgres/client.ts";
import { postgresStore } from "../../src/store/postgres/postgres.ts";
import type { Store } from "../../src/store/store.ts";
import { addUsage, poolOf, poolThat, privateDatabase, readUsage, whenBack } from "./test-databases.ts";

const here = privateDatabase();
beforeEach(() => here.pool.query("drop schema if exists ratebook cascade"));

/** A pool that loses the answer to a commit. */
interface LosingPool extends ConnectionPool {
  /** Whether it has lost one. */
  readonly hasLost: () => boolean;
}

/** A pool whose first commit of usage fails: `commit` decides what happens to it, and the connection is lost. */
function withLostCommit(pool: Pool, commit: (connection: PoolClient) => Promise<unknown>): LosingPool {
  let state: "waiting" | "armed" | "over" = "waiting";
  const losing = poolThat(pool, async (connection, statement) => {
    if (statement.text.includes('"usage_cells"') && state === "waiting") state = "armed";
    if (!/(?:^|; )commit$/.test(statement.text) || state !== "armed") return connection.query(statement);
    state = "over";
    await commit(connection);
    throw new Error("Connection terminated unexpectedly");
  });
  return { ...losing, hasLost: () => state === "over" };
}

/** What a server made of a commit that it did not answer. */
const UNANSWERED = [
  ["was done is not done again", "commit"],
  ["was lost is done again", "rollback"],
] as const;

describe("a commit that is not answered, and the commit of an undo,", () => {
  test.each(UNANSWERED)("and %s", async (_, statement) => {
    const pool = poolOf(here);
    const openLosing = async (): Promise<readonly [Store, LosingPool]> => {
      const losing = withLostCommit(pool, (connection) => connection.query(statement));
      return [await postgresStore(losing), losing];
    };
    const [store, losing] = await openLosing();
    await addUsage(store, "1");
    expect(losing.hasLost()).toBe(true);
    expect(await readUsage(store)).toBe("1");
    const storedEvent = event("a", 1, { eventId: "x" });
    await commit(store, { events: [storedEvent], usage: [cell("a", "m", TODAY, "2")] });
    const [undoing, losingUndo] = await openLosing();
    await commit(undoing, { events: [{ ...storedEvent, reverted: true }], usage: [cell("a", "m", TODAY, "-1")] });
    expect(losingUndo.hasLost()).toBe(true);
    expect(await readUsage(undoing)).toBe("2");
    expect(await undoing.read.acceptedIds(["x"])).toEqual([]);
    await pool.end();
  });
});

/** A pool whose statements time out after a tenth of a second from `startTimeouts` on, in the server or in the driver. */
function poolWithTimeout(
  pool: Pool,
  by: "the server" | "the driver",
): ConnectionPool & { readonly startTimeouts: () => void } {
  let isTimingOut = false;
  const timingOut = poolThat(pool, async (connection, statement) => {
    const options = isTimingOut && by === "the driver" ? { query_timeout: 100 } : {};
    return connection.query({ ...statement, ...options });
  });
  return {
    startTimeouts: () => void (isTimingOut = true),
    async connect() {
      const connection = await timingOut.connect();
      if (isTimingOut && by === "the server") await connection.query({ text: "set lock_timeout = 100" });
      return connection;
    },
  };
}

describe("a transaction that takes too long", () => {
  test.each(["the server", "the driver"] as const)("for %s is aborted, and writes nothing", async (by) => {
    const [pool, basePool] = [poolOf(here), poolOf(here)];
    const timingOut = poolWithTimeout(basePool, by);
    const [store, late] = [await postgresStore(pool), await postgresStore(timingOut)];
    await addUsage(store, "1");
    timingOut.startTimeouts();
    await store.transact({ configuration: "shared", accountIds: ["a"], eventIds: [] }, async () => {
      await expect(addUsage(late, "10")).rejects.toMatchObject({ code: "ERR_STORE_UNAVAILABLE" });
      return { result: undefined, changes: { usage: [cell("a", "m", TODAY, "1")] } };
    });
    expect(await readUsage(store)).toBe("2");
    await Promise.all([pool.end(), basePool.end()]);
  });
});

/**
 * A pool in which a server process crashes before the first commit of usage, and others commit before its outcome is
 * queried.
 */
function withCrash(pool: Pool, others: () => Promise<void>): LosingPool {
  return withLostCommit(pool, async (connection) => {
    const { rows } = await connection.query<{ pid: number }>("select pg_backend_pid() as pid");
    process.kill(rows[0]?.pid ?? 0, "SIGKILL");
    await connection.query("commit").catch(() => {});
    await others();
  });
}

describe("a commit before which a server process crashed", () => {
  test("is not confused with a later transaction that got its number", async () => {
    const pool = poolOf(here);
    const other = await postgresStore(pool);
    await addUsage(other, "0.1");
    const others = async (): Promise<void> => {
      for (let count = 0; count < 20; count++) await whenBack(() => addUsage(other, "0.1"));
    };
    const store = await postgresStore(withCrash(pool, others));
    const answer = await addUsage(store, "100").then(
      () => "done",
      ({ code }: { code: string }) => code,
    );
    expect([answer, await readUsage(other)]).toEqual(["ERR_STORE_UNAVAILABLE", "2.1"]);
    await pool.end();
  });
});

describe("a database by name", () => {
  test("is a directory, a URL or memory", async () => {
    const store = await openDatabase(here.directory);
    await addUsage(store, "5");
    const url = `postgres://ratebook@localhost/postgres?host=${encodeURIComponent(here.connection.host)}`;
    const same = await openDatabase(url);
    expect(await readUsage(same)).toBe("5");
    await Promise.all([same.close(), store.close()]);
    expect((await openDatabase("memory")).name).toBe("memory");
  });

  test("is rejected if nothing answers there", async () => {
    await expect(openDatabase(`postgres://x@localhost/x?host=${here.directory}`)).rejects.toMatchObject({
      code: "ERR_STORE_UNAVAILABLE",
    });
  });

  test("can be initialized by many processes at once, and a database of a newer version is left unchanged", async () => {
    const pool = poolOf(here);
    const stores = await Promise.all(Array.from({ length: 5 }, () => postgresStore(pool)));
    await Promise.all(stores.map((store) => addUsage(store, "1")));
    await pool.query("insert into ratebook.migration (version) values (999)");
    await expect(postgresStore(pool)).rejects.toMatchObject({ code: "ERR_REFUSED" });
    await pool.end();
  });
});

/** A message of the protocol: its type, its length, its content. */
function message(type: string, content: string): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(4 + Buffer.byteLength(content));
  return Buffer.concat([Buffer.from(type), length, Buffer.from(content)]);
}

const WELCOME = [message("R", "\0\0\0\0"), message("Z", "I")];
const GOODBYE = message("E", "SFATAL\0C57P01\0Mterminating connection due to administrator command\0\0");

test("a connection that closes in the packet in which it is accepted, as during a shutdown, makes the store unavailable, and does not crash the process", async () => {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => void socket.end(Buffer.concat([...WELCOME, GOODBYE])));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const opening = openDatabase(`postgres://someone@127.0.0.1:${port}/somewhere`);
  await expect(opening).rejects.toMatchObject({ code: "ERR_STORE_UNAVAILABLE" });
  server.close();
});
