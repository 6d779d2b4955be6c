/** The environment of a command, which tests can replace. */
import { randomBytes } from "node:crypto";
import { open, readFile, rename, rm, stat } from "node:fs/promises";
import type { Readable, Writable } from "node:stream";

import type { FingerprintKey } from "./event-inputs/compact-ids.ts";

/** The environment of a command. */
export interface Io {
  /** Opens standard input, at most once per run. */
  readonly stdin: () => Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
  /** Whether standard error is a terminal, so that a progress bar is drawn. */
  readonly isStderrTerminal: boolean;
  /** The terminal of standard output, if it is one. */
  readonly terminal: Terminal | undefined;
  /** Creates a file that gets its name, replacing an existing file, when it is committed. @throws as node:fs does */
  readonly createFile: (path: string) => Promise<PendingFile>;
  /** Reads a small file: a book, a plan, a map. @throws as node:fs does */
  readonly readFile: (path: string) => Promise<Uint8Array>;
  /** 128 random bits. */
  readonly fingerprintKey: () => FingerprintKey;
  /** The environment variables. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Resolves with the first signal to stop; a second one exits immediately. */
  readonly waitForStop: () => Promise<string>;
}

export interface Terminal {
  /** Characters per line. */
  readonly columns: number;
  /** Whether it supports colors and NO_COLOR is not set. */
  readonly hasColors: boolean;
}

/** A file that is being written. */
export interface PendingFile {
  readonly stream: Writable;
  /** Gives the complete file its name. */
  commit(): Promise<void>;
  /** Removes the file. */
  discard(): Promise<void>;
}

/** The environment of the process. */
export function createProcessIo(): Io {
  return {
    stdin: () => process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    isStderrTerminal: process.stderr.isTTY,
    terminal: process.stdout.isTTY
      ? { columns: process.stdout.columns, hasColors: process.stdout.hasColors() }
      : undefined,
    readFile: async (path) => readFile(path),
    createFile,
    fingerprintKey: () => {
      const bytes = randomBytes(16);
      return [bytes.readUInt32LE(0), bytes.readUInt32LE(4), bytes.readUInt32LE(8), bytes.readUInt32LE(12)];
    },
    env: process.env,
    waitForStop: waitForSignal,
  };
}

/**
 * Creates a temporary file next to the target. If the target exists and isn't a regular file (a device, a pipe), it is
 * written directly.
 */
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

/** Writes text and waits for backpressure, so that a slow reader doesn't increase memory. */
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
