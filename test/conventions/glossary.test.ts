/** The glossary matches the code: every name that it lists exists in `src`. */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

import { describe, expect, test } from "vitest";

const root = resolve(import.meta.dirname, "../..");
const page = readFileSync(join(root, "docs/reference/glossary.md"), "utf8");

/** The items of the page's lists: word, meaning, names. */
const rows = [...page.matchAll(/^- \*\*(.+?)\*\*: (.+?)(?: · (.*))?$/gm)].map(
  ([, word = "", meaning = "", names = ""]) => ({ word, meaning, names }),
);

/** The exported names of all files of `src`. */
const exportedNames = new Set(
  readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .flatMap((file) => [
      ...readFileSync(join(root, "src", file), "utf8").matchAll(
        /^export (?:async )?(?:function\*?|interface|type|const|class) (\w+)/gm,
      ),
    ])
    .map(([, name = ""]) => name),
);

/** The named types and functions, also those of a field; values in capitals are not included. */
function namesIn(text: string): readonly string[] {
  const names = [...text.matchAll(/`(\w+)(?:\.\w+)?`/g)].map(([, name = ""]) => name);
  return names.filter((name) => !/^[A-Z]+(?:_[A-Z]+)+$/.test(name));
}

describe("the glossary", () => {
  test("has a word and a meaning in every row, and no word twice", () => {
    expect(rows.length).toBeGreaterThan(50);
    const words = rows.flatMap(({ word }) => word.split(/, (?:or )?/));
    expect(words.filter((word, index) => words.indexOf(word) !== index)).toEqual([]);
  });

  test.each(rows)("lists names for $word that a file of src exports", ({ names }) => {
    expect(namesIn(names).filter((name) => !exportedNames.has(name))).toEqual([]);
  });

  test("is searched for types and functions", () => {
    expect(namesIn("`Invoice`, `preview`, `Charge.parts`; `ERR_REFUSED`")).toEqual(["Invoice", "preview", "Charge"]);
  });
});
