/**
 * The work of a thread: sums the plain events of parts of files, and finds all other rows.
 *
 * @module
 */
import { type FileHandle, open } from "node:fs/promises";

import type { Instant } from "../../calendar/instant.ts";
import { invariant } from "../../errors.ts";
import type { EventFileMap } from "../../event-files/event-file-map.ts";
import type { EventSink } from "../../event-files/event-sink.ts";
import { createObjectEventMaker } from "../../event-files/json-fields.ts";
import type { EventMaker } from "../../event-files/mapped-event.ts";
import {
  type EventKind,
  openPlainEvents,
  type PlainAccount,
  type PlainEvents,
} from "../../ledger/preview/order-free-events.ts";
import { openPlainSums, type PlainSums } from "../../ledger/preview/order-free-sums.ts";
import type { MeteringBook } from "../../metering/compile-metering.ts";
import { exactOfText, formatExact } from "../../numbers/exact.ts";
import { parseJson } from "../../numbers/json.ts";
import { createFingerprinter, type Fingerprinter, type FingerprintKey } from "../event-inputs/fingerprint.ts";
import { createNdjsonCursor, type NdjsonCursor } from "../event-inputs/ndjson-cursor.ts";
import { type ByteRange, openPart } from "./part-source.ts";
import { createRowList, type ScannedRows, HAS_ID, IS_COUNTED, type RowList } from "./scanned-rows.ts";

const BUFFER_BYTES = 1 << 20;

export interface ScannedFile {
  readonly path: string;
  readonly map: EventFileMap | undefined;
}

/** What a thread needs to know to scan files. */
export interface ScanSetup {
  /** The part of the book that metering needs, as JSON. */
  readonly book: string;
  readonly accounts: readonly PlainAccount[];
  readonly files: readonly ScannedFile[];
  /** The key for hashes of ids; undefined if ids are not remembered. */
  readonly key: FingerprintKey | undefined;
}

export interface Part extends ByteRange {
  /** The index of its file. */
  readonly file: number;
}

/** The position and time of an event in a part. */
export interface DatedLine {
  /** From 1, in the part. */
  readonly line: number;
  readonly at: Instant;
}

/** The result for a part. */
export interface PartResult {
  readonly lines: number;
  readonly rows: ScannedRows;
  /** The indexes of accounts whose events must be metered in order. */
  readonly orderedAccounts: readonly number[];
  readonly first: DatedLine | undefined;
  /** The first event in the part that is older than an earlier one, and the latest time up to there. */
  readonly disorder: (DatedLine & { readonly latest: Instant }) | undefined;
  /** The earliest and latest time; Infinity and -Infinity without events. */
  readonly earliest: Instant;
  readonly latest: Instant;
}

/** A sum in the form sent between threads: indexes of account and column, day, exact decimal. */
export type SentSum = readonly [account: number, column: number, day: number, sum: number | string];

/** A request to a thread. A set-up resets it. */
export type ScanRequest =
  | { readonly kind: "setup"; readonly setup: ScanSetup }
  | { readonly kind: "part"; readonly part: Part }
  | { readonly kind: "sums" };

/** The response, in request order. */
export type ScanResponse =
  | { readonly kind: "ready" }
  | { readonly kind: "found"; readonly result: PartResult }
  | { readonly kind: "sums"; readonly sums: readonly SentSum[] };

/** Answers requests one at a time. */
export interface Scanner {
  readonly respond: (request: ScanRequest) => Promise<ScanResponse>;
}

interface CompiledScan {
  readonly events: PlainEvents;
  readonly sums: PlainSums;
  readonly files: readonly { readonly path: string; readonly makeEvent: EventMaker<unknown> | undefined }[];
  readonly fingerprinter: Fingerprinter | undefined;
}

export function createScanner(): Scanner {
  let scan: CompiledScan | undefined;
  return {
    async respond(request) {
      if (request.kind === "setup") {
        scan = openScan(request.setup);
        return { kind: "ready" };
      }
      if (scan === undefined) throw new Error("a thread received a request before its set-up");
      if (request.kind === "part") return { kind: "found", result: await scanPart(scan, request.part) };
      return {
        kind: "sums",
        sums: [...scan.sums.sums()].map(([a, c, day, sum]) => [a, c, day, toSentSum(sum)] as const),
      };
    },
  };
}

function toSentSum(sum: Parameters<typeof formatExact>[0]): number | string {
  return typeof sum === "number" ? sum : formatExact(sum);
}

/** Adds the sums of another thread. */
export function mergeSums(sums: PlainSums, others: readonly SentSum[]): void {
  for (const [account, column, day, sum] of others) {
    sums.merge([account, column, day, typeof sum === "number" ? sum : (exactOfText(sum) ?? 0)]);
  }
}

/** Prepares the metering of a set-up's events. */
export function openSetupEvents({ book, accounts }: Pick<ScanSetup, "book" | "accounts">): PlainEvents {
  return openPlainEvents(parseJson(book) as MeteringBook, accounts);
}

/** A function that makes events from the objects of a file; undefined if they are events. */
export function createEventMaker({ map }: ScannedFile): EventMaker<unknown> | undefined {
  return map && createObjectEventMaker(map);
}

function openScan(setup: ScanSetup): CompiledScan {
  const events = openSetupEvents(setup);
  const { key } = setup;
  return {
    events,
    sums: openPlainSums(events),
    files: setup.files.map((file) => ({ path: file.path, makeEvent: createEventMaker(file) })),
    fingerprinter: key === undefined ? undefined : createFingerprinter(key),
  };
}

async function scanPart(scan: CompiledScan, part: Part): Promise<PartResult> {
  const file = scan.files[part.file];
  invariant(file !== undefined, "S17.3: a part is of a file of the set-up");
  // Opened for this part only, so that all threads together don't exceed the limit of open files.
  const handle = await open(file.path, "r");
  try {
    return await scanLines(scan, handle, part, file.makeEvent);
  } finally {
    await handle.close();
  }
}

async function scanLines(
  scan: CompiledScan,
  handle: FileHandle,
  part: Part,
  makeEvent: EventMaker<unknown> | undefined,
): Promise<PartResult> {
  const source = await openPart(handle, part);
  const rows = createRowList();
  const orderedAccounts = new Set<number>();
  const times = createTimeTracker();
  if (source === undefined) return { lines: 0, rows: rows.toRows(), orderedAccounts: [], ...times.result() };
  const sink = createScanSink(scan, { rows, orderedAccounts, times, at: () => source.start + cursor.offset });
  const cursor: NdjsonCursor = createNdjsonCursor("", source, sink, {
    bufferBytes: BUFFER_BYTES,
    shapes: true,
    makeEvent,
    atFileStart: source.start === 0,
  });
  do {
    while (cursor.advance()) {
      times.recordTime(cursor.line, cursor.at);
      cursor.take();
    }
  } while (await cursor.fill());
  return { lines: cursor.line, rows: rows.toRows(), orderedAccounts: [...orderedAccounts], ...times.result() };
}

interface SinkState {
  readonly rows: RowList;
  readonly orderedAccounts: Set<number>;
  readonly times: TimeTracker;
  /** The position of the line in the file. */
  readonly at: () => number;
}

/** A sink that sums plain events and lists all others. */
function createScanSink(
  { events, sums, fingerprinter }: CompiledScan,
  { rows, orderedAccounts, times, at }: SinkState,
): EventSink {
  const words = fingerprinter?.words ?? new Uint32Array(2);
  const recordEvent = (line: number, kind: EventKind, id: unknown): boolean => {
    const isCounted = kind === "plain";
    if (isCounted) sums.add();
    if (kind === "wide") orderedAccounts.add(events.last.account);
    const hasId = fingerprinter !== undefined && typeof id === "string";
    if (isCounted && !hasId) return true;
    if (hasId) fingerprinter.fingerprint(id);
    rows.addRow(at(), line, times.latest(), (isCounted ? IS_COUNTED : 0) + (hasId ? HAS_ID : 0), words);
    return true;
  };
  return {
    onFilledSlots: (_, line, slots) => recordEvent(line, events.ofSlots(slots), slots.id),
    onEvent: (_, line, event) => recordEvent(line, events.of(event), (event as { readonly id?: unknown } | null)?.id),
    onBadLine: (_, line) => recordEvent(line, "other", undefined),
    findSlots: events.slotsOf,
    onCountedEvents: () => false,
  };
}

interface TimeTracker {
  readonly recordTime: (line: number, at: Instant | undefined) => void;
  readonly latest: () => Instant;
  readonly result: () => Pick<PartResult, "first" | "disorder" | "earliest" | "latest">;
}

function createTimeTracker(): TimeTracker {
  let first: DatedLine | undefined;
  let disorder: PartResult["disorder"];
  let [earliest, latest] = [Infinity, -Infinity];
  return {
    recordTime(line, at) {
      if (at === undefined) return;
      first ??= { line, at };
      if (at < latest) disorder ??= { line, at, latest };
      if (at < earliest) earliest = at;
      if (at > latest) latest = at;
    },
    latest: () => latest,
    result: () => ({ first, disorder, earliest, latest }),
  };
}
