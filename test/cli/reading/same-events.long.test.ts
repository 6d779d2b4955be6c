/** S17.3 The same rows print the same in every format and with every reader. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { type ChDbServer, startChDb } from "../../clickhouse/chdb-server.ts";
import { createZonedClient } from "../../warehouse/clickhouse-tables.ts";
import { testFolder } from "../fake-io.ts";
import {
  BOOK_WITHOUT_FEATURES,
  HOSTILE_BOOK,
  HOSTILE_MAP,
  type HostileFiles,
  writeHostileFiles,
} from "./odd-events.ts";

/** `EVENTS=5000000` uses more events and prints the time of each reader. */
const EVENTS = Number(process.env["EVENTS"] ?? 150_000);
const IS_TIMED = process.env["EVENTS"] !== undefined;
const TIMEOUT = IS_TIMED ? 1_200_000 : 300_000;

const place = testFolder();
place.file("book.json", HOSTILE_BOOK);
// Events that consume credits have no cells.
place.file("book-of-cells.json", BOOK_WITHOUT_FEATURES);
const BOOKS: Readonly<Record<string, string>> = { preview: "book.json", meter: "book-of-cells.json" };
const map = place.file("map.json", HOSTILE_MAP);
let files: HostileFiles;
let server: ChDbServer;
beforeAll(async () => {
  files = await writeHostileFiles(place.path, EVENTS);
  server = await startChDb();
  const client = createZonedClient(server.url);
  for (const [half, path] of files.parquet.entries()) {
    const parquetTable = `file('${path}', Parquet)`;
    await client.command({
      query: `create table events_${half} engine = MergeTree order by tuple() as select * from ${parquetTable}`,
    });
  }
  await client.close();
}, TIMEOUT);
afterAll(async () => {
  await server.close();
  place.remove();
});

interface CommandOutput {
  readonly code: number;
  readonly out: string;
  /** Standard error without the problems of rows, which are reported file by file. */
  readonly stderr: readonly string[];
}

async function runBoth(
  command: readonly string[],
  paths: readonly string[],
  more: readonly string[],
): Promise<CommandOutput> {
  const start = performance.now();
  const [name = "", ...options] = command;
  const events = paths.flatMap((path) => ["--events", path]);
  const argv = [name, place.path + "/" + BOOKS[name], ...events, "--map", map, ...options, ...more];
  const { code, out, err } = await place.run(argv);
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  if (IS_TIMED) console.log(`${name}, ${files.rows} rows, ${paths[0]} ${more.join(" ")}: ${seconds} s`);
  return {
    code,
    out: alike(out),
    stderr: err.split("\n").filter((line) => !/^(?!note: )\S+: (?!note: )|^… and/.test(line)),
  };
}

/**
 * Without the locations of problems; for more events also without the list of the first ones, which differs between a
 * file and a table.
 */
function alike(out: string): string {
  // Rows without a time are in file order in a file, and come first in a table (S17.2).
  if (IS_TIMED) return out.replace(/\n {2}"problems": \[\n.*?\n {2}\]/s, "");
  return out.replaceAll(/"file": "[^"]*",\n\s+"line": \d+/g, "place");
}

const READERS: readonly (readonly [name: string, paths: () => readonly string[], options: readonly string[]])[] = [
  ["CSV", () => files.csv, []],
  ["Parquet", () => files.parquet, []],
  ["Parquet, read by the core", () => files.parquet, ["--engine", "core"]],
  ["ClickHouse", () => tables(), []],
  ["ClickHouse, read by the core", () => tables(), ["--engine", "core"]],
];

function tables(): readonly string[] {
  return [0, 1].map((half) => `${server.url.replace("http", "clickhouse")}/default?table=events_${half}`);
}

describe("S17.3 prints, byte for byte, the same as NDJSON with the same rows", () => {
  const commands = [
    ["preview", "--format", "json", "--explain"],
    ["meter", "--format", "csv"],
  ];
  describe.each(commands)("%s", (...command) => {
    let expected: CommandOutput;
    beforeAll(async () => {
      expected = await runBoth(command, files.ndjson, ["--event-format", "ndjson"]);
    }, TIMEOUT);

    test("NDJSON contains invalid rows of many kinds, but most rows are billed", () => {
      const { code, out, stderr } = expected;
      expect([code, out.length > 100_000, stderr.length > 3]).toEqual([1, true, true]);
    });

    test.each(READERS)(
      "%s",
      async (_, paths, options) => {
        const actual = await runBoth(command, paths(), options);
        // Compare two texts of a hundred thousand lines before showing them.
        if (actual.out !== expected.out)
          expect([firstDifference(actual.out, expected.out), actual.stderr]).toEqual(["none", expected.stderr]);
        expect({ ...actual, out: "" }).toEqual({ ...expected, out: "" });
      },
      TIMEOUT,
    );
  });
});

function firstDifference(actual: string, expected: string): string {
  const lines = expected.split("\n");
  const [[at, line] = []] = [...actual.split("\n").entries()].filter(([each, text]) => text !== lines[each]);
  return at === undefined ? "fewer lines" : `line ${at}: ${line}, and not ${lines[at]}`;
}
