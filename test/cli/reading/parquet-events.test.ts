/**
 * Parquet files of events: read like CSV files, summed in DuckDB where that is exact, rejected whole if they can't be
 * read.
 */
import { readFileSync, utimesSync } from "node:fs";

import { beforeAll, describe, expect, test } from "vitest";

import { readEventFileMap } from "../../../src/event-files/event-file-map.ts";
import { mergeEvents } from "../../../src/event-files/merge-events.ts";
import { readBook } from "../../../src/index.ts";
import { openDuckDb, openParquet } from "../../../src/warehouse/duckdb/parquet-files.ts";
import { runDuckDb, writeParquet } from "../../support/duckdb.ts";
import { type CommandResult, eventLine, SMALL_BOOK, testFolder } from "../fake-io.ts";

const place = testFolder();
const book = place.file("book.json", SMALL_BOOK);
const map = place.file("map.json", {
  schemaName: { value: "call" },
  id: { column: "id" },
  accountId: { column: "account" },
  timestamp: { column: "at" },
  attributes: { units: { column: "units" } },
  dimensions: { region: { column: "region" } },
});
const csv = place.file(
  "events.csv",
  [
    "id,account,at,units,region",
    // Rows without a time come first, because a table has no line order.
    "6,prod,2024-01-07,1,us",
    "1,prod,2024-01-03T10:00:00Z,5,eu",
    "2,c-1,2024-01-04T10:00:00Z,100.5,eu",
    "3,prod,2024-01-04T11:00:00Z,many,eu",
    "2,prod,2024-01-05T10:00:00Z,7,eu",
    "4,nobody,2024-01-05T10:00:00Z,7,eu",
    "5,prod,2024-01-06T01:00:00+05:30,-2,us",
  ].join("\n"),
);
const parquet = `${place.path}/events.parquet`;

const asTexts = `select * from read_csv('${csv}', all_varchar = true)`;
beforeAll(() => writeParquet(parquet, asTexts));

const on = async (...args: readonly string[]): Promise<CommandResult> => place.run(args);
/** What is read, and what receives it: by default nothing is kept. */
const reading = { book: readBook(JSON.stringify(SMALL_BOOK)), usesPushdown: true, dedupes: true, memory: undefined };
const readingMap = readEventFileMap("map", readFileSync(map, "utf8"));
const emptySink = {
  onEvent: () => true,
  onBadLine: () => true,
  onSummedEvents: () => true,
};
/** The output, without the file of the rows. */
const alike = ({ code, out, err }: CommandResult): unknown => ({
  code,
  out: out.replaceAll(/"file": "events.\w+",\n\s+"line": \d+/g, "place"),
  err: err.replaceAll(/events\.\w+:\d+/g, "events"),
});

describe("S17.3 a Parquet file prints the same as its rows in CSV", () => {
  test.each([
    ["preview", ["preview", book]],
    ["preview as JSON", ["preview", book, "--format", "json", "--explain"]],
    ["preview --summary", ["preview", book, "--summary"]],
    ["preview --no-dedupe", ["preview", book, "--no-dedupe"]],
    ["preview of unknown accounts", ["preview", book, "--accounts-from-events"]],
    ["meter", ["meter", book]],
  ])("%s", async (_, args) => {
    const expected = await on(...args, "--events", csv, "--map", map);
    expect(expected.out).not.toBe("");
    for (const reader of [[], ["--engine", "core"], ["--engine", "database", "--memory", "200MB"]]) {
      expect(alike(await on(...args, "--events", parquet, "--map", map, ...reader))).toEqual(alike(expected));
    }
  });

  test("backtest", async () => {
    const plan = place.file("draft.json", { ...SMALL_BOOK.pricePlans[0], id: "pp.draft" });
    const args = ["backtest", book, "--plan", plan, "--format", "json"];
    const expected = await on(...args, "--events", csv, "--map", map);
    expect(alike(await on(...args, "--events", parquet, "--map", map))).toEqual(alike(expected));
  });

  test("with events in other files in between, which may have the same ids", async () => {
    const lines = place.file(
      "more.ndjson",
      eventLine("1", "2024-01-02T00:00:00Z", 3) + eventLine("9", "2024-01-09T00:00:00Z", 3),
    );
    const expected = await on("meter", book, "--events", csv, "--map", map, "--events", lines);
    const meterRun = await on("meter", book, "--events", parquet, "--map", map, "--events", lines);
    expect(meterRun.out).toBe(expected.out);
  });
});

describe("S17.5 unreadable input is rejected completely", () => {
  const expectPreviewRefusal = async (path: string): Promise<string> => {
    const { code, out, err } = await on("preview", book, "--events", path, "--map", map);
    expect([code, out]).toEqual([1, ""]);
    return err;
  };

  test("a file that is not Parquet, and a missing one", async () => {
    const none = place.file("none.parquet", "id,account");
    expect(await expectPreviewRefusal(none)).toMatch(/^ratebook: DuckDB cannot read the usage: .*none\.parquet/);
    expect(await expectPreviewRefusal(`${place.path}/*.nothing.parquet`)).toMatch(/No files found/);
  });

  test("a column that is missing, nested, or has another type in another file", async () => {
    await writeParquet(`${place.path}/short.parquet`, `select id, account, "at", region from (${asTexts})`);
    expect(await expectPreviewRefusal(`${place.path}/short.parquet`)).toBe(
      'ratebook: short.parquet: the map uses the column "units", but the file has "id", "account", "at", "region"\n',
    );
    await writeParquet(`${place.path}/nested.parquet`, `select * replace ([units] as units) from (${asTexts})`);
    expect(await expectPreviewRefusal(`${place.path}/nested.parquet`)).toMatch(
      /the column "units" has the type VARCHAR\[\]/,
    );
    await writeParquet(`${place.path}/shape-1.parquet`, asTexts);
    await writeParquet(`${place.path}/shape-2.parquet`, `select * replace (1 as units) from (${asTexts})`);
    expect(await expectPreviewRefusal(`${place.path}/shape-*.parquet`)).toMatch(
      /"units" has different types in these files/,
    );
    await writeParquet(`${place.path}/shape-2.parquet`, `select * exclude (units) from (${asTexts})`);
    expect(await expectPreviewRefusal(`${place.path}/shape-*.parquet`)).toMatch(
      /"units" is missing in some of the files/,
    );
  });

  test("a file that changes while it is read", async () => {
    const path = `${place.path}/changing.parquet`;
    await writeParquet(path, asTexts);
    const [groups] = await openParquet([{ paths: [path], map: readingMap, mapFile: map }], emptySink, reading);
    utimesSync(path, 1, 1);
    while (groups?.advance() === true || (await groups?.fill()) === true) groups?.take();
    await expect(groups?.close()).rejects.toThrow(
      /changing\.parquet changed while it was being read, so nothing was priced$/,
    );
  });
});

describe("invalid rows are counted, and do not affect the others", () => {
  /**
   * Checks that pushed-down sums print the same as the core alone.
   *
   * @returns the summary of `meter`
   */
  const meterQuery = async (query: string): Promise<string> => {
    const path = `${place.path}/bad.parquet`;
    await writeParquet(path, query);
    const byCore = await on("meter", book, "--events", path, "--map", map, "--engine", "core");
    const meterRun = await on("meter", book, "--events", path, "--map", map);
    expect(meterRun).toEqual(byCore);
    return meterRun.err;
  };

  test("S17.3 one invalid row among ten thousand", async () => {
    const rows = `select 'e' || n as id, 'prod' as account, '2024-01-03T10:00:00Z' as "at", case when n = 7777 then '1;5' else '2' end as units, 'eu' as region from range(10000) as events (n)`;
    const message = await meterQuery(rows);
    expect(message).toContain('bad.parquet:7778: units: "1;5" is not a number');
    expect(message).toContain("10,000 events read: 9,999 metered, 1 invalid (less than 0.1 %)");
  });

  test.each(["id", "account", "at", "units", "region"])("S14.1 NULL in the column %s", async (column) => {
    const message = await meterQuery(
      `select * replace (case when id <> '2' then "${column}" end as "${column}") from (${asTexts})`,
    );
    expect(message).toMatch(/bad\.parquet:\d+: /);
  });

  test("S2.1 instants are independent of the session's time zone", async () => {
    const instants = `select * replace (try_cast("at" as TIMESTAMPTZ) as "at") from (${asTexts})`;
    const path = `${place.path}/instants.parquet`;
    await writeParquet(path, instants);
    const readCells = async (zone: string): Promise<readonly unknown[]> => {
      const events: unknown[] = [];
      const sink = {
        ...emptySink,
        onEvent: (_file: string, line: number, event: unknown) => events.push([line, event]) > 0,
        onSummedEvents: (batch: unknown) => events.push(batch) > 0,
      };
      const files = [{ paths: [path], map: readingMap, mapFile: map }];
      const cursors = await openParquet(files, sink, reading, async (limits) => {
        const db = await openDuckDb(limits);
        await db.execute(`set global TimeZone = '${zone}'`);
        return db;
      });
      await mergeEvents(cursors, { onDisorder: () => undefined });
      return events;
    };
    const expected = await readCells("UTC");
    expect(expected.length).toBeGreaterThan(3);
    expect(await readCells("Pacific/Kiritimati")).toEqual(expected);
  });
});

describe("wrong arguments", () => {
  test("a Parquet file requires a map, and a size for --memory", async () => {
    expect((await on("preview", book, "--events", parquet)).err).toBe(
      "ratebook: events.parquet is Parquet and needs a --map that names the column of each event field\n",
    );
    expect((await on("preview", book, "--events", parquet, "--map", map, "--memory", "much")).err).toBe(
      'ratebook: --memory: expected a size such as 400MB, got "much"\n',
    );
  });

  test("rejects time formats that a database parses differently", async () => {
    const mapFile = place.file(
      "formed.json",
      readFileSync(map, "utf8").replace('"column":"at"', '"column":"at","form":"DD.MM.YYYY","zone":"UTC"'),
    );
    expect((await on("preview", book, "--events", parquet, "--map", mapFile)).err).toMatch(
      /times of the form "DD\.MM\.YYYY" can only be read from CSV/,
    );
  });

  test("rejects named zones, except where instants need none", async () => {
    const mapFile = place.file(
      "zone.json",
      readFileSync(map, "utf8").replace('"column":"at"', '"column":"at","zone":"Europe/Berlin"'),
    );
    const preview = async (file: string, mapped: string): Promise<CommandResult> =>
      on("preview", book, "--events", file, "--map", mapped, "--format", "json");
    expect((await preview(parquet, mapFile)).err).toMatch(
      /zone "Europe\/Berlin" can only be used with CSV and NDJSON; databases and Parquet files need timestamps with a/,
    );
    const path = `${place.path}/zoned.parquet`;
    await writeParquet(path, `select * replace (try_cast("at" as TIMESTAMPTZ) as "at") from (${asTexts})`);
    const { out } = await preview(path, mapFile);
    expect(out).toContain('"invoices": [\n    {');
    expect(out).toBe((await preview(path, map)).out);
  });
});

describe("ratebook sql", () => {
  test("S17.3 prints statements whose cells, and rows for the core, add up to what the core counts", async () => {
    const { code, out } = await on("sql", book, "--table", "main.events");
    expect(code).toBe(0);
    const statements = out.split(/;\n/).filter((each) => each.includes("select"));
    expect(statements).toHaveLength(2);
    const table = `create table events as select 'call' as "schemaName", id, account as "accountId", "at" as "timestamp", units, region from (${asTexts})`;
    const cells = `select "accountId", "meterId", date, quantity from (${statements[0]})`;
    expect(await runDuckDb(table, cells)).toEqual([["prod", "um.units", "2024-01-03", "5.000000"]]);
    const rest = await runDuckDb(table, `select id from (${statements[1]}) order by all`);
    expect(rest.flat()).toEqual(["2", "2", "3", "4", "5", "6"]);
  });

  test("prints with --explain-sql what is summed in SQL, and why other parts are not", async () => {
    const other = {
      ...SMALL_BOOK.usageMeters[0],
      id: "um.other",
      name: "other",
      computations: [{ order: 1, computation: { "/": [{ var: "attribute.units" }, 3] } }],
    };
    const path = place.file("other.json", { ...SMALL_BOOK, usageMeters: [...SMALL_BOOK.usageMeters, other] });
    expect((await on("sql", path, "--explain-sql")).out).toBe(
      [
        "schema  meter     in SQL",
        'call    um.units  no: its schema cannot be summed in SQL: meter "um.other": a quotient may have infinitely many decimals',
        "call    um.other  no: a quotient may have infinitely many decimals",
        "",
      ].join("\n"),
    );
    expect((await on("sql", path)).err).toMatch(/^note: call cannot be summed in SQL: /);
    expect((await on("sql", book, "--explain-sql")).out).toMatch(/^call {4}um\.units {2}yes$/m);
    expect((await on("sql", book, "--schema", "no")).code).toBe(2);
  });
});

test("the guide's command converts NDJSON to Parquet with the same invoices", async () => {
  const guide = readFileSync(new URL("../../../docs/guide/scale.md", import.meta.url), "utf8");
  const [, sql = ""] = /^duckdb -c "(.*)"$/m.exec(guide) ?? [];
  const lines = [
    eventLine("e-1", "2024-01-03T10:00:00Z", "12.5"),
    eventLine("e-2", "2024-01-04T10:00:00Z", "12345678901234.000001"),
    eventLine("e-2", "2024-01-05T10:00:00Z", 7),
    eventLine("e-3", "2024-01-06T10:00:00Z", 3, { dimensions: { region: "us" } }),
  ];
  const ndjson = place.file("guide.ndjson", lines.join(""));
  const converted = `${place.path}/guide.parquet`;
  await runDuckDb(sql.replace("events.ndjson", ndjson).replace("events.parquet", converted));
  const columns = ["schemaName", "id", "accountId", "timestamp"].map((column) => [column, { column }]);
  const { attributes, dimensions } = readingMap;
  const guideMap = place.file("guide.map.json", { ...Object.fromEntries(columns), attributes, dimensions });
  const preview = ["preview", book, "--format", "csv", "--events"];
  const ran = await on(...preview, converted, "--map", guideMap);
  expect(ran).toEqual(await on(...preview, ndjson));
  expect(ran.out).toContain(",um.units,units,12345678901249.500001,");
});
