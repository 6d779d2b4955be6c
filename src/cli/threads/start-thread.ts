/**
 * Threads that answer one request at a time.
 *
 * @module
 */
import { Worker } from "node:worker_threads";

import type { ScanResponse, ScanRequest } from "./scanner.ts";

export interface Thread {
  /** @throws what the thread threw */
  readonly request: (request: ScanRequest) => Promise<ScanResponse>;
  readonly stop: () => Promise<void>;
}

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

/** The buffers of a response that are transferred without copying. */
export function listTransfers(response: ScanResponse): readonly ArrayBuffer[] {
  if (response.kind !== "found") return [];
  const { offsets, lines, latestTimes, flags, hashes } = response.result.rows;
  return [offsets, lines, latestTimes, flags, hashes].map(({ buffer }) => buffer as ArrayBuffer);
}
