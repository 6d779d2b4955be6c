/**
 * The program of a thread, which answers requests in order.
 *
 * @module
 */
import { parentPort } from "node:worker_threads";

import { createScanner } from "./scanner.ts";
import { listTransfers } from "./start-thread.ts";

const scanner = createScanner();
parentPort?.on("message", (request: Parameters<typeof scanner.respond>[0]) => {
  void scanner.respond(request).then((response) => parentPort?.postMessage(response, listTransfers(response)));
});
