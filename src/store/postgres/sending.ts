/**
 * Statements of a commit: while the database works on one, the next is on its way and the values of the one after are made
 * ready.
 *
 * @module
 */
import type { Run } from "./client.ts";

/** How a commit runs its statements. */
export interface Sending {
  /** Starts a statement behind those that were sent, and goes on; what one fails with comes with a later one. */
  readonly send: (text: string, values: readonly unknown[]) => Promise<void>;
  /** Runs a statement when all that were sent have ended, for what it gives. */
  readonly run: Run;
  /** Waits for all that were sent. */
  readonly settled: () => Promise<unknown>;
}

/** Sends over a connection that does one thing at a time, and queues what else it is asked. */
export function sendingOver(run: Run): Sending {
  let last: Promise<unknown> = Promise.resolve();
  let before = last;
  return {
    async send(text, values) {
      // One is under way and one waits: more would only take room.
      await before;
      const [previous, sent] = [last, run(text, values)];
      before = previous;
      last = bothOf(previous, sent);
      // Whoever waits for it next gets to know.
      last.catch(() => {});
    },
    async run(text, values) {
      await last;
      return run(text, values);
    },
    settled: () => last,
  };
}

/** Ends when both have ended, with the first failure. */
async function bothOf(first: Promise<unknown>, second: Promise<unknown>): Promise<void> {
  const ends = await Promise.allSettled([first, second]);
  for (const end of ends) if (end.status === "rejected") throw end.reason;
}
