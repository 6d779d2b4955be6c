/**
 * Threads that answer questions, each one question at a time.
 *
 * @module
 */
import { Worker } from "node:worker_threads";

import type { Answer, Question } from "./scanner.ts";

/** A thread that is running. */
export interface Thread {
  /** @throws what the thread threw */
  readonly ask: (question: Question) => Promise<Answer>;
  readonly stop: () => Promise<void>;
}

/** Starts a thread of this process. */
export function startThread(): Thread {
  const worker = new Worker(new URL("./thread.js", import.meta.url));
  return {
    ask: async (question) =>
      new Promise((resolve, reject) => {
        const settle = (): void => {
          worker.off("message", answered).off("error", failed).off("exit", ended);
        };
        const answered = (answer: Answer): void => {
          settle();
          resolve(answer);
        };
        const failed = (error: unknown): void => {
          settle();
          reject(error instanceof Error ? error : new Error(String(error)));
        };
        const ended = (): void => failed(new Error("a thread that reads events ended"));
        worker.on("message", answered).on("error", failed).on("exit", ended);
        worker.postMessage(question, []);
      }),
    stop: async () => void (await worker.terminate()),
  };
}

/** What of an answer goes to the other thread without being copied. */
export function transferred(answer: Answer): readonly ArrayBuffer[] {
  if (answer.kind !== "found") return [];
  const { offsets, lines, reached, flags, hashes } = answer.found.rows;
  return [offsets, lines, reached, flags, hashes].map(({ buffer }) => buffer as ArrayBuffer);
}
