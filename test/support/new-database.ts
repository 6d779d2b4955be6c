/** Empty databases: the first is made, which takes a second or two, all others are copies of it. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";

import { inject } from "vitest";

import { openPrivateServer } from "../../src/store/embedded/private-server.ts";

/** Gives a directory, which is made where it is not there, the files of a private PostgreSQL. */
export async function newDatabaseIn(directory: string): Promise<void> {
  const template = join(inject("databases"), "postgres");
  if (!existsSync(template)) {
    const draft = await mkdtemp(join(inject("databases"), "draft-"));
    await makeIn(draft);
    // Another file of tests may have made one meanwhile.
    await rename(join(draft, "postgres"), template).catch((error: unknown) => {
      if (!existsSync(template)) throw error;
    });
  }
  await mkdir(directory, { recursive: true });
  // With owners and rights: a server starts as the user whose files they are.
  execFileSync("cp", ["-a", template, join(directory, "postgres")]);
}

async function makeIn(folder: string): Promise<void> {
  await (await openPrivateServer(folder)).close();
  // The directory of its socket, which it takes with it a moment later.
  const data = join(folder, "postgres");
  for (const name of await readdir(data)) {
    if (name.startsWith("ratebook-")) await rm(join(data, name), { recursive: true, force: true });
  }
}
