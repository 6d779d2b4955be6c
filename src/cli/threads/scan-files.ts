/**
 * Files of events, looked at in parts by several threads: sums of plain events, and where all other rows are.
 *
 * @module
 */
import { DAY_MS, type Instant } from "../../calendar/instant.ts";
import { invariant } from "../../errors.ts";
import type { PlainAccount, PlainEvents } from "../../ledger/preview/plain-events.ts";
import { openPlainSums, type PlainSums } from "../../ledger/preview/plain-sums.ts";
import { type Disorder, disorderAt } from "../../records/event-cursor.ts";
import { InputError } from "../../records/problems.ts";
import { reasonOf } from "../problems.ts";
import { IS_COUNTED } from "./found-rows.ts";
import type { Thread } from "./pool.ts";
import { repeatedIds } from "./repeated-ids.ts";
import {
  type Answer,
  eventsOfSetup,
  mergeSums,
  type Part,
  type PartFound,
  type Question,
  type ScanSetup,
} from "./scanner.ts";

/** Threads, and how much each looks at at once. */
export interface Threads {
  readonly count: number;
  readonly partBytes: number;
  readonly start: () => Thread;
}

/** Rows of one file that the core decides, in their order. */
export interface CoreRows {
  readonly offsets: Float64Array;
  /** From 1, in the file. */
  readonly lines: Float64Array;
  /** The latest time in the file up to and including the row. */
  readonly reached: Float64Array;
  /** Whether the row is in the sums, and is to be taken out of them. */
  readonly counted: Uint8Array;
}

/** What threads found in all files. */
export interface Scanned {
  readonly events: PlainEvents;
  readonly sums: PlainSums;
  /** By the index of the file. */
  readonly rows: readonly CoreRows[];
  readonly found: readonly (readonly PartFound[])[];
}

/**
 * Looks at all files. Where it turns out that more accounts than those of the set-up are to be left to the core, everything is
 * looked at once more.
 *
 * @param sizes the bytes of each file
 * @throws {InputError} where a file cannot be read
 */
export async function scanFiles(
  setup: ScanSetup,
  sizes: readonly number[],
  threads: Threads,
  onPart: (part: Part) => void,
): Promise<Scanned> {
  const parts = partsOf(sizes, threads.partBytes);
  const running = Array.from({ length: Math.max(1, Math.min(threads.count, parts.length)) }, () => threads.start());
  try {
    for (let { accounts } = setup; ;) {
      const scan = await scanOnce({ ...setup, accounts }, parts, running, onPart);
      const left = accountsLeft(accounts, scan.found.flat());
      if (left.length === accounts.length) return scan;
      accounts = left;
    }
  } finally {
    for (const thread of running) await thread.stop();
  }
}

/** Events that reach further are refused, and the first and the last are named by their ids, which sums do not have. */
const SPAN_MAX_MS = 3650 * DAY_MS;

/** The accounts whose plain events may still be summed. */
function accountsLeft(accounts: readonly PlainAccount[], found: readonly PartFound[]): readonly PlainAccount[] {
  const earliest = found.reduce((least, each) => Math.min(least, each.earliest), Infinity);
  const latest = found.reduce((most, each) => Math.max(most, each.latest), -Infinity);
  if (latest - earliest > SPAN_MAX_MS) return [];
  const wide = new Set(found.flatMap((each) => each.wide));
  return accounts.filter((_, index) => !wide.has(index));
}

function partsOf(sizes: readonly number[], partBytes: number): readonly Part[] {
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
  running: readonly Thread[],
  onPart: (part: Part) => void,
): Promise<Scanned> {
  const found: PartFound[] = [];
  let next = 0;
  const work = async (thread: Thread) => {
    await ask(thread, { kind: "setup", setup }, "ready");
    for (let index = next++; index < parts.length; index = next++) {
      const part = parts[index];
      if (part === undefined) break;
      const answer = await ask(thread, { kind: "part", part }, "found").catch((error: unknown) => {
        throw unreadable(error, setup.files[part.file]?.path ?? "");
      });
      found[index] = answer.found;
      onPart(part);
    }
    return ask(thread, { kind: "sums" }, "sums");
  };
  const events = eventsOfSetup(setup);
  const sums = openPlainSums(events);
  for (const answer of await Promise.all(running.map(work))) mergeSums(sums, answer.sums);
  const repeated = repeatedIds(found.map(({ rows }) => rows));
  const byFile = setup.files.map((_, file) => [...parts.keys()].filter((index) => parts[index]?.file === file));
  return {
    events,
    sums,
    rows: byFile.map((indexes) =>
      rowsOfFile(indexes.map((index) => ({ found: found[index], repeated: repeated[index] }))),
    ),
    found: byFile.map((indexes) => indexes.flatMap((index) => found[index] ?? [])),
  };
}

/** A system call that failed is the file's fault; every other error is as it was thrown. */
function unreadable(error: unknown, path: string): unknown {
  return error instanceof Error && "syscall" in error ? new InputError(`${path}: ${reasonOf(error)}`) : error;
}

async function ask<Kind extends Answer["kind"]>(
  thread: Thread,
  question: Question,
  kind: Kind,
): Promise<Extract<Answer, { readonly kind: Kind }>> {
  const answer = await thread.ask(question);
  invariant(answer.kind === kind, "S17.3: a thread answers what it is asked");
  return answer as Extract<Answer, { readonly kind: Kind }>;
}

/** The rows for the core of the parts of a file, with their places in the file. */
function rowsOfFile(
  parts: readonly { readonly found: PartFound | undefined; readonly repeated: Uint8Array | undefined }[],
): CoreRows {
  const offsets: number[] = [];
  const lines: number[] = [];
  const reached: number[] = [];
  const counted: number[] = [];
  let before = 0;
  let latest = -Infinity;
  for (const { found, repeated } of parts) {
    if (found === undefined) continue;
    const { rows } = found;
    for (let row = 0; row < rows.count; row++) {
      const isCounted = (rows.flags[row] ?? 0) & IS_COUNTED;
      if (isCounted !== 0 && repeated?.[row] !== 1) continue;
      offsets.push(rows.offsets[row] ?? 0);
      lines.push(before + (rows.lines[row] ?? 0));
      reached.push(Math.max(latest, rows.reached[row] ?? 0));
      counted.push(isCounted);
    }
    before += found.lines;
    latest = Math.max(latest, found.latest);
  }
  return {
    offsets: Float64Array.from(offsets),
    lines: Float64Array.from(lines),
    reached: Float64Array.from(reached),
    counted: Uint8Array.from(counted),
  };
}

/** The first event of a file that is older than one before it, as a cursor over the whole file would tell it. */
export function disorderOf(file: string, parts: readonly PartFound[]): DisorderFound | undefined {
  let before = 0;
  let latest = -Infinity;
  for (const { lines, first, disorder, latest: own } of parts) {
    // Up to its first disorder a part goes forward: its first event is its earliest one there.
    const found = first !== undefined && first.at < latest ? { ...first, latest } : disorder;
    if (found !== undefined) {
      return { at: Math.max(latest, found.latest), disorder: disorderAt(file, before + found.line, found) };
    }
    before += lines;
    latest = Math.max(latest, own);
  }
  return undefined;
}

/** A place where a file goes back in time, and the time that was reached before. */
export interface DisorderFound {
  readonly at: Instant;
  readonly disorder: Disorder;
}
