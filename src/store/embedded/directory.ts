/** Creates the directory of a database if it does not exist. */

import { mkdir, realpath, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";

import { RatebookError } from "../../errors.ts";

/**
 * Creates a directory and its parents.
 *
 * @returns its real path
 * @throws {RatebookError} ERR_STORE_UNAVAILABLE if the path is not a directory, or it cannot be created
 */
export async function openDirectory(path: string): Promise<string> {
  try {
    await makeDirectory(resolve(path));
    return await realpath(path);
  } catch (error) {
    if (error instanceof RatebookError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw unavailableDatabaseError(`cannot create the directory of the database: ${reason}`, error);
  }
}

/** Creates one level at a time: a recursive mkdir retries forever where nothing can be created. */
async function makeDirectory(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") {
      if ((await stat(path)).isDirectory()) return;
      throw unavailableDatabaseError(
        `expected a directory for the database, got a file: ${JSON.stringify(path)}`,
        error,
      );
    }
    const parent = dirname(path);
    if (code !== "ENOENT" || parent === path) throw error;
    await makeDirectory(parent);
    await mkdir(path).catch((failure: NodeJS.ErrnoException) => {
      // Another process created it first.
      if (failure.code !== "EEXIST") throw failure;
    });
  }
}

export function unavailableDatabaseError(message: string, cause?: unknown): RatebookError<"ERR_STORE_UNAVAILABLE"> {
  return new RatebookError("ERR_STORE_UNAVAILABLE", message, {}, { cause });
}
