/** What the core makes of rows, and what DuckDB and the core together make of them: to be compared. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { DuckDBInstance } from "@duckdb/node-api";
import fc from "fast-check";
import { expect } from "vitest";

import { readBook } from "../../src/book/book.ts";
import type { Book } from "../../src/book/model/book.ts";
import { instantOrUndefined } from "../../src/calendar/instant.ts";
import { takeAll } from "../../src/cli/events/cursor.ts";
import type { EventSink } from "../../src/cli/events/event-sink.ts";
import { openParquet } from "../../src/cli/events/parquet-cursors.ts";
import { startEventRun } from "../../src/ledger/preview/preview-run.ts";
import { rememberIds } from "../../src/ledger/preview/seen-ids.ts";
import { textOf } from "../../src/numbers/decimal.ts";
import { readCsvMap } from "../../src/records/csv-map.ts";
import { eventMaker } from "../../src/records/mapped-event.ts";
import type { openDuckDb } from "../../src/warehouse/duckdb/connect.ts";
import { books, type Row, rows, types } from "./rows.ts";

/** The columns of a file. */
const COLUMNS = ["schema", "id", "account", "time", "x", "y", "d"] as const;

/** The map of the files; times without a zone are an hour and a half east of UTC where the column has no zone itself. */
export const MAP = JSON.stringify({
  schemaName: { column: "schema" },
  id: { column: "id" },
  accountId: { column: "account" },
  timestamp: { column: "time", zone: "+01:30" },
  attributes: { x: { column: "x" }, y: { column: "y" } },
  dimensions: { d: { column: "d" } },
});

/** A row of a file: its texts as an event has them, and as the database orders them. */
export interface ReadRow {
  readonly record: readonly string[];
  readonly order: readonly string[];
}

/** How the columns are typed that need not be texts. */
export interface Types {
  readonly x: string;
  readonly y: string;
  readonly time: string;
}

/** What came of the rows. */
export interface Outcome {
  readonly cells: readonly string[];
  readonly counts: Readonly<Record<string, number>>;
  readonly problems: readonly string[];
  readonly span: unknown;
}

/** Writes rows to Parquet files and runs some work on them; `read` are the rows as the files have them. */
export async function withFiles<Result>(
  files: readonly (readonly Row[])[],
  types: Types,
  work: (paths: readonly string[], read: readonly (readonly ReadRow[])[]) => Promise<Result>,
): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), "ratebook-test-"));
  const instance = await DuckDBInstance.create(":memory:");
  try {
    const connection = await instance.connect();
    await connection.run("set TimeZone = 'UTC'");
    const paths: string[] = [];
    const read: (readonly ReadRow[])[] = [];
    for (const [index, rows] of files.entries()) {
      const path = join(folder, `${index}.parquet`);
      await connection.run(
        `create or replace table given (n INTEGER, ${COLUMNS.map((name) => `"${name}" VARCHAR`).join(", ")})`,
      );
      const appender = await connection.createAppender("given");
      const append = (text: string | null): void =>
        text === null ? appender.appendNull() : appender.appendVarchar(text);
      for (const [n, row] of rows.entries()) {
        appender.appendInteger(n);
        for (const name of COLUMNS) append(row[name]);
        appender.endRow();
      }
      appender.closeSync();
      const typed = COLUMNS.map(
        (name) => `try_cast("${name}" as ${name in types ? types[name as keyof Types] : "VARCHAR"}) as "${name}"`,
      );
      await connection.run(
        `copy (select ${typed.join(", ")} from given order by n) to '${path}' (format parquet, row_group_size 2048)`,
      );
      paths.push(path);
      const texts = async (of: (name: string) => string): Promise<readonly (readonly string[])[]> => {
        const back = await connection.runAndReadAll(`select ${COLUMNS.map(of).join(", ")} from '${path}'`);
        return back.getRows().map((values) => values.map(asText));
      };
      const orders = await texts((name) => textIn(name, { ...types, x: "", y: "" }));
      const records = await texts((name) => textIn(name, types));
      read.push(records.map((record, row) => ({ record, order: orders[row] ?? [] })));
    }
    connection.closeSync();
    return await work(paths, read);
  } finally {
    instance.closeSync();
    await rm(folder, { recursive: true, force: true });
  }
}

function textIn(name: string, types: Types): string {
  if (name === "time" && types.time === "TIMESTAMPTZ") return `("time" at time zone 'UTC')::VARCHAR || 'Z'`;
  return name in types && types[name as keyof Types] === "DOUBLE" ? `"${name}"` : `"${name}"::VARCHAR`;
}

/** What a cell of a file says, in an independent way: NULL is nothing, a double its shortest text. */
function asText(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

/** Every event decided by the core alone, in the order of S17.2. */
export function byCore(
  book: Book,
  paths: readonly string[],
  read: readonly (readonly ReadRow[])[],
  dedupes: boolean,
): Outcome {
  const make = eventMaker<readonly string[]>(readCsvMap("map", MAP), (name) => {
    const place = COLUMNS.findIndex((column) => column === name);
    return (record) => record[place] ?? "";
  });
  const events = read.flatMap((rows, file) =>
    rows.map(({ record, order }, row) => {
      const event = make(record, row + 1);
      const at = typeof event === "string" ? undefined : instantOrUndefined(event.timestamp);
      return { event, at: at ?? -Infinity, order: contentOf(order), place: `${paths[file]}:${row + 1}` };
    }),
  );
  events.sort((a, b) => (a.at === b.at ? byTexts(a.order, b.order) : a.at < b.at ? -1 : 1));
  const run = startEventRun(book, { ids: dedupes ? rememberIds() : undefined });
  const problems: string[] = [];
  for (const { event, place } of events) {
    const { status, description } = run.add(event);
    if (isFailure(status)) problems.push(`${place} ${status} ${description}`);
  }
  return outcomeOf(run, problems);
}

/** The id, then all parts in the order of the map. */
function contentOf([schema = "", id = "", account = "", ...others]: readonly string[]): readonly string[] {
  return [id, schema, account, id, ...others];
}

/** Texts by their code points, which is by their bytes, one after another. */
function byTexts(a: readonly string[], b: readonly string[]): number {
  for (const [place, text] of a.entries()) {
    const order = Buffer.compare(Buffer.from(text), Buffer.from(b[place] ?? ""));
    if (order !== 0) return order;
  }
  return 0;
}

/** Plain rows summed by DuckDB, all others decided by the core; or all by the core, from the same files. */
export async function byDuckDb(
  book: Book,
  paths: readonly string[],
  {
    dedupes,
    isPushing,
    open,
  }: { readonly dedupes: boolean; readonly isPushing: boolean; readonly open?: typeof openDuckDb },
): Promise<Outcome & { readonly summed: number }> {
  const run = startEventRun(book, { ids: dedupes ? rememberIds() : undefined });
  const problems: string[] = [];
  let summed = 0;
  const sink: EventSink = {
    event: (file, line, event) => {
      const { status, description } = run.add(event);
      if (isFailure(status)) problems.push(`${file}:${line} ${status} ${description}`);
      return true;
    },
    badLine: () => true,
    slotsOf: () => undefined,
    filled: () => true,
    counted: (events) => {
      const isTaken = run.addCounted(events);
      if (isTaken) summed += events.events;
      return isTaken;
    },
  };
  const map = readCsvMap("map", MAP);
  const reading = { book, isPushing, dedupes, memory: undefined };
  const cursors = await openParquet([{ paths, map, mapFile: "map" }], sink, reading, open);
  await takeAll(cursors, { onDisorder: ({ sentence }) => problems.push(sentence) });
  return { ...outcomeOf(run, problems), summed };
}

function isFailure(status: string): boolean {
  return !status.startsWith("INGESTION_COMPLETED") && status !== "INGESTION_FAILED_DUPLICATE_EVENT";
}

function outcomeOf(run: ReturnType<typeof startEventRun>, problems: readonly string[]): Outcome {
  const cells = [...run.usage.cells()].map(
    ({ accountId, meterId, day, quantity }) => `${accountId} ${meterId} ${day} ${textOf(quantity)}`,
  );
  const span = run.span();
  return {
    cells,
    counts: run.counts(),
    problems: problems.toSorted(),
    span: span && [span.first.timestamp, span.last.timestamp],
  };
}

/** What is compared. */
export function outcome({ cells, counts, problems, span }: Outcome): Outcome {
  return { cells, counts, problems, span };
}

const given = fc.record({
  json: books,
  files: fc.array(fc.array(rows, { maxLength: 25, size: "max" }), { minLength: 1, maxLength: 2 }),
  typed: types,
  dedupes: fc.boolean(),
});

/** Checks on random books and files that DuckDB and the core give the cells, outcomes and problems of the core alone. */
export async function checkLaw(numRuns: number): Promise<void> {
  let runsWithSums = 0;
  await fc.assert(
    fc.asyncProperty(given, async ({ json, files, typed, dedupes }) => {
      const book = readBook(JSON.stringify(json));
      await withFiles(files, typed, async (paths, read) => {
        const expected = byCore(book, paths, read, dedupes);
        const one = await byDuckDb(book, paths, { dedupes, isPushing: false });
        expect(outcome(one)).toEqual(expected);
        const both = await byDuckDb(book, paths, { dedupes, isPushing: true });
        expect(outcome(both)).toEqual(expected);
        if (both.summed > 0) runsWithSums += 1;
      });
    }),
    { numRuns },
  );
  // The law says nothing where nothing is pushed down: two runs in five are, of few runs by chance none.
  if (numRuns >= 100) expect(runsWithSums).toBeGreaterThan(numRuns / 5);
}
