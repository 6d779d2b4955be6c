/**
 * What a thread does: it counts the plain events of parts of files, and says where all other rows are.
 *
 * @module
 */
import { type FileHandle, open } from "node:fs/promises";

import type { Instant } from "../../calendar/instant.ts";
import { invariant } from "../../errors.ts";
import {
  type EventKind,
  openPlainEvents,
  type PlainAccount,
  type PlainEvents,
} from "../../ledger/preview/plain-events.ts";
import { openPlainSums, type PlainSums } from "../../ledger/preview/plain-sums.ts";
import type { MeteringBook } from "../../metering/program.ts";
import { exactOfText, formatExact } from "../../numbers/exact.ts";
import { parseJson } from "../../numbers/json.ts";
import type { CsvMap } from "../../records/csv-map.ts";
import type { EventSink } from "../../records/event-sink.ts";
import { eventOfObject } from "../../records/json-fields.ts";
import type { EventMaker } from "../../records/mapped-event.ts";
import { createFingerprinter, type Fingerprinter, type FingerprintKey } from "../events/fingerprint.ts";
import { createNdjsonCursor, type NdjsonCursor } from "../events/ndjson.ts";
import { createRowList, type FoundRows, HAS_ID, IS_COUNTED, type RowList } from "./found-rows.ts";
import { type ByteRange, openPart } from "./part-source.ts";

const BUFFER_BYTES = 1 << 20;

/** A file of events, with its map. */
export interface ScannedFile {
  readonly path: string;
  readonly map: CsvMap | undefined;
}

/** What a thread must know before it looks at files. */
export interface ScanSetup {
  /** The part of the book that metering needs, as JSON. */
  readonly book: string;
  readonly accounts: readonly PlainAccount[];
  readonly files: readonly ScannedFile[];
  /** For hashes of ids; undefined where none are remembered. */
  readonly key: FingerprintKey | undefined;
}

/** A part of a file. */
export interface Part extends ByteRange {
  /** The index of its file. */
  readonly file: number;
}

/** An event of a part that is dated. */
export interface DatedLine {
  /** From 1, in the part. */
  readonly line: number;
  readonly at: Instant;
}

/** What was found in a part. */
export interface PartFound {
  readonly lines: number;
  readonly rows: FoundRows;
  /** The indices of accounts whose events are to be decided in their order. */
  readonly wide: readonly number[];
  readonly first: DatedLine | undefined;
  /** The first event that is older than one before it in the part, and the latest time up to there. */
  readonly disorder: (DatedLine & { readonly latest: Instant }) | undefined;
  /** The earliest and the latest time; Infinity and -Infinity where there is none. */
  readonly earliest: Instant;
  readonly latest: Instant;
}

/** A sum as it goes from one thread to another: indices of account and column, day, exact decimal. */
export type SentSum = readonly [account: number, column: number, day: number, sum: number | string];

/** What a thread is asked: a set-up begins anew. */
export type Question =
  | { readonly kind: "setup"; readonly setup: ScanSetup }
  | { readonly kind: "part"; readonly part: Part }
  | { readonly kind: "sums" };

/** What it answers, in the same order. */
export type Answer =
  | { readonly kind: "ready" }
  | { readonly kind: "found"; readonly found: PartFound }
  | { readonly kind: "sums"; readonly sums: readonly SentSum[] };

/** One that answers questions, one after another. */
export interface Scanner {
  readonly answer: (question: Question) => Promise<Answer>;
}

/** A set-up that was compiled. */
interface Scan {
  readonly events: PlainEvents;
  readonly sums: PlainSums;
  readonly files: readonly { readonly path: string; readonly makeEvent: EventMaker<unknown> | undefined }[];
  readonly fingerprinter: Fingerprinter | undefined;
}

/** A scanner without a set-up. */
export function createScanner(): Scanner {
  let scan: Scan | undefined;
  return {
    async answer(question) {
      if (question.kind === "setup") {
        scan = openScan(question.setup);
        return { kind: "ready" };
      }
      if (scan === undefined) throw new Error("a thread was asked before its set-up");
      if (question.kind === "part") return { kind: "found", found: await scanPart(scan, question.part) };
      return { kind: "sums", sums: [...scan.sums.sums()].map(([a, c, day, sum]) => [a, c, day, sent(sum)] as const) };
    },
  };
}

function sent(sum: Parameters<typeof formatExact>[0]): number | string {
  return typeof sum === "number" ? sum : formatExact(sum);
}

/** Adds the sums of another thread. */
export function mergeSums(sums: PlainSums, others: readonly SentSum[]): void {
  for (const [account, column, day, sum] of others) {
    sums.merge([account, column, day, typeof sum === "number" ? sum : (exactOfText(sum) ?? 0)]);
  }
}

/** What looks at the events of a set-up. */
export function eventsOfSetup({ book, accounts }: Pick<ScanSetup, "book" | "accounts">): PlainEvents {
  return openPlainEvents(parseJson(book) as MeteringBook, accounts);
}

/** What makes events of the objects of a file; undefined where they are events. */
export function makerOf({ map }: ScannedFile): EventMaker<unknown> | undefined {
  return map && eventOfObject(map);
}

function openScan(setup: ScanSetup): Scan {
  const events = eventsOfSetup(setup);
  const { key } = setup;
  return {
    events,
    sums: openPlainSums(events),
    files: setup.files.map((file) => ({ path: file.path, makeEvent: makerOf(file) })),
    fingerprinter: key === undefined ? undefined : createFingerprinter(key),
  };
}

async function scanPart(scan: Scan, part: Part): Promise<PartFound> {
  const file = scan.files[part.file];
  invariant(file !== undefined, "S17.3: a part is of a file of the set-up");
  // Open for this part alone: all threads together may have no more files open than a process may.
  const handle = await open(file.path, "r");
  try {
    return await scanLines(scan, handle, part, file.makeEvent);
  } finally {
    await handle.close();
  }
}

async function scanLines(
  scan: Scan,
  handle: FileHandle,
  part: Part,
  makeEvent: EventMaker<unknown> | undefined,
): Promise<PartFound> {
  const source = await openPart(handle, part);
  const rows = createRowList();
  const wide = new Set<number>();
  const times = watchTimes();
  if (source === undefined) return { lines: 0, rows: rows.taken(), wide: [], ...times.found() };
  const sink = sinkOf(scan, { rows, wide, times, at: () => source.start + cursor.offset });
  const cursor: NdjsonCursor = createNdjsonCursor("", source, sink, {
    bufferBytes: BUFFER_BYTES,
    shapes: true,
    makeEvent,
    atFileStart: source.start === 0,
  });
  do {
    while (cursor.advance()) {
      times.note(cursor.line, cursor.at);
      cursor.take();
    }
  } while (await cursor.fill());
  return { lines: cursor.line, rows: rows.taken(), wide: [...wide], ...times.found() };
}

interface Finding {
  readonly rows: RowList;
  readonly wide: Set<number>;
  readonly times: Times;
  /** Where the line begins in the file. */
  readonly at: () => number;
}

/** Counts plain events, and lists all others. */
function sinkOf({ events, sums, fingerprinter }: Scan, { rows, wide, times, at }: Finding): EventSink {
  const words = fingerprinter?.words ?? new Uint32Array(2);
  const take = (line: number, kind: EventKind, id: unknown): boolean => {
    const isCounted = kind === "plain";
    if (isCounted) sums.add();
    if (kind === "wide") wide.add(events.last.account);
    const hasId = fingerprinter !== undefined && typeof id === "string";
    if (isCounted && !hasId) return true;
    if (hasId) fingerprinter.ofText(id);
    rows.add(at(), line, times.latest(), (isCounted ? IS_COUNTED : 0) + (hasId ? HAS_ID : 0), words);
    return true;
  };
  return {
    filled: (_, line, slots) => take(line, events.ofSlots(slots), slots.id),
    event: (_, line, event) => take(line, events.of(event), (event as { readonly id?: unknown } | null)?.id),
    badLine: (_, line) => take(line, "other", undefined),
    slotsOf: events.slotsOf,
    counted: () => false,
  };
}

interface Times {
  readonly note: (line: number, at: Instant | undefined) => void;
  readonly latest: () => Instant;
  readonly found: () => Pick<PartFound, "first" | "disorder" | "earliest" | "latest">;
}

function watchTimes(): Times {
  let first: DatedLine | undefined;
  let disorder: PartFound["disorder"];
  let [earliest, latest] = [Infinity, -Infinity];
  return {
    note(line, at) {
      if (at === undefined) return;
      first ??= { line, at };
      if (at < latest) disorder ??= { line, at, latest };
      if (at < earliest) earliest = at;
      if (at > latest) latest = at;
    },
    latest: () => latest,
    found: () => ({ first, disorder, earliest, latest }),
  };
}
