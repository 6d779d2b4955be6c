/**
 * Statements of a commit. Those of a large one follow each other: while the database works on one, the next is on its way and
 * the values of the one after are made ready. Those of a small one go as one statement, since a round trip takes longer than
 * what they do.
 *
 * @module
 */
import type { Run } from "./client.ts";
import { shiftParameters } from "./query.ts";

/** How a commit runs its statements. */
export interface Sending {
  /**
   * Queues a statement that changes rows, without waiting for its end; its error is thrown by a later call.
   * It may see the tables as they were before those that were sent, so no row is changed by two of them.
   */
  readonly send: (text: string, values: readonly unknown[]) => Promise<void>;
  /** Whether what is sent goes together, as parts of one statement: `merge` cannot be such a part. */
  readonly isTogether: boolean;
  /** Runs a statement when all that were sent have ended, for what it gives. */
  readonly run: Run;
  /** Waits for all that were sent. */
  readonly settled: () => Promise<unknown>;
}

/** Sends over a connection that does one thing at a time, and queues what else it is asked. */
export function sendOneByOne(run: Run): Sending {
  let last: Promise<unknown> = Promise.resolve();
  let before = last;
  return {
    async send(text, values) {
      // One statement runs and one waits: more would only take memory.
      await before;
      const [previous, sent] = [last, run(text, values)];
      before = previous;
      last = awaitBoth(previous, sent);
      // The next caller that waits for it gets the error.
      last.catch(() => {});
    },
    async run(text, values) {
      await last;
      return run(text, values);
    },
    isTogether: false,
    settled: () => last,
  };
}

/** Sends all statements as one, when their end is waited for. */
export function sendTogether(run: Run): Sending {
  let texts: string[] = [];
  let values: unknown[] = [];
  const flush = async (): Promise<void> => {
    const [[only], all] = [texts, values];
    if (only === undefined) return;
    const parts = texts.map((text, index) => `change_${index} as (${text})`);
    const together = texts.length === 1 ? only : `with ${parts.join(", ")} select`;
    [texts, values] = [[], []];
    await run(together, all);
  };
  return {
    async send(text, own) {
      texts.push(shiftParameters(text, values.length));
      values.push(...own);
    },
    async run(text, own) {
      await flush();
      return run(text, own);
    },
    isTogether: true,
    settled: flush,
  };
}

/** Ends when both have ended, with the first failure. */
async function awaitBoth(first: Promise<unknown>, second: Promise<unknown>): Promise<void> {
  const ends = await Promise.allSettled([first, second]);
  for (const end of ends) if (end.status === "rejected") throw end.reason;
}
