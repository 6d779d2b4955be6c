/**
 * The invoices of price tables are the same, byte for byte, as those of a preview: with events in ClickHouse, with an
 * engine that reads usage from ClickHouse, and with one whose store is PostgreSQL (S13.5, S17.3, S18).
 */
import { expect, test } from "vitest";

import { readBook } from "../../src/book/book.ts";
import type { Book } from "../../src/book/resources/book.ts";
import { memoryStore } from "../../src/store/memory/memory.ts";
import { clickhouseUsage, type EventColumns } from "../../src/warehouse.ts";
import { TOKEN_BOOK, TOKEN_CALLS } from "../examples/token-prices/calls.ts";
import { emptiedStore, pgliteDatabase } from "../store/test-databases.ts";
import {
  CALL_SHAPE,
  checkInvoices,
  type Call,
  invoicesByDatabase,
  invoicesByEngine,
  invoicesByPreview,
  toRows,
} from "./call-invoices.ts";
import { chDbOfTests } from "./chdb.ts";
import { clickHouseTables, tableTypes } from "./clickhouse-tables.ts";
import type { Types } from "./law.ts";
import { callCases, keyedCallCases } from "./table-books.ts";

const chDb = chDbOfTests();
const pglite = pgliteDatabase();

/** Tokens may be fractions. */
const fractionTypes = tableTypes.filter(({ x }) => !x.includes("Int"));
const columns = JSON.parse(CALL_SHAPE.map) as EventColumns;

/** The invoices of each way, and the number of events that ClickHouse summed for the preview. */
async function computeInvoices(
  book: Book,
  calls: readonly Call[],
  types: Types,
): Promise<{ readonly invoices: readonly string[]; readonly sumCount: number }> {
  const world = clickHouseTables(chDb.server.url, undefined, CALL_SHAPE);
  const { invoices, sumCount } = await invoicesByDatabase(book, calls, { world, types });
  const byUsage = await world([toRows(calls)], types, async () =>
    invoicesByEngine(book, [], {
      store: memoryStore(),
      source: clickhouseUsage(chDb.client, { table: "t0", columns }),
    }),
  );
  const byPostgres = await invoicesByEngine(book, calls, { store: await emptiedStore(pglite.client) });
  return { invoices: [invoices, byUsage, byPostgres], sumCount };
}

test("of a month of calls", async () => {
  const book = readBook(TOKEN_BOOK);
  const expected = invoicesByPreview(book, TOKEN_CALLS);
  const types = { x: "Nullable(Int64)", y: "String", time: "Nullable(DateTime64(3))" };
  expect(await computeInvoices(book, TOKEN_CALLS, types)).toEqual({
    invoices: [expected, expected, expected],
    sumCount: TOKEN_CALLS.length,
  });
});

test.each([
  ["sums", callCases],
  ["peaks, counts of values, and levels", keyedCallCases],
])("of random tables of %s", async (_, cases) => {
  await checkInvoices(cases, fractionTypes, { numRuns: 30, leastSums: 10 }, computeInvoices);
});
