/**
 * Combines concurrent reads into one statement, because each statement costs a round trip.
 *
 * @module
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

/** Runs queries that return all columns as text; those made before any is awaited are sent together. */
export function batchReads(run: Run): Run {
  let pendingReads: PendingRead[] = [];
  const sendPending = async (): Promise<void> => {
    const batch = pendingReads;
    pendingReads = [];
    try {
      const answers = await readTogether(run, batch);
      for (const [index, { resolve }] of batch.entries()) resolve(answers[index] ?? []);
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

/** Rows read between two checks of the clock. */
const ROWS_AT_ONCE = 64;

/** The rows of each query, in their order. */
async function readTogether(run: Run, queries: readonly PendingRead[]): Promise<readonly (readonly Row[])[]> {
  const [only] = queries;
  if (queries.length === 1 && only !== undefined) return [await run(only.text, only.values)];
  const values: unknown[] = [];
  const texts = queries.map((query, index) => {
    const text = shiftParameters(query.text, values.length);
    values.push(...query.values);
    return `select ${index} as query, row_number() over () as place, to_json(answer)::text as answer
      from (${text}) as answer`;
  });
  const rows = await run(
    `select query::text, answer from (${texts.join(" union all ")}) as answers order by answers.query, answers.place`,
    values,
  );
  const answers = queries.map((): Row[] => []);
  const yieldToOthers = createYielder();
  for (const [place, { query, answer }] of rows.entries()) {
    answers[Number(query)]?.push(JSON.parse(answer ?? "{}") as Row);
    if (place % ROWS_AT_ONCE === ROWS_AT_ONCE - 1) await yieldToOthers();
  }
  return answers;
}
