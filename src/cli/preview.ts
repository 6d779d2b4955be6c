/**
 * `ratebook preview`: from a book and files of events to the invoices of its accounts.
 *
 * @module
 */
import type { Book } from "../book/book.ts";
import type { PricePlan } from "../book/resources/price-plan.ts";
import { instantOrUndefined, parseDate, parseInstant, type Instant } from "../calendar/instant.ts";
import { RatebookError } from "../errors.ts";
import { NO_END } from "../invoicing/timeline.ts";
import { type IngestOutcome, isCompleted } from "../ledger/outcome.ts";
import { createPreview, type PreviewOptions, type PreviewRun } from "../ledger/preview/preview.ts";
import type { Arguments } from "./arguments.ts";
import { bookPath, type Command } from "./command.ts";
import { readBookFile, readPlanFile } from "./documents.ts";
import { openEventFiles, pairWithMaps } from "./event-files.ts";
import { BAD_LINE, createProblemList, isProblem, type ProblemList } from "./event-problems.ts";
import { takeAll } from "./events/cursor.ts";
import type { EventSink } from "./events/event-sink.ts";
import { createCompactIds } from "./events/seen-ids.ts";
import { eventInputOf, eventOptions, outputOptions } from "./input-options.ts";
import { type Io, write } from "./io.ts";
import { firstEventsOf, readModelled, withNewAccounts } from "./new-accounts.ts";
import { withOutput } from "./output.ts";
import { type AcceptedEvents, countAccepted, notesOnNothing } from "./preview-notes.ts";
import { type PreviewFormat, tellNotices, tellProblems, tellSummary, writePreview } from "./preview-output.ts";
import { UsageError } from "./problems.ts";
import { showProgress } from "./progress.ts";
import { styleOf } from "./table/style.ts";
import { summaryTable } from "./table/summary-table.ts";

/** Previews invoices. */
export const previewCommand: Command = {
  usage: "BOOK [--events FILE…] [options]",
  summary: "Meters the events and previews the invoices of every account, or of those named.",
  options: {
    ...eventOptions,
    account: { kind: "many", value: "ID", help: "an account to show, by id or alias; default all" },
    at: { kind: "one", value: "INSTANT", help: "show the cycles that hold this instant" },
    from: { kind: "one", value: "DATE", help: "show the cycles that touch the range from this day" },
    until: {
      kind: "one",
      value: "DATE",
      help: "to this day, exclusive; default range: from the first event to the last",
    },
    plan: { kind: "one", value: "FILE", help: "a draft price plan in place of the accounts' plans" },
    "accounts-from-events": {
      kind: "flag",
      help: "make an account of each id that the book does not know, on --plan or on the book's only plan",
    },
    summary: { kind: "flag", help: "one line an account, the largest first, and the totals, in place of invoices" },
    ...outputOptions(["table", "json", "csv"], "invoices"),
    explain: { kind: "flag", help: "say with every line how it was made" },
    strict: { kind: "flag", help: "stop at the first line or event that is wrong" },
    "no-dedupe": { kind: "flag", help: "do without the memory of ids: count events of one id again" },
  },
  run: previewBook,
};

async function previewBook(given: Arguments, io: Io): Promise<"done" | "problems"> {
  const path = bookPath(given);
  const { events, maps, reader } = eventInputOf(given);
  const files = pairWithMaps(events, maps, reader);
  const range = rangeOf(given);
  const format = formatOf(given);
  if (files.length === 0 && range.at === undefined && range.from === undefined) {
    throw new UsageError("without --events, say which cycles to show: --at INSTANT, or --from DATE --until DATE");
  }
  const inputs = await readInputs(given, path, files, io);
  if (inputs === undefined) return "problems";
  const { book, plan } = inputs;
  const accounts = given.many("account");
  const run = createPreview(book, {
    ...range,
    plan,
    explain: given.flag("explain"),
    accounts: accounts.length === 0 ? undefined : accounts,
    ids: given.flag("no-dedupe") || files.length === 0 ? false : createCompactIds(io.fingerprintKey()),
  });
  const list = createProblemList();
  const counts = countAccepted(book);
  const reading = { list, counts, strict: given.flag("strict"), io };
  const readOn = await readEvents(run, files, reading);
  await tellProblems(list, book, io);
  if (!readOn) return "problems";
  const { invoices, events: statuses, notices, skipped = [] } = run.finish();
  const onNothing = { book, plan, invoices, events: statuses, hasEvents: files.length > 0 };
  await tellNotices([...notices, ...(skipped.length === 0 ? notesOnNothing(onNothing) : [])], io);
  const counted = {
    ...statuses,
    read: statuses.read + list.badLines,
    ...(list.badLines > 0 ? { [BAD_LINE]: list.badLines } : {}),
  };
  const result = { invoices, events: counted, problems: list.problems, skipped, book };
  await withOutput(given, io, async (to) => {
    const isLong = to.terminal !== undefined && invoices.length > INVOICES_SHOWN_MAX && format === "table";
    if (given.flag("summary") || isLong) await write(to.stdout, summaryTable(invoices, counts, styleOf(to)));
    else await writePreview(result, format, to);
    if (isLong && !given.flag("summary")) await tellNotices([sentenceOnLongOutput(invoices.length)], io);
  });
  if (format !== "json") await tellSummary(counted, invoices.length, io);
  return list.count > 0 || skipped.length > 0 ? "problems" : "done";
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
async function readInputs(
  given: Arguments,
  path: string,
  files: ReturnType<typeof pairWithMaps>,
  io: Io,
): Promise<Inputs | undefined> {
  const file = await readBookFile(path, io);
  if (file === undefined) return undefined;
  const { book, json } = file;
  const planPath = given.one("plan");
  const plan = planPath === undefined ? undefined : await readPlanFile(planPath, book, io);
  if (planPath !== undefined && plan === undefined) return undefined;
  if (!given.flag("accounts-from-events")) return { book, plan };
  const modelled = readModelled(json, book, plan);
  const extended = withNewAccounts(modelled, await firstEventsOf(files, io));
  const made = `${extended.added} account${extended.added === 1 ? "" : "s"}`;
  await tellNotices([`${made} made of the events: for this run alone`], io);
  return { book: extended.book, plan };
}

interface Reading {
  readonly list: ProblemList;
  readonly counts: AcceptedEvents;
  readonly strict: boolean;
  readonly io: Io;
}

/** Takes all events. @returns false when reading stopped at a problem */
async function readEvents(
  run: PreviewRun,
  files: ReturnType<typeof pairWithMaps>,
  { list, counts, strict, io }: Reading,
): Promise<boolean> {
  if (files.length === 0) return true;
  const sink = sinkOf(run, { list, counts, strict });
  const { cursors, sources } = await openEventFiles(files, sink, io);
  const progress = showProgress(sources, io);
  try {
    await takeAll(cursors, { onBlock: () => progress.update(), onDisorder: (disorder) => list.addDisorder(disorder) });
  } finally {
    progress.stop();
  }
  return !(strict && list.count > 0);
}

function sinkOf(run: PreviewRun, { list, counts, strict }: Omit<Reading, "io">): EventSink {
  const told = (outcome: IngestOutcome, accountId: unknown, file: string, line: number): boolean => {
    const { status, description } = outcome;
    if (!isProblem(status)) {
      if (isCompleted(status)) counts.add(accountId);
      return true;
    }
    list.add({ file, line, status, message: description }, accountId);
    return !strict;
  };
  return {
    event: (file, line, event) => told(run.add(event), accountOf(event), file, line),
    badLine: (file, line, reason) => {
      list.add({ file, line, status: BAD_LINE, message: reason });
      return !strict;
    },
    slotsOf: (schemaName) => run.slotsOf(schemaName),
    filled: (file, line, slots) => told(run.addSlots(slots), slots.accountId, file, line),
  };
}

/** Whose event it is, as it says itself. */
function accountOf(event: unknown): unknown {
  return typeof event === "object" && event !== null
    ? (event as { readonly accountId?: unknown }).accountId
    : undefined;
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
