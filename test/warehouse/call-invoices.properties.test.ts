/** The invoices of price tables are the same, byte for byte, wherever usage is summed (S13.5, S17.3, S18). */
import { expect, test } from "vitest";

import { readBook } from "../../src/book/book.ts";
import { memoryStore } from "../../src/store/memory/memory.ts";
import { TOKEN_BOOK, TOKEN_CALLS } from "../examples/token-prices/calls.ts";
import { runs } from "../support/runs.ts";
import { CALL_SHAPE, checkInvoices, invoicesByDatabase, invoicesByEngine, invoicesByPreview } from "./call-invoices.ts";
import { parquetFiles } from "./parquet-files.ts";
import { types } from "./rows.ts";
import { callCases, keyedCallCases } from "./table-books.ts";

/** Tokens may be fractions. */
const fractionTypes = types.filter(({ x }) => !x.includes("INT"));
const world = parquetFiles(undefined, CALL_SHAPE);

test("of a month of calls: a preview, DuckDB and an engine", async () => {
  const book = readBook(TOKEN_BOOK);
  const expected = invoicesByPreview(book, TOKEN_CALLS);
  const texts = { x: "BIGINT", y: "VARCHAR", time: "TIMESTAMPTZ" };
  expect(await invoicesByDatabase(book, TOKEN_CALLS, { world, types: texts })).toEqual({
    invoices: expected,
    sumCount: TOKEN_CALLS.length,
  });
  expect(await invoicesByEngine(book, TOKEN_CALLS, { store: memoryStore() })).toBe(expected);
});

test.each([
  ["sums", callCases],
  ["peaks, counts of values, and levels", keyedCallCases],
])("of random tables of %s: a preview and DuckDB", async (_, cases) => {
  const numRuns = runs(150, 20);
  await checkInvoices(cases, fractionTypes, { numRuns, leastSums: numRuns / 2 }, async (book, calls, columnTypes) => {
    const { invoices, sumCount } = await invoicesByDatabase(book, calls, { world, types: columnTypes });
    return { invoices: [invoices], sumCount };
  });
});
