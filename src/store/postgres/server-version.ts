/**
 * Which PostgreSQL a store can be in.
 *
 * @module
 */
import { RatebookError } from "../../errors.ts";
import type { Connections } from "./client.ts";

/** The first version that has `MERGE`. */
const OLDEST = 15;

/**
 * Asks a server which version it is, before anything of a later one is asked of it.
 *
 * @throws {RatebookError} ERR_REFUSED where it is too old, with the version that it is and the one that is needed
 */
export async function checkServerVersion({ run }: Connections): Promise<void> {
  const [row] = await run(
    "select current_setting('server_version_num') as number, current_setting('server_version') as name",
  );
  if (!(Number(row?.["number"]) < OLDEST * 10_000)) return;
  const found = (row?.["name"] ?? "").split(" ")[0];
  const sentence = `the database is PostgreSQL ${found}, which is too old: expected version ${OLDEST} or a newer one`;
  throw new RatebookError("ERR_REFUSED", sentence, {});
}
