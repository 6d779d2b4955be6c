/** Creates a folder for databases that tests copy, see `test/support/new-database.ts`, and removes it afterwards. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { TestProject } from "vitest/node";

declare module "vitest" {
  export interface ProvidedContext {
    /** The folder of empty databases during the tests. */
    readonly databases: string;
  }
}

/** Runs before the tests of a project. */
export async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), "ratebook-databases-"));
  provide("databases", folder);
  return () => rm(folder, { recursive: true, force: true, maxRetries: 5 });
}
