/** The law of events that live elsewhere: what a database sums up is what the core would have counted (S17.2, S17.3). */
import { describe, expect, test } from "vitest";

import { readBook } from "../../src/book/book.ts";
import { openDuckDb } from "../../src/warehouse/duckdb/connect.ts";
import { byCore, byDuckDb, checkLaw, outcome, withFiles } from "./duckdb-law.ts";

test("S17.2, S17.3 random rows in Parquet files: DuckDB and the core give what the core alone gives", async () => {
  await checkLaw(8);
});

describe("the law catches", () => {
  /** A database whose statements have a fault. */
  const faulty =
    (pattern: RegExp, instead: string): typeof openDuckDb =>
    async (limits) => {
      const db = await openDuckDb(limits);
      let met = false;
      const broken = (sql: string): string => {
        met ||= sql.search(pattern) >= 0;
        return sql.replace(pattern, instead);
      };
      return { run: async (sql) => db.run(broken(sql)), stream: (sql) => db.stream(broken(sql)), close: db.close };
    };
  const row = { schema: "use", account: "a", x: "1", y: "1", d: "eu" };
  const json = {
    organization: { id: "org", name: "Org", baseCurrency: "USD" },
    eventSchemas: [{ name: "use", attributes: [{ name: "x" }, { name: "y" }], dimensions: [{ name: "d" }] }],
    usageMeters: [
      {
        id: "um",
        name: "m",
        aggregation: "SUM" as const,
        eventSchemaName: "use",
        computations: [{ order: 1, computation: { var: "attribute.x" } }],
      },
    ],
    customers: [{ id: "c", name: "Customer" }],
    accounts: [{ id: "a", name: "Account", customerId: "c", invoiceCurrency: "USD" }],
  };
  const texts = { x: "VARCHAR", y: "VARCHAR", time: "VARCHAR" };

  test.each([
    {
      name: "an unchecked scale",
      fault: [/\{1,6\}/g, "{1,20}"] as const,
      files: [[{ ...row, id: "1", time: "2024-03-01T10:00:00Z", x: "0.1234567" }]],
    },
    {
      name: "any of an id's events in place of the first",
      fault: [/order by at_ms nulls first, order_id/g, "order by at_ms desc, order_id"] as const,
      files: [
        [{ ...row, id: "1", time: "2024-03-01T10:00:00Z", x: "5" }],
        [{ ...row, id: "1", time: "2024-03-01T11:00:00Z", x: "7" }],
      ],
    },
    {
      name: "ids that come again in another file",
      fault: [/having count\(\*\) > 1/g, "having count(*) > 2"] as const,
      files: [
        [{ ...row, id: "1", time: "2024-03-01T10:00:00Z", x: "5" }],
        [{ ...row, id: "1", time: "2024-03-01T11:00:00Z", x: "7" }],
      ],
    },
    {
      name: "days of a local time zone",
      fault: [/at_ms \/\/ 86400000/g, "(at_ms - 5 * 3600000) // 86400000"] as const,
      files: [[{ ...row, id: "1", time: "2024-03-02T01:00:00Z" }]],
    },
    {
      name: "an offset that is dropped",
      fault: [/\(\[\.\]\[0-9\]\{1,9\}\)\?Z\?'/g, "([.][0-9]{1,9})?(Z|[+]05:30)?'"] as const,
      files: [[{ ...row, id: "1", time: "2024-03-02T01:00:00+05:30" }]],
    },
    {
      name: "an account that is not known",
      fault: [/delete from/g, "select * from"] as const,
      files: [
        [
          { ...row, id: "1", account: "nobody", time: "2024-03-02T01:00:00Z" },
          { ...row, id: "2", time: "2024-03-02T01:00:00Z" },
        ],
      ],
    },
  ])("$name", async ({ fault: [pattern, instead], files }) => {
    const book = readBook(JSON.stringify(json));
    await withFiles(files, texts, async (paths, read) => {
      const expected = byCore(book, paths, read, true);
      expect(outcome(await byDuckDb(book, paths, { dedupes: true, isPushing: true }))).toEqual(expected);
      const found = byDuckDb(book, paths, { dedupes: true, isPushing: true, open: faulty(pattern, instead) }).then(
        outcome,
        String,
      );
      expect(await found).not.toEqual(expected);
    });
  });
});
