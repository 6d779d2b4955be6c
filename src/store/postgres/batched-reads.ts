/** Combines concurrent reads into one statement, because each statement costs a round trip. */
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
