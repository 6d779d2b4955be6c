/**
 * Files of events read by several threads: cursors over the rows that the core decides, and one over the sums of all others.
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

/** How files are read by threads. */
export interface ThreadOptions {
  readonly book: Pick<Book, "settings" | "eventSchemas" | "usageMeters" | "accounts">;
  readonly threads: ThreadPool;
  /** As `EventRun.takesCounted`. */
  readonly takesCounted: (accountId: string) => boolean;
  /** For hashes of ids; undefined where none are remembered. */
  readonly key: FingerprintKey | undefined;
  /** Called for each file that is not in the order of time, as {@link MergeWatch.onDisorder}. */
  readonly onDisorder: (disorder: Disorder) => void;
}

/** Files of which each thread reads parts. */
export interface ThreadedFiles {
  readonly cursors: readonly EventCursor[];
  /** Stand for the files where the progress is shown. */
  readonly sources: readonly ByteSource[];
}

const WAIT_MS = 100;
const BUFFER_BYTES = 1 << 18;

/** Opens files of NDJSON. Nothing is read before a cursor is. */
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
  /** Waits until all is found, or for a moment. */
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

/** Waits for a promise, but not longer than so many milliseconds. */
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
  // In the order in which the merged files come to them; of one time the earlier file's.
  for (const { disorder } of disorders.toSorted((a, b) => a.at - b.at)) onDisorder(disorder);
}

/** A cursor that another one takes the place of, once it is there. @param tryCreate tries to make it; called until it is there */
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

/** The rows of a file that the core decides. Those that are in the sums are taken out of them. */
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
    // What is taken out of the sums is read in full.
    shapes: !countedFlags.includes(1),
    makeEvent: createEventMaker(file),
    atFileStart: false,
  });
  return {
    ...cursor,
    get line() {
      return lineNumberAt(cursor.line);
    },
    /** Rows come when the file, read line by line, would come to them. */
    get at(): Instant {
      return latestTimes[cursor.line - 1] ?? -Infinity;
    },
  };
}

/** All sums at once, behind all rows: their events are decided alike in any order. It closes what all have in common. */
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

/** What tells that a file was written again. */
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
    const message = `${path} changed while it was read; nothing was priced`;
    throw new RatebookError("ERR_USAGE_UNAVAILABLE", message, {});
  }
}
