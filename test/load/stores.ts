/** The stores for tests with many clients. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach } from "vitest";

import { memoryStore } from "../../src/store/memory/memory.ts";
import { openDatabase } from "../../src/store/open-database.ts";
import type { Store } from "../../src/store/store.ts";

/** What must be closed after a test, in reverse order. */
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

/** Closes after each test of the calling file what it opened. */
export function closingAfterEach(): Closing {
  const closing: Closing = [];
  afterEach(async () => {
    for (const close of closing.splice(0).toReversed()) await close();
  });
  return closing;
}
