/**
 * A file of events, one after another, and several of them merged by time (S13.5).
 *
 * @module
 */
import { formatInstant, type Instant } from "../calendar/instant.ts";

/** An event file at one of its events: the head. Reading is in blocks; going on within a block does not wait. */
export interface EventCursor {
  /** The file's name as given. */
  readonly file: string;
  /** The line of the head, from 1. */
  readonly line: number;
  /** The head's own timestamp; undefined when the line is bad or has none that can be read. */
  readonly at: Instant | undefined;
  /** Goes to the next event of the block. @returns false when the block is used up */
  advance(): boolean;
  /** Reads the next block. @returns false at the end of the file */
  fill(): Promise<boolean>;
  /** Meters the head, or reports why it cannot be. @returns false when reading must stop here */
  take(): boolean;
  close(): Promise<void>;
}

/** A place where a file goes back in time. */
export interface Disorder {
  readonly file: string;
  readonly line: number;
  readonly sentence: string;
}

/** Callbacks while files are read. */
export interface MergeCallbacks {
  /** Called now and then, between blocks. */
  readonly onBlock?: () => void;
  /** Called at the first place of each file where an event is older than one before it. */
  readonly onDisorder: (disorder: Disorder) => void;
}

/** One of the merged files. */
interface MergeRun {
  readonly cursor: EventCursor;
  readonly order: number;
  /** The latest timestamp taken. */
  latest: Instant;
  hasReportedDisorder: boolean;
}

/**
 * Takes the events of all files, oldest first; of equal timestamps the earlier file's, and within a file line by line.
 * A file that is itself out of order is taken as it comes. Closes the files.
 */
export async function mergeEvents(cursors: readonly EventCursor[], callbacks: MergeCallbacks): Promise<void> {
  try {
    const heap: MergeRun[] = [];
    for (const [order, cursor] of cursors.entries()) {
      const run = { cursor, order, latest: -Infinity, hasReportedDisorder: false };
      if (await advanceRun(run, callbacks)) pushRun(heap, run);
    }
    for (let run = heap[0]; run !== undefined; run = heap[0]) {
      if (!(await takeWhileFirst(run, findSecond(heap), callbacks))) return;
      if (await advanceRun(run, callbacks)) siftDown(heap);
      else popRun(heap);
    }
  } finally {
    for (const cursor of cursors) await cursor.close();
  }
}

/**
 * Takes heads of one file for as long as it is first, up to the end of its block.
 *
 * @returns false when reading must stop; else the run's last head is taken and the next one is yet to be found
 */
async function takeWhileFirst(
  run: MergeRun,
  second: MergeRun | undefined,
  callbacks: MergeCallbacks,
): Promise<boolean> {
  const { cursor } = run;
  for (;;) {
    checkOrder(run, callbacks);
    if (!cursor.take()) return false;
    if (second !== undefined) return true;
    if (!cursor.advance()) {
      callbacks.onBlock?.();
      return true;
    }
  }
}

/** Goes to the next event of a file. @returns false at its end */
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
    callbacks.onDisorder(describeDisorder(file, line, { at, latest: run.latest }));
  }
}

/** What is said of an event that comes after a later one. */
export function describeDisorder(
  file: string,
  line: number,
  { at, latest }: { readonly at: Instant; readonly latest: Instant },
): Disorder {
  const sentence =
    `the file is not sorted by time: the event of ${formatInstant(at)} comes after one of ` +
    `${formatInstant(latest)}; events are used in file order`;
  return { file, line, sentence };
}

/** Whether `a` is taken before `b`. A bad line has no time: it is reported in its place, at once. */
function comesBefore(a: MergeRun, b: MergeRun): boolean {
  const x = a.cursor.at ?? -Infinity;
  const y = b.cursor.at ?? -Infinity;
  return x < y || (x === y && a.order < b.order);
}

function findSecond(heap: readonly MergeRun[]): MergeRun | undefined {
  const [, leftRun, rightRun] = heap;
  return leftRun !== undefined && rightRun !== undefined && comesBefore(rightRun, leftRun) ? rightRun : leftRun;
}

function pushRun(heap: MergeRun[], run: MergeRun): void {
  heap.push(run);
  for (let at = heap.length - 1; at > 0;) {
    const parent = (at - 1) >> 1;
    if (!swapIfBefore(heap, at, parent)) return;
    at = parent;
  }
}

function popRun(heap: MergeRun[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  heap[0] = last;
  siftDown(heap);
}

/** Puts the first run where its new head belongs. */
function siftDown(heap: MergeRun[]): void {
  for (let at = 0; ;) {
    const leftIndex = 2 * at + 1;
    const [a, b] = [heap[leftIndex], heap[leftIndex + 1]];
    const child = a !== undefined && b !== undefined && comesBefore(b, a) ? leftIndex + 1 : leftIndex;
    if (!swapIfBefore(heap, child, at)) return;
    at = child;
  }
}

function swapIfBefore(heap: MergeRun[], low: number, high: number): boolean {
  const [lower, higher] = [heap[low], heap[high]];
  if (lower === undefined || higher === undefined || !comesBefore(lower, higher)) return false;
  heap[low] = higher;
  heap[high] = lower;
  return true;
}
