/**
 * The outside world of a command, which tests can stand in for.
 *
 * @module
 */
import { randomBytes } from "node:crypto";
import { open, readFile, rename, rm, stat } from "node:fs/promises";
import { availableParallelism } from "node:os";
import type { Readable, Writable } from "node:stream";

import type { FingerprintKey } from "./event-inputs/fingerprint.ts";
import type { ThreadPool } from "./threads/scan-files.ts";
import { startThread } from "./threads/start-thread.ts";

/** So much of a file a thread looks at at once: all threads end at nearly the same time. */
const PART_BYTES = 32 << 20;

/** The world outside a command. */
export interface Io {
  /** Opens standard input; at most once a run. */
  readonly stdin: () => Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
  /** Whether a person watches standard error: only then a bar is drawn. */
  readonly isStderrTerminal: boolean;
  /** The terminal that shows standard output, where there is one. */
  readonly terminal: Terminal | undefined;
  /** A file to be written: it has its name, and another one of that name is gone, when it is kept. @throws as node:fs does */
  readonly createFile: (path: string) => Promise<PendingFile>;
  /** The bytes of a small file: a book, a plan, a map. @throws as node:fs does */
  readonly readFile: (path: string) => Promise<Uint8Array>;
  /** 128 random bits. */
  readonly fingerprintKey: () => FingerprintKey;
  /** Threads that read large files. */
  readonly threads: ThreadPool;
  /** The environment's variables. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Resolves with the first signal to stop the process; a second one ends it at once. */
  readonly waitForStop: () => Promise<string>;
}

/** A terminal. */
export interface Terminal {
  /** How many characters fit in a line. */
  readonly columns: number;
  /** Whether it shows colours and NO_COLOR is not set. */
  readonly colours: boolean;
}

/** A file that is being written. */
export interface PendingFile {
  readonly stream: Writable;
  /** Gives the file, which is whole, its name. */
  commit(): Promise<void>;
  /** Leaves nothing of it. */
  discard(): Promise<void>;
}

/** The world of a process. */
export function createProcessIo(): Io {
  return {
    stdin: () => process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    isStderrTerminal: process.stderr.isTTY,
    terminal: process.stdout.isTTY
      ? { columns: process.stdout.columns, colours: process.stdout.hasColors() }
      : undefined,
    readFile: async (path) => readFile(path),
    createFile,
    fingerprintKey: () => {
      const bytes = randomBytes(16);
      return [bytes.readUInt32LE(0), bytes.readUInt32LE(4), bytes.readUInt32LE(8), bytes.readUInt32LE(12)];
    },
    threads: { count: availableParallelism(), partBytes: PART_BYTES, start: startThread },
    env: process.env,
    waitForStop: waitForSignal,
  };
}

/** Makes a file beside its place; where something that is no file stands there (a device, a pipe), it is written to. */
export async function createFile(path: string): Promise<PendingFile> {
  const existing = await stat(path).catch(() => undefined);
  if (existing !== undefined && !existing.isFile()) {
    const device = await open(path, "w");
    return { stream: device.createWriteStream(), commit: async () => undefined, discard: async () => device.close() };
  }
  const partPath = `${path}.${process.pid}.part`;
  const file = await open(partPath, "wx");
  const stream = file.createWriteStream();
  return {
    stream,
    commit: async () => rename(partPath, path),
    async discard() {
      stream.destroy();
      await rm(partPath, { force: true });
    },
  };
}

async function waitForSignal(): Promise<string> {
  const signals = ["SIGINT", "SIGTERM"] as const;
  let stop: (signal: string) => void = () => {};
  const signal = await new Promise<string>((resolve) => {
    stop = resolve;
    for (const each of signals) process.on(each, stop);
  });
  for (const each of signals) process.off(each, stop);
  return signal;
}

/** Writes a text and waits until there is room for more, so that a slow reader of a long output costs no memory. */
export async function write(stream: Writable, text: string): Promise<void> {
  if (text === "" || stream.destroyed || stream.writableEnded) return;
  if (stream.write(text)) return;
  await new Promise<void>((resolve) => {
    const settle = (): void => {
      stream.off("drain", settle);
      stream.off("close", settle);
      stream.off("error", settle);
      resolve();
    };
    stream.once("drain", settle);
    stream.once("close", settle);
    stream.once("error", settle);
  });
}
