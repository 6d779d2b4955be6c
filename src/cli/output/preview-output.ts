/** The output of a preview: invoices on standard output; problems, notices and counts on standard error. */
import type { Backtest } from "../../analysis/backtest/compare-invoices.ts";
import { groupThousands } from "../../invoicing/invoice-rows.ts";
import type { Invoice } from "../../invoicing/invoice.ts";
import type { IngestStatus } from "../../ledger/outcome.ts";
import type { LineTrace } from "../../ledger/preview/line-trace.ts";
import type { Preview } from "../../ledger/preview/preview.ts";
import type { SkippedAccount } from "../../ledger/refusals.ts";
import { stringifyJson } from "../../numbers/json.ts";
import { describeEventCount, describeNotBilled, listUnpriced, type NotBilled } from "../../pages/not-billed.ts";
import { toPrintable } from "../../pages/printable.ts";
import type { Arguments } from "../arguments.ts";
import { type Io, write } from "../io.ts";
import { BAD_LINE, isProblem, type ProblemList } from "../reading/event-problems.ts";
import { printNotices } from "../reading/print-problems.ts";
import { formatCount } from "../table/format-rows.ts";
import { CSV_HEADER, formatInvoiceCsv, formatInvoiceTable } from "../table/invoice-table.ts";
import { createTableStyle } from "../table/table-style.ts";
import { TRACE_CSV_HEADER, formatTraceCsv, formatTracesJson, formatTrace } from "../table/trace-text.ts";
import { type ReportPageInput, renderReportPage } from "./output-file.ts";

export type PreviewFormat = "table" | "json" | "csv" | "html";

export interface PreviewResult extends ReportPageInput {
  readonly invoices: readonly Invoice[];
  readonly unmetered?: Preview["unmetered"];
  /** Accounts that can't be billed. */
  readonly skipped: readonly SkippedAccount[];
}

/** The minimum number of events read for which shares are printed. */
const SHARE_READ_MIN = 100;

/** Writes invoices to standard output one at a time. */
export async function writePreview(result: PreviewResult, format: PreviewFormat, io: Io): Promise<void> {
  switch (format) {
    case "json":
      return writeJson(result, io);
    case "csv":
      await write(io.stdout, CSV_HEADER);
      for (const invoice of result.invoices) await write(io.stdout, formatInvoiceCsv(invoice));
      return;
    case "html":
      return write(io.stdout, await renderReportPage(result));
    case "table": {
      const style = createTableStyle(io);
      const names = new Map(result.book.accounts.map(({ id, name }) => [id, name]));
      for (const invoice of result.invoices) {
        await write(
          io.stdout,
          `${formatInvoiceTable(invoice, { accountName: names.get(invoice.accountId) }, style)}\n`,
        );
      }
    }
  }
}

/** Writes the events of lines to standard output. */
export async function writeTraces(traces: readonly LineTrace[], format: PreviewFormat, io: Io): Promise<void> {
  if (traces.length === 0) await printNotices(["no invoice of these periods has a line of this meter or feature"], io);
  if (format === "csv") await write(io.stdout, TRACE_CSV_HEADER);
  if (format === "json") {
    for (const piece of formatTracesJson(traces)) await write(io.stdout, piece);
    return;
  }
  for (const trace of traces) {
    if (format === "csv") for (const row of formatTraceCsv(trace)) await write(io.stdout, row);
    else for (const line of formatTrace(trace)) await write(io.stdout, `${toPrintable(line)}\n`);
  }
}

async function writeJson({ invoices, events, unmetered, list, skipped }: PreviewResult, io: Io): Promise<void> {
  await write(io.stdout, '{\n  "invoices": [');
  for (const [index, invoice] of invoices.entries()) {
    await write(io.stdout, `${index === 0 ? "" : ","}\n${indentLines(stringifyJson(invoice, 2), "    ")}`);
  }
  const { problems } = list;
  const fields = { events, ...(unmetered && { unmetered }), problems, ...(skipped.length > 0 && { skipped }) };
  const fieldTexts = Object.entries(fields).map(
    ([name, value]) => `,\n  "${name}": ${indentLines(stringifyJson(value, 2), "  ").trimStart()}`,
  );
  await write(io.stdout, `${invoices.length === 0 ? "" : "\n  "}]${fieldTexts.join("")}\n}\n`);
}

function indentLines(text: string, indent: string): string {
  return text.replace(/^/gm, indent);
}

/** Prints usage that is not billed. @returns whether it is a problem that the options do not allow */
export async function printNotBilled(
  list: readonly NotBilled[],
  args: Pick<Arguments, "flag">,
  io: Io,
): Promise<boolean> {
  const isAllowed = ({ reason }: NotBilled): boolean =>
    reason === "NO_CARD" || (reason === "NO_METER" && args.flag("allow-unmetered"));
  for (const each of list)
    await write(io.stderr, `${isAllowed(each) ? "note" : "warning"}: ${describeNotBilled(each)}\n`);
  if (list.some((each) => each.reason === "NO_METER" && !isAllowed(each)))
    await printNotices(
      ['if events without a meter are expected, use --allow-unmetered, or "allowUnmetered": true in the event schema'],
      io,
    );
  return !list.every(isAllowed);
}

/** Usage that no row of a price table of a draft prices. @param draftNames in order */
export function listUnpricedOnDrafts(plans: Backtest["plans"], draftNames: readonly string[]): readonly NotBilled[] {
  return plans.flatMap(({ unpriced = [] }, index) =>
    listUnpriced(unpriced).map((each) => ({
      ...each,
      title: toPrintable(`${draftNames[index] ?? ""}: ${each.title}`),
    })),
  );
}

/** Counts events by status, and lines without an event. */
export function countEventsByStatus(
  statuses: Readonly<Record<string, number>> & { readonly read: number },
  { badLines }: Pick<ProblemList, "badLines">,
): Readonly<Record<string, number>> & { readonly read: number } {
  return { ...statuses, read: statuses.read + badLines, ...(badLines > 0 ? { [BAD_LINE]: badLines } : {}) };
}

/** Counts of a run other than events. */
interface RunCounts {
  /** The number of usage rows read; undefined if none were requested. */
  readonly rows?: number | undefined;
  /** The number and name of what was written. */
  readonly output: readonly [count: number, thing: string];
}

/** Prints the number of events: accepted ones and duplicates by kind, then the rejected ones and their kinds. */
export async function printSummary(
  events: Readonly<Record<string, number>>,
  { rows, output }: RunCounts,
  io: Io,
): Promise<void> {
  const { read = 0, ...statuses } = events;
  const format = (count: number): string => groupThousands(String(count));
  const describe = ([status, count]: readonly [string, number]): string =>
    `${describeEventCount(status, count, format)}${formatEventShare(status, count, read)}`;
  const entries = Object.entries(statuses);
  const rejected = entries.filter(([status]) => status === BAD_LINE || isProblem(status as IngestStatus));
  const counts = entries.filter((entry) => !rejected.includes(entry)).map(describe);
  if (rejected.length > 1) {
    const total = rejected.reduce((sum, [, count]) => sum + count, 0);
    const parts = rejected.map(([status, count]) => describeEventCount(status, count, format)).join(", ");
    counts.push(`${format(total)} rejected${formatEventShare("rejected", total, read)}, of which ${parts}`);
  } else counts.push(...rejected.map(describe));
  const kinds = counts.length === 0 ? "" : `: ${counts.join(", ")}`;
  const usage = rows === undefined ? "" : `${formatCount(rows, "row")} of usage and `;
  await write(io.stderr, `${usage}${formatCount(read, "event")} read${kinds}; ${formatCount(...output)}\n`);
}

/** The share of the events read, unless they were metered or few were read: ` (3.1 %)`. */
function formatEventShare(status: string, count: number, read: number): string {
  if (status === "INGESTION_COMPLETED_EVENT_METERED" || read < SHARE_READ_MIN) return "";
  const percent = (100 * count) / read;
  return ` (${percent < 0.1 ? "less than 0.1" : percent.toFixed(1)} %)`;
}
