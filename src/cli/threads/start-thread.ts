/**
 * Threads that answer questions, each one question at a time.
 *
 * @module
 */
import { Worker } from "node:worker_threads";

import type { ScanResponse, ScanRequest } from "./scanner.ts";

/** A thread that is running. */
export interface Thread {
  /** @throws what the thread threw */
  readonly request: (request: ScanRequest) => Promise<ScanResponse>;
  readonly stop: () => Promise<void>;
}

/** Starts a thread of this process. */
export function startThread(): Thread {
  const worker = new Worker(new URL("./thread.js", import.meta.url));
  return {
    request: async (request) =>
      new Promise((resolve, reject) => {
        const removeListeners = (): void => {
          worker.off("message", onAnswer).off("error", onError).off("exit", onExit);
        };
        const onAnswer = (response: ScanResponse): void => {
          removeListeners();
          resolve(response);
        };
        const onError = (error: unknown): void => {
          removeListeners();
          reject(error instanceof Error ? error : new Error(String(error)));
        };
        const onExit = (): void => onError(new Error("a thread that reads events ended"));
        worker.on("message", onAnswer).on("error", onError).on("exit", onExit);
        worker.postMessage(request, []);
      }),
    stop: async () => void (await worker.terminate()),
  };
}

/** What of an answer goes to the other thread without being copied. */
export function listTransfers(response: ScanResponse): readonly ArrayBuffer[] {
  if (response.kind !== "found") return [];
  const { offsets, lines, latestTimes, flags, hashes } = response.result.rows;
  return [offsets, lines, latestTimes, flags, hashes].map(({ buffer }) => buffer as ArrayBuffer);
}
