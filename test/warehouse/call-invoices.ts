/** Invoices of the same calls by a preview, by a preview of rows in a database, and by an engine. */
import fc from "fast-check";
import { expect } from "vitest";

import type { Book } from "../../src/book/resources/book.ts";
import { createEngine } from "../../src/engine/engine.ts";
import { mergeEvents } from "../../src/event-files/merge-events.ts";
import type { Invoice } from "../../src/invoicing/invoice.ts";
import type { UsageSource } from "../../src/ledger/external-usage.ts";
import { createPreview, preview } from "../../src/ledger/preview/preview.ts";
import type { EventInput } from "../../src/metering/event-envelope.ts";
import type { Store } from "../../src/store/store.ts";
import { createSummingSink, type TableShape, type Types, type World } from "./law.ts";
import type { TableRow } from "./rows.ts";

/** A call: when, by which account, its tokens, and the texts of the dimensions. */
export interface Call {
  readonly timestamp: string;
  readonly accountId: string;
  readonly tokens: number | string;
  readonly dimensions: Readonly<Record<string, string>>;
}

const DIMENSIONS = ["model", "kind", "region"];

/** Tables of calls; tokens are in the column `x`, whose type may be a number. */
export const CALL_SHAPE: TableShape = {
  columns: ["id", "account", "time", "x", ...DIMENSIONS],
  map: JSON.stringify({
    schemaName: { value: "call" },
    id: { column: "id" },
    accountId: { column: "account" },
    timestamp: { column: "time", zone: "UTC" },
    attributes: { tokens: { column: "x" } },
    dimensions: Object.fromEntries(DIMENSIONS.map((name) => [name, { column: name }])),
  }),
};

/** The events of calls, in the order of time. */
export function toEvents(calls: readonly Call[]): readonly EventInput[] {
  const sorted = calls.toSorted((a, b) => (a.timestamp < b.timestamp ? -1 : 1));
  return sorted.map(({ tokens, ...call }, index) => ({
    schemaName: "call",
    id: `call-${String(index).padStart(4, "0")}`,
    attributes: { tokens },
    ...call,
  }));
}

/** The rows of calls, in the order of time. */
export function toRows(calls: readonly Call[]): readonly TableRow[] {
  return toEvents(calls).map(toRow);
}

function toRow({ id, accountId, timestamp, attributes, dimensions }: EventInput): TableRow {
  const { tokens } = attributes as Readonly<Record<string, unknown>>;
  return { id, account: accountId, time: timestamp, x: String(tokens), ...(dimensions as Record<string, string>) };
}

function textOf(invoices: readonly Invoice[]): string {
  return JSON.stringify(invoices);
}

/** The invoices of a preview, with explanations. */
export function invoicesByPreview(book: Book, calls: readonly Call[]): string {
  return textOf(preview(book, toEvents(calls), { explain: true }).invoices);
}

/** The invoices of a preview whose events are rows in two tables, and the number of events that the database summed. */
export async function invoicesByDatabase(
  book: Book,
  calls: readonly Call[],
  { world, types }: { readonly world: World; readonly types: Types },
): Promise<{ readonly invoices: string; readonly sumCount: number }> {
  const rows = toRows(calls);
  const files = [rows.filter((_, index) => index % 3 > 0), rows.filter((_, index) => index % 3 === 0)];
  return world(files, types, async ({ open }) => {
    const run = createPreview(book, { explain: true });
    const { sink, sumCount } = createSummingSink(run, (_, __, event) => run.add(event as EventInput));
    await mergeEvents(await open(sink, { book, usesPushdown: true, dedupes: true }), { onDisorder: () => undefined });
    return { invoices: textOf(run.finish().invoices), sumCount: sumCount() };
  });
}

/**
 * The final invoices of October 2026 by an engine that gets each event at its time, or reads the usage from elsewhere,
 * in the order of account ids and with the status that a preview has.
 */
export async function invoicesByEngine(
  book: Book,
  calls: readonly Call[],
  { store, source }: { readonly store: Store; readonly source?: UsageSource },
): Promise<string> {
  let now = Date.UTC(2026, 9, 1);
  const usage = source && { schemas: ["call"], source };
  const engine = createEngine({ store, clock: () => now, ...(usage && { usage }) });
  await engine.load(book);
  for (const event of source === undefined ? toEvents(calls) : []) {
    now = Date.parse(event.timestamp);
    await engine.ingest([event]);
  }
  now = Date.UTC(2026, 10, 20);
  await engine.finalize();
  const { items } = await engine.invoices.list({ page: { limit: 100 } });
  const invoices = items
    .map(({ invoice }) => invoice)
    .filter(({ startDate }) => startDate.startsWith("2026-10"))
    .toSorted((a, b) => (a.accountId < b.accountId ? -1 : 1));
  if (invoices.some(({ status }) => status === "DRAFT")) throw new Error("an invoice of October is not final");
  return textOf(invoices.map((invoice) => ({ ...invoice, status: "DRAFT" as const })));
}

/** Checks that the invoices of random cases are those of a preview in each way, and that the database sums in many runs. */
export async function checkInvoices(
  cases: fc.Arbitrary<{ readonly book: Book; readonly calls: readonly Call[] }>,
  types: fc.Arbitrary<Types>,
  { numRuns, leastSums }: { readonly numRuns: number; readonly leastSums: number },
  compute: (
    book: Book,
    calls: readonly Call[],
    types: Types,
  ) => Promise<{ readonly invoices: readonly string[]; readonly sumCount: number }>,
): Promise<void> {
  let runsWithSums = 0;
  await fc.assert(
    fc.asyncProperty(cases, types, async ({ book, calls }, columnTypes) => {
      const { invoices, sumCount } = await compute(book, calls, columnTypes);
      expect(new Set(invoices)).toEqual(new Set([invoicesByPreview(book, calls)]));
      if (sumCount > 0) runsWithSums++;
    }),
    { numRuns },
  );
  expect(runsWithSums).toBeGreaterThan(leastSums);
}
