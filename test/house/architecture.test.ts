/** The plan of the house is true: every folder of `src` is on it, and every path that it names is there. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

import { describe, expect, test } from "vitest";

const root = resolve(import.meta.dirname, "../..");
const page = readFileSync(join(root, "docs", "architecture.md"), "utf8");

/** The folders that have a row of their own in a table. */
const rows = [...page.matchAll(/^\| `([a-z-]+(?:\/[a-z-]+)?)` \|/gm)].map(([, folder = ""]) => folder);

/** The folders of `src` and the corridors in them. */
function foldersOf(place: string, depth: number): readonly string[] {
  return readdirSync(join(root, "src", place), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => (place === "" ? name : `${place}/${name}`))
    .flatMap((folder) => [folder, ...(depth > 1 ? foldersOf(folder, depth - 1) : [])]);
}

describe("docs/architecture.md", () => {
  test("has a row for every folder and corridor of src", () => {
    expect(foldersOf("", 2).filter((folder) => !rows.includes(folder))).toEqual([]);
  });

  test("names only files and folders that are there", () => {
    const paths = [...page.matchAll(/`([a-z-]+(?:\/[a-z-]+)+(?:\.[a-z.]+)?|[a-z-]+\.ts)`/g)].map(
      ([, path = ""]) => path,
    );
    expect(paths.length).toBeGreaterThan(40);
    const missing = paths.filter((path) => !existsSync(join(root, "src", path)) && !existsSync(join(root, path)));
    expect(missing).toEqual([]);
  });
});
