/**
 * An engine that is killed: opens a database, prints its state, then does one step after another and prints each.
 * `engine.program.js DATABASE FIRST_STEP LAST_STEP [finish]`
 */
import { writeSync } from "node:fs";

import { createEngine } from "../../src/engine/engine.ts";
import { RatebookError } from "../../src/errors.ts";
import type { EventInput } from "../../src/metering/event-envelope.ts";
import { openDatabase } from "../../src/store/open-database.ts";
import { BOOK, actionAt, endState, live, storedEvents, timeOf, usageByAccount } from "./story.ts";

const [database = "", first = "0", last = "0", mode = ""] = process.argv.slice(2);

/** Written synchronously, so that the line is complete even if the process is killed right after it. */
function say(line: object): void {
  writeSync(1, `${JSON.stringify(line)}\n`);
}

const store = await openDatabase(database);
let now = timeOf(-1);
const engine = createEngine({ store, clock: () => now, idMemoryMs: 10_000 * 86_400_000 });
await engine.load(BOOK).catch((error: unknown) => {
  if (!(error instanceof RatebookError && error.code === "ERR_TAKEN")) throw error;
});
say({ events: await storedEvents(engine), usage: await usageByAccount(engine) });
for (let number = Number(first); number <= Number(last); number++) {
  now = timeOf(number);
  await live(engine, actionAt(number));
  say({ done: number });
}
if (mode === "finish") {
  say({ end: await endState(engine) });
  const statuses: string[] = [];
  for (let number = 0; number <= Number(last); number++) {
    const action = actionAt(number);
    if (action.kind !== "ingest") continue;
    // The first event of an undone batch would be accepted again (S14.3).
    const undone = actionAt(number + 1).kind === "undo";
    const results = await engine.ingest(action.batch.slice(undone ? 1 : 0) as EventInput[]);
    statuses.push(...results.map(({ status }) => status));
  }
  await engine.finalize();
  say({ again: await endState(engine), statuses: [...new Set(statuses)] });
  await store.close();
  process.exit(0);
}
// Waits to be killed.
setInterval(() => {}, 1000);
