/** Reads event files, and merges several by time (S13.5). */
import { formatInstant, type Instant } from "../calendar/instant.ts";
import type { SummedEvents } from "../ledger/preview/summed-usage.ts";
import type { EventSlots } from "../metering/event-slots.ts";
import type { Problem } from "../problem-table.ts";

/**
 * An event file, positioned at one of its events (the head). Files are read in blocks; moving within a block is
 * synchronous.
 */
export interface EventCursor {
  /** The file's name as given. */
  readonly file: string;
  /** The line of the head, from 1. */
  readonly line: number;
  /** The timestamp of the head; undefined if the line is bad or has no valid one. */
  readonly at: Instant | undefined;
  /** Moves to the next event of the block. @returns false at the end of the block */
  advance(): boolean;
  /** Reads the next block. @returns false at the end of the file */
  fill(): Promise<boolean>;
  /** Meters the head, or reports why it can't. @returns false if reading must stop */
  take(): boolean;
  close(): Promise<void>;
}

/** An event that is older than one before it in its file. */
export interface Disorder {
  readonly file: string;
  readonly line: number;
  readonly message: string;
}

export interface MergeCallbacks {
  /** Called between blocks. */
  readonly onBlock?: () => void;
  /** Called for the first disorder in each file. */
  readonly onDisorder: (disorder: Disorder) => void;
}

interface MergeRun {
  readonly cursor: EventCursor;
  readonly order: number;
  /** The latest timestamp so far. */
  latest: Instant;
  hasReportedDisorder: boolean;
}

/**
 * Takes the events of all files by time; ties are ordered by file, then by line. A file that is not sorted by time is
 * taken in file order. Closes the files.
 */
export async function mergeEvents(cursors: readonly EventCursor[], callbacks: MergeCallbacks): Promise<void> {
  try {
    /** The next run to take is the last. */
    const runs: MergeRun[] = [];
    for (const [order, cursor] of cursors.entries()) {
      const run = { cursor, order, latest: -Infinity, hasReportedDisorder: false };
      if (await advanceRun(run, callbacks)) insertRun(runs, run);
    }
    for (let run = runs.pop(); run !== undefined; run = runs.pop()) {
      if (!takeHead(run, runs.length === 0, callbacks)) return;
      if (await advanceRun(run, callbacks)) insertRun(runs, run);
    }
  } finally {
    for (const cursor of cursors) await cursor.close();
  }
}

/**
 * Takes the head of a file; if no other file is left, the rest of its block too.
 *
 * @returns false if reading must stop; otherwise the caller moves to the next event
 */
function takeHead(run: MergeRun, isLastFile: boolean, callbacks: MergeCallbacks): boolean {
  const { cursor } = run;
  for (;;) {
    checkOrder(run, callbacks);
    if (!cursor.take()) return false;
    if (!isLastFile) return true;
    if (!cursor.advance()) {
      callbacks.onBlock?.();
      return true;
    }
  }
}

/** Moves to the next event of a file. @returns false at its end */
async function advanceRun({ cursor }: MergeRun, callbacks: MergeCallbacks): Promise<boolean> {
  while (!cursor.advance()) {
    if (!(await cursor.fill())) return false;
    callbacks.onBlock?.();
  }
  return true;
}

function checkOrder(run: MergeRun, callbacks: MergeCallbacks): void {
  const { at, file, line } = run.cursor;
  if (at === undefined) return;
  if (at >= run.latest) {
    run.latest = at;
  } else if (!run.hasReportedDisorder) {
    run.hasReportedDisorder = true;
    const message =
      `the file is not sorted by time: an event of ${formatInstant(at)} follows one of ` +
      `${formatInstant(run.latest)}; events are used in file order`;
    callbacks.onDisorder({ file, line, message });
  }
}

/** Whether `a` is taken before `b`. A bad line has no time and is reported immediately. */
function comesBefore(a: MergeRun, b: MergeRun): boolean {
  const x = a.cursor.at ?? -Infinity;
  const y = b.cursor.at ?? -Infinity;
  return x < y || (x === y && a.order < b.order);
}

/** Inserts a run before those that are taken before it. */
function insertRun(runs: MergeRun[], run: MergeRun): void {
  let [low, high] = [0, runs.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (comesBefore(run, runs[middle] as MergeRun)) low = middle + 1;
    else high = middle;
  }
  runs.splice(low, 0, run);
}

/** Receives what readers find. Methods return whether to continue reading, unless noted. */
export interface EventSink {
  /** Receives an event from JSON or a map, not yet validated. */
  onEvent(file: string, line: number, event: unknown): boolean;
  /** Receives a line without a valid event. */
  onBadLine(file: string, line: number, reason: Problem): boolean;
  /** The slots of a schema for a reader that fills them itself; undefined without an ACTIVE schema. */
  findSlots?(schemaName: string): EventSlots | undefined;
  /** Receives the event in slots that were found, with a valid envelope and every declared attribute and dimension. */
  onFilledSlots?(file: string, line: number, slots: EventSlots): boolean;
  /** Receives events that a database measured. @returns false if they must be passed one at a time instead */
  onSummedEvents(events: SummedEvents): boolean;
}
