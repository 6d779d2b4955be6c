/**
 * Files of events read by several threads: cursors over the rows that the core decides, and one over the sums of all others.
 *
 * @module
 */
import { type FileHandle, open, stat } from "node:fs/promises";

import type { Book } from "../../book/model/book.ts";
import type { Instant } from "../../calendar/instant.ts";
import { invariant, RatebookError } from "../../errors.ts";
import type { PlainAccount } from "../../ledger/preview/plain-events.ts";
import { stringifyJson } from "../../numbers/json.ts";
import type { Disorder, EventCursor } from "../../records/event-cursor.ts";
import type { EventSink } from "../../records/event-sink.ts";
import type { ByteSource } from "../events/byte-source.ts";
import type { FingerprintKey } from "../events/fingerprint.ts";
import { createNdjsonCursor } from "../events/ndjson.ts";
import { chosenLines } from "./chosen-lines.ts";
import { type CoreRows, disorderOf, type Scanned, scanFiles, type Threads } from "./scan-files.ts";
import { makerOf, type ScannedFile, type ScanSetup } from "./scanner.ts";

/** How files are read by threads. */
export interface ThreadReading {
  readonly book: Pick<Book, "settings" | "eventSchemas" | "usageMeters" | "accounts">;
  readonly threads: Threads;
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

const WATCH_MS = 100;
const BUFFER_BYTES = 1 << 18;

/** Opens files of NDJSON. Nothing is read before a cursor is. */
export function openThreaded(
  files: readonly ScannedFile[],
  stamps: readonly FileStamp[],
  sink: EventSink,
  reading: ThreadReading,
): ThreadedFiles {
  const done = files.map(() => 0);
  const handles: FileHandle[] = [];
  let scanned: Scanned | undefined;
  let scanning: Promise<void> | undefined;
  const scan = async (): Promise<void> => {
    scanned = await scanFiles(
      setupOf(files, reading),
      stamps.map(({ size }) => size),
      reading.threads,
      ({ file, from, until }) => {
        done[file] = (done[file] ?? 0) + until - from;
      },
    );
    tellDisorders(files, scanned, reading);
  };
  /** Waits until all is found, or for a moment. */
  const wait = async (): Promise<Scanned | undefined> => {
    scanning ??= scan();
    await settledOrLater(scanning, WATCH_MS);
    return scanned;
  };
  const rests = files.map((file, index) => {
    let rest: EventCursor | undefined;
    return deferred(
      file.path,
      () => rest,
      async () => {
        const found = await wait();
        const rows = found?.rows[index];
        if (found === undefined || rows === undefined) return;
        const handle = await open(file.path, "r");
        handles.push(handle);
        rest = restCursor(file, handle, { rows, scanned: found, sink });
      },
    );
  });
  const close = async (): Promise<void> => {
    for (const handle of handles) await handle.close();
    if (scanned !== undefined) await checkUnchanged(files, stamps);
  };
  return {
    cursors: [...rests, sumsCursor(() => scanned, sink, close)],
    sources: files.map((_, index) => ({
      size: stamps[index]?.size,
      isPlainFile: false,
      get position() {
        return done[index] ?? 0;
      },
      read: async () => 0,
      close: async () => undefined,
    })),
  };
}

/** Waits for a promise, but not longer than so many milliseconds. */
async function settledOrLater(promise: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const later = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  try {
    await Promise.race([promise, later]);
  } finally {
    clearTimeout(timer);
  }
}

function setupOf(files: readonly ScannedFile[], { book, takesCounted, key }: ThreadReading): ScanSetup {
  const accounts = book.accounts
    .filter(({ id }) => takesCounted(id))
    .map(({ id, customerId, aliases }): PlainAccount => ({ accountId: id, customerId, names: [id, ...aliases] }));
  const { settings, eventSchemas, usageMeters } = book;
  return { book: stringifyJson({ settings, eventSchemas, usageMeters }), accounts, files, key };
}

function tellDisorders(files: readonly ScannedFile[], { found }: Scanned, { onDisorder }: ThreadReading): void {
  const disorders = files.flatMap(({ path }, file) => disorderOf(path, found[file] ?? []) ?? []);
  // In the order in which the merged files come to them; of one time the earlier file's.
  for (const { disorder } of disorders.toSorted((a, b) => a.at - b.at)) onDisorder(disorder);
}

/** A cursor that another one takes the place of, once it is there. @param make tries to make it; called until it is there */
function deferred(file: string, inner: () => EventCursor | undefined, make: () => Promise<void>): EventCursor {
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
      const made = inner();
      if (made !== undefined) return made.fill();
      await make();
      return true;
    },
    take: () => inner()?.take() !== false,
    close: async () => undefined,
  };
}

/** The rows of a file that the core decides. Those that are in the sums are taken out of them. */
function restCursor(
  file: ScannedFile,
  handle: FileHandle,
  { rows, scanned, sink }: { readonly rows: CoreRows; readonly scanned: Scanned; readonly sink: EventSink },
): EventCursor {
  const { offsets, lines, reached, counted } = rows;
  const { events, sums } = scanned;
  const lineAt = (place: number): number => lines[place - 1] ?? 0;
  const inFile: EventSink = {
    ...sink,
    event(_, place, event) {
      if (counted[place - 1] === 1) {
        events.of(event);
        sums.takeOut();
      }
      return sink.event(file.path, lineAt(place), event);
    },
    badLine: (_, place, reason) => sink.badLine(file.path, lineAt(place), reason),
    filled: (_, place, slots) => sink.filled(file.path, lineAt(place), slots),
  };
  const cursor = createNdjsonCursor(file.path, chosenLines(handle, offsets), inFile, {
    bufferBytes: BUFFER_BYTES,
    // What is taken out of the sums is read in full.
    shapes: !counted.includes(1),
    makeEvent: makerOf(file),
    atFileStart: false,
  });
  return {
    ...cursor,
    get line() {
      return lineAt(cursor.line);
    },
    /** Rows come when the file, read line by line, would come to them. */
    get at(): Instant {
      return reached[cursor.line - 1] ?? -Infinity;
    },
  };
}

/** All sums at once, behind all rows: their events are decided alike in any order. It closes what all have in common. */
function sumsCursor(scanned: () => Scanned | undefined, sink: EventSink, close: () => Promise<void>): EventCursor {
  let isRead = false;
  return {
    file: "",
    line: 0,
    at: Infinity,
    advance: () => !isRead && (isRead = true),
    fill: async () => false,
    take() {
      for (const counted of scanned()?.sums.counted() ?? []) {
        invariant(sink.counted(counted), "S17.3: an account takes the sums that it said it takes");
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
export async function stampOf(path: string): Promise<FileStamp> {
  const { size, mtimeNs, ino } = await stat(path, { bigint: true });
  return { size: Number(size), stamp: `${size} ${mtimeNs} ${ino}` };
}

async function checkUnchanged(files: readonly ScannedFile[], stamps: readonly FileStamp[]): Promise<void> {
  for (const [index, { path }] of files.entries()) {
    const now = await stampOf(path).catch(() => undefined);
    if (now?.stamp === stamps[index]?.stamp) continue;
    const message = `${path} changed while it was read: nothing is priced from it`;
    throw new RatebookError("ERR_USAGE_UNAVAILABLE", message, {});
  }
}
