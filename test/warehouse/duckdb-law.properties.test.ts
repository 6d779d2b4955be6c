/** The law of external events: sums in a database equal what the core would have counted (S17.2, S17.3). */
import { describe, expect, test } from "vitest";

import { readBook } from "../../src/book/book.ts";
import { openDuckDb } from "../../src/warehouse/duckdb/parquet-files.ts";
import { runs } from "../support/runs.ts";
import { COMMON_FAULTS, expectCaught, type Planted } from "./faults.ts";
import { checkLaw } from "./law.ts";
import { expectSameAsCore, parquetFiles } from "./parquet-files.ts";
import { type Row, types } from "./rows.ts";

test("S17.2, S17.3 random rows in Parquet files: DuckDB and the core give the same as the core alone", async () => {
  await checkLaw(parquetFiles(), { types, numRuns: runs(20) });
});

describe("S18.1 usage by group", () => {
  const book = readBook({
    eventSchemas: [{ name: "use", attributes: ["x", "y"], dimensions: ["d"] }],
    usageMeters: [
      { id: "by-d", schema: "use", sum: "x", groupBy: ["d"] },
      { id: "in-total", schema: "use", count: true },
    ],
    accounts: [{ id: "a", name: "Account" }],
  });
  const rowsOf = (count: number): readonly Row[] =>
    Array.from({ length: count }, (_, index) => ({
      schema: "use",
      id: `${index}`,
      account: "a",
      time: `2024-03-0${1 + (index % 2)}T12:00:00Z`,
      x: String(index % 7),
      y: "1",
      d: `group ${index % 3000}`,
    }));

  test.each([
    ["is summed in the database", 1600, 1600],
    ["of a day with more than 1,000 groups is decided by the core", 3200, 0],
  ])("%s", async (_, count, sumCount) => {
    expect((await expectSameAsCore(book, rowsOf(count))).sumCount).toBe(sumCount);
  });

  test("has groups of four texts of 512 characters, also if only the last ones differ", async () => {
    const dimensions = ["d", "second", "third", "fourth"];
    const fields = dimensions.slice(1).map((name, index) => {
      return { name, type: "DIMENSION" as const, order: index + 1, value: { var: "dimension.d" } };
    });
    const longBook = readBook({
      eventSchemas: [
        {
          name: "use",
          attributes: [{ name: "x" }, { name: "y" }],
          dimensions: [{ name: "d" }],
          enrichments: { fields },
        },
      ],
      usageMeters: [{ id: "by-d", schema: "use", sum: "x", groupBy: dimensions }],
      accounts: [{ id: "a", name: "Account" }],
    });
    const [first = "", second = ""] = ["a", "b"].map((end) => "x".repeat(511) + end);
    const valid = [first, second, "🧾".repeat(256)];
    const invalid = ["x".repeat(513), "🧾".repeat(257)];
    const longRows = [...valid, first, ...invalid].map((d, index) => ({ ...rowsOf(6)[index], d }) as Row);
    const { cells, counts, sumCount } = await expectSameAsCore(longBook, longRows);
    expect([cells.length, counts["INGESTION_REFUSED"]]).toEqual([4, 2]);
    expect(sumCount).toBeGreaterThan(0);
  });

  test("of a row without a text for its group fails", async () => {
    const { sumCount, counts } = await expectSameAsCore(book, [...rowsOf(2), { ...rowsOf(3)[2], d: "" }]);
    expect([sumCount, counts["INGESTION_FAILED_UNITS_INVALID"]]).toEqual([2, 1]);
  });
});

describe("the law catches", () => {
  /** A database with faulty statements. */
  const faulty =
    (pattern: RegExp, instead: string): typeof openDuckDb =>
    async (limits) => {
      const db = await openDuckDb(limits);
      const replaceSql = (sql: string): string => sql.replace(pattern, instead);
      return {
        ...db,
        execute: async (sql) => db.execute(replaceSql(sql)),
        stream: (sql) => db.stream(replaceSql(sql)),
        materialize: async (sql) => db.materialize(replaceSql(sql)),
      };
    };
  const texts = { x: "VARCHAR", y: "VARCHAR", time: "VARCHAR" };

  test.each<Planted>([
    ...COMMON_FAULTS,
    ["days of a local time zone", /\(at_ms \/\/ 86400000\)/g, "((at_ms - 5 * 3600000) // 86400000)"],
    ["an offset that is dropped", /\(\[\.\]\[0-9\]\{1,9\}\)\?Z\?'/g, "([.][0-9]{1,9})?(Z|[+]05:30)?'"],
    ["a sum that is beyond 64 bits", /sum\(try_cast\((.*?) as BIGINT\)\)/g, "sum($1::DOUBLE)::HUGEINT"],
  ])("%s", async (fault, pattern, instead) => {
    await expectCaught(fault, texts, parquetFiles(), parquetFiles(faulty(pattern, instead)));
  });
});
