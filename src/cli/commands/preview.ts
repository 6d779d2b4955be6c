/** `ratebook preview`: prices files of events and prints the invoices of a book's accounts. */
import type { Book } from "../../book/resources/book.ts";
import type { PricePlan } from "../../book/resources/price-plan.ts";
import { createPreview, type PreviewOptions, type PreviewRun } from "../../ledger/preview/preview.ts";
import { listNotBilled } from "../../pages/not-billed.ts";
import { type Arguments, type Command, requireBookPath } from "../arguments.ts";
import { readDraftFile } from "../documents/draft-file.ts";
import { readBookFile, readPlanFile } from "../documents/read-documents.ts";
import { UsageError } from "../errors.ts";
import { type Io, write } from "../io.ts";
import { withOutput } from "../output/output-file.ts";
import {
  type PreviewFormat,
  countEventsByStatus,
  printNewAccounts,
  printNotBilled,
  printNotices,
  printProblems,
  printSummary,
  writePreview,
  writeTraces,
} from "../output/preview-output.ts";
import { eventOptions, unmeteredOptions, usageOptions } from "../reading/event-options.ts";
import { createAcceptedCounts, createProblemList, explainNoInvoices } from "../reading/event-problems.ts";
import {
  createIdMemory,
  ingestOptions,
  outputOptions,
  rangeOptions,
  readEventInput,
  readRange,
  requireCoreEngine,
} from "../reading/input-options.ts";
import { findFirstUses, readBookWithModel, type UsageInputFiles, addNewAccounts } from "../reading/new-accounts.ts";
import { readEventFiles } from "../reading/read-event-files.ts";
import { formatSummaryTable } from "../table/summary-table.ts";
import { createTableStyle } from "../table/table-style.ts";
import { readUsageFiles, readUsagePaths } from "../usage/usage-files.ts";

export const previewCommand: Command = {
  usage: "BOOK [--events FILE…] [--usage FILE…] [options]",
  options: {
    ...eventOptions,
    ...usageOptions,
    account: { kind: "many", value: "ID", help: "only this account, by id or alias; default all" },
    at: { kind: "one", value: "DATE", help: "show the billing period that contains this date" },
    ...rangeOptions,
    plan: { kind: "one", value: "FILE", help: "a draft price plan to use instead of the accounts' plans" },
    "accounts-from-events": {
      kind: "flag",
      help: "create an account for each unknown account id, on --plan or on the only plan of the book",
    },
    summary: { kind: "flag", help: "print one line per account, largest first, and totals, instead of invoices" },
    ...outputOptions(["table", "json", "csv", "html"], "invoices"),
    explain: { kind: "flag", help: "explain how each line was calculated" },
    trace: {
      kind: "one",
      value: "ID",
      help: "instead of invoices, list the events behind the lines of this meter or feature",
    },
    ...ingestOptions,
    ...unmeteredOptions,
  },
  run: (args, io) => previewBook(args, readFormat(args), io),
};

/** Options of a run for a report: explanations, and the largest events of each day. */
export const REPORT_OPTIONS = { explain: true, sampleEvents: 5 } as const;

function explanationOptions(args: Arguments, format: PreviewFormat): Pick<PreviewOptions, "explain" | "sampleEvents"> {
  if (format === "html") requireCoreEngine(args, "an HTML page");
  return format === "html" ? REPORT_OPTIONS : { explain: args.flag("explain") };
}

/** The usage and events of a run, for its invoices. */
export function invoiceDataReaders(run: PreviewRun): Pick<PreviewRun, "cellsOf" | "eventsOf"> {
  return {
    cellsOf: (accountId) => run.cellsOf(accountId),
    eventsOf: (...of) => run.eventsOf(...of),
  };
}

/** Previews invoices in a format. */
export async function previewBook(args: Arguments, format: PreviewFormat, io: Io): Promise<"done" | "problems"> {
  const path = requireBookPath(args);
  const input = readEventInput(args, io);
  const { files } = input;
  const usagePaths = readUsagePaths(args, files);
  const range = readRange(args);
  const hasUsage = files.length + usagePaths.length > 0;
  if (!hasUsage && range.at === undefined && range.from === undefined) {
    throw new UsageError(
      "without --events or --usage, give the billing periods to show: --at DATE, or --from DATE --until DATE",
    );
  }
  const inputs = await readInputs(args, path, { files, usagePaths, memory: input.memory }, io);
  if (inputs === undefined) return "problems";
  const { book, plan } = inputs;
  const accounts = args.values("account");
  const run = createPreview(book, {
    ...range,
    plan,
    ...explanationOptions(args, format),
    trace: readTraceOption(args, usagePaths, format),
    accounts: accounts.length === 0 ? undefined : accounts,
    ids: createIdMemory(args, files.length > 0, io),
  });
  const rows = await readUsageFiles(usagePaths, (row) => run.addUsage(row), io);
  const list = createProblemList();
  const acceptedCounts = createAcceptedCounts(book);
  const isComplete = await readEventFiles(run, files, { list, counts: acceptedCounts, book, input, io });
  await printProblems(list, book, io);
  if (!isComplete) return "problems";
  const { invoices, events: statuses, unmetered, notices, skipped = [], traces } = run.finish();
  const outcome = { book, plan, invoices, events: statuses, hasUsage };
  await printNotices([...notices, ...(skipped.length === 0 ? explainNoInvoices(outcome) : [])], io);
  const eventCounts = countEventsByStatus(statuses, list);
  const notBilled = listNotBilled({ book, read: eventCounts["read"] ?? 0, unmetered, invoices });
  const result = {
    invoices,
    events: eventCounts,
    unmetered,
    notBilled,
    problems: list.problems,
    problemCount: list.count,
    notices,
    skipped,
    book,
    ...invoiceDataReaders(run),
  };
  await withOutput(args, io, async (to) => {
    if (traces !== undefined) return writeTraces(traces, format, to);
    const isLong = to.terminal !== undefined && invoices.length > INVOICES_SHOWN_MAX && format === "table";
    if (args.flag("summary") || isLong)
      await write(to.stdout, formatSummaryTable(invoices, acceptedCounts, createTableStyle(to)));
    else await writePreview(result, format, to);
    if (isLong && !args.flag("summary")) await printNotices([describeLongOutput(invoices.length)], io);
  });
  const counts = { rows: usagePaths.length > 0 ? rows : undefined, output: [invoices.length, "invoice"] } as const;
  if (format !== "json") await printSummary(eventCounts, counts, io);
  const isIncomplete = await printNotBilled(notBilled, args, io);
  return list.count > 0 || skipped.length > 0 || isIncomplete ? "problems" : "done";
}

/** The id of the meter or feature to trace. @throws {UsageError} together with other output, or without events */
function readTraceOption(args: Arguments, usagePaths: readonly string[], format: PreviewFormat): string | undefined {
  const id = args.value("trace");
  if (id === undefined) return undefined;
  if (format === "html") throw new UsageError("--trace does not support --format html");
  if (args.flag("summary")) throw new UsageError("use either --trace or --summary");
  if (usagePaths.length > 0) throw new UsageError("--trace lists events, so it does not support --usage");
  requireCoreEngine(args, "--trace");
  return id;
}

function readFormat(args: Arguments): PreviewFormat {
  const format = (args.value("format") ?? "table") as PreviewFormat;
  if (args.flag("summary") && format !== "table")
    throw new UsageError("--summary prints a table, so it does not support --format");
  if (args.flag("explain")) {
    if (args.flag("summary")) throw new UsageError("use either --explain or --summary");
    if (args.value("trace") !== undefined) throw new UsageError("use either --explain or --trace");
    if (format === "csv") throw new UsageError("--explain does not support --format csv; use table, json or html");
  }
  return format;
}

/** The maximum number of invoices printed on a terminal; if there are more, the summary is printed instead. */
const INVOICES_SHOWN_MAX = 50;

function describeLongOutput(count: number): string {
  return `${count} invoices do not fit a terminal: use --account ID for one account, or -o FILE to write all of them to a file`;
}

interface Inputs {
  readonly book: Book;
  readonly plan: PricePlan | undefined;
}

/** Reads the book and the plan; undefined if they have problems, which are printed. */
async function readInputs(
  args: Arguments,
  path: string,
  usageFiles: UsageInputFiles,
  io: Io,
): Promise<Inputs | undefined> {
  const file = await readBookFile(path, io);
  if (file === undefined) return undefined;
  const { book, json } = file;
  const planPath = args.value("plan");
  const createsAccounts = args.flag("accounts-from-events");
  // The plan's currencies can only be checked once the accounts of events are known.
  const readPlan = (planFile: string): Promise<PricePlan | undefined> =>
    createsAccounts ? readPlanFile(planFile, book, io) : readDraftFile(planFile, book, args.values("account"), io);
  const plan = planPath === undefined ? undefined : await readPlan(planPath);
  if (planPath !== undefined && plan === undefined) return undefined;
  if (!createsAccounts) return { book, plan };
  const bookWithModel = readBookWithModel(json, book, plan);
  const extension = addNewAccounts(bookWithModel, await findFirstUses(usageFiles, book, io));
  await printNewAccounts(extension.newAccountCount, io);
  return { book: extension.book, plan };
}
