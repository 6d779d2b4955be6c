/** Two hundred clients at once: nothing fails, nothing is lost, nothing counts twice. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, describe, expect, test } from "vitest";

import { createEngine } from "../../src/engine/engine.ts";
import { apiKeysOf, serve } from "../../src/server.ts";
import { memoryStore } from "../../src/store/memory/memory.ts";
import { openDatabase } from "../../src/store/open-database.ts";
import type { Store } from "../../src/store/store.ts";
import { checkAccounts, crowd, CROWD_BOOK } from "./clients.ts";

const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

describe.each([
  ["memory", async () => memoryStore()],
  [
    "a private PostgreSQL",
    async () => {
      const directory = await mkdtemp(join(tmpdir(), "ratebook-load-"));
      closing.push(() => rm(directory, { recursive: true, force: true }));
      return openDatabase(directory);
    },
  ],
] as readonly (readonly [string, () => Promise<Store>])[])("200 clients over %s", (_, open) => {
  test("ingest, ask for credits, undo and read; every answer is kept to, to the unit", async () => {
    const engine = createEngine({ store: await open(), clock: () => Date.parse("2024-06-15T12:00:00Z") });
    await engine.load(CROWD_BOOK);
    const { key } = await apiKeysOf(engine).create({ name: "crowd", role: "full" });
    // They come as fast as they can: what is tried is not the limit.
    const server = await serve({ engine, port: 0, rateLimits: "off", log: { level: "silent" }, billRunInterval: 200 });
    closing.push(() => server.close());
    const told = await crowd({ clients: 200, during: 4_000, url: server.url, key });
    expect(told.counting.size).toBeGreaterThan(200);
    // Some asked for more credits than were left.
    expect(new Set(told.statuses.keys())).toEqual(new Set([200, 202, 422]));
    await checkAccounts(engine, told);
  });
});
