/**
 * Reads event files with several threads: cursors over the rows for the core, and one over the sums of all others.
 *
 * @module
 */
import { type FileHandle, open, stat } from "node:fs/promises";

import type { Book } from "../../book/model/book.ts";
import type { Instant } from "../../calendar/instant.ts";
import { invariant, RatebookError } from "../../errors.ts";
import type { EventSink } from "../../event-files/event-sink.ts";
import type { Disorder, EventCursor } from "../../event-files/merge-events.ts";
import type { PlainAccount } from "../../ledger/preview/order-free-events.ts";
import { stringifyJson } from "../../numbers/json.ts";
import type { ByteSource } from "../event-inputs/byte-source.ts";
import type { FingerprintKey } from "../event-inputs/fingerprint.ts";
import { createNdjsonCursor } from "../event-inputs/ndjson-cursor.ts";
import { createLineSource } from "./line-source.ts";
import { type CoreRows, findDisorder, type ScanResult, scanFiles, type ThreadPool } from "./scan-files.ts";
import { createEventMaker, type ScannedFile, type ScanSetup } from "./scanner.ts";

/** Options of reading with threads. */
export interface ThreadOptions {
  readonly book: Pick<Book, "settings" | "eventSchemas" | "usageMeters" | "accounts">;
  readonly threads: ThreadPool;
  /** As `EventRun.takesCounted`. */
  readonly takesCounted: (accountId: string) => boolean;
  /** The key for hashes of ids; undefined if ids are not remembered. */
  readonly key: FingerprintKey | undefined;
  /** Called for each file that is not in time order, as {@link MergeWatch.onDisorder}. */
  readonly onDisorder: (disorder: Disorder) => void;
}

/** Files that the threads read in parts. */
export interface ThreadedFiles {
  readonly cursors: readonly EventCursor[];
  /** Sources that represent the files in the progress bar. */
  readonly sources: readonly ByteSource[];
}

const WAIT_MS = 100;
const BUFFER_BYTES = 1 << 18;

/** Opens NDJSON files. Reading starts with the first cursor. */
export function openThreadedFiles(
  files: readonly ScannedFile[],
  stamps: readonly FileStamp[],
  sink: EventSink,
  options: ThreadOptions,
): ThreadedFiles {
  const doneBytes = files.map(() => 0);
  const handles: FileHandle[] = [];
  let scanResult: ScanResult | undefined;
  let scanning: Promise<void> | undefined;
  const scan = async (): Promise<void> => {
    scanResult = await scanFiles(
      createSetup(files, options),
      stamps.map(({ size }) => size),
      options.threads,
      ({ file, from, until }) => {
        doneBytes[file] = (doneBytes[file] ?? 0) + until - from;
      },
    );
    reportDisorders(files, scanResult, options);
  };
  /** Waits for the result, or for a short time. */
  const wait = async (): Promise<ScanResult | undefined> => {
    scanning ??= scan();
    await waitAtMost(scanning, WAIT_MS);
    return scanResult;
  };
  const rowCursors = files.map((file, index) => {
    let rowCursor: EventCursor | undefined;
    return createDeferredCursor(
      file.path,
      () => rowCursor,
      async () => {
        const result = await wait();
        const rows = result?.rows[index];
        if (result === undefined || rows === undefined) return;
        const handle = await open(file.path, "r");
        handles.push(handle);
        rowCursor = createRowCursor(file, handle, { rows, scanResult: result, sink });
      },
    );
  });
  const close = async (): Promise<void> => {
    for (const handle of handles) await handle.close();
    if (scanResult !== undefined) await checkUnchanged(files, stamps);
  };
  return {
    cursors: [...rowCursors, createSumsCursor(() => scanResult, sink, close)],
    sources: files.map((_, index) => ({
      size: stamps[index]?.size,
      isPlainFile: false,
      get position() {
        return doneBytes[index] ?? 0;
      },
      readInto: async () => 0,
      close: async () => undefined,
    })),
  };
}

/** Waits for a promise, at most for a number of milliseconds. */
async function waitAtMost(promise: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  try {
    await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

function createSetup(files: readonly ScannedFile[], { book, takesCounted, key }: ThreadOptions): ScanSetup {
  const accounts = book.accounts
    .filter(({ id }) => takesCounted(id))
    .map(({ id, customerId, aliases }): PlainAccount => ({ accountId: id, customerId, names: [id, ...aliases] }));
  const { settings, eventSchemas, usageMeters } = book;
  return { book: stringifyJson({ settings, eventSchemas, usageMeters }), accounts, files, key };
}

function reportDisorders(
  files: readonly ScannedFile[],
  { partResults }: ScanResult,
  { onDisorder }: ThreadOptions,
): void {
  const disorders = files.flatMap(({ path }, file) => findDisorder(path, partResults[file] ?? []) ?? []);
  // In the order in which merged files reach them; ties are in file order.
  for (const { disorder } of disorders.toSorted((a, b) => a.at - b.at)) onDisorder(disorder);
}

/**
 * A cursor that is replaced by another one when that is available.
 * @param tryCreate tries to create it; called until it succeeds
 */
function createDeferredCursor(
  file: string,
  inner: () => EventCursor | undefined,
  tryCreate: () => Promise<void>,
): EventCursor {
  return {
    file,
    get line() {
      return inner()?.line ?? 0;
    },
    get at() {
      return inner()?.at;
    },
    advance: () => inner()?.advance() === true,
    async fill() {
      const cursor = inner();
      if (cursor !== undefined) return cursor.fill();
      await tryCreate();
      return true;
    },
    take: () => inner()?.take() !== false,
    close: async () => undefined,
  };
}

/** A cursor over the rows of a file for the core. Those in the sums are subtracted. */
function createRowCursor(
  file: ScannedFile,
  handle: FileHandle,
  { rows, scanResult, sink }: { readonly rows: CoreRows; readonly scanResult: ScanResult; readonly sink: EventSink },
): EventCursor {
  const { offsets, lines, latestTimes, countedFlags } = rows;
  const { events, sums } = scanResult;
  const lineNumberAt = (position: number): number => lines[position - 1] ?? 0;
  const fileSink: EventSink = {
    ...sink,
    onEvent(_, position, event) {
      if (countedFlags[position - 1] === 1) {
        events.of(event);
        sums.takeOut();
      }
      return sink.onEvent(file.path, lineNumberAt(position), event);
    },
    onBadLine: (_, position, reason) => sink.onBadLine(file.path, lineNumberAt(position), reason),
    onFilledSlots: (_, position, slots) => sink.onFilledSlots(file.path, lineNumberAt(position), slots),
  };
  const cursor = createNdjsonCursor(file.path, createLineSource(handle, offsets), fileSink, {
    bufferBytes: BUFFER_BYTES,
    // Rows to subtract must be parsed.
    shapes: !countedFlags.includes(1),
    makeEvent: createEventMaker(file),
    atFileStart: false,
  });
  return {
    ...cursor,
    get line() {
      return lineNumberAt(cursor.line);
    },
    /** The time at which reading the file line by line would reach the row. */
    get at(): Instant {
      return latestTimes[cursor.line - 1] ?? -Infinity;
    },
  };
}

/** A cursor with all sums, after all rows: the order doesn't matter for their events. It closes shared resources. */
function createSumsCursor(
  readScanResult: () => ScanResult | undefined,
  sink: EventSink,
  close: () => Promise<void>,
): EventCursor {
  let isRead = false;
  return {
    file: "",
    line: 0,
    at: Infinity,
    advance: () => !isRead && (isRead = true),
    fill: async () => false,
    take() {
      for (const accountSums of readScanResult()?.sums.counted() ?? []) {
        invariant(sink.onCountedEvents(accountSums), "S17.3: an account takes the sums that it said it takes");
      }
      return true;
    },
    close,
  };
}

/** A stamp that changes when a file is written. */
export interface FileStamp {
  readonly size: number;
  readonly stamp: string;
}

/** @throws as node:fs does */
export async function readFileStamp(path: string): Promise<FileStamp> {
  const { size, mtimeNs, ino } = await stat(path, { bigint: true });
  return { size: Number(size), stamp: `${size} ${mtimeNs} ${ino}` };
}

async function checkUnchanged(files: readonly ScannedFile[], stamps: readonly FileStamp[]): Promise<void> {
  for (const [index, { path }] of files.entries()) {
    const current = await readFileStamp(path).catch(() => undefined);
    if (current?.stamp === stamps[index]?.stamp) continue;
    const message = `${path} changed while it was being read, so nothing was priced`;
    throw new RatebookError("ERR_USAGE_UNAVAILABLE", message, {});
  }
}
