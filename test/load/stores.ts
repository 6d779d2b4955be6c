/** The stores over which many clients are tried. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach } from "vitest";

import { memoryStore } from "../../src/store/memory/memory.ts";
import { openDatabase } from "../../src/store/open-database.ts";
import type { Store } from "../../src/store/store.ts";

/** What is to be closed when a test is done, the last one first. */
export type Closing = (() => Promise<void>)[];

/** Opens a store. */
export type OpenStore = (closing: Closing) => Promise<Store>;

export const STORES: readonly (readonly [string, OpenStore])[] = [
  ["memory", async () => memoryStore()],
  [
    "a private PostgreSQL",
    async (closing) => {
      const directory = await mkdtemp(join(tmpdir(), "ratebook-load-"));
      closing.push(() => rm(directory, { recursive: true, force: true }));
      return openDatabase(directory);
    },
  ],
];

/** What each test of the file that calls it opens is closed after it. */
export function closingAfterEach(): Closing {
  const closing: Closing = [];
  afterEach(async () => {
    for (const close of closing.splice(0).toReversed()) await close();
  });
  return closing;
}
