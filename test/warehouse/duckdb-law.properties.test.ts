/** The law of external events: sums in a database equal what the core would have counted (S17.2, S17.3). */
import { describe, expect, test } from "vitest";

import { openDuckDb } from "../../src/warehouse/duckdb/parquet-files.ts";
import { runs } from "../support/runs.ts";
import { FAULTS, type Planted, SUMMING_BOOK } from "./faults.ts";
import { byCore, byDatabase, checkLaw, comparable } from "./law.ts";
import { parquetFiles } from "./parquet-files.ts";
import { types } from "./rows.ts";

test("S17.2, S17.3 random rows in Parquet files: DuckDB and the core give the same as the core alone", async () => {
  await checkLaw(parquetFiles(), { types, numRuns: runs(20) });
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
    ["an unchecked scale", /\{1,6\}/g, "{1,20}"],
    [
      "any of an id's events instead of the first",
      /order by at_ms asc nulls first, order_id/g,
      "order by at_ms desc, order_id",
    ],
    ["ids that repeat in another file", /having count\(\*\) > 1/g, "having count(*) > 2"],
    ["days of a local time zone", /\(at_ms \/\/ 86400000\)/g, "((at_ms - 5 * 3600000) // 86400000)"],
    ["an offset that is dropped", /\(\[\.\]\[0-9\]\{1,9\}\)\?Z\?'/g, "([.][0-9]{1,9})?(Z|[+]05:30)?'"],
    ["rows of an unknown account, which are not decided", /where not plain/g, "where not plain and id is null"],
    ["a sum that is beyond 64 bits", /sum\(try_cast\((.*?) as BIGINT\)\)/g, "sum($1::DOUBLE)::HUGEINT"],
  ])("%s", async (fault, pattern, instead) => {
    const summing = { dedupes: true, usesPushdown: true };
    await parquetFiles()(FAULTS[fault], texts, async (rowsInFiles) => {
      expect(comparable(await byDatabase(SUMMING_BOOK, rowsInFiles, summing))).toEqual(
        byCore(SUMMING_BOOK, rowsInFiles, true),
      );
    });
    await parquetFiles(faulty(pattern, instead))(FAULTS[fault], texts, async (rowsInFiles) => {
      const failure = byDatabase(SUMMING_BOOK, rowsInFiles, summing).then(comparable, String);
      expect(await failure).not.toEqual(byCore(SUMMING_BOOK, rowsInFiles, true));
    });
  });
});
