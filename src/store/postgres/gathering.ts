/**
 * Sends reads that are asked for at the same time as one statement, since each statement costs a round trip.
 *
 * @module
 */
import { takingTurns } from "../turns.ts";
import type { Row, Run } from "./client.ts";
import { shifted } from "./query.ts";

/** A read that waits to be sent together with others. */
interface Asked {
  readonly text: string;
  readonly values: readonly unknown[];
  readonly answer: (rows: readonly Row[]) => void;
  readonly fail: (error: unknown) => void;
}

/** Runs queries, whose columns are all asked for as text: those that are asked for before anybody waits go together. */
export function gathering(run: Run): Run {
  let asked: Asked[] = [];
  const ask = async (): Promise<void> => {
    const together = asked;
    asked = [];
    try {
      const answers = await answersOf(run, together);
      for (const [index, { answer }] of together.entries()) answer(answers[index] ?? []);
    } catch (error) {
      for (const { fail } of together) fail(error);
    }
  };
  return (text, values = []) =>
    new Promise((answer, fail) => {
      asked.push({ text, values, answer, fail });
      if (asked.length === 1) queueMicrotask(() => void ask());
    });
}

/** Rows that are read between two looks at the clock. */
const ROWS_AT_ONCE = 64;

/** The rows of each query, in their order. */
async function answersOf(run: Run, queries: readonly Asked[]): Promise<readonly (readonly Row[])[]> {
  const [only] = queries;
  if (queries.length === 1 && only !== undefined) return [await run(only.text, only.values)];
  const values: unknown[] = [];
  const texts = queries.map((query, index) => {
    const text = shifted(query.text, values.length);
    values.push(...query.values);
    return `select ${index} as query, row_number() over () as place, to_json(answer)::text as answer
      from (${text}) as answer`;
  });
  const rows = await run(
    `select query::text, answer from (${texts.join(" union all ")}) as answers order by answers.query, answers.place`,
    values,
  );
  const answers = queries.map((): Row[] => []);
  const giveWay = takingTurns();
  for (const [place, { query, answer }] of rows.entries()) {
    answers[Number(query)]?.push(JSON.parse(answer ?? "{}") as Row);
    if (place % ROWS_AT_ONCE === ROWS_AT_ONCE - 1) await giveWay();
  }
  return answers;
}
