/**
 * Sends the statements of a commit. Those of a large commit are pipelined: while the database runs one, the next is
 * sent and the values of the one after are prepared. Those of a small one are combined into one statement, because a
 * round trip takes longer than their work.
 */
import type { Run } from "./client.ts";
import { shiftParameters } from "./query.ts";

/** How a commit sends its statements. */
export interface Sending {
  /**
   * Queues a statement that changes rows, without waiting for its end; a later call throws its error. It may see the
   * tables as they were before earlier statements, so no two statements may change the same row.
   */
  readonly send: (text: string, values: readonly unknown[]) => Promise<void>;
  /** Whether statements are combined into one; `merge` cannot be part of it. */
  readonly isCombined: boolean;
  /** Runs a statement after all sent ones have ended, and returns its rows. */
  readonly run: Run;
  /** Waits for all sent statements. */
  readonly waitForAll: () => Promise<unknown>;
}

/** Sends statements over a connection that runs one at a time and queues others. */
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
    isCombined: false,
    waitForAll: () => last,
  };
}

/** Combines all statements into one, sent when their end is awaited. */
export function createCombinedSending(run: Run): Sending {
  let texts: string[] = [];
  let values: unknown[] = [];
  const flush = async (): Promise<void> => {
    const [[only], all] = [texts, values];
    if (only === undefined) return;
    const parts = texts.map((text, index) => `change_${index} as (${text})`);
    const combined = texts.length === 1 ? only : `with ${parts.join(", ")} select`;
    [texts, values] = [[], []];
    await run(combined, all);
  };
  return {
    async send(text, statementValues) {
      texts.push(shiftParameters(text, values.length));
      values.push(...statementValues);
    },
    async run(text, statementValues) {
      await flush();
      return run(text, statementValues);
    },
    isCombined: true,
    waitForAll: flush,
  };
}

/** Ends when both have ended, with the first failure. */
async function awaitBoth(first: Promise<unknown>, second: Promise<unknown>): Promise<void> {
  const ends = await Promise.allSettled([first, second]);
  for (const end of ends) if (end.status === "rejected") throw end.reason;
}
