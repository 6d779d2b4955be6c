/**
 * Checks the PostgreSQL version.
 *
 * @module
 */
import { RatebookError } from "../../errors.ts";
import type { Connections } from "./client.ts";

/** The first version with `MERGE`. */
const OLDEST = 15;

/**
 * Checks a server's version before newer features are used.
 *
 * @throws {RatebookError} ERR_REFUSED if it is too old, with its version and the required one
 */
export async function checkServerVersion({ run }: Connections): Promise<void> {
  const [row] = await run(
    "select current_setting('server_version_num') as number, current_setting('server_version') as name",
  );
  if (!(Number(row?.["number"]) < OLDEST * 10_000)) return;
  const version = (row?.["name"] ?? "").split(" ")[0];
  const sentence = `PostgreSQL ${version} is too old: use version ${OLDEST} or later`;
  throw new RatebookError("ERR_REFUSED", sentence, {});
}
