/** The stores and servers for tests with many clients. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach } from "vitest";

import { createEngine, type Engine } from "../../src/engine/engine.ts";
import { manageApiKeys, serve } from "../../src/server.ts";
import { memoryStore } from "../../src/store/memory/memory.ts";
import { openDatabase } from "../../src/store/open-database.ts";
import type { Store } from "../../src/store/store.ts";
import { CROWD_BOOK } from "./clients.ts";

/** What must be closed after a test, in reverse order. */
export type Closing = (() => Promise<void>)[];

/** Opens a store. */
export type OpenStore = (closing: Closing) => Promise<Store>;

/** Opens a database of its own in a directory, which is deleted afterwards. */
export async function openPrivateDatabase(
  closing: Closing,
): Promise<{ readonly store: Store; readonly directory: string }> {
  const directory = await mkdtemp(join(tmpdir(), "ratebook-load-"));
  closing.push(() => rm(directory, { recursive: true, force: true }));
  return { store: await openDatabase(directory), directory };
}

export const STORES: readonly (readonly [string, OpenStore])[] = [
  ["memory", async () => memoryStore()],
  ["a private PostgreSQL", async (closing) => (await openPrivateDatabase(closing)).store],
];

/** A server that clients call, and a key for it. */
export interface CrowdServer {
  readonly engine: Engine;
  readonly url: string;
  readonly key: string;
}

/** Serves the book of the clients at noon of 15 June 2024, without rate limits: clients send as fast as they can. */
export async function serveCrowd(store: Store, closing: Closing, billRunInterval = 0): Promise<CrowdServer> {
  const engine = createEngine({ store, clock: () => Date.parse("2024-06-15T12:00:00Z") });
  await engine.load(CROWD_BOOK);
  const { key } = await manageApiKeys(engine).create({ name: "crowd", role: "full" });
  const server = await serve({ engine, port: 0, rateLimits: "off", log: { level: "silent" }, billRunInterval });
  closing.push(() => server.close());
  return { engine, url: server.url, key };
}

/** Closes after each test of the calling file what it opened. */
export function closingAfterEach(): Closing {
  const closing: Closing = [];
  afterEach(async () => {
    for (const close of closing.splice(0).toReversed()) await close();
  });
  return closing;
}
