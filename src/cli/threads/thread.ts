/**
 * The program of a thread: answers questions in their order.
 *
 * @module
 */
import { parentPort } from "node:worker_threads";

import { transferred } from "./pool.ts";
import { createScanner } from "./scanner.ts";

const scanner = createScanner();
parentPort?.on("message", (question: Parameters<typeof scanner.answer>[0]) => {
  void scanner.answer(question).then((answer) => parentPort?.postMessage(answer, transferred(answer)));
});
