/** `ratebook report`: a preview and the effect of drafts, as a page to view and send. */
import { basename } from "node:path";

import { type BacktestRun, createBacktest } from "../../analysis/backtest/backtest.ts";
import type { PricePlan } from "../../book/resources/price-plan.ts";
import type { IngestOutcome } from "../../ledger/outcome.ts";
import { createPreview, type PreviewRun } from "../../ledger/preview/preview.ts";
import type { EventInput } from "../../metering/event-envelope.ts";
import type { UsageRowInput } from "../../metering/usage-rows.ts";
import { listNotBilled } from "../../pages/not-billed.ts";
import { type Arguments, type Command, requireBookPath } from "../arguments.ts";
import { readDraftFile } from "../documents/draft-file.ts";
import { readBookFile } from "../documents/read-documents.ts";
import { UsageError } from "../errors.ts";
import { type Io, write } from "../io.ts";
import { renderReportPage, withOutput } from "../output/output-file.ts";
import {
  countEventsByStatus,
  printNotBilled,
  printNotices,
  printProblems,
  printSummary,
} from "../output/preview-output.ts";
import { createProblemList } from "../reading/event-problems.ts";
import { createIdMemory, readEventInput, readRange } from "../reading/input-options.ts";
import { type EventConsumer, readEventFiles } from "../reading/read-event-files.ts";
import { readUsageFiles, readUsagePaths } from "../usage/usage-files.ts";
import { listUnpricedOnDrafts } from "./backtest.ts";
import { invoiceDataReaders, REPORT_OPTIONS, previewBook, previewCommand } from "./preview.ts";

// A report lists single events, which only the core does. It is always a page with explanations.
const {
  format: _format,
  summary: _summary,
  explain: _explain,
  trace: _trace,
  engine: _engine,
  ...options
} = previewCommand.options;

export const reportCommand: Command = {
  usage: "BOOK [--events FILE…] [--usage FILE…] [--plan DRAFT…] -o report.html [options]",
  options: {
    ...options,
    plan: { kind: "list", value: "FILE…", help: "a draft price plan to compare with the accounts' plans" },
  },
  run: async (args, io) =>
    args.values("plan").length === 0 ? previewBook(args, "html", io) : reportWithDrafts(args, io),
};

/** Prices the usage on the accounts' plans and on each draft, and reports both. */
async function reportWithDrafts(args: Arguments, io: Io): Promise<"done" | "problems"> {
  const input = readEventInput(args, io);
  const { files } = input;
  const usagePaths = readUsagePaths(args, files);
  const range = readRange(args);
  if (files.length + usagePaths.length === 0)
    throw new UsageError("missing --events or --usage: give the usage to price");
  if (args.flag("accounts-from-events"))
    throw new UsageError(
      "--accounts-from-events cannot be used with drafts, which are compared with the accounts' plans",
    );
  const file = await readBookFile(requireBookPath(args), io);
  if (file === undefined) return "problems";
  const { book } = file;
  const plans: PricePlan[] = [];
  for (const path of args.values("plan")) {
    const plan = await readDraftFile(path, book, args.values("account"), io);
    if (plan === undefined) return "problems";
    plans.push(plan);
  }
  const namedAccounts = args.values("account");
  const accounts = namedAccounts.length === 0 ? undefined : namedAccounts;
  const createIds = (): ReturnType<typeof createIdMemory> => createIdMemory(args, files.length > 0, io);
  const currentRun = createPreview(book, { ...range, accounts, ...REPORT_OPTIONS, ids: createIds() });
  const backtestRun = createBacktest(book, plans, { ...range, accounts, causes: true, ids: createIds() });
  const eventRun = teeEventRun(currentRun, backtestRun);
  const rows = await readUsageFiles(usagePaths, eventRun.addUsage, io);
  const list = createProblemList();
  const isComplete = await readEventFiles(eventRun, files, { list, book, input, io });
  await printProblems(list, book, io);
  if (!isComplete) return "problems";
  const { invoices, events: statuses, unmetered, notices, skipped = [] } = currentRun.finish();
  await printNotices(notices, io);
  const eventCounts = countEventsByStatus(statuses, list);
  const { problems, count: problemCount } = list;
  const backtest = backtestRun.finish();
  const draftNames = args.values("plan").map((path) => basename(path));
  const notBilled = [
    ...listNotBilled({ book, read: eventCounts["read"] ?? 0, unmetered, invoices }),
    ...listUnpricedOnDrafts(backtest, draftNames),
  ];
  const page = await renderReportPage({
    book,
    invoices,
    events: eventCounts,
    notBilled,
    notices,
    ...invoiceDataReaders(currentRun),
    problems,
    problemCount,
    backtest,
    draftNames,
  });
  await withOutput(args, io, async (to) => write(to.stdout, page));
  const usageRowCount = usagePaths.length > 0 ? rows : undefined;
  await printSummary(eventCounts, { rows: usageRowCount, output: [invoices.length, "invoice"] }, io);
  const isIncomplete = await printNotBilled(notBilled, args, io);
  return list.count > 0 || skipped.length > 0 || isIncomplete ? "problems" : "done";
}

/** Passes every event and row of usage to both runs. The outcomes are those on the current plans. */
function teeEventRun(
  currentRun: PreviewRun,
  backtestRun: BacktestRun,
): EventConsumer & { readonly addUsage: (row: UsageRowInput) => void } {
  return {
    add(event): IngestOutcome {
      backtestRun.add(event as EventInput);
      return currentRun.add(event as EventInput);
    },
    // Slots belong to a single run, so both runs get whole events.
    slotsOf: () => undefined,
    addSlots: (slots) => currentRun.addSlots(slots),
    // One run might accept a sum and the other not, so both get single events.
    addSummed: () => false,
    addUsage(row) {
      currentRun.addUsage(row);
      backtestRun.addUsage(row);
    },
  };
}
