/** `ratebook preview`: prices files of events and prints the invoices of a book's accounts. */
import { basename } from "node:path";

import { type BacktestRun, createBacktest } from "../../analysis/backtest/backtest.ts";
import type { Book } from "../../book/resources/book.ts";
import type { PricePlan } from "../../book/resources/price-plan.ts";
import { createPreview, type PreviewOptions, type PreviewRun } from "../../ledger/preview/preview.ts";
import type { EventInput } from "../../metering/event-envelope.ts";
import { listNotBilled } from "../../pages/not-billed.ts";
import { type Arguments, type Command, requireBookPath } from "../arguments.ts";
import { readDraftFile, readDraftFiles } from "../documents/draft-file.ts";
import { readBookFile, readPlanFile } from "../documents/read-documents.ts";
import { UsageError } from "../errors.ts";
import { type Io, write } from "../io.ts";
import { withOutput } from "../output/output-file.ts";
import {
  type PreviewFormat,
  countEventsByStatus,
  listUnpricedOnDrafts,
  printNotBilled,
  printSummary,
  writePreview,
  writeTraces,
} from "../output/preview-output.ts";
import { eventOptions, unmeteredOptions, usageOptions } from "../reading/event-options.ts";
import { AcceptedCounts, explainNoInvoices } from "../reading/event-problems.ts";
import {
  createIdMemory,
  ingestOptions,
  outputOptions,
  rangeOptions,
  readAccountIds,
  readRange,
  readUsageInput,
  requireCoreEngine,
  type UsageInput,
} from "../reading/input-options.ts";
import { addAccountsOfUsage } from "../reading/new-accounts.ts";
import { printNotices } from "../reading/print-problems.ts";
import { type EventConsumer, readUsage } from "../reading/read-event-files.ts";
import { formatSummaryTable } from "../table/summary-table.ts";
import { createTableStyle } from "../table/table-style.ts";

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
  run: (args, io) => previewBook(args, { format: readFormat(args) }, io),
};

function explanationOptions(args: Arguments, format: PreviewFormat): Pick<PreviewOptions, "explain" | "sampleEvents"> {
  if (format !== "html") return { explain: args.flag("explain") };
  requireCoreEngine(args, "an HTML page");
  // The largest events of each day.
  return { explain: true, sampleEvents: 5 };
}

interface Output {
  readonly format: PreviewFormat;
  /** Drafts to compare with the accounts' plans, for a page; `--plan` then names them. */
  readonly draftPaths?: readonly string[];
}

/** Previews invoices. */
export async function previewBook(
  args: Arguments,
  { format, draftPaths = [] }: Output,
  io: Io,
): Promise<"done" | "problems"> {
  const path = requireBookPath(args);
  const input = readUsageInput(args, io);
  const range = readPeriods(args, input);
  const { book, plan, drafts } = await readBookAndPlans(args, path, { input, draftPaths }, io);
  const shared = { ...range, accounts: readAccountIds(args) };
  const run = createPreview(book, {
    ...shared,
    plan,
    ...explanationOptions(args, format),
    trace: readTraceOption(args, input, format),
    ids: createIdMemory(input, io),
  });
  const comparison =
    drafts && createBacktest(book, drafts, { ...shared, causes: true, ids: createIdMemory(input, io) });
  const acceptedCounts = new AcceptedCounts(book);
  const reading = { counts: acceptedCounts, book, io };
  const { list, rowCount, isComplete } = await readUsage(joinRuns(run, comparison), input, reading);
  if (!isComplete) return "problems";
  const { invoices, events: statuses, unmetered, notices, skipped = [], traces } = run.finish();
  const outcome = { book, plan, invoices, events: statuses, hasUsage: input.hasUsage };
  await printNotices([...notices, ...(skipped.length === 0 ? explainNoInvoices(outcome) : [])], io);
  const events = countEventsByStatus(statuses, list);
  const backtest = comparison?.finish();
  const draftNames = draftPaths.map((each) => basename(each));
  const notBilled = [
    ...listNotBilled({ book, read: events.read, unmetered, invoices }),
    ...listUnpricedOnDrafts(backtest?.plans ?? [], draftNames),
  ];
  const result = { book, invoices, events, unmetered, notBilled, list, notices, skipped, backtest, draftNames, run };
  const isTable = traces === undefined && format === "table";
  await withOutput(args, io, async (to) => {
    if (isTable && isSummary(args, invoices.length, to)) {
      await write(to.stdout, formatSummaryTable(invoices, acceptedCounts, createTableStyle(to)));
      if (!args.flag("summary")) await printNotices([describeLongOutput(invoices.length)], io);
    } else if (traces === undefined) await writePreview(result, format, to);
    else await writeTraces(traces, format, to);
  });
  if (format !== "json") await printSummary(events, { rows: rowCount, output: [invoices.length, "invoice"] }, io);
  const isIncomplete = await printNotBilled(notBilled, args, io);
  return list.count > 0 || skipped.length > 0 || isIncomplete ? "problems" : "done";
}

/** The billing periods to show; empty for those of the usage. @throws {UsageError} if there is neither */
function readPeriods(args: Arguments, { hasUsage }: UsageInput): ReturnType<typeof readRange> {
  const range = readRange(args);
  if (hasUsage || range.at !== undefined || range.from !== undefined) return range;
  throw new UsageError(
    "without --events or --usage, give the billing periods to show: --at DATE, or --from DATE --until DATE",
  );
}

/** Passes every event and row of usage to both runs. The outcomes are those on the current plans. */
function joinRuns(currentRun: PreviewRun, comparison: BacktestRun | undefined): EventConsumer {
  if (comparison === undefined) return currentRun;
  return {
    add(event) {
      comparison.add(event as EventInput);
      return currentRun.add(event as EventInput);
    },
    // Slots belong to a single run, so both runs get whole events.
    slotsOf: () => undefined,
    addSlots: (slots) => currentRun.addSlots(slots),
    // One run might accept a sum and the other not, so both get single events.
    addSummed: () => false,
    addUsage(row) {
      currentRun.addUsage(row);
      comparison.addUsage(row);
    },
  };
}

/** The id of the meter or feature to trace. @throws {UsageError} together with other output, or without events */
function readTraceOption(args: Arguments, { usagePaths }: UsageInput, format: PreviewFormat): string | undefined {
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

/** Whether a summary is printed: if requested, and for many invoices on a terminal. */
function isSummary(args: Arguments, invoiceCount: number, { terminal }: Io): boolean {
  return args.flag("summary") || (terminal !== undefined && invoiceCount > INVOICES_SHOWN_MAX);
}

/** The maximum number of invoices printed on a terminal; if there are more, the summary is printed instead. */
const INVOICES_SHOWN_MAX = 50;

function describeLongOutput(count: number): string {
  return `${count} invoices do not fit a terminal: use --account ID for one account, or -o FILE to write all of them to a file`;
}

interface Plans {
  readonly book: Book;
  /** The draft to use instead of the accounts' plans. */
  readonly plan?: PricePlan;
  /** Drafts to compare with the accounts' plans; undefined for none. */
  readonly drafts?: readonly PricePlan[];
}

/** Reads the book and the plans, and creates accounts. */
async function readBookAndPlans(
  args: Arguments,
  path: string,
  { input, draftPaths }: { readonly input: UsageInput; readonly draftPaths: readonly string[] },
  io: Io,
): Promise<Plans> {
  const file = await readBookFile(path, io);
  const { book } = file;
  const accounts = readAccountIds(args);
  if (draftPaths.length > 0) return { book, drafts: await readDraftFiles(draftPaths, book, accounts, io) };
  const planPath = args.value("plan");
  const createsAccounts = args.flag("accounts-from-events");
  // The plan's currencies can only be checked once the accounts of events are known.
  const readPlan = (option: string): Promise<PricePlan> =>
    createsAccounts ? readPlanFile(option, book, io) : readDraftFile(option, book, accounts, io);
  const plan = planPath === undefined ? undefined : await readPlan(planPath);
  const bookWithAccounts = createsAccounts ? await addAccountsOfUsage(file, input, plan, io) : book;
  return { book: bookWithAccounts, ...(plan && { plan }) };
}
