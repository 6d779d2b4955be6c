/** Exports a history and reads the result, without files. */
import {
  exportEvents,
  exportFeatureUsage,
  type ExportedInvoices,
  exportInvoices,
  exportUsage,
} from "../../../src/cli/output/exported-files.ts";
import { type Book, type ExportResult, parseBook } from "../../../src/index.ts";
import { featuresBySchema } from "../../../src/ledger/catalog.ts";
import type { UsageRow } from "../../../src/metering/usage-rows.ts";
import { stringifyJson } from "../../../src/numbers/json.ts";
import type { Store } from "../../../src/store/store.ts";
import type { HistoryRun } from "../../../src/testing/history.ts";

/** The parts of an export. */
export interface ExportedParts extends ExportResult, ExportedInvoices {
  /** The book as read back. */
  readonly parsedBook: Book;
  readonly usage: readonly UsageRow[];
  /** The usage of meters whose events consume a feature. */
  readonly featureUsage: readonly UsageRow[];
}

/**
 * The book, its notes, and the invoices with their differences from those that the files give.
 *
 * @param isComplete false if usage is external and the engine has no source for it
 */
export async function exportParts(
  { engine, now }: Pick<HistoryRun<Store>, "engine" | "now">,
  isComplete = true,
): Promise<ExportedParts> {
  const { book: bookText, notes } = await engine.exportBook();
  // Parsed from text, like a file.
  const book = parseBook(stringifyJson(bookText));
  const features = featuresBySchema(book);
  const usage = await collectRows(exportUsage(engine, book, isComplete));
  const events = exportEvents(engine, book, (name) => features.has(name));
  const invoicesExport = await exportInvoices(engine, book, { usage, events, now: now(), isComplete });
  const featureUsage = await collectRows(exportFeatureUsage(engine, book));
  return { book: bookText, parsedBook: book, notes, usage, featureUsage, ...invoicesExport };
}

async function collectRows(rows: AsyncIterable<UsageRow>): Promise<readonly UsageRow[]> {
  const all: UsageRow[] = [];
  for await (const row of rows) all.push(row);
  return all;
}
