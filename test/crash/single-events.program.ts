/**
 * An engine that ingests single events, thousands at a time, until it is killed: `single-events.program.js DATABASE`. It
 * reads one line: the numbers to send again, and the first new number. It prints the range of its new numbers before it
 * sends them, and which were acknowledged.
 */
import { writeSync } from "node:fs";
import { createInterface } from "node:readline";

import { createEngine } from "../../src/engine/engine.ts";
import { hasCode } from "../../src/errors.ts";
import type { EventInput } from "../../src/metering/event-envelope.ts";
import { openDatabase } from "../../src/store/open-database.ts";
import { type Errand, singleEvent, IN_FLIGHT, NOW, PER_LIFE, SINGLES_BOOK } from "./single-events.ts";

function say(line: object): void {
  writeSync(1, `${JSON.stringify(line)}\n`);
}

const store = await openDatabase(process.argv[2] ?? "");
const engine = createEngine({ store, clock: () => NOW });
await engine.load(SINGLES_BOOK).catch((error: unknown) => {
  if (!hasCode(error, "ERR_TAKEN")) throw error;
});

/** Sends one event until it is acknowledged. */
async function sendSingle(number: number): Promise<void> {
  for (;;) {
    try {
      const [result] = await engine.ingest([singleEvent(number) as EventInput]);
      if (result?.status === "INGESTION_COMPLETED_EVENT_METERED") return;
      if (result?.status === "INGESTION_FAILED_DUPLICATE_EVENT") return;
      throw new Error(`an event was refused: ${JSON.stringify(result)}`);
    } catch (error) {
      // The database is unavailable, and it is unknown whether the event is stored.
      if (!hasCode(error, "ERR_STORE_UNAVAILABLE")) throw error;
      await new Promise((resolve) => void setTimeout(resolve, 20));
    }
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const { again, first, isLast } = JSON.parse(line) as Errand;
  const upTo = isLast ? first : first + PER_LIFE;
  const numbers = [...again, ...Array.from({ length: upTo - first }, (_, index) => first + index)];
  say({ upTo });
  let next = 0;
  let acknowledged: number[] = [];
  const sender = async (): Promise<void> => {
    for (let number = numbers[next++]; number !== undefined; number = numbers[next++]) {
      await sendSingle(number);
      acknowledged.push(number);
      // All events of a commit are printed together.
      if (acknowledged.length === 1) {
        setImmediate(() => {
          say({ acknowledged });
          acknowledged = [];
        });
      }
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, sender));
  await new Promise((resolve) => void setImmediate(resolve));
  say({ over: true });
}
await store.close();
