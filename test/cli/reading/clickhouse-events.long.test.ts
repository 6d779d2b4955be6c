/**
 * ClickHouse tables: read like files, summed in the database where that is exact, rejected whole if they can't be read.
 */
import type { ClickHouseClient } from "@clickhouse/client";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";

import { type ChDbServer, startChDb } from "../../clickhouse/chdb-server.ts";
import { createZonedClient } from "../../warehouse/clickhouse-tables.ts";
import { type CommandResult, SMALL_BOOK, testFolder } from "../fake-io.ts";

const place = testFolder();
const book = place.file("book.json", SMALL_BOOK);
const map = place.file("map.json", {
  schemaName: { column: "schemaName" },
  id: { column: "id" },
  accountId: { column: "accountId" },
  timestamp: { column: "timestamp" },
  attributes: { units: { column: "units" } },
  dimensions: { region: { column: "region" } },
});
const rows = [
  // Rows without a time come first, because a table has no line order.
  ["6", "prod", "2024-01-07", "1", "us"],
  ["1", "prod", "2024-01-03T10:00:00Z", "5", "eu"],
  ["2", "c-1", "2024-01-04T10:00:00Z", "100.5", "eu"],
  ["3", "prod", "2024-01-04T11:00:00Z", "many", "eu"],
  ["2", "prod", "2024-01-05T10:00:00Z", "7", "eu"],
  ["4", "nobody", "2024-01-05T10:00:00Z", "7", "eu"],
  ["5", "prod", "2024-01-06T01:00:00+05:30", "-2", "us"],
].map(([id, accountId, timestamp, units, region]) => ({
  schemaName: "call",
  id,
  accountId,
  timestamp,
  units,
  region,
}));
const csv = place.file(
  "events.csv",
  [Object.keys(rows[0] ?? {}), ...rows.map((row) => Object.values(row))].map((row) => row.join(",")).join("\n"),
);

let server: ChDbServer;
let client: ClickHouseClient;
beforeAll(async () => {
  server = await startChDb();
  client = createZonedClient(server.url);
});
beforeEach(async () => {
  const columns = Object.keys(rows[0] ?? {}).map((name) => `${name} String`);
  await client.command({
    query: `create or replace table events (${columns.join(", ")}) engine = MergeTree order by id`,
  });
  await client.insert({ table: "events", format: "JSONEachRow", values: rows });
});
afterEach(() => {
  server.cutAfter = Infinity;
  server.password = "";
});
afterAll(async () => {
  await client.close();
  await server.close();
  place.remove();
});

const on = async (...args: readonly string[]): Promise<CommandResult> => place.run(args);
const address = (table = "events", credentials = ""): string =>
  `${server.url.replace("http://", `clickhouse://${credentials}`)}/default?table=${table}`;
/** The output, without the location of the rows. */
const alike = ({ code, out, err }: CommandResult): unknown => ({
  code,
  out: out.replaceAll(/"file": "[^"]*",\n\s+"line": \d+/g, "place"),
  err: err.replaceAll(/events\.csv:\d+|default\.events/g, "events"),
});

describe("S17.3 a table prints the same as a file of its rows", () => {
  test.each([
    ["preview", "preview"],
    ["preview as JSON", "preview", "--format", "json", "--explain"],
    ["preview --no-dedupe", "preview", "--no-dedupe"],
    ["preview of unknown accounts", "preview", "--accounts-from-events"],
    ["meter", "meter"],
  ])("%s", async (_, ...args) => {
    const [command = "", ...options] = args;
    const expected = await on(command, book, "--events", csv, "--map", map, ...options);
    expect(expected.out).not.toBe("");
    expect(alike(await on(command, book, "--events", address(), "--map", map, ...options))).toEqual(alike(expected));
    expect(alike(await on(command, book, "--events", address(), ...options))).toEqual(alike(expected));
    expect(alike(await on(command, book, "--events", address(), "--engine", "core", ...options))).toEqual(
      alike(expected),
    );
  });
});

describe("S17.5 nothing is priced if", () => {
  const expectMeterRefusal = async (...args: readonly string[]): Promise<string> => {
    const { code, out, err } = await on("meter", book, "--events", ...args);
    expect({ code: code === 0, out }).toEqual({ code: false, out: "" });
    return err;
  };

  test("the table, a column or the server doesn't exist", async () => {
    expect(await expectMeterRefusal(address("nothing"))).toContain("default.nothing does not exist");
    await client.command({ query: "alter table events drop column region" });
    expect(await expectMeterRefusal(address(), "--map", map)).toContain(
      'events: expected a column "region", but the table has "schemaName", "id", "accountId", "timestamp", "units"',
    );
    expect(await expectMeterRefusal("clickhouse://127.0.0.1:1/default?table=events")).toContain("ECONNREFUSED");
    expect(await expectMeterRefusal("clickhouse://someone:hidden@/default")).toContain(
      'expected "clickhouse://host[:port]/database',
    );
  });

  test("a column contains lists", async () => {
    await client.command({ query: "alter table events add column units_list Array(String)" });
    const nested = place.file("nested.json", {
      schemaName: { value: "call" },
      id: { column: "id" },
      accountId: { column: "accountId" },
      timestamp: { column: "timestamp" },
      attributes: { units: { column: "units_list" } },
    });
    expect(await expectMeterRefusal(address(), "--map", nested)).toContain(
      'the column "units_list" has the type Array(String): expected a string, number or time',
    );
  });

  test("ids would be row numbers", async () => {
    const numberedBook = place.file("numbered.json", {
      schemaName: { value: "call" },
      id: { template: "call-{row}" },
      accountId: { column: "accountId" },
      timestamp: { column: "timestamp" },
      attributes: { units: { column: "units" } },
    });
    expect(await expectMeterRefusal(address(), "--map", numberedBook)).toContain(
      "events: remove {row} from the map: rows of a table have no numbers",
    );
    const usage = ["--usage", address(), "--usage-schemas", "call", "--map", numberedBook];
    for (const command of [["serve"], ["late", "--from", "2024-01-01", "--until", "2024-02-01"]]) {
      const { code, out, err } = await on(...command, ...usage, "--database", `pglite:${place.path}/none`);
      expect({ code, out, err }).toEqual({ code: 1, out: "", err: expect.stringContaining("have no numbers") });
    }
  });

  test("the password is wrong, and the password is never printed", async () => {
    server.password = "right";
    const stderr = await expectMeterRefusal(address("events", "someone:hidden-7@"));
    expect(stderr).toContain("Authentication failed");
    expect(stderr).not.toContain("hidden-7");
    const { code, out, err } = await on("preview", book, "--events", address("events", "someone:right@"));
    expect({ code, hasInvoices: out !== "" }).toEqual({ code: 1, hasInvoices: true });
    expect(out + err).not.toContain("someone");
  });

  test.each([
    ["group_by_overflow_mode", "any", "throw"],
    ["set_overflow_mode", "break", "throw"],
    ["skip_unavailable_shards", "1", "0"],
  ])("%s is %s for its user", async (setting, value, expected) => {
    await client.command({ query: `set ${setting} = '${value}'` });
    expect(await expectMeterRefusal(address())).toContain(
      `the setting ${setting} of this ClickHouse user is "${value}", which can silently omit rows; set it to "${expected}"`,
    );
    await client.command({ query: `set ${setting} = '${expected}'` });
    expect((await on("meter", book, "--events", address())).out).not.toBe("");
  });

  test("the connection is lost during an answer", async () => {
    server.cutAfter = 60;
    expect(await expectMeterRefusal(address(), "--engine", "core")).toMatch(/ClickHouse cannot read the usage/);
    expect(await expectMeterRefusal(address())).toMatch(/ClickHouse cannot read the usage/);
  });
});

describe("ratebook sql --dialect clickhouse", () => {
  test.each(["text", "decimal"])(
    "the table of --ddl and its statements, with attributes as %s, give the cells of ratebook meter",
    async (decimals) => {
      const sqlOptions = ["--dialect", "clickhouse", "--decimals", decimals, "--table", `own_${decimals}`];
      const [table = ""] = (await on("sql", book, ...sqlOptions, "--ddl")).out.split(/;\n/);
      await client.command({ query: table });
      const whole = rows.filter(({ units, timestamp }) => units !== "many" && timestamp?.includes("T"));
      await client.insert({
        table: `own_${decimals}`,
        format: "JSONEachRow",
        values: whole,
        clickhouse_settings: { date_time_input_format: "best_effort" },
      });
      const { out } = await on("sql", book, ...sqlOptions);
      const [cells = "", left = ""] = out.split(/;\n/);
      const answers = async (query: string): Promise<readonly unknown[]> =>
        (await client.query({ query, format: "JSONEachRow" })).json();
      expect(await answers(cells)).toEqual([
        { accountId: "prod", meterId: "um.units", date: "2024-01-03", quantity: "5.000000" },
        { accountId: "prod", meterId: "um.units", date: "2024-01-05", quantity: "-2.000000" },
      ]);
      expect((await answers(left)).map((row) => (row as { readonly id: string }).id).toSorted()).toEqual([
        "2",
        "2",
        "4",
      ]);
    },
  );
});
