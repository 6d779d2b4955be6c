/** Random price tables and calls in October 2026, of two accounts: one has the plan for a part of the month. */
import fc from "fast-check";

import { readBook } from "../../src/book/book.ts";
import type { Book } from "../../src/book/resources/book.ts";
import type { RateTableInput } from "../../src/book/resources/rate-table.ts";
import type { UsageItem } from "../rating/rate-tables.ts";
import { GROUP_BY, tableArbitrary, usageArbitrary } from "../rating/table-arbitrary.ts";
import type { Call } from "./call-invoices.ts";

/** A book with a table, and its calls. */
export interface CallCase {
  readonly book: Book;
  readonly calls: readonly Call[];
}

/** What the meter of a book with keys measures. */
const MEASURES = [
  { max: "tokens" },
  { min: "tokens", daily: true },
  { unique: { var: "attribute.tokens" } },
  { unique: "model", daily: true },
  { latest: "tokens" },
  { latest: "tokens", carryOver: true },
  { level: "tokens" },
  { change: "tokens" },
  { change: "tokens", daily: true },
] as const;

function bookWith(rateTable: RateTableInput, measure: object = { sum: "tokens" }): Book {
  return readBook({
    eventSchemas: [{ name: "call", attributes: ["tokens"], dimensions: GROUP_BY }],
    usageMeters: [{ id: "tokens", schema: "call", groupBy: GROUP_BY, ...measure }],
    pricePlans: [{ id: "pp", cycle: "MONTHLY", usage: [{ meter: "tokens", rateTable }] }],
    accounts: [
      { id: "acme", plan: "pp", from: "2026-10-01" },
      { id: "globex", plan: "pp", from: "2026-10-04" },
    ],
  });
}

function toCall(accountId: string, [day, group, tokens]: UsageItem, hour: number): Call {
  return {
    timestamp: `2026-10-${String(day).padStart(2, "0")}T${String(hour).padStart(2, "0")}:00:00.000Z`,
    accountId,
    tokens,
    dimensions: Object.fromEntries(GROUP_BY.map((dimension, position) => [dimension, group[position] ?? ""])),
  };
}

function createCallCases(measures: fc.Arbitrary<object | undefined>): fc.Arbitrary<CallCase> {
  return fc
    .record({
      rateTable: tableArbitrary().filter(({ rows }) => rows.length > 0),
      usages: fc.record({ acme: usageArbitrary(), globex: usageArbitrary() }),
      quarter: fc.boolean(),
      measure: measures,
    })
    .map(({ rateTable, usages, quarter, measure }) => ({
      book: bookWith(rateTable, measure),
      calls: Object.entries(usages).flatMap(([accountId, items]) =>
        items.map(([day, group, tokens], index): Call =>
          toCall(accountId, [day, group, quarter ? Number(tokens) / 4 : tokens], index),
        ),
      ),
    }));
}

/** Random tables with one row or more, and calls. */
export const callCases: fc.Arbitrary<CallCase> = createCallCases(fc.constant(undefined));
/** The same of meters with keys (S19). */
export const keyedCallCases: fc.Arbitrary<CallCase> = createCallCases(fc.constantFrom(...MEASURES));
