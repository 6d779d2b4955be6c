/**
 * `ratebook report`: what a preview says, and what drafts would change, as a page to look at and to send.
 *
 * @module
 */
import { basename } from "node:path";

import type { PricePlan } from "../book/model/price-plan.ts";
import type { IngestOutcome } from "../ledger/outcome.ts";
import { createPreview, type PreviewRun } from "../ledger/preview/preview.ts";
import type { EventInput } from "../metering/event-envelope.ts";
import type { UsageRowInput } from "../metering/usage-row.ts";
import { type BacktestRun, createBacktest } from "../proof/backtest/backtest.ts";
import type { Arguments } from "./arguments.ts";
import { bookPath, type Command } from "./command.ts";
import { readBookFile, readDraftFile } from "./documents.ts";
import { pairWithMaps } from "./event-files.ts";
import { createProblemList } from "./event-problems.ts";
import { eventInputOf, idMemory } from "./input-options.ts";
import { type Io, write } from "./io.ts";
import { withOutput } from "./output.ts";
import { countedEvents, tellNotices, tellProblems, tellSummary } from "./preview-output.ts";
import { behind, OF_REPORT, previewBook, previewCommand } from "./preview.ts";
import { UsageError } from "./problems.ts";
import { rangeOf } from "./range-options.ts";
import { type DecidingRun, takeEventFiles } from "./reading-events.ts";
import { reportPage } from "./report-page.ts";
import { takeUsageFiles, usagePathsOf } from "./usage/usage-files.ts";

const { format: _format, summary: _summary, explain: _explain, trace: _trace, ...options } = previewCommand.options;

/** Writes a report. */
export const reportCommand: Command = {
  usage: "BOOK [--events FILE…] [--usage FILE…] [--plan DRAFT…] -o report.html [options]",
  summary:
    "Previews invoices as one HTML page that needs no network: totals, accounts, invoices and how they were made.",
  options: {
    ...options,
    plan: { kind: "list", value: "FILE…", help: "a draft price plan to compare with the accounts' plans" },
  },
  run: async (given, io) =>
    given.many("plan").length === 0 ? previewBook(given, "html", io) : reportWithDrafts(given, io),
};

/** Prices the usage by the accounts' plans and by each draft, and reports both. */
async function reportWithDrafts(given: Arguments, io: Io): Promise<"done" | "problems"> {
  const input = eventInputOf(given);
  const { events, maps, reader } = input;
  const files = pairWithMaps(events, maps, reader);
  const usagePaths = usagePathsOf(given, files);
  const range = rangeOf(given);
  if (files.length + usagePaths.length === 0) throw new UsageError("expected --events or --usage: the usage to price");
  if (given.flag("accounts-from-events"))
    throw new UsageError("--accounts-from-events does not go with drafts: they are compared with the accounts' plans");
  const file = await readBookFile(bookPath(given), io);
  if (file === undefined) return "problems";
  const { book } = file;
  const plans: PricePlan[] = [];
  for (const path of given.many("plan")) {
    const plan = await readDraftFile(path, book, given.many("account"), io);
    if (plan === undefined) return "problems";
    plans.push(plan);
  }
  const named = given.many("account");
  const accounts = named.length === 0 ? undefined : named;
  const ids = (): ReturnType<typeof idMemory> => idMemory(given, files.length > 0, io);
  const current = createPreview(book, { ...range, accounts, ...OF_REPORT, ids: ids() });
  const tried = createBacktest(book, plans, { ...range, accounts, causes: true, ids: ids() });
  const both = runOfBoth(current, tried);
  const rows = await takeUsageFiles(usagePaths, both.addUsage, io);
  const list = createProblemList();
  const readOn = await takeEventFiles(both, files, { list, book, input, io });
  await tellProblems(list, book, io);
  if (!readOn) return "problems";
  const { invoices, events: statuses, notices, skipped = [] } = current.finish();
  await tellNotices(notices, io);
  const counted = countedEvents(statuses, list);
  const { problems, count: problemCount } = list;
  const page = await reportPage({
    book,
    invoices,
    events: counted,
    notices,
    ...behind(current),
    problems,
    problemCount,
    backtest: tried.finish(),
    draftNames: given.many("plan").map((path) => basename(path)),
  });
  await withOutput(given, io, async (to) => write(to.stdout, page));
  const shownRows = usagePaths.length > 0 ? rows : undefined;
  await tellSummary(counted, { rows: shownRows, made: [invoices.length, "invoice"] }, io);
  return list.count > 0 || skipped.length > 0 ? "problems" : "done";
}

/** Hands every event and every row of usage to both runs; the outcomes are those on the current plans. */
function runOfBoth(
  current: PreviewRun,
  tried: BacktestRun,
): DecidingRun & { readonly addUsage: (row: UsageRowInput) => void } {
  return {
    add(event): IngestOutcome {
      tried.add(event as EventInput);
      return current.add(event as EventInput);
    },
    // The parts of an event are laid out for one run alone: two take it whole.
    slotsOf: () => undefined,
    addSlots: (slots) => current.addSlots(slots),
    // Sums that one run may take and the other not are left to both event by event.
    addCounted: () => false,
    takesCounted: () => false,
    addUsage(row) {
      current.addUsage(row);
      tried.addUsage(row);
    },
  };
}
