/**
 * `ratebook preview`: from a book and files of events to the invoices of its accounts.
 *
 * @module
 */
import type { Book } from "../book/book.ts";
import { instantOrUndefined, parseDate, parseInstant, type Instant } from "../calendar/instant.ts";
import { RatebookError } from "../errors.ts";
import { NO_END } from "../invoicing/timeline.ts";
import type { IngestOutcome } from "../ledger/outcome.ts";
import { createPreview, type PreviewOptions, type PreviewRun } from "../ledger/preview/preview.ts";
import type { Arguments } from "./arguments.ts";
import { bookPath, type Command } from "./command.ts";
import { readBookFile, readPlanFile } from "./documents.ts";
import { openEventFiles, pairWithMaps } from "./event-files.ts";
import { BAD_LINE, createProblemList, isProblem, type ProblemList } from "./event-problems.ts";
import { takeAll } from "./events/cursor.ts";
import type { EventSink } from "./events/event-sink.ts";
import { createCompactIds } from "./events/seen-ids.ts";
import type { Io } from "./io.ts";
import { type PreviewFormat, tellNotices, tellProblems, tellSummary, writePreview } from "./preview-output.ts";
import { UsageError } from "./problems.ts";
import { showProgress } from "./progress.ts";

/** Previews invoices. */
export const previewCommand: Command = {
  usage: "BOOK [--events FILE]... [options]",
  summary: "Meters the events and previews the invoices of every account, or of those named.",
  options: {
    events: {
      kind: "many",
      value: "FILE",
      help: "events: NDJSON, CSV with a map, either as .gz, or - for standard input",
    },
    map: {
      kind: "many",
      value: "MAP",
      help: "where each part of an event is in a CSV file; one for all files or one each",
    },
    account: { kind: "many", value: "ID", help: "an account to show, by id or alias; default all" },
    at: { kind: "one", value: "INSTANT", help: "show the cycles that hold this instant" },
    from: { kind: "one", value: "DATE", help: "show the cycles that touch the range from this day" },
    until: {
      kind: "one",
      value: "DATE",
      help: "to this day, exclusive; default range: from the first event to the last",
    },
    plan: { kind: "one", value: "FILE", help: "a draft price plan in place of the accounts' plans" },
    format: { kind: "one", choices: ["table", "json", "csv"], help: "how invoices are printed; default table" },
    explain: { kind: "flag", help: "say with every line how it was made" },
    strict: { kind: "flag", help: "stop at the first line or event that is wrong" },
    "no-dedupe": { kind: "flag", help: "do without the memory of ids: count events of one id again" },
  },
  run: previewBook,
};

async function previewBook(given: Arguments, io: Io): Promise<"done" | "problems"> {
  const path = bookPath(given);
  const files = pairWithMaps(given.many("events"), given.many("map"));
  const range = rangeOf(given);
  if (files.length === 0 && range.at === undefined && range.from === undefined) {
    throw new UsageError("without --events, say which cycles to show: --at INSTANT, or --from DATE --until DATE");
  }
  const book = await readBookFile(path, io);
  if (book === undefined) return "problems";
  const planPath = given.one("plan");
  const plan = planPath === undefined ? undefined : await readPlanFile(planPath, book, io);
  if (planPath !== undefined && plan === undefined) return "problems";
  const accounts = given.many("account");
  const run = createPreview(book, {
    ...range,
    plan,
    explain: given.flag("explain"),
    accounts: accounts.length === 0 ? undefined : accounts,
    ids: given.flag("no-dedupe") || files.length === 0 ? false : createCompactIds(io.fingerprintKey()),
  });
  const list = createProblemList();
  const readOn = await readEvents(run, files, { list, strict: given.flag("strict"), io });
  await tellProblems(list, io);
  if (!readOn) return "problems";
  await writeResult(run, book, list, (given.one("format") ?? "table") as PreviewFormat, io);
  return list.count > 0 ? "problems" : "done";
}

async function writeResult(
  run: PreviewRun,
  book: Book,
  list: ProblemList,
  format: PreviewFormat,
  io: Io,
): Promise<void> {
  const { invoices, events, notices } = run.finish();
  const counted = {
    ...events,
    read: events.read + list.badLines,
    ...(list.badLines > 0 ? { [BAD_LINE]: list.badLines } : {}),
  };
  await tellNotices(notices, io);
  await writePreview({ invoices, events: counted, problems: list.problems, book }, format, io);
  if (format !== "json") await tellSummary(counted, invoices.length, io);
}

interface Reading {
  readonly list: ProblemList;
  readonly strict: boolean;
  readonly io: Io;
}

/** Takes all events. @returns false when reading stopped at a problem */
async function readEvents(
  run: PreviewRun,
  files: ReturnType<typeof pairWithMaps>,
  { list, strict, io }: Reading,
): Promise<boolean> {
  if (files.length === 0) return true;
  const sink = sinkOf(run, list, strict);
  const { cursors, sources } = await openEventFiles(files, sink, io);
  const progress = showProgress(sources, io);
  try {
    await takeAll(cursors, { onBlock: () => progress.update(), onDisorder: (disorder) => list.addDisorder(disorder) });
  } finally {
    progress.stop();
  }
  return !(strict && list.count > 0);
}

function sinkOf(run: PreviewRun, list: ProblemList, strict: boolean): EventSink {
  const told = ({ status, description }: IngestOutcome, file: string, line: number): boolean => {
    if (!isProblem(status)) return true;
    list.add({ file, line, status, message: description });
    return !strict;
  };
  return {
    event: (file, line, event) => told(run.add(event), file, line),
    badLine: (file, line, reason) => {
      list.add({ file, line, status: BAD_LINE, message: reason });
      return !strict;
    },
    slotsOf: (schemaName) => run.slotsOf(schemaName),
    filled: (file, line, slots) => told(run.addSlots(slots), file, line),
  };
}

/** The range that the options name. @throws {UsageError} when a date is none, or options do not go together */
function rangeOf(given: Arguments): Pick<PreviewOptions, "at" | "from" | "until"> {
  const [at, from, until] = [given.one("at"), given.one("from"), given.one("until")];
  if (at !== undefined && (from !== undefined || until !== undefined)) {
    throw new UsageError("give either --at or --from and --until, not both");
  }
  if (at !== undefined) {
    const instant = dateOption("at", at, (text) => instantOrUndefined(text) ?? dayOrInstant(text));
    if (instant >= NO_END) throw new UsageError(`--at must be before 9999-01-01, which stands for no end: got ${at}`);
    return { at: instant };
  }
  if (from === undefined && until === undefined) return {};
  if (from === undefined || until === undefined) throw new UsageError("--from and --until go together: one is missing");
  const range = { from: dateOption("from", from, parseDate), until: dateOption("until", until, parseDate) };
  if (range.from >= range.until) throw new UsageError(`--until must be later than --from: got ${from} and ${until}`);
  if (range.until > NO_END)
    throw new UsageError(`--until must be at most 9999-01-01, which stands for no end: got ${until}`);
  return range;
}

function dayOrInstant(text: string): Instant {
  return /^\d{4}-\d\d-\d\d$/.test(text) ? parseDate(text) : parseInstant(text);
}

function dateOption(name: string, text: string, parse: (text: string) => Instant): Instant {
  try {
    return parse(text);
  } catch (error) {
    if (error instanceof RatebookError) throw new UsageError(`--${name}: ${error.message}`);
    throw error;
  }
}
