/** A server's database is killed or frozen under load: acknowledged events are stored, and count once. */
import { setTimeout as sleep } from "node:timers/promises";

import { expect, test } from "vitest";

import { childrenOf, postmasterOf } from "../support/database-processes.ts";
import { callOf, checkAccounts, createRecords, steadyClient } from "./clients.ts";
import { closingAfterEach, openPrivateDatabase, serveCrowd } from "./stores.ts";

const KILLS = 4;
const CLIENTS = 24;
const ANSWERED_WITHIN_MS = 45_000;
const closing = closingAfterEach();

test("S14.3 a database killed under load loses no acknowledged event, and counts none twice", async () => {
  const { store, directory } = await openPrivateDatabase(closing);
  const { engine, url, key } = await serveCrowd(store, closing);
  const records = createRecords();
  const over = new AbortController();
  const clients = Array.from({ length: CLIENTS }, async (_, index) => {
    const client = steadyClient(index, { url, key }, records);
    while (!over.signal.aborted) await client();
  });
  // A fast machine may have the database back before any request is rejected.
  for (let kill = 0; kill < KILLS || !records.statuses.has(503); kill++) {
    await sleep(600 + 300 * Math.min(kill, KILLS));
    const postmaster = postmasterOf(directory) ?? expect.unreachable("no server runs");
    process.kill(postmaster, "SIGKILL");
    await answering(url, directory, postmaster);
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

test("S14.3 a frozen database causes a 503 within 30 seconds, and sent events count once when it continues", async () => {
  const { store, directory } = await openPrivateDatabase(closing);
  const { engine, url, key } = await serveCrowd(store, closing);
  const [account] = (await engine.accounts.list()).items;
  const sendRequest = async (method: string, path: string, body?: object): Promise<number> => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const init = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) };
    return (await fetch(`${url}${path}`, init)).status;
  };
  const ingestOne = (id: string): Promise<number> =>
    sendRequest("POST", "/ingest", { event: callOf(id, account?.id ?? "", 1) });
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
