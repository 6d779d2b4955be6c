/** A private server in a directory: which process starts and stops it, its socket, and what survives. */
import { spawnSync } from "node:child_process";
import { type FSWatcher, rmSync, watch } from "node:fs";
import { mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { describe, expect, test, vi } from "vitest";

import { account } from "../../src/store/conformance/samples.ts";
import { openPrivateServer } from "../../src/store/embedded/private-server.ts";
import { findProcess } from "../../src/store/embedded/processes.ts";
import { openDatabase } from "../../src/store/open-database.ts";
import { postgresStore } from "../../src/store/postgres/postgres.ts";
import { sleep } from "../../src/store/yielder.ts";
import { copyEmptyDatabase } from "../support/new-database.ts";
import { bystander, databaseDirectory, poolOf, addUsage, readUsage, until, whenBack } from "./test-databases.ts";

const here = databaseDirectory();

describe("a private server", () => {
  test("is shared, and stopped by the last process that closes it", async () => {
    const empty = join(here.path, "empty");
    const [first, second] = await Promise.all([openPrivateServer(empty), openPrivateServer(empty)]);
    expect(second.pid).toBe(first.pid);
    await first.close();
    await first.close();
    const pool = poolOf(second);
    expect((await pool.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
    await pool.end();
    await second.close();
    expect(findProcess(first.pid)).toBeUndefined();
  });

  test("stops by itself if the processes that opened it were killed", async () => {
    const server = await openPrivateServer(here.path);
    const other = bystander();
    await writeFile(join(here.path, "users", `${other.pid}.opener`), "");
    await server.close();
    expect(findProcess(server.pid)?.name).toBe("postgres");
    other.kill("SIGKILL");
    await until(() => findProcess(server.pid) === undefined);
  });

  test("stops by itself even if another program has the process id of one that was killed", async () => {
    const server = await openPrivateServer(here.path);
    const [own = ""] = await readdir(join(here.path, "users"));
    const began = await readFile(join(here.path, "users", own), "utf8");
    expect(began).toBe(findProcess(process.pid)?.startTime);
    const other = bystander();
    await writeFile(join(here.path, "users", `${other.pid}.killed`), began === "1" ? "2" : "1");
    await rm(join(here.path, "users", own));
    await until(() => findProcess(server.pid) === undefined);
    await server.close();
  });

  test("restores acknowledged writes after it was killed", async () => {
    const server = await openPrivateServer(here.path);
    const store = await openDatabase(here.path);
    await addUsage(store, "0.1");
    process.kill(server.pid, "SIGKILL");
    await until(() => findProcess(server.pid) === undefined);
    await expect(addUsage(store, "1")).rejects.toMatchObject({ code: "ERR_STORE_UNAVAILABLE" });
    const again = await openDatabase(here.path);
    await addUsage(again, "0.2");
    expect(await readUsage(again)).toBe("0.3");
    await Promise.all([again.close(), store.close(), server.close()]);
  });

  test("that crashes during a transaction fails the transaction, not the process", async () => {
    const server = await openPrivateServer(here.path);
    const pool = poolOf(server);
    const store = await postgresStore(pool);
    const scope = { configuration: "shared", accountIds: ["a"], eventIds: [] } as const;
    const dying = store.transact(scope, async () => {
      process.kill(server.pid, "SIGKILL");
      await until(() => findProcess(server.pid) === undefined);
      await sleep(100);
      return { result: undefined, changes: { accounts: [account("a")] } };
    });
    await expect(dying).rejects.toMatchObject({ code: "ERR_STORE_UNAVAILABLE" });
    await pool.end();
    await server.close();
  });

  test("starts if the lock file of a killed one names a process that is another program now", async () => {
    const server = await openPrivateServer(here.path);
    const file = join(here.path, "postgres", "postmaster.pid");
    const text = await readFile(file, "utf8");
    await server.close();
    await writeFile(file, text.replace(/^\d+/, String(bystander().pid)));
    const again = await openPrivateServer(here.path);
    expect(again.pid).not.toBe(server.pid);
    await again.close();
  });

  test("reports why it can't be started", async () => {
    const server = await openPrivateServer(here.path);
    await server.close();
    await writeFile(join(here.path, "postgres", "postgresql.conf"), "no_such_setting = 1\n");
    await expect(openPrivateServer(here.path)).rejects.toMatchObject({
      code: "ERR_STORE_UNAVAILABLE",
      message: expect.stringContaining("configuration file") as string,
    });
  });
});

describe("the socket of a private server", () => {
  test("is beside the files of the database, in a directory that only the server's user may enter", async () => {
    await (await openPrivateServer(here.path)).close();
    const data = join(here.path, "postgres");
    // The remains of a server whose machine crashed.
    await mkdir(join(data, "ratebook-before"));
    const server = await openPrivateServer(here.path);
    const { host } = server.connection;
    expect(dirname(host)).toBe(data);
    expect((await stat(host)).mode & 0o777).toBe(0o700);
    const folders = async (): Promise<readonly string[]> =>
      (await readdir(data)).filter((name) => name.startsWith("ratebook-")).map((name) => join(data, name));
    expect(await folders()).toEqual([host]);
    await server.close();
    await vi.waitFor(async () => expect(await folders()).toEqual([]), 120_000);
  });

  test("is in the temporary directory if the path is too long for a socket", async () => {
    const server = await openPrivateServer(join(here.path, "d".repeat(80)));
    expect(dirname(server.connection.host)).toBe(tmpdir());
    await server.close();
  });

  test("is an error with the tried locations if the server can't listen in any", async () => {
    await (await openPrivateServer(here.path)).close();
    await writeFile(join(here.path, "postgres", "postgresql.conf"), "unix_socket_group = 'no such group'\n");
    await expect(openPrivateServer(here.path)).rejects.toMatchObject({
      code: "ERR_STORE_UNAVAILABLE",
      message: expect.stringContaining(`none could be created in ${here.path}`) as string,
    });
  });

  test("is created in the next location if the first one fails", async () => {
    await (await openPrivateServer(here.path)).close();
    const data = join(here.path, "postgres");
    // The directory of the previous server may be removed only now.
    const before = new Set(await readdir(data));
    const watcher: FSWatcher = watch(data, (_, name) => {
      if (name?.startsWith("ratebook-") !== true || before.has(name)) return;
      watcher.close();
      rmSync(join(data, name), { recursive: true, force: true });
    });
    const server = await openPrivateServer(here.path);
    expect(dirname(server.connection.host)).toBe(tmpdir());
    await server.close();
  });

  test("that was removed makes concurrent openers start one new server together", async () => {
    const server = await openPrivateServer(here.path);
    const store = await openDatabase(here.path);
    await addUsage(store, "1");
    await rm(server.connection.host, { recursive: true });
    const [first, second, third] = await Promise.all([
      openPrivateServer(here.path),
      openPrivateServer(here.path),
      openDatabase(here.path),
    ]);
    expect(findProcess(server.pid)).toBeUndefined();
    expect([first.pid, first.connection]).toEqual([second.pid, second.connection]);
    expect(dirname(first.connection.host)).toBe(join(here.path, "postgres"));
    // A store that had it open before finds the new one.
    await whenBack(() => addUsage(store, "2"));
    expect(await readUsage(third)).toBe("3");
    await Promise.all([store.close(), third.close(), first.close(), second.close()]);
    expect(findProcess(first.pid)?.name).toBe("postgres");
    // The last one to close had opened the removed server; it stops the current one.
    await server.close();
    expect(findProcess(first.pid)).toBeUndefined();
  });

  test("that was removed is noticed when a connection is needed, and the store continues", async () => {
    const server = await openPrivateServer(here.path);
    const pool = poolOf(server);
    const store = await openDatabase(here.path);
    await addUsage(store, "1");
    await pool.query("select 1");
    await rm(server.connection.host, { recursive: true });
    await pool.query("select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid()");
    await whenBack(() => addUsage(store, "2"));
    expect(await readUsage(store)).toBe("3");
    await Promise.all([pool.end(), store.close(), server.close()]);
  });

  test("that was removed does not prevent a store from closing, and the next one opens", async () => {
    const server = await openPrivateServer(here.path);
    const pool = poolOf(server);
    const store = await openDatabase(here.path);
    await addUsage(store, "1");
    await pool.query("select 1");
    await rm(server.connection.host, { recursive: true });
    await pool.query("select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid()");
    await pool.end();
    await expect(addUsage(store, "2")).rejects.toMatchObject({ code: "ERR_STORE_UNAVAILABLE" });
    await Promise.all([store.close(), server.close()]);
    expect(findProcess(server.pid)).toBeUndefined();
    const again = await openDatabase(here.path);
    expect(await readUsage(again)).toBe("1");
    await again.close();
  });

  test("of a server that does not answer is unused after opening is aborted", async () => {
    const server = await openPrivateServer(here.path);
    process.kill(server.pid, "SIGSTOP");
    const giveUp = new AbortController();
    const opening = openPrivateServer(here.path, giveUp.signal);
    setTimeout(() => giveUp.abort(), 200);
    await expect(opening).rejects.toMatchObject({ message: "opening was cancelled" });
    process.kill(server.pid, "SIGCONT");
    await server.close();
  });

  test("in a copy of a directory that was open does not lead to the server of the original", async () => {
    const [original, copy] = [join(here.path, "original"), join(here.path, "copy")];
    await copyEmptyDatabase(original);
    const store = await openDatabase(original);
    await addUsage(store, "1");
    const server = await openPrivateServer(original);
    // Like `cp -a`, which leaves a socket without a listener.
    const copyRun = spawnSync("cp", ["-a", original, copy]);
    expect(copyRun.status).toBe(0);
    const other = await openPrivateServer(copy);
    expect(other.pid).not.toBe(server.pid);
    expect(findProcess(server.pid)?.name).toBe("postgres");
    await addUsage(store, "2");
    expect(await readUsage(store)).toBe("3");
    await Promise.all([store.close(), server.close(), other.close()]);
  });

  test("is not taken from the server of another directory whose process has the id of a killed one", async () => {
    await copyEmptyDatabase(join(here.path, "other"));
    await copyEmptyDatabase(join(here.path, "own"));
    const other = await openPrivateServer(join(here.path, "other"));
    const server = await openPrivateServer(join(here.path, "own"));
    const file = join(here.path, "own", "postgres", "postmaster.pid");
    const text = await readFile(file, "utf8");
    await server.close();
    await writeFile(file, text.replace(/^\d+/, String(other.pid)));
    const again = await openPrivateServer(join(here.path, "own"));
    expect(again.pid).not.toBe(other.pid);
    expect(findProcess(other.pid)?.name).toBe("postgres");
    await Promise.all([again.close(), other.close()]);
  });
});
