/** Two hundred concurrent clients: nothing fails, nothing is lost, nothing counts twice. */
import { describe, expect, test } from "vitest";

import { createEngine } from "../../src/engine/engine.ts";
import { manageApiKeys, serve } from "../../src/server.ts";
import { checkAccounts, crowd, CROWD_BOOK } from "./clients.ts";
import { closingAfterEach, STORES } from "./stores.ts";

const closing = closingAfterEach();
/** All operations of a client, once. */
const STEPS = 7;

describe.each(STORES)("200 clients over %s", (_, open) => {
  test("ingest, consume credits, undo and read; every answer is confirmed by the stored state, to the unit", async () => {
    const engine = createEngine({ store: await open(closing), clock: () => Date.parse("2024-06-15T12:00:00Z") });
    await engine.load(CROWD_BOOK);
    const { key } = await manageApiKeys(engine).create({ name: "crowd", role: "full" });
    // Clients send as fast as they can, so rate limits are off.
    const server = await serve({ engine, port: 0, rateLimits: "off", log: { level: "silent" }, billRunInterval: 200 });
    closing.push(() => server.close());
    const records = await crowd({ clients: 200, steps: STEPS, during: 4_000, url: server.url, key });
    // Each sent ten calls, of which it may have undone one, and one more.
    expect(records.counting.size).toBeGreaterThanOrEqual(200 * 10);
    // Some requested more credits than were left.
    expect(new Set(records.statuses.keys())).toEqual(new Set([200, 202, 422]));
    await checkAccounts(engine, records);
  });
});
