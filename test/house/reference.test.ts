/** docs/reference/service-reference.md says of each of its rows which tests prove it, and they are there. */
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

import { describe, expect, test } from "vitest";

import { ROWS, rowsOf } from "../contract/reference.ts";

const folder = resolve(import.meta.dirname, "../contract");

/** Whether a file has the case of a row: a key of its name, or what makes rows of one name distinct. */
function hasCase(file: string, name: string): boolean {
  const text = readFileSync(join(folder, file), "utf8");
  const own = name.replaceAll(/[{}().*+?[\]|^$\\/]/g, String.raw`\$&`);
  return new RegExp(String.raw`[{,\s"]${own}(?:"|:| \()`).test(text);
}

describe("the service's reference", () => {
  test("names for every row the tests that prove it", () => {
    expect(ROWS.length).toBeGreaterThan(200);
    expect(ROWS.filter(({ proofs }) => proofs.length === 0).map(({ key }) => key)).toEqual([]);
  });

  test("names tests that are there, and that have a case of the row", () => {
    const files = new Set(ROWS.flatMap(({ proofs }) => proofs));
    expect([...files].filter((file) => !existsSync(join(folder, file)))).toEqual([]);
    const without = ROWS.filter(({ name, proofs: [file = ""] }) => !hasCase(file, name));
    expect(without.map(({ key }) => key)).toEqual([]);
  });

  test("finds a row and a rule that name no test", () => {
    const page = "## Things\n\n| Field | Type |\n|---|---|\n| id | string |\n\n## Rules\n\n1. One.\n";
    expect(rowsOf(page).map(({ key, proofs }) => [key, proofs])).toEqual([
      ["Things / id", []],
      ["Rules / rule 1", []],
    ]);
    const noted = rowsOf(page.replace("\n1.", "<!-- tests: rule.cases.ts -->\n\n1."));
    expect(noted.at(-1)?.proofs).toEqual(["rule.cases.ts"]);
  });
});
