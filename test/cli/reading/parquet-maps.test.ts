/** Parquet files with maps that say more of cells than their column print the same as their rows in CSV. */
import { beforeAll, expect, test } from "vitest";

import { findDecimalMark, NUMBER_PATTERNS } from "../../../src/event-files/cell-texts.ts";
import { openDuckDb } from "../../../src/warehouse/duckdb/parquet-files.ts";
import { writeParquet } from "../../support/duckdb.ts";
import { failure, SMALL_BOOK, testFolder } from "../fake-io.ts";

const place = testFolder();
const book = place.file("book.json", SMALL_BOOK);
const MAP = {
  schemaName: { column: "kind", values: { Anruf: "call" } },
  id: { column: "id" },
  accountId: { column: "account", values: { "Globex GmbH": "prod", "O'Neil": "c-1" } },
  timestamp: { column: "at" },
  attributes: { units: { column: "units" } },
  dimensions: { region: { column: "region", default: "none" } },
};

function writeCsv(name: string, unitTexts: readonly string[]): string {
  const rows = unitTexts.map(
    (units, row) =>
      `Anruf;${row};${["Globex GmbH", "O'Neil", "nobody"][row % 3]};2024-01-${10 + row}T00:00:00Z;${units};${row % 2 === 0 ? "NULL" : "eu"}`,
  );
  return place.file(name, `kind;id;account;at;units;region\n${rows.join("\n")}\n`);
}

/** The rows of a CSV file, all as text. */
const rowsOf = (csv: string): string => `select * from read_csv('${csv}', all_varchar = true, delim = ';')`;

const csv = writeCsv("events.csv", ["1.234,5", "", "N/A", "2", "\\N", "-7,25"]);
const parquet = `${place.path}/events.parquet`;
beforeAll(() => writeParquet(parquet, rowsOf(csv)));

async function meter(events: string, units: object, ...options: readonly string[]): Promise<unknown> {
  const map = place.file("map.json", { ...MAP, attributes: { units: { column: "units", ...units } } });
  const result = await place.run(["meter", book, "--events", events, "--map", map, ...options]);
  return { ...result, err: result.err.replaceAll(/events\.\w+(?::\d+)?/g, "events") };
}

test.each([
  [{ decimal: ",", default: "0,5" }],
  [{ decimal: ",", default: "0.5" }],
  [{ decimal: ",", empty: "skip" }],
  [{ decimal: ",", empty: "fail" }],
  [{ decimal: ",", values: { "": "3", "1.234,5": "9" }, default: 1 }],
])("with the units %j", async (units) => {
  const expected = await meter(csv, units);
  for (const engine of ["core", "database"]) expect(await meter(parquet, units, "--engine", engine)).toEqual(expected);
});

test("a text column whose numbers could have either decimal mark is refused, in each file", async () => {
  const first = await writeParquet(`${place.path}/part-1.parquet`, rowsOf(writeCsv("part-1.csv", ["0.5", "1.234"])));
  const second = await writeParquet(
    `${place.path}/part-2.parquet`,
    rowsOf(writeCsv("part-2.csv", ["7", "12,500", "x.y"])),
  );
  for (const engine of ["core", "database"]) {
    expect(await meter(first, {}, "--engine", engine)).toMatchObject({ code: 0 });
    expect(await meter(`${place.path}/part-*.parquet`, {}, "--engine", engine)).toEqual(
      failure(
        'part-2.parquet: the column "units" has numbers that can be read in two ways: 12,500 is 12500 or 12.500; write "decimal": "." for it in the map if it is 12500, "decimal": "," if it is 12.500',
      ),
    );
    const named = await meter(second, { values: { "12,500": "7" } }, "--engine", engine);
    expect(named).toMatchObject({ err: expect.stringContaining("3 events read: 2 metered") });
  }
});

test("DuckDB recognizes the same numbers as ratebook", async () => {
  const texts = "1.234|1,5|0.5|+1.234|-0,123|1.234.567|1,234.5|1'234.5|1\u00A0234,5|1 234.5".split("|");
  texts.push("1.", ".5", "1.5e3", "1,5e3", "1.2345", "12,34,567", "x.y", ",", ".", "1.234\n", "\u0661,5", "1.23,4");
  const db = await openDuckDb();
  for (const text of texts) {
    const matches = ([",", "."] as const).map((mark) =>
      db.dialect.matchesPattern(db.dialect.quoteText(text), NUMBER_PATTERNS[mark]),
    );
    const [row] = await db.execute(`select (${matches[0]})::VARCHAR, (${matches[1]})::VARCHAR`);
    const mark = findDecimalMark(text);
    const both = typeof mark === "object";
    expect([text, ...(row ?? [])]).toEqual([text, String(both || mark === ","), String(both || mark === ".")]);
  }
  await db.close();
});

test("a text column with decimal commas is refused without decimal", async () => {
  expect(await meter(parquet, {})).toEqual(
    failure(
      'events: the column "units" has numbers that need a decimal comma, such as -7,25; write "decimal": "," for it in the map',
    ),
  );
});
