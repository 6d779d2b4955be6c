/** A frozen database breaks no connection: requests are still answered, and each sent event counts once. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, expect, test } from "vitest";

import { createEngine } from "../../src/engine/engine.ts";
import { manageApiKeys, serve } from "../../src/server.ts";
import { openDatabase } from "../../src/store/open-database.ts";
import { childrenOf, postmasterOf } from "../support/database-processes.ts";
import { CROWD_BOOK } from "./clients.ts";

const NOW = "2024-06-15T12:00:00Z";
const ANSWERED_WITHIN_MS = 45_000;
const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

test("S14.3 a frozen database causes a 503 within 30 seconds, and sent events count once when it continues", async () => {
  const directory = await mkdtemp(join(tmpdir(), "ratebook-frozen-"));
  closing.push(() => rm(directory, { recursive: true, force: true }));
  const engine = createEngine({ store: await openDatabase(directory), clock: () => Date.parse(NOW) });
  await engine.load(CROWD_BOOK);
  const { key } = await manageApiKeys(engine).create({ name: "crowd", role: "full" });
  const server = await serve({ engine, port: 0, rateLimits: "off", log: { level: "silent" }, billRunInterval: 0 });
  closing.push(() => server.close());
  const [account] = (await engine.accounts.list()).items;
  const { name: schemaName = "" } = CROWD_BOOK.eventSchemas[0] ?? {};
  const sendRequest = async (method: string, path: string, body?: object): Promise<number> => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const init = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) };
    return (await fetch(`${server.url}${path}`, init)).status;
  };
  const ingestOne = (id: string): Promise<number> =>
    sendRequest("POST", "/ingest", {
      event: {
        schemaName,
        id,
        accountId: account?.id,
        timestamp: NOW,
        attributes: [{ name: "n", value: 1 }],
        dimensions: {},
      },
    });
  expect(await ingestOne("before")).toBe(202);

  const postmaster = postmasterOf(directory) ?? expect.unreachable("no server runs");
  const processes = [postmaster, ...childrenOf(postmaster)];
  expect(processes.length).toBeGreaterThan(1);
  for (const pid of processes) process.kill(pid, "SIGSTOP");
  const began = performance.now();
  const undoOne = (): Promise<number> => sendRequest("DELETE", `/events?account_id=${account?.id}&event_id=frozen-1`);
  const requests = [
    ingestOne("frozen-1"),
    ingestOne("frozen-2"),
    sendRequest("GET", "/events"),
    sendRequest("GET", "/invoices"),
    // Requests for one account wait together, not one after another.
    ...Array.from({ length: 6 }, undoOne),
  ];
  try {
    expect(await Promise.all(requests)).toEqual(requests.map(() => 503));
  } finally {
    for (const pid of processes) process.kill(pid, "SIGCONT");
  }
  expect(performance.now() - began).toBeLessThan(ANSWERED_WITHIN_MS);

  for (const id of ["before", "frozen-1", "frozen-2"]) expect(await ingestOne(id)).toBe(202);
  const { items } = await engine.events.list({ filter: { accepted: true } });
  expect(items.map(({ eventId }) => eventId).toSorted()).toEqual(["before", "frozen-1", "frozen-2"]);
});
