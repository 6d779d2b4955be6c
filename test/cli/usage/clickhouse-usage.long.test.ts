/** `ratebook serve` and `ratebook late` over a ClickHouse table: a bill from its rows, and usage that arrives later. */
import { join } from "node:path";

import { type ClickHouseClient, createClient } from "@clickhouse/client";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";

import { parseInstant } from "../../../src/calendar/instant.ts";
import { createEngine } from "../../../src/engine/engine.ts";
import { openDatabase } from "../../../src/store/open-database.ts";
import { type ChDbServer, startChDb } from "../../clickhouse/chdb-server.ts";
import { copyEmptyDatabase } from "../../support/new-database.ts";
import { folder, LIVE_BOOK, ratebook } from "../fake-io.ts";
import { sendWithKey, startTestServer } from "../start-server.ts";

const files = folder();
let chdb: ChDbServer;
let client: ClickHouseClient;
beforeAll(async () => {
  chdb = await startChDb();
  chdb.password = "hidden-7";
  client = createClient({ url: chdb.url, password: chdb.password });
});
afterEach(() => {
  chdb.disconnectOn = undefined;
});
afterAll(async () => {
  await client.close();
  await chdb.close();
  files.remove();
});

const MAP = {
  schemaName: { value: "call" },
  id: { column: "id" },
  accountId: { column: "account" },
  timestamp: { column: "at" },
  attributes: { units: { column: "doubled" } },
  dimensions: { region: { column: "region" } },
};

async function insert(
  ...rows: readonly (readonly [id: string, account: string, at: string, half: number])[]
): Promise<void> {
  const values = rows.map(([id, account, at, half]) => ({ id, account, at, half, region: "eu" }));
  await client.insert({ table: "usage", format: "JSONEachRow", values });
}

/**
 * A database with the book, and a table with the rows of January; half of the units are in a stored column and half in
 * a computed one.
 */
async function prepareDatabase(): Promise<{ readonly database: string; readonly table: readonly string[] }> {
  const database = join(files.path, "database");
  await copyEmptyDatabase(database);
  // Load before January begins: cycles that had ended when a book is loaded stay open for a day, so that their history
  // can be sent.
  const loadedClock = (): number => parseInstant("2023-12-31T00:00:00Z");
  const engine = createEngine({ store: await openDatabase(database), clock: loadedClock });
  await engine.load(LIVE_BOOK as never);
  await engine.close();
  await client.command({
    query: `create or replace table usage (id String, account LowCardinality(String), at DateTime64(3, 'UTC'), half Float64,
      region Nullable(String), doubled Float64 alias half * 2) engine = MergeTree partition by toYYYYMM(at) order by (account, at)`,
  });
  await insert(
    ["1", "prod", "2024-01-01 00:00:00.000", 20],
    ["2", "c-1", "2024-01-31 23:59:59.999", 15.25],
    // A row of January has this id already.
    ["2", "prod", "2024-02-01 00:00:00.000", 1000],
    ["3", "prod", "2024-02-01 00:00:00.000", 1],
    ["4", "nobody", "2024-01-05 00:00:00.000", 1000],
  );
  const address = `${chdb.url.replace("http://", "clickhouse://someone:hidden-7@")}/default?table=usage`;
  const map = files.file("map.json", MAP);
  return { database, table: ["--usage", address, "--usage-schemas", "call", "--map", map] };
}

test("S17.4, S17.5 a server bills the rows of a table, bills nothing while it is unavailable, and late lists later usage", async () => {
  const { database, table } = await prepareDatabase();
  const serving = await startTestServer(["--database", database, "--bill-run-interval", "off", ...table], {
    folderPath: files.path,
  });
  const { url, key = "" } = serving;
  const event = { schemaName: "call", id: "e", accountId: "prod", timestamp: "2024-01-05T00:00:00Z" };
  expect(await sendWithKey(url, "/ingest", key, { event })).toMatchObject({
    status: 400,
    json: { message: expect.stringContaining("does not accept events: its usage is external") },
  });

  const runBilling = async (asOf: string): ReturnType<typeof sendWithKey> =>
    sendWithKey(url, "/invoices/bill_runs", key, { as_of: `${asOf}T00:00:00Z` });
  const invoices = async (): Promise<string> =>
    JSON.stringify((await sendWithKey(url, "/invoices?account_id=prod", key)).json);
  const before = await invoices();
  // 70.5 units at 2 less a credit of 50, and 2 units at 2.
  expect(before.match(/"totalAmount":[\d.]+/g)).toEqual(['"totalAmount":4', '"totalAmount":91']);
  // The sums are queried after the server has answered other queries of the same run.
  chdb.disconnectOn = /cell_account/;
  const statementCount = chdb.statements.length;
  expect(await runBilling("2024-02-04")).toEqual({
    status: 503,
    json: { message: "external usage cannot be read; retry later" },
  });
  expect(chdb.statements.slice(statementCount).findIndex((sql) => sql.includes("cell_account"))).toBeGreaterThan(0);
  chdb.disconnectOn = undefined;
  expect(await invoices()).toBe(before);
  expect(await runBilling("2024-02-04")).toMatchObject({ status: 200, json: { finalized: 1, skipped: 0 } });
  expect(await runBilling("2024-02-04")).toMatchObject({ status: 200, json: { finalized: 0, skipped: 0 } });
  expect(await runBilling("2024-03-05")).toMatchObject({ status: 200, json: { finalized: 1, skipped: 0 } });
  const { code, err } = await serving.stop();
  expect(code).toBe(0);
  expect(err).toContain("ClickHouse cannot read the usage");
  expect(err).not.toContain("hidden-7");

  const late = async (): Promise<readonly string[]> => {
    const range = ["--from", "2024-01-01", "--until", "2024-03-01", "--format", "csv"];
    const lateReport = await ratebook(["late", "--database", database, ...table, ...range]);
    expect(lateReport).toMatchObject({ code: 0, err: "" });
    return lateReport.out
      .trimEnd()
      .replaceAll(/inv\.\w{16}/g, "inv.ID")
      .split("\r\n")
      .slice(1);
  };
  expect(await late()).toEqual([]);
  // One repeats an id that is still remembered, one is in an open cycle.
  await insert(
    ["5", "c-1", "2024-01-05 00:00:00.000", 20],
    ["3", "prod", "2024-02-20 00:00:00.000", 9],
    ["6", "prod", "2024-02-29 23:59:59.999", 0.05],
    ["7", "prod", "2024-03-01 00:00:00.000", 9],
  );
  // Of 70.5 units 141 was billed; 110.5 cost 210.5. Of 2 units 4 was billed.
  expect(await late()).toEqual([
    "prod,inv.ID,2024-01-01,2024-02-01,um.units,2024-01-05,0,40,40,USD,141,210.5,69.5,",
    "prod,inv.ID,2024-02-01,2024-03-01,um.units,2024-02-29,0,0.1,0.1,USD,4,4.2,0.2,",
  ]);
});
