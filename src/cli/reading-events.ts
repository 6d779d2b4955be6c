/**
 * Takes the events of files, one after another, and keeps what is wrong with which line.
 *
 * @module
 */
import type { Book } from "../book/model/book.ts";
import { type IngestOutcome, isCompleted } from "../ledger/outcome.ts";
import type { CountedEvents } from "../ledger/preview/counted-events.ts";
import type { EventSlots } from "../metering/event-slots.ts";
import { takeAll } from "../records/event-cursor.ts";
import type { EventSink } from "../records/event-sink.ts";
import { type EventFile, openEventFiles } from "./event-files.ts";
import { BAD_LINE, isProblem, type ProblemList } from "./event-problems.ts";
import type { EventInput } from "./input-options.ts";
import type { Io } from "./io.ts";
import type { AcceptedEvents } from "./preview-notes.ts";
import { showProgress } from "./progress.ts";
import type { ThreadReading } from "./threads/thread-cursors.ts";

/** A run that decides events: a preview, a meter or a backtest. */
export interface DecidingRun {
  add(event: unknown): IngestOutcome;
  slotsOf(schemaName: string): EventSlots | undefined;
  addSlots(slots: EventSlots): IngestOutcome;
  addCounted(counted: CountedEvents): boolean;
  takesCounted(accountId: string): boolean;
}

/** How files are read. */
export interface Reading {
  readonly list: ProblemList;
  /** Counts accepted events by account, where somebody asks. */
  readonly counts?: AcceptedEvents | undefined;
  readonly book: Book;
  readonly input: Pick<EventInput, "isSummed" | "isThreaded" | "memory" | "dedupes" | "strict">;
  readonly io: Io;
}

/** Takes all events. @returns false when reading stopped at a problem */
export async function takeEventFiles(
  run: DecidingRun,
  files: readonly EventFile[],
  { list, counts, book, input, io }: Reading,
): Promise<boolean> {
  if (files.length === 0) return true;
  const { strict } = input;
  const sink = sinkOf(run, { list, counts, strict });
  const { cursors, sources } = await openEventFiles(files, sink, io, {
    book,
    // The first problem stops: then every row is looked at in its order.
    isPushing: input.isSummed && !strict,
    dedupes: input.dedupes,
    memory: input.memory,
    threaded: input.isThreaded && !strict ? threadReading(run, { list, book, input, io }) : undefined,
  });
  const progress = showProgress(sources, io);
  try {
    await takeAll(cursors, { onBlock: () => progress.update(), onDisorder: (disorder) => list.addDisorder(disorder) });
  } finally {
    progress.stop();
  }
  return !(strict && list.count > 0);
}

function threadReading(run: DecidingRun, { list, book, input, io }: Omit<Reading, "counts">): ThreadReading {
  return {
    book,
    threads: io.threads,
    takesCounted: (accountId) => run.takesCounted(accountId),
    key: input.dedupes ? io.fingerprintKey() : undefined,
    onDisorder: (disorder) => list.addDisorder(disorder),
  };
}

function sinkOf(
  run: DecidingRun,
  { list, counts, strict }: Pick<Reading, "list" | "counts"> & { readonly strict: boolean },
): EventSink {
  const told = (outcome: IngestOutcome, accountId: unknown, file: string, line: number): boolean => {
    const { status, description } = outcome;
    if (!isProblem(status)) {
      if (isCompleted(status)) counts?.add(accountId);
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
    counted: (events) => {
      const isTaken = run.addCounted(events);
      if (isTaken) counts?.add(events.accountId, events.events);
      return isTaken;
    },
    filled: (file, line, slots) => told(run.addSlots(slots), slots.accountId, file, line),
  };
}

/** Whose event it is, as it says itself. */
function accountOf(event: unknown): unknown {
  return typeof event === "object" && event !== null
    ? (event as { readonly accountId?: unknown }).accountId
    : undefined;
}
