/** Two hundred concurrent clients: nothing fails, nothing is lost, nothing counts twice. */
import { describe, expect, test } from "vitest";

import { checkAccounts, crowd } from "./clients.ts";
import { closingAfterEach, serveCrowd, STORES } from "./stores.ts";

const closing = closingAfterEach();
/** All operations of a client, once. */
const STEPS = 7;

describe.each(STORES)("200 clients over %s", (_, open) => {
  test("ingest, consume credits, undo and read; every answer is confirmed by the stored state, to the unit", async () => {
    const { engine, url, key } = await serveCrowd(await open(closing), closing, 200);
    const records = await crowd({ clients: 200, steps: STEPS, during: 4_000, url, key });
    // Each sent ten calls, of which it may have undone one, and one more.
    expect(records.counting.size).toBeGreaterThanOrEqual(200 * 10);
    // Some requested more credits than were left.
    expect(new Set(records.statuses.keys())).toEqual(new Set([200, 202, 422]));
    await checkAccounts(engine, records);
  });
});
