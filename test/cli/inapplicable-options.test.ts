/** An option that has no effect on what a command was given is an error that says so, in one sentence. */
import { expect, test } from "vitest";

import { examplePath } from "../support/examples.ts";
import { eventLine, failure, SMALL_BOOK, testFolder } from "./fake-io.ts";

const files = testFolder();
files.file("book.json", SMALL_BOOK);
files.file("events.ndjson", eventLine("e-1", "2024-01-05T00:00:00Z", 3));
files.file("events.csv", "id\n");
files.file("events.parquet", "");
files.file("map.json", "{}");
files.file("plan.json", SMALL_BOOK.pricePlans[0]);
const table = "clickhouse://localhost/db?table=events";
const otherTable = "clickhouse://elsewhere.example/db?table=events";
const EVENTS = "book.json --events events.ndjson";
const PARQUET = "book.json --events events.parquet --map map.json";

const NO_SQL = "--engine database only sums Parquet files and ClickHouse tables, got";
const TWO_SOURCES =
  "--engine database sums Parquet files, or tables of one ClickHouse server, but not both; use --engine core";

test.each<readonly [string, string]>([
  ...["engine core", "memory 1GB", "event-format csv", "strict", "no-dedupe", "allow-unmetered"].map(
    (option) => [`preview book.json --at 2024-01-05 --${option}`, `--${option.split(" ")[0]} needs --events`] as const,
  ),
  ["backtest book.json --plan plan.json --usage events.csv --engine database", "--engine needs --events"],
  ["verify book.json --memory 1GB", "--memory needs --events"],
  [`meter ${EVENTS} --memory 1GB`, "--memory only applies to Parquet files, and --events has none; remove it"],
  [
    `meter book.json --events ${table} --event-format csv`,
    "--event-format only applies to files, and --events has only tables; remove it",
  ],
  ["init --from events.csv --decimal ;", '--decimal must be one of ",", ".", got ";"'],
  [`meter ${EVENTS} --engine threads`, '--engine must be one of core, database, got "threads"'],
  [
    `meter ${PARQUET} --events events.ndjson --engine database`,
    `${NO_SQL} events.ndjson; use --engine core, or leave it out`,
  ],
  ["meter book.json --events - --engine database", `${NO_SQL} standard input; use --engine core, or leave it out`],
  [`meter ${PARQUET} --events ${table} --engine database`, TWO_SOURCES],
  [`meter book.json --events ${table} ${otherTable} --map map.json --engine database`, TWO_SOURCES],
  [
    `preview ${EVENTS} --strict --engine database`,
    "--strict stops at the first invalid event, so it does not support --engine database; use --engine core",
  ],
  [
    `preview ${PARQUET} --trace um.units --engine database`,
    "--trace lists single events, so it does not support --engine database; use --engine core",
  ],
  [
    `preview ${PARQUET} --format html --engine database`,
    "an HTML page lists single events, so it does not support --engine database; use --engine core",
  ],
  [`preview ${EVENTS} --explain --summary`, "use either --explain or --summary"],
  [`preview ${EVENTS} --explain --trace um.units`, "use either --explain or --trace"],
  [`preview ${EVENTS} --explain --format csv`, "--explain does not support --format csv; use table, json or html"],
  [`report ${EVENTS} --engine core`, "unknown option --engine: see --help"],
  [`report ${EVENTS} --summary`, "unknown option --summary: see --help"],
  ["verify book.json --engine core", "unknown option --engine: see --help"],
  ...["table", "csv"].map(
    (format) =>
      [
        `backtest ${EVENTS} --plan plan.json --causes --format ${format}`,
        `--causes does not support --format ${format}; use json or html`,
      ] as const,
  ),
  ["chart book.json --at um.none=3", '--at: the plan has no card "um.none" with a quantity; its cards: "um.units"'],
  ["chart book.json --at um.units=3 --at um.units=4", '--at: "um.units" has several quantities; give one'],
  ["chart plan.json --plan pp.other", 'no plan "pp.other" in plan.json; its plans: pp.small'],
  ["serve --map map.json", "--map needs a table in --usage"],
  ["play --events events.ndjson", "--events needs BOOK: give the path of the book that prices them"],
  ["play book.json --port 0 -o page.html", "use either --port to serve the page or -o to write it"],
  ...["--ddl", "--decimals=text", "--table=calls"].map(
    (option) =>
      [
        `sql book.json --dialect clickhouse --explain-sql ${option}`,
        `use either --explain-sql or ${option.split("=")[0]}`,
      ] as const,
  ),
])("%s", async (command, sentence) => {
  expect(await files.run(command)).toEqual(failure(sentence, 2));
});

test.each([
  `preview ${EVENTS} --engine core --no-dedupe --event-format ndjson`,
  `preview ${EVENTS} --engine core --strict`,
  `preview ${EVENTS} --explain --format html -o preview.html`,
  `preview ${examplePath("cloud-storage", "book.json")} --events ${examplePath("cloud-storage", "events.ndjson")} --trace um.reads --engine core`,
  "chart plan.json --plan pp.small --at um.units=3",
  "sql book.json --explain-sql --schema call",
])("%s has options that have an effect", async (command) => {
  expect(await files.run(command)).toMatchObject({ code: 0 });
});
