/** Previewing a Parquet file with prices, compared with handwritten SQL for the same sums, in doubles. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";

import { DuckDBInstance } from "@duckdb/node-api";

import type { Bench } from "../bench.ts";
import { bestRun, checkFigures, type Measurement, findRoot, runWatched } from "./measure-program.ts";
import { buildProgram, createLargeBook, WATCH, writeEvents } from "./scenario.ts";

const EVENTS = { smoke: 2_000, full: 5_000_000 } as const;

export const parquetBenches: readonly Bench[] = [
  {
    name: "preview of a Parquet file, target: 0.65 of the rate of handwritten SQL without ids and 0.9 with",
    run: async (size) => previewParquet(Number(process.env["EVENTS"] ?? EVENTS[size])),
  },
];

/** The storage of times: the column type, and the SQL for the day of a time. */
const TIMES = {
  "times of type TIMESTAMP": { column: "timestamp::TIMESTAMP", day: "timestamp::DATE" },
  "times as texts": { column: "timestamp", day: "left(timestamp, 10)" },
} as const;

const MAP = {
  schemaName: { column: "schemaName" },
  id: { column: "id" },
  accountId: { column: "accountId" },
  timestamp: { column: "timestamp", zone: "Z" },
  attributes: { context_tokens: { column: "context_tokens" }, generated_tokens: { column: "generated_tokens" } },
  dimensions: { service: { column: "service" } },
};

/** The files of a comparison with handwritten SQL. */
export interface SqlComparison {
  readonly at: (name: string) => string;
  /** Runs a preview of `book.json`. */
  readonly preview: (...options: readonly string[]) => readonly string[];
  /** Runs SQL on a table expression. @param day the SQL for the day of a time */
  readonly byHand: (from: string, day: string) => readonly string[];
  readonly runs: { readonly times: number; readonly folder: string; readonly count: number };
}

/** The files of a comparison with a statement, without events and book. */
interface StatementComparison extends Omit<SqlComparison, "byHand"> {
  /** Runs a statement. */
  readonly runStatement: (sql: string) => readonly string[];
}

/**
 * Creates events, a book and the program, and removes them at the end.
 * @param times runs of each side in the full benchmark
 */
export async function compareWithSql(
  count: number,
  times: number,
  work: (files: SqlComparison) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  return compareWithStatements(count, times, async ({ runStatement, ...files }) => {
    writeFileSync(files.at("book.json"), JSON.stringify(createLargeBook()));
    writeEvents(files.at("events.ndjson"), count);
    return work({ ...files, byHand: (from, day) => runStatement(writeCellQuery(from, day)) });
  });
}

/** Creates the program, and removes it and all files at the end. @param times runs of each side in the full benchmark */
export async function compareWithStatements(
  count: number,
  times: number,
  work: (files: StatementComparison) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), "ratebook-bench-"));
  const root = findRoot(import.meta.dirname);
  const { folder: buildFolder, bin } = buildProgram(root);
  const pathTo = (name: string): string => join(folder, name);
  try {
    writeFileSync(pathTo("watch.mjs"), WATCH);
    writeFileSync(pathTo("by-hand.mjs"), BY_HAND);
    const lines = await work({
      at: pathTo,
      preview: (...options) => [bin, "preview", pathTo("book.json"), "--format", "csv", ...options],
      runStatement: (sql) => [pathTo("by-hand.mjs"), join(root, "package.json"), sql],
      runs: { times: count > EVENTS.smoke ? times : 1, folder, count },
    });
    return [`${count.toLocaleString("en")} events, ${availableParallelism()} threads on both sides`, ...lines];
  } finally {
    rmSync(folder, { recursive: true, force: true });
    rmSync(buildFolder, { recursive: true, force: true });
  }
}

async function previewParquet(count: number): Promise<readonly string[]> {
  return compareWithSql(count, 3, async ({ at, preview, byHand, runs }) => {
    const [file, map] = [at("events.parquet"), at("map.json")];
    writeFileSync(map, JSON.stringify(MAP));
    const lines: string[] = [];
    for (const [name, { column, day }] of Object.entries(TIMES)) {
      await writeParquet(at("events.ndjson"), file, column);
      const eventOptions = ["--events", file, "--map", map];
      lines.push(
        compareRuns(`${name}, no ids  `, byHand(`'${file}'`, day), preview(...eventOptions, "--no-dedupe"), runs),
        compareRuns(`${name}, with ids`, byHand(selectFirstOfIds(`'${file}'`), day), preview(...eventOptions), runs),
      );
    }
    return lines;
  });
}

async function writeParquet(events: string, file: string, time: string): Promise<void> {
  const instance = await DuckDBInstance.create(":memory:");
  const connection = await instance.connect();
  const types =
    "{schemaName: 'VARCHAR', id: 'VARCHAR', timestamp: 'VARCHAR', accountId: 'VARCHAR', " +
    "attributes: 'STRUCT(name VARCHAR, value BIGINT)[]', dimensions: 'STRUCT(service VARCHAR)'}";
  await connection.run(
    `copy (select schemaName, id, accountId, ${time} as timestamp, attributes[1].value as context_tokens, ` +
      `attributes[2].value as generated_tokens, dimensions.service as service ` +
      `from read_json('${events}', format = 'newline_delimited', columns = ${types})) to '${file}' (format parquet)`,
  );
  connection.closeSync();
  instance.closeSync();
}

/** The obvious query for the cells. */
function writeCellQuery(from: string, day: string): string {
  const tokens = "sum(context_tokens::DOUBLE + generated_tokens::DOUBLE)";
  return (
    `select accountId, ${day} as day, ${tokens} filter (where service = 'code') as code, ` +
    `${tokens} filter (where service = 'chat') as chat, count(*) as requests from ${from} group by all`
  );
}

export function selectFirstOfIds(from: string): string {
  const columns = ["accountId", "timestamp", "context_tokens", "generated_tokens", "service"];
  return `(select id, ${columns.map((name) => `first(${name}) as ${name}`).join(", ")} from ${from} group by id)`;
}

export function compareRuns(
  name: string,
  byHand: readonly string[],
  preview: readonly string[],
  { count, times, folder }: { readonly count: number; readonly times: number; readonly folder: string },
): string {
  const sql = bestRun(times, () => runWatched(folder, byHand));
  const ours = bestRun(times, () => runWatched(folder, preview));
  checkFigures(sql.output, ours.output);
  const formatMeasurement = ({ seconds, peak }: Measurement): string =>
    `${seconds.toFixed(2)} s, peak ${Math.round(peak / 1e6)} MB`;
  const rate = Math.round(count / ours.seconds / 1000).toLocaleString("en");
  return `${name}  by hand ${formatMeasurement(sql)}; preview ${formatMeasurement(ours)}, ${rate} thousand a second, ratio ${(sql.seconds / ours.seconds).toFixed(2)}`;
}

/** Runs a statement and prints the sums of its cells. */
export const BY_HAND = `
import { createRequire } from "node:module";
const [, , root, sql] = process.argv;
const { DuckDBInstance } = createRequire(root)("@duckdb/node-api");
const connection = await (await DuckDBInstance.create(":memory:")).connect();
await connection.run("set preserve_insertion_order = false");
const rows = (await connection.runAndReadAll(sql)).getRows();
const events = rows.reduce((sum, row) => sum + Number(row[4]), 0);
const tokens = rows.reduce((sum, row) => sum + (row[2] ?? 0) + (row[3] ?? 0), 0);
console.log(JSON.stringify({ events, tokens }));
`;
