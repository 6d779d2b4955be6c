/** Rows in Parquet files, read by DuckDB. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { DuckDBInstance } from "@duckdb/node-api";
import { expect } from "vitest";

import type { Book } from "../../src/book/resources/book.ts";
import { readEventFileMap } from "../../src/event-files/event-file-map.ts";
import { type openDuckDb, openParquet } from "../../src/warehouse/duckdb/parquet-files.ts";
import {
  byCore,
  byDatabase,
  comparable,
  plainText,
  RANDOM_SHAPE,
  type ReadRow,
  type Types,
  type World,
} from "./law.ts";
import type { TableRow } from "./rows.ts";

/** Parquet files read by DuckDB; it can be opened in another way. */
export const parquetFiles =
  (open?: typeof openDuckDb, { columns, map: mapText } = RANDOM_SHAPE): World =>
  async (files, types, work) => {
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
          `create or replace table given (n INTEGER, ${columns.map((name) => `"${name}" VARCHAR`).join(", ")})`,
        );
        const appender = await connection.createAppender("given");
        const append = (text: string | null): void =>
          text === null ? appender.appendNull() : appender.appendVarchar(text);
        for (const [n, row] of rows.entries()) {
          appender.appendInteger(n);
          for (const name of columns) append(row[name] ?? null);
          appender.endRow();
        }
        appender.closeSync();
        const typedColumns = columns.map(
          (name) => `try_cast("${name}" as ${name in types ? types[name as keyof Types] : "VARCHAR"}) as "${name}"`,
        );
        await connection.run(
          `copy (select ${typedColumns.join(", ")} from given order by n) to '${path}' (format parquet, row_group_size 2048)`,
        );
        paths.push(path);
        const readTexts = async (of: (name: string) => string): Promise<readonly (readonly string[])[]> => {
          const back = await connection.runAndReadAll(`select ${columns.map(of).join(", ")} from '${path}'`);
          return back.getRows().map((values) => values.map(asText));
        };
        const orders = await readTexts((name) => textIn(name, { ...types, x: "", y: "" }));
        const records = (await readTexts((name) => textIn(name, types))).map((values) =>
          values.map((text, place) => plainText(text, types[columns[place] as keyof Types] ?? "VARCHAR")),
        );
        read.push(records.map((record, row) => ({ record, order: orders[row] ?? [] })));
      }
      connection.closeSync();
      const map = readEventFileMap("map", mapText);
      return await work({
        read,
        placeOf: (file, row) => `${paths[file]}:${row}`,
        open: async (sink, reading) =>
          openParquet([{ paths, map, mapFile: "map" }], sink, { ...reading, memory: undefined }, open),
      });
    } finally {
      instance.closeSync();
      await rm(folder, { recursive: true, force: true });
    }
  };

function textIn(name: string, types: Types): string {
  if (name === "time" && types.time === "TIMESTAMPTZ") return `("time" at time zone 'UTC')::VARCHAR || 'Z'`;
  return name in types && types[name as keyof Types] === "DOUBLE" ? `"${name}"` : `"${name}"::VARCHAR`;
}

/** The value of a cell, read independently: NULL is missing, a double its shortest text. */
function asText(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

const TEXTS = { x: "VARCHAR", y: "VARCHAR", time: "VARCHAR" };

/** Expects that DuckDB and the core give the same as the core alone for rows of texts. @returns the result */
export async function expectSameAsCore(
  book: Book,
  rows: readonly TableRow[],
  dedupes = true,
): Promise<Awaited<ReturnType<typeof byDatabase>>> {
  return parquetFiles()([rows], TEXTS, async (rowsInFiles) => {
    const result = await byDatabase(book, rowsInFiles, { dedupes, usesPushdown: true });
    expect({ ...comparable(result), cells: [] }).toEqual({ ...byCore(book, rowsInFiles, dedupes), cells: [] });
    return result;
  });
}
