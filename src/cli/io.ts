/**
 * What a command sees of the world, so that tests can stand in for it.
 *
 * @module
 */
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Readable, Writable } from "node:stream";

import type { FingerprintKey } from "./events/fingerprint.ts";

/** The world outside a command. */
export interface Io {
  /** Opens standard input; at most once a run. */
  readonly stdin: () => Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
  /** Whether a person watches standard error: only then a bar is drawn. */
  readonly isTerminal: boolean;
  /** The bytes of a small file: a book, a plan, a map. @throws as node:fs does */
  readonly readFile: (path: string) => Promise<Uint8Array>;
  /** 128 random bits. */
  readonly fingerprintKey: () => FingerprintKey;
  /** The environment's variables. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Resolves when the process is told to stop, with the signal; told once more, it ends at once. */
  readonly stopped: () => Promise<string>;
}

/** The world of a process. */
export function processIo(): Io {
  return {
    stdin: () => process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    isTerminal: process.stderr.isTTY,
    readFile: async (path) => readFile(path),
    fingerprintKey: () => {
      const bytes = randomBytes(16);
      return [bytes.readUInt32LE(0), bytes.readUInt32LE(4), bytes.readUInt32LE(8), bytes.readUInt32LE(12)];
    },
    env: process.env,
    stopped: untilSignal,
  };
}

async function untilSignal(): Promise<string> {
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
    const done = (): void => {
      stream.off("drain", done);
      stream.off("close", done);
      stream.off("error", done);
      resolve();
    };
    stream.once("drain", done);
    stream.once("close", done);
    stream.once("error", done);
  });
}
