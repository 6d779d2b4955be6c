/** Reads the events of files in order, shows the progress, and collects problems by line. */
import { SingleBar } from "cli-progress";

import type { Book } from "../../book/resources/book.ts";
import { type Disorder, type EventCursor, type EventSink, mergeEvents } from "../../event-files/merge-events.ts";
import { type IngestOutcome, isCompleted } from "../../ledger/outcome.ts";
import type { SummedEvents } from "../../ledger/preview/summed-usage.ts";
import type { EventSlots } from "../../metering/event-slots.ts";
import type { UsageRowInput } from "../../metering/usage-rows.ts";
import type { ByteSource } from "../event-inputs/byte-source.ts";
import type { Io } from "../io.ts";
import { readUsageFiles } from "../usage/usage-files.ts";
import { type AcceptedCounts, BAD_LINE, isProblem, ProblemList } from "./event-problems.ts";
import type { UsageInput } from "./input-options.ts";
import { openEventFiles } from "./open-event-files.ts";
import { printProblems } from "./print-problems.ts";

/** A run that receives events: a preview, a meter or a backtest. */
export interface EventConsumer {
  add(event: unknown): IngestOutcome;
  slotsOf(schemaName: string): EventSlots | undefined;
  addSlots(slots: EventSlots): IngestOutcome;
  addSummed(accountSums: SummedEvents): boolean;
  /** Absent if the run takes only events. */
  addUsage?(row: UsageRowInput): void;
}

interface ReadUsageOptions {
  /** Counts accepted events by account, if requested. */
  readonly counts?: AcceptedCounts | undefined;
  readonly book: Book;
  /** Whether every value of events is needed, and not only those that decide a quantity; default false. */
  readonly keepsValues?: boolean;
  readonly io: Io;
}

/** What was read. */
export interface UsageReading {
  readonly list: ProblemList;
  /** Undefined without files of usage. */
  readonly rowCount: number | undefined;
  /** Whether everything was read; false if reading stopped at a problem. */
  readonly isComplete: boolean;
}

/** Passes all usage and events to a run, and prints their problems. @throws {InputError} for invalid rows of usage */
export async function readUsage(
  run: EventConsumer,
  input: UsageInput,
  options: ReadUsageOptions,
): Promise<UsageReading> {
  const { usagePaths, files } = input;
  const { io } = options;
  const rowCount = await readUsageFiles(usagePaths, (row) => run.addUsage?.(row), io);
  const list = new ProblemList();
  if (files.length > 0) await readEventFiles(run, input, list, options);
  await printProblems(list, options.book, io);
  return { list, rowCount: usagePaths.length > 0 ? rowCount : undefined, isComplete: !list.isStopped };
}

/** Reads all events, until the first problem if the input is strict. */
async function readEventFiles(
  run: EventConsumer,
  { files, usesPushdown, memory, dedupes, strict }: UsageInput,
  list: ProblemList,
  { counts, book, keepsValues = false, io }: ReadUsageOptions,
): Promise<void> {
  const sink = createRunSink(run, { list, counts, strict });
  // To find the first problem, every row must be read in order.
  const reading = { book, usesPushdown: usesPushdown && !strict, keepsValues, dedupes, memory };
  const { cursors, sources, maps } = await openEventFiles(files, sink, io, reading);
  list.maps = maps;
  await mergeWithProgress(cursors, sources, io, (disorder) => list.disorders.push(disorder));
  list.isStopped = strict && list.count > 0;
}

/** Reads events in order and shows the progress. */
export async function mergeWithProgress(
  cursors: readonly EventCursor[],
  sources: readonly ByteSource[],
  io: Io,
  onDisorder: (disorder: Disorder) => unknown = () => undefined,
): Promise<void> {
  const progress = startProgress(sources, io);
  try {
    await mergeEvents(cursors, { onBlock: () => progress.update(), onDisorder });
  } finally {
    progress.stop();
  }
}

function createRunSink(
  run: EventConsumer,
  { list, counts, strict }: { readonly list: ProblemList; readonly strict: boolean } & Pick<ReadUsageOptions, "counts">,
): EventSink {
  const recordOutcome = (outcome: IngestOutcome, accountId: unknown, file: string, line: number): boolean => {
    const { status, description, problem } = outcome;
    if (problem === undefined || !isProblem(status)) {
      if (isCompleted(status)) counts?.addEvents(accountId);
      return true;
    }
    list.addProblem({ file, line, status, ...problem, message: description }, accountId);
    return !strict;
  };
  return {
    onEvent: (file, line, event) => recordOutcome(run.add(event), readAccountId(event), file, line),
    onBadLine: (file, line, reason) => {
      if (reason.code === "ROW_LEFT_OUT") {
        list.addLeftOutRow(file, reason);
        return true;
      }
      list.addProblem({ file, line, status: BAD_LINE, ...reason });
      return !strict;
    },
    findSlots: (schemaName) => run.slotsOf(schemaName),
    onSummedEvents: (events) => {
      const isAccepted = run.addSummed(events);
      if (isAccepted) counts?.addEvents(events.accountId, events.eventCount);
      return isAccepted;
    },
    onFilledSlots: (file, line, slots) => recordOutcome(run.addSlots(slots), slots.accountId, file, line),
  };
}

/** The account as named by the event. */
function readAccountId(event: unknown): unknown {
  return typeof event === "object" && event !== null
    ? (event as { readonly accountId?: unknown }).accountId
    : undefined;
}

const MIB = 1 << 20;

interface Progress {
  /** Updates the bar. It is cheap enough to call for every block. */
  readonly update: () => void;
  /** Removes the bar. */
  readonly stop: () => void;
}

/** Starts the bar. Standard input is not counted, because it has no size. */
function startProgress(sources: readonly ByteSource[], { isStderrTerminal, stderr }: Io): Progress {
  const total = sources.reduce((sum, source) => sum + (source.size ?? 0), 0);
  if (!isStderrTerminal || total === 0) return { update: () => undefined, stop: () => undefined };
  const bar = new SingleBar({
    format: "reading events {bar} {percentage}% of {mib} MiB, {rate} MiB/s, {eta_formatted} left",
    barsize: 20,
    barCompleteChar: "█",
    barIncompleteChar: "░",
    clearOnComplete: true,
    fps: 5,
    stream: stderr,
  });
  const totalMib = Math.ceil(total / MIB);
  const start = process.hrtime.bigint();
  bar.start(total, 0, { mib: totalMib, rate: "–" });
  const sizedSources = sources.filter(({ size }) => size !== undefined);
  return {
    update: () => {
      const position = Math.min(
        total,
        sizedSources.reduce((sum, each) => sum + each.position, 0),
      );
      const seconds = Number(process.hrtime.bigint() - start) / 1e9;
      bar.update(position, { mib: totalMib, rate: seconds > 0 ? formatRate(position / MIB / seconds) : "–" });
    },
    stop: () => bar.stop(),
  };
}

/** A rate, with one decimal place below ten. */
function formatRate(rate: number): string {
  return rate.toFixed(rate < 10 ? 1 : 0);
}
