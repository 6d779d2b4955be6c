/** An option that has no effect on what a command was given is an error that says so, in one sentence. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { examplePath } from "../support/examples.ts";
import { eventLine, folder, ratebook, SMALL_BOOK } from "./fake-io.ts";

const place = folder();
afterAll(() => place.remove());
const book = place.file("book.json", JSON.stringify(SMALL_BOOK));
const events = place.file("events.ndjson", eventLine("e-1", "2024-01-05T00:00:00Z", 3));
const csv = place.file("events.csv", "id\n");
const parquet = place.file("events.parquet", "");
const map = place.file("map.json", "{}");
const plan = place.file("plan.json", JSON.stringify(SMALL_BOOK.pricePlans[0]));
const table = "clickhouse://localhost/db?table=events";
const otherTable = "clickhouse://elsewhere.example/db?table=events";

const CASES: readonly (readonly [argv: readonly string[], sentence: string])[] = [
  ...["engine core", "memory 1GB", "event-format csv", "strict", "no-dedupe"].map((option) => {
    const [name = "", ...value] = option.split(" ");
    return [["preview", book, "--at", "2024-01-05", `--${name}`, ...value], `--${name} needs --events`] as const;
  }),
  [["backtest", book, "--plan", plan, "--usage", csv, "--engine", "database"], "--engine needs --events"],
  [["verify", book, "--memory", "1GB"], "--memory needs --events"],
  [
    ["meter", book, "--events", events, "--memory", "1GB"],
    "--memory only applies to Parquet files, and --events has none; remove it",
  ],
  [
    ["meter", book, "--events", table, "--event-format", "csv"],
    "--event-format only applies to files, and --events has only tables; remove it",
  ],
  [["meter", book, "--events", events, "--engine", "threads"], '--engine must be one of core, database, got "threads"'],
  [
    ["meter", book, "--events", parquet, events, "--map", map, "--engine", "database"],
    "--engine database only sums Parquet files and ClickHouse tables, got events.ndjson; use --engine core, or leave it out",
  ],
  [
    ["meter", book, "--events", "-", "--engine", "database"],
    "--engine database only sums Parquet files and ClickHouse tables, got standard input; use --engine core, or leave it out",
  ],
  ...[parquet, otherTable].map(
    (other) =>
      [
        ["meter", book, "--events", table, other, "--map", map, "--engine", "database"],
        "--engine database sums Parquet files, or tables of one ClickHouse server, but not both; use --engine core",
      ] as const,
  ),
  [
    ["preview", book, "--events", events, "--strict", "--engine", "database"],
    "--strict stops at the first invalid event, so it does not support --engine database; use --engine core",
  ],
  [
    ["preview", book, "--events", parquet, "--map", map, "--trace", "um.units", "--engine", "database"],
    "--trace lists single events, so it does not support --engine database; use --engine core",
  ],
  [
    ["preview", book, "--events", parquet, "--map", map, "--format", "html", "--engine", "database"],
    "an HTML page lists single events, so it does not support --engine database; use --engine core",
  ],
  [["preview", book, "--events", events, "--explain", "--summary"], "use either --explain or --summary"],
  [["preview", book, "--events", events, "--explain", "--trace", "um.units"], "use either --explain or --trace"],
  [
    ["preview", book, "--events", events, "--explain", "--format", "csv"],
    "--explain does not support --format csv; use table, json or html",
  ],
  [["report", book, "--events", events, "--engine", "core"], "unknown option --engine: see --help"],
  [["report", book, "--events", events, "--summary"], "unknown option --summary: see --help"],
  [["verify", book, "--engine", "core"], "unknown option --engine: see --help"],
  ...["table", "csv"].map(
    (format) =>
      [
        ["backtest", book, "--plan", plan, "--events", events, "--causes", "--format", format],
        `--causes does not support --format ${format}; use json or html`,
      ] as const,
  ),
  [["chart", book, "--at", "um.none=3"], '--at: the plan has no card "um.none" with a quantity; its cards: "um.units"'],
  [["chart", book, "--at", "um.units=3", "--at", "um.units=4"], '--at: "um.units" has several quantities; give one'],
  [["chart", plan, "--plan", "pp.other"], 'no plan "pp.other" in plan.json; its plans: pp.small'],
  [["serve", "--map", map], "--map needs a table in --usage"],
  [["play", "--events", events], "--events needs BOOK: give the path of the book that prices them"],
  [
    ["play", book, "--port", "0", "-o", join(place.path, "page.html")],
    "use either --port to serve the page or -o to write it",
  ],
  ...["--ddl", "--decimals=text", "--table=calls"].map(
    (option) =>
      [
        ["sql", book, "--dialect", "clickhouse", "--explain-sql", option],
        `use either --explain-sql or ${option.split("=")[0]}`,
      ] as const,
  ),
];

test.each(CASES)("%j", async (argv, sentence) => {
  expect(await ratebook(argv, { folderPath: place.path })).toEqual({
    code: 2,
    out: "",
    err: `ratebook: ${sentence}\n`,
  });
});

test("options that have an effect are accepted", async () => {
  const to = mkdtempSync(join(tmpdir(), "ratebook-options-"));
  const example = examplePath("cloud-storage", "book.json");
  const exampleEvents = examplePath("cloud-storage", "events.ndjson");
  for (const argv of [
    ["preview", book, "--events", events, "--engine", "core", "--no-dedupe", "--event-format", "ndjson"],
    ["preview", book, "--events", events, "--engine", "core", "--strict"],
    ["preview", book, "--events", events, "--explain", "--format", "html", "-o", join(to, "preview.html")],
    ["preview", example, "--events", exampleEvents, "--trace", "um.reads", "--engine", "core"],
    ["chart", plan, "--plan", "pp.small", "--at", "um.units=3"],
    ["sql", book, "--explain-sql", "--schema", "call"],
  ])
    expect([argv, (await ratebook(argv)).code]).toEqual([argv, 0]);
  rmSync(to, { recursive: true, force: true });
});
