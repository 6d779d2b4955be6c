/** A server's database is killed under load and restarts: acknowledged events are stored, and count once. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { afterEach, expect, test } from "vitest";

import { createEngine } from "../../src/engine/engine.ts";
import { manageApiKeys, serve } from "../../src/server.ts";
import { openDatabase } from "../../src/store/open-database.ts";
import { postmasterOf } from "../support/database-processes.ts";
import { checkAccounts, CROWD_BOOK, steadyClient, type ClientRecords } from "./clients.ts";

const KILLS = 4;
const CLIENTS = 24;
const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

test("S14.3 a database killed under load loses no acknowledged event, and counts none twice", async () => {
  const directory = await mkdtemp(join(tmpdir(), "ratebook-killed-"));
  closing.push(() => rm(directory, { recursive: true, force: true }));
  const store = await openDatabase(directory);
  const engine = createEngine({ store, clock: () => Date.parse("2024-06-15T12:00:00Z") });
  await engine.load(CROWD_BOOK);
  const { key } = await manageApiKeys(engine).create({ name: "crowd", role: "full" });
  // Clients repeat rejected requests at once, so rate limits are off.
  const server = await serve({ engine, port: 0, rateLimits: "off", log: { level: "silent" }, billRunInterval: 0 });
  closing.push(() => server.close());

  const records: ClientRecords = {
    usage: new Map(),
    takenByAccount: new Map(),
    counting: new Set(),
    statuses: new Map(),
  };
  const over = new AbortController();
  const clients = Array.from({ length: CLIENTS }, async (_, index) => {
    const client = steadyClient(index, { url: server.url, key }, records);
    while (!over.signal.aborted) await client();
  });
  // A fast machine may have the database back before any request is rejected.
  for (let kill = 0; kill < KILLS || !records.statuses.has(503); kill++) {
    await sleep(600 + 300 * Math.min(kill, KILLS));
    const postmaster = postmasterOf(directory) ?? expect.unreachable("no server runs");
    process.kill(postmaster, "SIGKILL");
    await answering(server.url, directory, postmaster);
  }
  await sleep(500);
  over.abort();
  await Promise.all(clients);

  expect(records.counting.size).toBeGreaterThan(CLIENTS);
  // The database was unavailable, and the answers said so; nothing else went wrong.
  expect([...records.statuses.keys()].filter((status) => ![200, 202, 409, 422, 503].includes(status))).toEqual([]);
  await checkAccounts(engine, records);
});

/** Waits until the server reports that its database is back, as another process. */
async function answering(url: string, directory: string, postmaster: number): Promise<void> {
  await expect.poll(() => [undefined, postmaster].includes(postmasterOf(directory)), { timeout: 300_000 }).toBe(false);
  await expect.poll(async () => (await fetch(`${url}/ready`)).status, { timeout: 300_000 }).toBe(200);
}
