/** Queries without an index are limited to a number of accounts. */
import { describe, expect, test } from "vitest";

import { createEngine, type Engine } from "../../src/engine/engine.ts";
import { memoryStore } from "../../src/store/memory/memory.ts";
import { describeRefusal } from "./support.ts";
import { teamBook } from "./team-book.ts";

const NOW = Date.parse("2024-02-01T00:00:00Z");

/** An engine whose store lists one account this many times. */
async function createBigEngine(accounts: number): Promise<Engine> {
  const store = memoryStore();
  await createEngine({ store, clock: () => NOW }).load(
    teamBook([{ pricePlanId: "pp.team", effectiveFrom: "2024-01-01" }]),
  );
  const [record] = await store.read.accounts(["prod"]);
  if (record === undefined) throw new Error("the book has the account");
  let listings = 0;
  const read = {
    ...store.read,
    accountList: async (_: object, { limit, after }: { readonly limit: number; readonly after?: object }) => {
      if (after === undefined) listings = 0;
      const page = Array.from({ length: Math.min(limit, accounts - listings) }, () => record);
      listings += page.length;
      return page;
    },
  };
  return createEngine({ store: { ...store, read }, clock: () => NOW });
}

const revenue = (engine: Engine, accountIds?: readonly string[]): Promise<unknown> =>
  engine.metrics({
    startTime: "2024-01-01T00:00:00Z",
    endTime: "2024-02-01T00:00:00Z",
    metricQueries: [
      {
        id: "q",
        name: "REVENUE",
        aggregationPeriod: "MONTH",
        ...(accountIds && { filters: [{ fieldName: "ACCOUNT_ID", fieldValues: accountIds }] }),
      },
    ],
  });

describe("over 10,000 accounts", () => {
  test("revenue requires a filter by account, and below the limit yields to other work", async () => {
    expect(await describeRefusal(revenue(await createBigEngine(10_001)))).toBe(
      "ERR_INPUT_INVALID metricQueries[0].filters: add a filter by ACCOUNT_ID: revenue can be read for at most 10,000 accounts at once, but there are more",
    );
    await revenue(await createBigEngine(10_001), ["prod"]);
    let turns = 0;
    const beat = setInterval(() => (turns += 1), 1);
    await revenue(await createBigEngine(10_000));
    clearInterval(beat);
    expect(turns).toBeGreaterThan(5);
  });

  test("license updates require an account", async () => {
    expect(
      await describeRefusal((await createBigEngine(10_001)).licenses.list({ filter: { licenseId: "addon.seats" } })),
    ).toBe(
      "ERR_INPUT_INVALID accountId: add the id of an account: license updates can be read for at most 10,000 accounts at once, but there are more",
    );
    await (await createBigEngine(10_001)).licenses.list({ filter: { accountId: "prod" } });
    await (await createBigEngine(10_000)).licenses.list();
  });
});
