/** The database of a server is killed under load and comes back: what was acknowledged is there, and counts once. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { afterEach, expect, test } from "vitest";

import { createEngine } from "../../src/engine/engine.ts";
import { apiKeysOf, serve } from "../../src/server.ts";
import { openDatabase } from "../../src/store/open-database.ts";
import { postmasterOf } from "../support/database-processes.ts";
import { checkAccounts, CROWD_BOOK, steadyClient, type Told } from "./clients.ts";

const KILLS = 4;
const CLIENTS = 24;
const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

test("S14.3 a database that is killed under load loses nothing that was acknowledged, and doubles nothing", async () => {
  const directory = await mkdtemp(join(tmpdir(), "ratebook-killed-"));
  closing.push(() => rm(directory, { recursive: true, force: true }));
  const store = await openDatabase(directory);
  const engine = createEngine({ store, clock: () => Date.parse("2024-06-15T12:00:00Z") });
  await engine.load(CROWD_BOOK);
  const { key } = await apiKeysOf(engine).create({ name: "crowd", role: "full" });
  // Clients that were refused come again at once: what is tried is not the limit.
  const server = await serve({ engine, port: 0, rateLimits: "off", log: { level: "silent" }, billRunInterval: 0 });
  closing.push(() => server.close());

  const told: Told = { usage: new Map(), taken: new Map(), counting: new Set(), statuses: new Map() };
  const over = new AbortController();
  const clients = Array.from({ length: CLIENTS }, async (_, index) => {
    const client = steadyClient(index, { url: server.url, key }, told);
    while (!over.signal.aborted) await client();
  });
  for (let kill = 0; kill < KILLS; kill++) {
    await sleep(600 + 300 * kill);
    process.kill(postmasterOf(directory) ?? expect.unreachable("no server runs"), "SIGKILL");
    await answering(server.url);
  }
  await sleep(500);
  over.abort();
  await Promise.all(clients);

  expect(told.counting.size).toBeGreaterThan(CLIENTS);
  // It was away, and the answers said so; nothing else went wrong.
  expect(told.statuses.get(503)).toBeGreaterThan(0);
  expect([...told.statuses.keys()].filter((status) => ![200, 202, 409, 422, 503].includes(status))).toEqual([]);
  await checkAccounts(engine, told);
});

/** Waits until the server says that its database is back. */
async function answering(url: string): Promise<void> {
  const until = Date.now() + 30_000;
  while (Date.now() < until) {
    if ((await fetch(`${url}/ready`)).status === 200) return;
    await sleep(50);
  }
  throw new Error("the database did not come back within 30 s");
}
