/**
 * The program of a thread: answers questions in their order.
 *
 * @module
 */
import { parentPort } from "node:worker_threads";

import { listTransfers } from "./pool.ts";
import { createScanner } from "./scanner.ts";

const scanner = createScanner();
parentPort?.on("message", (request: Parameters<typeof scanner.respond>[0]) => {
  void scanner.respond(request).then((response) => parentPort?.postMessage(response, listTransfers(response)));
});
