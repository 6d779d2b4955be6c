/** The docs describe every error code, and no others. */
import { readFileSync } from "node:fs";
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
