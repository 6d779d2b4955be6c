/** Empty databases: the first one is created, which takes a second or two, and the others are copies of it. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";

import { inject } from "vitest";

import { openPrivateServer } from "../../src/store/embedded/private-server.ts";

/** Copies the files of an empty private PostgreSQL to a directory, creating it if necessary. */
export async function copyEmptyDatabase(directory: string): Promise<void> {
  const template = join(inject("databases"), "postgres");
  if (!existsSync(template)) {
    const draft = await mkdtemp(join(inject("databases"), "draft-"));
    await createDatabase(draft);
    // Another test file may have created one in the meantime.
    await rename(join(draft, "postgres"), template).catch((error: unknown) => {
      if (!existsSync(template)) throw error;
    });
  }
  await mkdir(directory, { recursive: true });
  // With owners and permissions: a server starts as the user who owns the files.
  execFileSync("cp", ["-a", template, join(directory, "postgres")]);
}

async function createDatabase(folder: string): Promise<void> {
  await (await openPrivateServer(folder)).close();
  // The server removes the directory of its socket only after `close`.
  const data = join(folder, "postgres");
  for (const name of await readdir(data)) {
    if (name.startsWith("ratebook-")) await rm(join(data, name), { recursive: true, force: true });
  }
}
