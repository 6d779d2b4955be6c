/** The law of external events on many random books and rows. */
import { expect, test } from "vitest";

import { readBook } from "../../src/book/book.ts";
import { checkLaw } from "./law.ts";
import { expectSameAsCore, parquetFiles } from "./parquet-files.ts";
import { types } from "./rows.ts";

test("S17.2, S17.3 a thousand random books and files: DuckDB and the core give the same as the core alone", async () => {
  await checkLaw(parquetFiles(), { types, numRuns: 1000 });
});

test.each([
  [100_000, 100_000, undefined],
  [100_001, 0, 1],
])("S19.2 %i values of an account on a day: %i are summed in the database", async (count, sumCount, failed) => {
  const book = readBook({
    eventSchemas: [{ name: "use", attributes: ["x", "y"], dimensions: ["d"] }],
    usageMeters: [
      { id: "peak", schema: "use", max: "x" },
      { id: "users", schema: "use", unique: "d", groupBy: ["d"] },
    ],
    accounts: [{ id: "a", name: "Account" }],
  });
  const row = { schema: "use", account: "a", time: "2024-03-01T12:00:00Z", y: "1" };
  const rows = Array.from({ length: count }, (_, n) => ({ ...row, id: `${n}`, x: `${n % 100}`, d: `user ${n}` }));
  const result = await expectSameAsCore(book, rows, false);
  expect([result.sumCount, result.counts["INGESTION_FAILED_UNITS_INVALID"] || undefined]).toEqual([sumCount, failed]);
});
