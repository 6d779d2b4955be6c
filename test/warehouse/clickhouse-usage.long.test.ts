/**
 * Usage for an engine from a ClickHouse table: its cells equal those that the core computes from the same rows (S17.2
 * to S17.5).
 */
import type { ClickHouseClient } from "@clickhouse/client";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { DAY_MS, parseInstant } from "../../src/calendar/instant.ts";
import type { CellQuery } from "../../src/ledger/external-usage.ts";
import { clickhouseUsage, type EventColumns } from "../../src/warehouse.ts";
import { chDbOfTests } from "./chdb.ts";
import { clickHouseTables, tableTypes } from "./clickhouse-tables.ts";
import { books, type Row, rows } from "./rows.ts";
import {
  usageAccount,
  cellsByCore,
  collectCells,
  collectDays,
  columns,
  FIRST,
  useRow,
  withoutAccounts,
} from "./usage-law.ts";

const chDb = chDbOfTests();

const ACCOUNTS = [
  usageAccount("a", "ü𝒳-9"),
  usageAccount("b"),
  usageAccount("gone", "left-over"),
  usageAccount("idle"),
];
/** Rows of ten months, with repeated ids; three in four of them are well-formed. */
const yearRows = fc
  .tuple(rows, fc.noBias(fc.nat(300 * 24)), fc.nat(25), fc.noBias(fc.nat(7)))
  .map(([row, hours, id, kind]): Row => {
    const time = new Date((FIRST * 24 + hours) * 3_600_000).toISOString();
    const own = { ...row, time: kind === 0 ? row.time : time, id: kind === 1 ? row.id : `i${id}` };
    const account = ["a", "ü𝒳-9", "b"][hours % 3] ?? "a";
    return kind < 2 ? own : { ...own, schema: "use", account, x: String(hours / 4), y: String(hours % 7), d: "eu" };
  });
/** Books of any rules; half of them count every row. */
const countingBooks = fc.tuple(books, fc.boolean()).map(([book, isCounted]) => {
  const meter = { aggregation: "SUM", computations: [{ order: 0, computation: { var: "attribute.x" } }] } as const;
  const counting = { id: "um.all", name: "all", eventSchemaName: "use", ...meter };
  const eventSchemas = book.eventSchemas.map((schema) => ({ ...schema, enrichments: undefined }));
  return isCounted ? { ...book, eventSchemas, usageMeters: [counting] } : book;
});

const [countingBook] = fc.sample(
  countingBooks.filter(({ usageMeters }) => usageMeters.some(({ id }) => id === "um.all")),
  1,
) as [object];

test("S17.2, S17.3 the cells of a table equal those that the core computes from the rows of each account, whichever accounts are queried", async () => {
  const questions = fc.record({
    accounts: fc.subarray(ACCOUNTS, { minLength: 1 }),
    from: fc.noBias(fc.integer({ min: -60, max: 250 })),
    days: fc.integer({ min: 1, max: 120 }),
    upTo: fc.noBias(fc.nat(310 * 24 * 60)),
    schemas: fc.constantFrom(["use"], ["use", "other"]),
    holds: fc.constantFrom(45, 3, 200),
  });
  let cellCount = 0;
  await fc.assert(
    fc.asyncProperty(
      countingBooks,
      fc.array(yearRows, { minLength: 20, maxLength: 60 }),
      tableTypes,
      fc.array(questions, { minLength: 1, maxLength: 3 }),
      async (json, rowList, types, queries) => {
        await clickHouseTables(chDb.server.url)([rowList], types, async ({ read: [read = []] }) => {
          for (const { accounts, from, days, upTo, schemas, holds } of queries) {
            const query: CellQuery = {
              book: withoutAccounts(json),
              schemas,
              accounts,
              from: FIRST + from,
              until: FIRST + from + days,
              upTo: FIRST * DAY_MS + upTo * 60_000,
              // The ids of `b` are remembered up to the end of a cycle of a hundred days.
              idHeldUntil: (id, at) =>
                Math.max(at + holds * DAY_MS, id === "b" ? (Math.floor(at / DAY_MS / 100) + 1) * 100 * DAY_MS : 0),
            };
            const expected = accounts.map((each) => cellsByCore(query, each, read));
            expect(await collectCells(chDb.client, query)).toEqual(expected);
            cellCount += expected.flat().length;
          }
        });
      },
    ),
    { numRuns: 120 },
  );
  expect(cellCount).toBeGreaterThan(150);
}, 600_000);

describe("S17.2 a usage query", () => {
  const timeOn = (day: number, time = "12:00:00"): string =>
    `${new Date((FIRST + day) * DAY_MS).toISOString().slice(0, 10)}T${time}Z`;
  const rowOn = (id: string, day: number, more: Partial<Row> = {}): Row => useRow(id, timeOn(day), more);
  const query: CellQuery = {
    book: withoutAccounts(countingBook),
    schemas: ["use"],
    accounts: [usageAccount("a", "ü𝒳-9"), usageAccount("b")],
    from: FIRST + 60,
    until: FIRST + 90,
    upTo: (FIRST + 90) * DAY_MS,
    idHeldUntil: (_, until) => until + 45 * DAY_MS,
  };
  const texts = { x: "String", y: "String", time: "String" };
  const answer = async (
    rowList: readonly Row[],
    more: Partial<CellQuery> = {},
    hasUniqueIds = false,
  ): Promise<readonly string[]> =>
    clickHouseTables(chDb.server.url)([rowList], texts, async () => {
      const cells = await collectCells(chDb.client, { ...query, ...more }, hasUniqueIds);
      return cells.flat().map((cell) => cell.replace(/ um\.all (-?\d+)/, (_, day) => ` ${Number(day) - FIRST}`));
    });

  test.each<readonly [what: string, rows: readonly Row[], cells: readonly string[]]>([
    ["nothing", [], []],
    ["an id of an earlier day is still remembered", [rowOn("1", 30), rowOn("1", 70)], []],
    ["an id is forgotten after its time", [rowOn("1", 14), rowOn("1", 70)], ["a 70 1"]],
    [
      "a duplicate does not extend the time that an id is remembered",
      [rowOn("1", 0), rowOn("1", 40), rowOn("1", 80)],
      ["a 80 1"],
    ],
    ["the id of a row that failed is not remembered", [rowOn("1", 61, { x: "many" }), rowOn("1", 62)], ["a 62 1"]],
    ["an alias is its account", [rowOn("1", 30), rowOn("1", 70, { account: "ü𝒳-9" })], []],
    ["ids are remembered per account", [rowOn("1", 30), rowOn("1", 70, { account: "b" })], ["b 70 1"]],
    [
      "other schemas and accounts are not queried",
      [rowOn("1", 70, { account: "c" }), rowOn("2", 70, { schema: "other" })],
      [],
    ],
    [
      "days of UTC, whatever the offset",
      [rowOn("1", 0, { time: `${timeOn(59, "23:30:00").slice(0, -1)}-01:00` })],
      ["a 60 1"],
    ],
    [
      "hostile ids",
      ["it's", '"', "\\", "\\'); drop table t0; --", "{x}", "\u0000", "é", "e\u0301", " "].map((id) => rowOn(id, 70)),
      ["a 70 9"],
    ],
  ])("%s", async (_, rowList, cells) => {
    expect(await answer(rowList)).toEqual(cells);
  });

  test("looks for no duplicates if ids are configured as unique", async () => {
    expect(await answer([rowOn("1", 30), rowOn("1", 70), rowOn("1", 71)], {}, true)).toEqual(["a 70 1", "a 71 1"]);
    expect(clickhouseUsage(chDb.client, { table: "t0", hasUniqueIds: true }).name).toBe(
      "the table t0 of ClickHouse, without checking for repeated ids",
    );
  });

  test("may have days and instants beyond the range of a database, and names that no row can have", async () => {
    const rowList = [rowOn("1", 70), rowOn("2", 0, { time: "0001-01-01T00:00:00Z" })];
    for (const [from, until] of [
      [-1_000_000, -720_000],
      [200_000, 300_000],
    ] as const)
      expect(await answer(rowList, { from, until, upTo: until * DAY_MS })).toEqual([]);
    expect(await answer(rowList, { from: -719_162, until: 200_000, upTo: 200_000 * DAY_MS })).toEqual([
      `a ${-719_162 - FIRST} 1`,
      "a 70 1",
    ]);
    const accounts = ["\uD800", "a", "nul\u0000"].map((id) => usageAccount(id));
    expect(await answer(rowList, { accounts })).toEqual(["a 70 1"]);
  });

  test("treats bytes that are not UTF-8 as U+FFFD, in the names of accounts, in ids and in dimensions", async () => {
    const accounts = [usageAccount("a\uFFFD"), usageAccount("b")];
    const cells = await clickHouseTables(chDb.server.url)([[rowOn("1", 70)]], { ...texts, x: "String" }, async () => {
      const bytes = (text: string): string => `unhex('${Buffer.from(text, "latin1").toString("hex")}')`;
      const rowList = [
        // The first row of an account reserves the id, whichever bytes its name was written with.
        ["\xFF1", "a\xFF", 70, "eu"],
        ["\xFE1", "a\xFE", 71, "eu"],
        ["\xEF\xBF\xBD1", "a\xEF\xBF\xBD", 72, "eu"],
        ["2", "a\xEF\xBF\xBD", 73, "eu"],
        ["3", "b", 74, "\xFF"],
        ["4", "a\xFFb", 75, "eu"],
      ] as const;
      for (const [id, name, number, region] of rowList)
        await chDb.client.command({
          query: `insert into t0 values (1, 'use', ${bytes(id)}, ${bytes(name)}, '${timeOn(number)}', '1', '0', ${bytes(region)})`,
        });
      return collectCells(chDb.client, { ...query, accounts: accounts });
    });
    expect(cells.flat().map((cell) => cell.replace(/ um\.all (-?\d+)/, (_, day) => ` ${Number(day) - FIRST}`))).toEqual(
      ["a\uFFFD 70 1", "a\uFFFD 73 1", "b 74 1"],
    );
  });

  test("works for a database, a table and columns with unusual names, and doubles that are not decimals", async () => {
    const hostile = (name: string): string => `${name}"\\'; drop table t0; --é\n\``;
    const quotedName = (name: string): string => `"${name.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
    const [database, table] = [hostile("db"), hostile("t")];
    const qualifiedName = `${quotedName(database)}.${quotedName(table)}`;
    const runCommand = async (sql: string): Promise<unknown> => chDb.client.command({ query: sql });
    await runCommand(`create database if not exists ${quotedName(database)}`);
    await runCommand(
      `create or replace table ${qualifiedName} (${["id", "account", "time"].map((name) => `${quotedName(hostile(name))} String`).join(", ")},
        ${quotedName(hostile("x"))} Float64) engine = MergeTree order by tuple()`,
    );
    const values = ["0.1", "nan", "inf", "-inf", "1e300", "-0.", "2.5"].map(
      (number, place) => `('${place}', 'a', '${timeOn(70)}', ${number})`,
    );
    await runCommand(`insert into ${qualifiedName} values ${values.join(", ")}`);
    const column = (name: string): { readonly column: string } => ({ column: hostile(name) });
    const source = clickhouseUsage(chDb.client, {
      database,
      table,
      columns: {
        schemaName: { value: "use" },
        id: column("id"),
        accountId: column("account"),
        timestamp: column("time"),
        attributes: { x: column("x"), y: { value: "0" } },
        dimensions: { d: { value: "eu" } },
      },
    });
    // 1e300 has more digits than a decimal may have.
    expect(await collectDays(source, query)).toEqual(["70 2.6"]);
    await runCommand(`drop database ${quotedName(database)}`);
  });

  test("works for thousands of accounts with all their aliases", async () => {
    const accounts = Array.from({ length: 2000 }, (_, n) =>
      usageAccount(
        `account-${String(n).padStart(4, "0")}`,
        ...Array.from({ length: 10 }, (__, m) => `alias-${n}-${m}`),
      ),
    );
    const rowList = [rowOn("1", 70, { account: "alias-1999-9" }), rowOn("2", 70, { account: "account-0000" })];
    expect(await answer(rowList, { accounts })).toEqual(["account-0000 70 1", "account-1999 70 1"]);
  });

  test("gives the same with a time combined from columns as with one column, in as few statements", async () => {
    const rowList = [rowOn("1", 30), rowOn("1", 70), rowOn("2", 71), rowOn("2", 72)];
    const queryWithTime = async (
      time: object,
    ): Promise<{ readonly cells: readonly string[]; readonly statements: number }> =>
      clickHouseTables(chDb.server.url)([rowList], texts, async () => {
        const before = chDb.server.statements.length;
        const source = clickhouseUsage(chDb.client, { table: "t0", columns: { ...columns, timestamp: time as never } });
        return { cells: await collectDays(source, query), statements: chDb.server.statements.length - before };
      });
    const simple = await queryWithTime({ column: "time" });
    expect(simple.cells).toEqual(["71 1"]);
    const { cells, statements } = await queryWithTime({ template: "{time}" });
    expect(cells).toEqual(simple.cells);
    expect(statements).toBeLessThanOrEqual(simple.statements);
  });

  test("rejects unknown columns when the source is created", () => {
    const wrong = { ...columns, timestamp: { column: 5 } } as unknown as EventColumns;
    expect(() => clickhouseUsage(chDb.client, { table: "t0", columns: wrong })).toThrow(/\$\.columns\.timestamp/);
  });
});

describe("S17.5 rows that arrive during a query", () => {
  const arriving = (statement: RegExp, times: number): ClickHouseClient => {
    let remaining = times;
    return new Proxy(chDb.client, {
      get: (target, name) =>
        name === "query"
          ? async (request: { readonly query: string; readonly format: "JSONCompactEachRow" }) => {
              if (statement.test(request.query) && remaining-- > 0)
                await target.command({ query: "insert into t0 select * from coming" });
              return target.query(request);
            }
          : (Reflect.get(target, name) as unknown),
    });
  };
  const queryUpTo = (upTo: string): CellQuery => ({
    book: withoutAccounts(countingBook),
    schemas: ["use"],
    accounts: [usageAccount("a")],
    from: FIRST,
    until: FIRST + 31,
    upTo: parseInstant(upTo),
    idHeldUntil: (_, at) => at + 45 * DAY_MS,
  });
  const texts = { x: "String", y: "String", time: "DateTime64(3)" };
  const readWhileArriving = async (upTo: string, times: number): Promise<string> =>
    clickHouseTables(chDb.server.url)([[useRow("1", "2024-01-02T00:00:00Z")]], texts, async () => {
      await chDb.client.command({ query: "create or replace table coming as t0 engine = Memory" });
      await chDb.client.command({
        query: "insert into coming select * replace (toString(rand64()) as id, time + interval 5 day as time) from t0",
      });
      const source = clickhouseUsage(arriving(/cell_account/, times), { table: "t0", columns });
      return collectDays(source, queryUpTo(upTo)).then(String, String);
    });

  test("are counted in the next attempt; those after its instant have no effect; after three attempts the usage is unavailable", async () => {
    expect(await readWhileArriving("2024-01-31T00:00:00Z", 1)).toBe("1 1,6 1");
    expect(await readWhileArriving("2024-01-03T00:00:00Z", 9)).toBe("1 1");
    expect(await readWhileArriving("2024-01-31T00:00:00Z", 9)).toMatch(
      /ERR_USAGE_UNAVAILABLE|changed while it was being read/,
    );
  });
});
