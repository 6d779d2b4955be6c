/** The map of the code is correct: every folder of `src` is on it, and every path on it exists. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

import { describe, expect, test } from "vitest";

const root = resolve(import.meta.dirname, "../..");
const page = readFileSync(join(root, "docs/contribute/architecture.md"), "utf8");

/** The folders in the lists of the page. */
const rows = [...page.matchAll(/^- `([a-z-]+(?:\/[a-z-]+)?)`: /gm)].map(([, folder = ""]) => folder);

/** The folders of `src` and their subfolders. */
function listFolders(place: string, depth: number): readonly string[] {
  return readdirSync(join(root, "src", place), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => (place === "" ? name : `${place}/${name}`))
    .flatMap((folder) => [folder, ...(depth > 1 ? listFolders(folder, depth - 1) : [])]);
}

/** The files of a folder, with or without those of its subfolders. */
function filesOf(folder: string, recursive: boolean): readonly string[] {
  return readdirSync(join(root, "src", folder), { recursive, encoding: "utf8" })
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => join(root, "src", folder, file));
}

/** The folders that files import, relative to src, including type imports and dynamic ones. */
function importedBy(files: readonly string[]): ReadonlySet<string> {
  return new Set(
    files.flatMap((file) =>
      [...readFileSync(file, "utf8").matchAll(/(?:from |import\()"(\.[^"]+)"/g)].map(([, path = ""]) =>
        relative(join(root, "src"), dirname(resolve(dirname(file), path))),
      ),
    ),
  );
}

/** The imports at the end of a folder's row. */
function saidOf(folder: string): readonly string[] {
  const row = page.split("\n").find((line) => line.startsWith(`- \`${folder}\`: `)) ?? "";
  const list = / \(imports (.*)\)$/.exec(row)?.[1] ?? "";
  return [...list.matchAll(/`([a-z-]+)`/g)].map(([, name = ""]) => name).toSorted();
}

describe("docs/contribute/architecture.md", () => {
  test.each(listFolders("", 1))("lists %s below the folders that it imports", (folder) => {
    const importedFolders = [...importedBy(filesOf(folder, true))].map((place) => place.split("/")[0] ?? "");
    const others = new Set(importedFolders.filter((name) => name !== "" && name !== folder));
    const foldersAbove = folder === "verify" ? [] : rows.slice(0, rows.indexOf(folder));
    expect([...others].filter((name) => !foldersAbove.includes(name))).toEqual([]);
  });

  test.each(listFolders("", 2).filter((folder) => folder.includes("/")))("says what %s imports", (corridor) => {
    const [folder = ""] = corridor.split("/");
    const others = [...importedBy(filesOf(corridor, true))].filter(
      (place) => place.startsWith(`${folder}/`) && !place.startsWith(corridor),
    );
    expect(others.map((place) => place.slice(folder.length + 1)).toSorted()).toEqual(saidOf(corridor));
  });

  test("has a row for every folder and subfolder of src", () => {
    expect(listFolders("", 2).filter((folder) => !rows.includes(folder))).toEqual([]);
  });

  test("names only existing files and folders", () => {
    const paths = [...page.matchAll(/`([a-z-]+(?:\/[a-z-]+)+(?:\.[a-z.]+)?|[a-z-]+\.ts)`/g)].map(
      ([, path = ""]) => path,
    );
    expect(paths.length).toBeGreaterThan(40);
    const missing = paths.filter((path) => !existsSync(join(root, "src", path)) && !existsSync(join(root, path)));
    expect(missing).toEqual([]);
  });
});
