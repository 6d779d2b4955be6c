/** Numeric columns: one text per number as a dimension, and times as numbers of any type (S2.2, S4.1). */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { DuckDBInstance } from "@duckdb/node-api";
import { Decimal } from "decimal.js";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";

import { readBook } from "../../src/book/book.ts";
import { readEventFileMap } from "../../src/event-files/event-file-map.ts";
import { type EventSink, mergeEvents } from "../../src/event-files/merge-events.ts";
import { openParquet } from "../../src/warehouse/duckdb/parquet-files.ts";
import { runs } from "../support/runs.ts";
import { byDatabase, type WrittenRows } from "./law.ts";

const folder = mkdtempSync(join(tmpdir(), "ratebook-test-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A meter that counts the rows whose dimension is the text of one. */
const BOOK = readBook({
  eventSchemas: [{ name: "use", attributes: ["x"], dimensions: ["d"] }],
  usageMeters: [{ id: "um.one", name: "ones", schema: "use", sum: "x", where: { d: "1" } }],
  accounts: [{ id: "a", name: "Account" }],
});

/** Writes numbers to a file, each in a row of 2 units: with a form as its time, without one as its dimension. */
async function writeNumbers(values: readonly string[], type: string, form?: string): Promise<WrittenRows["open"]> {
  const path = join(folder, "numbers.parquet");
  const instance = await DuckDBInstance.create(":memory:");
  const connection = await instance.connect();
  const rows = values.map((value, index) => `(${index}, '${value}')`).join(", ");
  await connection.run(
    `copy (select n::VARCHAR as id, cast(v as ${type}) as v, '2024-01-01T00:00:00Z' as "at", '2' as x ` +
      `from (values ${rows}) as given (n, v) order by n) to '${path}' (format parquet)`,
  );
  connection.closeSync();
  instance.closeSync();
  const map = readEventFileMap(
    "map",
    JSON.stringify({
      schemaName: { value: "use" },
      id: { column: "id" },
      accountId: { value: "a" },
      timestamp: form === undefined ? { column: "at" } : { column: "v", form, zone: "UTC" },
      attributes: { x: { column: "x" } },
      dimensions: { d: form === undefined ? { column: "v" } : { value: "1" } },
    }),
  );
  return async (sink, reading) =>
    openParquet([{ paths: [path], map, mapFile: "map" }], sink, { ...reading, memory: undefined });
}

interface MappedEvent {
  readonly timestamp: string;
  readonly dimensions: { readonly d: string };
}

/** The events of a file, or the problem of each invalid row, in row order. */
async function readEvents(open: WrittenRows["open"]): Promise<readonly (MappedEvent | string)[]> {
  const rowResults: (readonly [row: number, event: MappedEvent | string])[] = [];
  const sink: EventSink = {
    onEvent: (_, row, event) => rowResults.push([row, event as MappedEvent]) > 0,
    onBadLine: (_, row, problem) => rowResults.push([row, problem.message]) > 0,
    onSummedEvents: () => false,
  };
  await mergeEvents(await open(sink, { book: BOOK, usesPushdown: true, dedupes: true }), {
    onDisorder: () => undefined,
  });
  return rowResults.toSorted(([a], [b]) => a - b).map(([, event]) => event);
}

describe("S4.1 a dimension has one text for one number", () => {
  test.each([
    ["DECIMAL(4, 2)", ["1", "-0.5", "0", "10.1"], ["1", "-0.5", "0", "10.1"]],
    ["DECIMAL(38, 10)", ["1", "-2.5", "-0", "100"], ["1", "-2.5", "0", "100"]],
    ["FLOAT", ["1", "0.1", "-0", "16777216", "1e20"], ["1", "0.1", "0", "16777216", "100000000000000000000"]],
    ["DOUBLE", ["1", "0.1", "-0", "1e-7", "1e21"], ["1", "0.1", "0", "0.0000001", "1000000000000000000000"]],
    ["HUGEINT", ["1", "100", "0"], ["1", "100", "0"]],
    ["BIGINT", ["1", "100", "-7"], ["1", "100", "-7"]],
    // A text is not a number: a different text is a different dimension.
    ["VARCHAR", ["1", "1.0", "1.00"], ["1", "1.0", "1.00"]],
  ])("in a column of %s, in the database and in the core", async (type, values, texts) => {
    const open = await writeNumbers(values, type);
    const events = await readEvents(open);
    expect(events.map((event) => (typeof event === "string" ? event : event.dimensions.d))).toEqual(texts);
    for (const usesPushdown of [false, true]) {
      const fileRows = { open, read: [], placeOf: () => undefined };
      const { cells } = await byDatabase(BOOK, fileRows, { dedupes: true, usesPushdown });
      // One row of 2 units has the 1, on the day 19,723 after 1 January 1970.
      expect(cells).toEqual(["a um.one 19723 2"]);
    }
  });
});

describe("S2.2 times in seconds or milliseconds", () => {
  test("are read from integers, decimals and doubles; a HUGEINT is a double in Parquet", async () => {
    for (const type of ["BIGINT", "UINTEGER", "HUGEINT", "DOUBLE", "DECIMAL(12, 2)", "DECIMAL(38, 0)"]) {
      const [event] = await readEvents(await writeNumbers(["1704067200"], type, "seconds"));
      expect(event).toMatchObject({ timestamp: "2024-01-01T00:00:00.000Z" });
    }
    await expect(readEvents(await writeNumbers(["1704067200"], "FLOAT", "seconds"))).rejects.toThrow(
      'times of the form "seconds" can only be read from CSV',
    );
  });

  // The cursor itself compares the instant by which the database orders a row with that of its event.
  test("are truncated to milliseconds, in the database and in the core", async () => {
    const numbers = fc.oneof(
      fc.double({ min: 0, max: 4_102_444_800, noNaN: true }),
      fc.integer({ min: 0, max: 4_102_444_800_000 }).map((millis) => millis / 1000),
      fc.constantFrom(0, 5e-324, 1e-7, 0.0001, 0.001, 0.9999, 1.001, 4_102_444_799.999),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(numbers, { minLength: 1, maxLength: 20 }),
        fc.constantFrom("seconds", "milliseconds"),
        async (values, form) => {
          const events = await readEvents(await writeNumbers(values.map(String), "DOUBLE", form));
          const times = events.map((event) => (typeof event === "string" ? event : Date.parse(event.timestamp)));
          const each = form === "seconds" ? 1000 : 1;
          expect(times).toEqual(values.map((value) => new Decimal(value).times(each).floor().toNumber()));
        },
      ),
      { numRuns: runs(50) },
    );
  });

  test("that are invalid give no event", async () => {
    const none = ["-1", "-0.5", "nan", "inf", "1e20"];
    const events = await readEvents(await writeNumbers(none, "DOUBLE", "seconds"));
    expect(events).toHaveLength(none.length);
    for (const event of events) expect(event).toContain("is not a time in the form seconds, which the map sets");
  });
});
