/** The docs describe every error code, and no others. */
import { readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";

import { expect, test } from "vitest";

const root = resolve(import.meta.dirname, "../..");

test("docs/reference/errors.md has one heading for each code, in the order of the table", () => {
  const table = readFileSync(resolve(root, "src/errors.ts"), "utf8").matchAll(/^ {2}readonly (ERR_\w+):/gm);
  const headings = readFileSync(resolve(root, "docs/reference/errors.md"), "utf8").matchAll(/^## (ERR_\w+)$/gm);
  expect([...headings].map(([, code]) => code)).toEqual([...table].map(([, code]) => code));
});

test("docs/reference/errors.md lists the code of each problem, in the order of the table", () => {
  const table = readFileSync(resolve(root, "src/problem-table.ts"), "utf8").matchAll(/^ {2}([A-Z_]+): /gm);
  const [, list = ""] = readFileSync(resolve(root, "docs/reference/errors.md"), "utf8").split("## Problems");
  const codes = [...table].map(([, code]) => code);
  expect(codes).toContain("UNKNOWN_FIELD");
  expect([...list.matchAll(/`([A-Z_]+)`/g)].map(([, code]) => code)).toEqual(codes);
});

/** Messages of momoa, ClickHouse, DuckDB, Node and pg, which give no code for what is needed of them. */
const THIRD_PARTY = [
  "book/reading/json-document.ts",
  "cli/failures.ts",
  "store/postgres/client.ts",
  "warehouse/clickhouse/table.ts",
  "warehouse/duckdb/parquet-files.ts",
];

test("no code reads messages or descriptions of ratebook: it reads their codes and params", () => {
  const called = String.raw`\b(?:message|description)\??\)?\.(?:match|matchAll|replace|replaceAll|split|includes|startsWith|endsWith|search|indexOf)\(`;
  const reading = new RegExp(`${called}|\\.(?:test|exec)\\([^()]*\\b(?:message|description)\\)`);
  const src = resolve(root, "src");
  const readers = readdirSync(src, { recursive: true, encoding: "utf8" }).filter(
    (file) => file.endsWith(".ts") && reading.test(readFileSync(resolve(src, file), "utf8")),
  );
  expect(readers.toSorted()).toEqual(THIRD_PARTY);
});
