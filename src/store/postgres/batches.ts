/**
 * Sends several statements as one, because each costs a round trip: concurrent reads, and the statements of a small
 * commit. Those of a large commit are pipelined: while the database runs one, the next is sent and the values of the one
 * after are prepared.
 */
import { createYielder } from "../yielder.ts";
import type { Row, Run } from "./client.ts";
import { shiftParameters } from "./query.ts";

/** A read waiting to be sent with others. */
interface PendingRead {
  readonly text: string;
  readonly values: readonly unknown[];
  readonly resolve: (rows: readonly Row[]) => void;
  readonly reject: (error: unknown) => void;
}

/** Runs queries that return all columns as text. Queries issued in the same tick are sent as one statement. */
export function batchReads(run: Run): Run {
  let pendingReads: PendingRead[] = [];
  const sendPending = async (): Promise<void> => {
    const batch = pendingReads;
    pendingReads = [];
    try {
      const results = await readTogether(run, batch);
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] ?? []);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  };
  return (text, values = []) =>
    new Promise((resolve, reject) => {
      pendingReads.push({ text, values, resolve, reject });
      if (pendingReads.length === 1) queueMicrotask(() => void sendPending());
    });
}

/** Rows parsed between two checks of the clock. */
const ROWS_PER_CLOCK_CHECK = 64;

/** The rows of each query, in their order. */
async function readTogether(run: Run, queries: readonly PendingRead[]): Promise<readonly (readonly Row[])[]> {
  const [only] = queries;
  if (queries.length === 1 && only !== undefined) return [await run(only.text, only.values)];
  const values: unknown[] = [];
  const texts = queries.map((query, index) => {
    const text = shiftParameters(query.text, values.length);
    values.push(...query.values);
    return `select ${index} as query, row_number() over () as place, to_json(source_row)::text as row_text
      from (${text}) as source_row`;
  });
  const rows = await run(
    `select query::text, row_text from (${texts.join(" union all ")}) as results order by results.query, results.place`,
    values,
  );
  const results = queries.map((): Row[] => []);
  const yieldToOthers = createYielder();
  for (const [place, { query, row_text: text }] of rows.entries()) {
    results[Number(query)]?.push(JSON.parse(text ?? "{}") as Row);
    if (place % ROWS_PER_CLOCK_CHECK === ROWS_PER_CLOCK_CHECK - 1) await yieldToOthers();
  }
  return results;
}

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
