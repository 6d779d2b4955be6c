/**
 * A PGlite in a directory, for environments without child processes. Only one process may open it: two would silently
 * overwrite each other's changes. It survives a killed process, but not a power failure, because it never syncs.
 */
import { access, link, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

import type { SingleConnection } from "../postgres/client.ts";
import { postgresStore } from "../postgres/postgres.ts";
import type { Store } from "../store.ts";
import { openDirectory, unavailableDatabaseError } from "./directory.ts";
import { findProcess } from "./processes.ts";

/**
 * Opens the store of a directory, which is created if missing. Requires the package `@electric-sql/pglite`.
 *
 * @throws {RatebookError} ERR_STORE_UNAVAILABLE if another process has it open, with its id, or PGlite is not installed
 */
export async function openPglite(path: string): Promise<Store> {
  const directory = await openDirectory(path);
  const unlock = await lockDirectory(directory);
  try {
    const database = await startPglite(await initializeDirectory(directory));
    const onClose = async (): Promise<void> => {
      await database.close();
      await unlock();
    };
    return await postgresStore(database, { onClose });
  } catch (error) {
    await unlock();
    throw error;
  }
}

/**
 * Initializes the database of a directory. A new one is created in a temporary folder and renamed, so that it is always
 * complete.
 */
async function initializeDirectory(directory: string): Promise<string> {
  const database = join(directory, "pglite");
  const exists = await access(database).then(
    () => true,
    () => false,
  );
  if (exists) return database;
  const draft = `${database}.new`;
  // Left by a process that was killed during initialization; the lock ensures that none is running now.
  await rm(draft, { recursive: true, force: true });
  await (await startPglite(draft)).close();
  await rename(draft, database);
  return database;
}

async function startPglite(directory: string): Promise<SingleConnection & { close(): Promise<void> }> {
  const { PGlite } = await import("@electric-sql/pglite").catch((error: unknown) => {
    throw unavailableDatabaseError(
      "a pglite: database needs a package that is not installed: npm install @electric-sql/pglite@^0.5.0",
      error,
    );
  });
  return PGlite.create(directory);
}

/** Locks a directory, replacing the lock of a process that no longer runs. */
async function lockDirectory(directory: string): Promise<() => Promise<void>> {
  const lock = join(directory, "process.lock");
  const ownFile = `${lock}.${process.pid}.${Math.random().toString(36).slice(2)}`;
  const owner = `${process.pid} ${findProcess(process.pid)?.startTime ?? ""}`;
  await writeFile(ownFile, owner);
  try {
    for (;;) {
      const isTaken = await link(ownFile, lock).then(
        () => false,
        () => true,
      );
      if (!isTaken) return () => rm(lock, { force: true });
      const holder = await readFile(lock, "utf8").catch(() => "");
      const [pid = "", ...startTime] = holder.split(" ");
      if (holder !== "" && findProcess(Number(pid))?.startTime === startTime.join(" ")) {
        throw unavailableDatabaseError(`the PGlite directory ${directory} is open in the process ${pid}`);
      }
      await removeStaleLock(lock, holder, `${ownFile}.old`);
    }
  } finally {
    await rm(ownFile, { force: true });
  }
}

/** Removes the lock of a dead process; if another process has replaced it meanwhile, restores that lock. */
async function removeStaleLock(lock: string, holder: string, renamedLock: string): Promise<void> {
  const isRenamed = await rename(lock, renamedLock).then(
    () => true,
    () => false,
  );
  if (!isRenamed) return;
  if ((await readFile(renamedLock, "utf8")) !== holder) await link(renamedLock, lock).catch(() => {});
  await rm(renamedLock, { force: true });
}
