/**
 * Statements of a commit, one under way while the values of the next are made ready.
 *
 * @module
 */
import type { Run } from "./client.ts";

/** How a commit runs its statements. */
export interface Sending {
  /** Starts a statement when the one before has ended, and goes on; what it fails with comes with the next one. */
  readonly send: (text: string, values: readonly unknown[]) => Promise<void>;
  /** Runs a statement when the one before has ended, for what it gives. */
  readonly run: Run;
  /** Waits for the last one. */
  readonly settled: () => Promise<unknown>;
}

/** Sends over a connection that does one thing at a time. */
export function sendingOver(run: Run): Sending {
  let last: Promise<unknown> = Promise.resolve();
  return {
    async send(text, values) {
      await last;
      last = run(text, values);
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
