/**
 * What a preview prints: invoices on standard output; problems, notices and counts on standard error.
 *
 * @module
 */
import type { Book } from "../book/book.ts";
import { grouped } from "../invoicing/figure-text.ts";
import type { Invoice } from "../invoicing/invoice.ts";
import type { SkippedAccount } from "../ledger/account/bill.ts";
import { stringifyJson } from "../numbers/json.ts";
import { type LineProblem, NO_ACCOUNT, type ProblemList } from "./event-problems.ts";
import { type Io, write } from "./io.ts";
import { sentenceOnUnknown, sentenceOnZones } from "./preview-notes.ts";
import { withDashes } from "./problems.ts";
import { CSV_HEADER, invoiceCsv } from "./table/invoice-csv.ts";
import { invoiceTable } from "./table/invoice-table.ts";
import { printable } from "./table/printable.ts";
import { styleOf } from "./table/style.ts";

/** How invoices are printed. */
export type PreviewFormat = "table" | "json" | "csv";

/** What is printed. */
export interface PreviewResult {
  readonly invoices: readonly Invoice[];
  /** How many were read, and how many had each status. */
  readonly events: Readonly<Record<string, number>>;
  readonly problems: readonly LineProblem[];
  /** Accounts whose bill cannot be made. */
  readonly skipped: readonly SkippedAccount[];
  readonly book: Book;
}

/** So many problems are told one by one. */
const PROBLEMS_TOLD_MAX = 20;

/** Writes the invoices to standard output, one after another. */
export async function writePreview(result: PreviewResult, format: PreviewFormat, io: Io): Promise<void> {
  switch (format) {
    case "json":
      return writeJson(result, io);
    case "csv":
      await write(io.stdout, CSV_HEADER);
      for (const invoice of result.invoices) await write(io.stdout, invoiceCsv(invoice));
      return;
    case "table": {
      const style = styleOf(io);
      const names = new Map(result.book.accounts.map(({ id, name }) => [id, name]));
      for (const invoice of result.invoices) {
        await write(io.stdout, `${invoiceTable(invoice, { accountName: names.get(invoice.accountId) }, style)}\n`);
      }
    }
  }
}

async function writeJson({ invoices, events, problems, skipped }: PreviewResult, io: Io): Promise<void> {
  await write(io.stdout, '{\n  "invoices": [');
  for (const [index, invoice] of invoices.entries()) {
    await write(io.stdout, `${index === 0 ? "" : ","}\n${indented(stringifyJson(invoice, 2), "    ")}`);
  }
  await write(
    io.stdout,
    `${invoices.length === 0 ? "" : "\n  "}],\n  "events": ${indented(stringifyJson(events, 2), "  ").trimStart()},\n`,
  );
  const named = skipped.length === 0 ? "" : `,\n  "skipped": ${indented(stringifyJson(skipped, 2), "  ").trimStart()}`;
  await write(io.stdout, `  "problems": ${indented(stringifyJson(problems, 2), "  ").trimStart()}${named}\n}\n`);
}

function indented(text: string, indent: string): string {
  return text.replace(/^/gm, indent);
}

/** Tells the first problems one a line, how many more there are, and what remedies many of them at once. */
export async function tellProblems(list: ProblemList, book: Book, io: Io): Promise<void> {
  const { problems, count, disorders, unknownAccounts } = list;
  // Events of unknown accounts are told by account: one that is missing may have thousands.
  const single = problems.filter(({ status }) => status !== NO_ACCOUNT);
  const told = single.slice(0, PROBLEMS_TOLD_MAX);
  const lines = told.map(({ file, line, message, status }) => `${file}:${line}: ${message} [${status}]`);
  const more = count - list.withoutAccount - told.length;
  if (more > 0) lines.push(`… and ${grouped(String(more))} more`);
  const notes = [sentenceOnUnknown(unknownAccounts, book), sentenceOnZones(problems)];
  lines.push(...notes.flatMap((note) => (note === undefined ? [] : [note])));
  for (const { file, line, sentence } of disorders) lines.push(`${file}:${line}: note: ${sentence}`);
  for (const line of lines) await write(io.stderr, `${printable(line)}\n`);
}

/** Tells what is worth knowing though nothing failed. */
export async function tellNotices(notices: readonly string[], io: Io): Promise<void> {
  for (const notice of notices) await write(io.stderr, `note: ${printable(withDashes(notice))}\n`);
}

/** Tells how many events there were of each kind. */
export async function tellSummary(events: Readonly<Record<string, number>>, invoices: number, io: Io): Promise<void> {
  const { read = 0, ...statuses } = events;
  const counts = Object.entries(statuses).map(([status, count]) => `${grouped(String(count))} ${status}`);
  const kinds = counts.length === 0 ? "" : `: ${counts.join(", ")}`;
  const made = `${grouped(String(invoices))} invoice${invoices === 1 ? "" : "s"}`;
  await write(io.stderr, `${grouped(String(read))} event${read === 1 ? "" : "s"} read${kinds}; ${made}\n`);
}
