/**
 * Scans event files with several threads, in parts: sums of plain events, and the positions of all other rows.
 *
 * @module
 */
import { DAY_MS, type Instant } from "../../calendar/instant.ts";
import { invariant } from "../../errors.ts";
import { InputError } from "../../event-files/input-error.ts";
import { type Disorder, describeDisorder } from "../../event-files/merge-events.ts";
import type { PlainAccount, PlainEvents } from "../../ledger/preview/order-free-events.ts";
import { openPlainSums, type PlainSums } from "../../ledger/preview/order-free-sums.ts";
import { describeSystemError } from "../errors.ts";
import { findRepeatedIds } from "./repeated-ids.ts";
import { IS_COUNTED } from "./scanned-rows.ts";
import {
  type ScanResponse,
  openSetupEvents,
  mergeSums,
  type Part,
  type PartResult,
  type ScanRequest,
  type ScanSetup,
} from "./scanner.ts";
import type { Thread } from "./start-thread.ts";

/** Threads, and the number of bytes that each scans at a time. */
export interface ThreadPool {
  readonly count: number;
  readonly partBytes: number;
  readonly start: () => Thread;
}

/** The rows of a file for the core to meter, in order. */
export interface CoreRows {
  readonly offsets: Float64Array;
  /** The line numbers in the file, from 1. */
  readonly lines: Float64Array;
  /** The latest time in the file up to and including the row. */
  readonly latestTimes: Float64Array;
  /** Whether the row is in the sums and must be subtracted. */
  readonly countedFlags: Uint8Array;
}

/** The results for all files. */
export interface ScanResult {
  readonly events: PlainEvents;
  readonly sums: PlainSums;
  /** By file index. */
  readonly rows: readonly CoreRows[];
  readonly partResults: readonly (readonly PartResult[])[];
}

/**
 * Scans all files. If more accounts than expected must be left to the core, everything is scanned again.
 *
 * @param sizes the bytes of each file
 * @throws {InputError} if a file can't be read
 */
export async function scanFiles(
  setup: ScanSetup,
  sizes: readonly number[],
  threads: ThreadPool,
  onPart: (part: Part) => void,
): Promise<ScanResult> {
  const parts = splitIntoParts(sizes, threads.partBytes);
  const startedThreads = Array.from({ length: Math.max(1, Math.min(threads.count, parts.length)) }, () =>
    threads.start(),
  );
  try {
    for (let { accounts } = setup; ;) {
      const scan = await scanOnce({ ...setup, accounts }, parts, startedThreads, onPart);
      const summableAccounts = findSummableAccounts(accounts, scan.partResults.flat());
      if (summableAccounts.length === accounts.length) return scan;
      accounts = summableAccounts;
    }
  } finally {
    for (const thread of startedThreads) await thread.stop();
  }
}

/** The maximum time span. Beyond it, events are rejected with the ids of the first and last, which sums don't have. */
const SPAN_MAX_MS = 3650 * DAY_MS;

/** The accounts whose plain events can still be summed. */
function findSummableAccounts(
  accounts: readonly PlainAccount[],
  partResults: readonly PartResult[],
): readonly PlainAccount[] {
  const earliest = partResults.reduce((least, each) => Math.min(least, each.earliest), Infinity);
  const latest = partResults.reduce((most, each) => Math.max(most, each.latest), -Infinity);
  if (latest - earliest > SPAN_MAX_MS) return [];
  const orderedAccounts = new Set(partResults.flatMap((each) => each.orderedAccounts));
  return accounts.filter((_, index) => !orderedAccounts.has(index));
}

function splitIntoParts(sizes: readonly number[], partBytes: number): readonly Part[] {
  return sizes.flatMap((size, file) =>
    Array.from({ length: Math.ceil(size / partBytes) }, (_, place) => ({
      file,
      from: place * partBytes,
      until: Math.min(size, (place + 1) * partBytes),
    })),
  );
}

async function scanOnce(
  setup: ScanSetup,
  parts: readonly Part[],
  startedThreads: readonly Thread[],
  onPart: (part: Part) => void,
): Promise<ScanResult> {
  const partResults: PartResult[] = [];
  let next = 0;
  const runThread = async (thread: Thread) => {
    await requestFrom(thread, { kind: "setup", setup }, "ready");
    for (let index = next++; index < parts.length; index = next++) {
      const part = parts[index];
      if (part === undefined) break;
      const response = await requestFrom(thread, { kind: "part", part }, "found").catch((error: unknown) => {
        throw toReadError(error, setup.files[part.file]?.path ?? "");
      });
      partResults[index] = response.result;
      onPart(part);
    }
    return requestFrom(thread, { kind: "sums" }, "sums");
  };
  const events = openSetupEvents(setup);
  const sums = openPlainSums(events);
  for (const response of await Promise.all(startedThreads.map(runThread))) mergeSums(sums, response.sums);
  const repeatedFlags = findRepeatedIds(partResults.map(({ rows }) => rows));
  const byFile = setup.files.map((_, file) => [...parts.keys()].filter((index) => parts[index]?.file === file));
  return {
    events,
    sums,
    rows: byFile.map((indexes) =>
      collectFileRows(indexes.map((index) => ({ result: partResults[index], repeatedFlags: repeatedFlags[index] }))),
    ),
    partResults: byFile.map((indexes) => indexes.flatMap((index) => partResults[index] ?? [])),
  };
}

/** Converts a failed system call to an error of the file; other errors are unchanged. */
function toReadError(error: unknown, path: string): unknown {
  return error instanceof Error && "syscall" in error
    ? new InputError(`${path}: ${describeSystemError(error)}`)
    : error;
}

async function requestFrom<Kind extends ScanResponse["kind"]>(
  thread: Thread,
  request: ScanRequest,
  kind: Kind,
): Promise<Extract<ScanResponse, { readonly kind: Kind }>> {
  const response = await thread.request(request);
  invariant(response.kind === kind, "S17.3: a thread answers its request");
  return response as Extract<ScanResponse, { readonly kind: Kind }>;
}

/** The rows for the core in all parts of a file, with their positions in the file. */
function collectFileRows(
  parts: readonly { readonly result: PartResult | undefined; readonly repeatedFlags: Uint8Array | undefined }[],
): CoreRows {
  const offsets: number[] = [];
  const lines: number[] = [];
  const latestTimes: number[] = [];
  const countedFlags: number[] = [];
  let linesBefore = 0;
  let latest = -Infinity;
  for (const { result, repeatedFlags } of parts) {
    if (result === undefined) continue;
    const { rows } = result;
    for (let row = 0; row < rows.count; row++) {
      const isCounted = (rows.flags[row] ?? 0) & IS_COUNTED;
      if (isCounted !== 0 && repeatedFlags?.[row] !== 1) continue;
      offsets.push(rows.offsets[row] ?? 0);
      lines.push(linesBefore + (rows.lines[row] ?? 0));
      latestTimes.push(Math.max(latest, rows.latestTimes[row] ?? 0));
      countedFlags.push(isCounted);
    }
    linesBefore += result.lines;
    latest = Math.max(latest, result.latest);
  }
  return {
    offsets: Float64Array.from(offsets),
    lines: Float64Array.from(lines),
    latestTimes: Float64Array.from(latestTimes),
    countedFlags: Uint8Array.from(countedFlags),
  };
}

/** The first event of a file that is older than an earlier one, as a cursor over the whole file would report it. */
export function findDisorder(file: string, parts: readonly PartResult[]): FoundDisorder | undefined {
  let linesBefore = 0;
  let latest = -Infinity;
  for (const { lines, first, disorder, latest: partLatest } of parts) {
    // Up to its first disorder a part is ordered, so its first event is its earliest.
    const partDisorder = first !== undefined && first.at < latest ? { ...first, latest } : disorder;
    if (partDisorder !== undefined) {
      return {
        at: Math.max(latest, partDisorder.latest),
        disorder: describeDisorder(file, linesBefore + partDisorder.line, partDisorder),
      };
    }
    linesBefore += lines;
    latest = Math.max(latest, partLatest);
  }
  return undefined;
}

/** An event that is older than an earlier one in its file, and the time reached before. */
export interface FoundDisorder {
  readonly at: Instant;
  readonly disorder: Disorder;
}
