/**
 * `ratebook preview`: from a book and files of events to the invoices of its accounts.
 *
 * @module
 */
import type { Book } from "../book/model/book.ts";
import type { PricePlan } from "../book/model/price-plan.ts";
import { createPreview, type PreviewOptions, type PreviewRun } from "../ledger/preview/preview.ts";
import type { Arguments } from "./arguments.ts";
import { bookPath, type Command } from "./command.ts";
import { readBookFile, readDraftFile, readPlanFile } from "./documents.ts";
import { pairWithMaps } from "./event-files.ts";
import { createProblemList } from "./event-problems.ts";
import { eventInputOf, eventOptions, idMemory, outputOptions, takingOptions, usageOptions } from "./input-options.ts";
import { type Io, write } from "./io.ts";
import { firstUseOf, readModelled, type UseFiles, withNewAccounts } from "./new-accounts.ts";
import { withOutput } from "./output.ts";
import { countAccepted, notesOnNothing } from "./preview-notes.ts";
import {
  type PreviewFormat,
  countedEvents,
  tellNewAccounts,
  tellNotices,
  tellProblems,
  tellSummary,
  writePreview,
  writeTraces,
} from "./preview-output.ts";
import { UsageError } from "./problems.ts";
import { rangeOf, rangeOptions } from "./range-options.ts";
import { takeEventFiles } from "./reading-events.ts";
import { styleOf } from "./table/style.ts";
import { summaryTable } from "./table/summary-table.ts";
import { takeUsageFiles, usagePathsOf } from "./usage/usage-files.ts";

/** Previews invoices. */
export const previewCommand: Command = {
  usage: "BOOK [--events FILE…] [--usage FILE…] [options]",
  summary: "Meters the events and previews the invoices of every account, or of those named.",
  options: {
    ...eventOptions,
    ...usageOptions,
    account: { kind: "many", value: "ID", help: "an account to show, by id or alias; default all" },
    at: { kind: "one", value: "INSTANT", help: "show the cycles that hold this instant" },
    ...rangeOptions,
    plan: { kind: "one", value: "FILE", help: "a draft price plan in place of the accounts' plans" },
    "accounts-from-events": {
      kind: "flag",
      help: "create an account for each unknown account id, on --plan or on the book's only plan",
    },
    summary: { kind: "flag", help: "one line per account, largest first, and the totals, instead of invoices" },
    ...outputOptions(["table", "json", "csv", "html"], "invoices"),
    explain: { kind: "flag", help: "explain how each line was computed" },
    trace: {
      kind: "one",
      value: "LINE",
      help: "in place of invoices, the events behind the lines of a meter or feature, by its id",
    },
    ...takingOptions,
  },
  run: (given, io) => previewBook(given, formatOf(given), io),
};

/** Options of a run for a report: lines with explanations, and so many events of a day, those that added most. */
export const OF_REPORT = { explain: true, sampleEvents: 5 } as const;

function explainedIn(given: Arguments, format: PreviewFormat): Pick<PreviewOptions, "explain" | "sampleEvents"> {
  return format === "html" ? OF_REPORT : { explain: given.flag("explain") };
}

/** The data behind the invoices of a run: usage, and events. */
export function behind(run: PreviewRun): Pick<PreviewRun, "cellsOf" | "eventsOf"> {
  return {
    cellsOf: (accountId) => run.cellsOf(accountId),
    eventsOf: (...of) => run.eventsOf(...of),
  };
}

/** Previews invoices in a format. */
export async function previewBook(given: Arguments, format: PreviewFormat, io: Io): Promise<"done" | "problems"> {
  const path = bookPath(given);
  const input = eventInputOf(given);
  const { events, maps, reader } = input;
  const files = pairWithMaps(events, maps, reader);
  const usagePaths = usagePathsOf(given, files);
  const range = rangeOf(given);
  const hasUse = files.length + usagePaths.length > 0;
  if (!hasUse && range.at === undefined && range.from === undefined) {
    throw new UsageError(
      "without --events or --usage, say which cycles to show: --at INSTANT, or --from DATE --until DATE",
    );
  }
  const inputs = await readInputs(given, path, { files, usagePaths }, io);
  if (inputs === undefined) return "problems";
  const { book, plan } = inputs;
  const accounts = given.many("account");
  const run = createPreview(book, {
    ...range,
    plan,
    ...explainedIn(given, format),
    trace: traceOf(given, usagePaths, format),
    accounts: accounts.length === 0 ? undefined : accounts,
    ids: idMemory(given, files.length > 0, io),
  });
  const rows = await takeUsageFiles(usagePaths, (row) => run.addUsage(row), io);
  const list = createProblemList();
  const counts = countAccepted(book);
  const readOn = await takeEventFiles(run, files, { list, counts, book, input, io });
  await tellProblems(list, book, io);
  if (!readOn) return "problems";
  const { invoices, events: statuses, notices, skipped = [], traces } = run.finish();
  const onNothing = { book, plan, invoices, events: statuses, hasEvents: hasUse };
  await tellNotices([...notices, ...(skipped.length === 0 ? notesOnNothing(onNothing) : [])], io);
  const counted = countedEvents(statuses, list);
  const result = {
    invoices,
    events: counted,
    problems: list.problems,
    problemCount: list.count,
    notices,
    skipped,
    book,
    ...behind(run),
  };
  await withOutput(given, io, async (to) => {
    if (traces !== undefined) return writeTraces(traces, format, to);
    const isLong = to.terminal !== undefined && invoices.length > INVOICES_SHOWN_MAX && format === "table";
    if (given.flag("summary") || isLong) await write(to.stdout, summaryTable(invoices, counts, styleOf(to)));
    else await writePreview(result, format, to);
    if (isLong && !given.flag("summary")) await tellNotices([sentenceOnLongOutput(invoices.length)], io);
  });
  if (format !== "json")
    await tellSummary(
      counted,
      { rows: usagePaths.length > 0 ? rows : undefined, made: [invoices.length, "invoice"] },
      io,
    );
  return list.count > 0 || skipped.length > 0 ? "problems" : "done";
}

/** The line that is traced. @throws {UsageError} where there are no events to list, or not in place of other output */
function traceOf(given: Arguments, usagePaths: readonly string[], format: PreviewFormat): string | undefined {
  const line = given.one("trace");
  if (line === undefined) return undefined;
  if (format === "html") throw new UsageError("--trace lists events: it has no --format html");
  if (given.flag("summary")) throw new UsageError("--trace and --summary are two ways to show the result: give one");
  if (usagePaths.length > 0) throw new UsageError("--trace lists events: rows of --usage have none");
  return line;
}

function formatOf(given: Arguments): PreviewFormat {
  const format = (given.one("format") ?? "table") as PreviewFormat;
  if (given.flag("summary") && format !== "table")
    throw new UsageError("--summary is a table: it has no other --format");
  return format;
}

/** So many invoices are printed on a terminal unless they are asked for by account. */
const INVOICES_SHOWN_MAX = 50;

function sentenceOnLongOutput(count: number): string {
  return `${count} invoices would not fit a terminal: --account ID shows those of one account, -o FILE writes them all to a file`;
}

interface Inputs {
  readonly book: Book;
  readonly plan: PricePlan | undefined;
}

/** The book and the plan; undefined when their problems were told. */
async function readInputs(given: Arguments, path: string, use: UseFiles, io: Io): Promise<Inputs | undefined> {
  const file = await readBookFile(path, io);
  if (file === undefined) return undefined;
  const { book, json } = file;
  const planPath = given.one("plan");
  const areNew = given.flag("accounts-from-events");
  // Whom the plan must fit is known only with the accounts of events.
  const read = (planFile: string): Promise<PricePlan | undefined> =>
    areNew ? readPlanFile(planFile, book, io) : readDraftFile(planFile, book, given.many("account"), io);
  const plan = planPath === undefined ? undefined : await read(planPath);
  if (planPath !== undefined && plan === undefined) return undefined;
  if (!areNew) return { book, plan };
  const modelled = readModelled(json, book, plan);
  const extended = withNewAccounts(modelled, await firstUseOf(use, io));
  await tellNewAccounts(extended.added, io);
  return { book: extended.book, plan };
}
