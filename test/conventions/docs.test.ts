/** The documents match the code and each other: links, sizes, names, error codes, messages, words, and the map of the code. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

import { parseSync, Visitor } from "oxc-parser";
import { describe, expect, test } from "vitest";

import { filesOf, pathOf, readText, sources } from "../support/files.ts";

const pages = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", ...filesOf("docs", /\.md$/)];

/** The anchors of a page: explicit ones, and headings as the usual renderers name them. */
function listAnchors(text: string): ReadonlySet<string> {
  const explicitAnchors = [...text.matchAll(/<a id="([^"]+)">/g)].map(([, id = ""]) => id);
  const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
      .replaceAll(" ", "-"),
  );
  return new Set([...explicitAnchors, ...headings]);
}

describe.each(pages)("%s", (page) => {
  const text = readText(page);

  test("links only to existing files", () => {
    const targets = [...text.matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)].map(([, target]) => target ?? "");
    expect(targets.filter((target) => !existsSync(pathOf(dirname(page), target)))).toEqual([]);
  });

  test("links only to existing anchors and headings", () => {
    const links = [...text.matchAll(/\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)/g)];
    const targets = links.map(([, file = "", anchor = ""]) => ({ file, anchor }));
    const missing = targets.filter(({ file, anchor }) => {
      const target = file === "" ? page : join(dirname(page), file);
      return !listAnchors(readText(target)).has(anchor);
    });
    expect(missing).toEqual([]);
  });

  test("mentions only the project", () => {
    expect(text).not.toMatch(/\/(?:work|tmp)\/|\.\.\/shared/);
  });
});

test("the index of the documentation links to every page of it", () => {
  const index = readText("docs/README.md");
  const linkedPages = [...index.matchAll(/\]\(([\w/-]+\.md)\)/g)].map(([, page = ""]) => join("docs", page));
  const indexedPages = pages.filter((page) => /^docs\/(?!examples\/)[\w-]+\//.test(page));
  expect(linkedPages.toSorted()).toEqual(indexedPages.toSorted());
});

test("the guide has at most 10,000 words, the pages for operators 3,000", () => {
  const words = (page: string): number => readText(page).split(/\s+/).filter(Boolean).length;
  const countWords = (folder: string): number =>
    pages.filter((page) => page.startsWith(folder)).reduce((sum, page) => sum + words(page), 0);
  expect(countWords("docs/guide/")).toBeLessThanOrEqual(10_000);
  expect(countWords("docs/operate/")).toBeLessThanOrEqual(3_000);
});

test("the README and the documents have at most 45,000 words, code and tables included", () => {
  const texts = pages.filter((page) => page === "README.md" || page.startsWith("docs")).map((page) => readText(page));
  const words = texts.flatMap((text) => text.match(/\S+/g) ?? []).length;
  expect(words).toBeGreaterThan(20_000);
  expect(words).toBeLessThanOrEqual(45_000);
});

/** The names in camel case in a page's code, without values and names of other packages. */
function camelCaseNamesIn(text: string): readonly string[] {
  const code = [...text.matchAll(/`([^`\n]+)`/g)].map(([, part = ""]) => part.replaceAll(/"[^"]*"/g, ""));
  return code.flatMap((part) => part.match(/\b[a-z]+[A-Z]\w*/g) ?? []);
}

describe("docs/reference/library.md", () => {
  const text = readText("docs/reference/library.md");
  const sourceWords = new Set([...sources.values()].flatMap((source) => source.match(/\w+/g) ?? []));

  test("names only what exists in the code", () => {
    const names = camelCaseNamesIn(text);
    expect(names.length).toBeGreaterThan(70);
    expect(names.filter((name) => !sourceWords.has(name))).toEqual([]);
  });

  test("has every function that the package exports", () => {
    const entries = ["index.ts", "server.ts", "warehouse.ts"].map((file) => readText(`src/${file}`));
    const exportNames = entries.flatMap((entry) =>
      [...entry.matchAll(/^export \{([^}]*)\}/gm)].flatMap(
        ([, list = ""]) => list.match(/(?<!type )\b[a-z]\w+(?=,|\s*$|\s+\})/g) ?? [],
      ),
    );
    expect(exportNames).toContain("readBook");
    expect(exportNames.filter((name) => !text.includes(`\`${name}`))).toEqual([]);
  });
});

test("docs/reference/errors.md has one heading for each code, in the order of the table", () => {
  const table = readText("src/errors.ts").matchAll(/^ {2}readonly (ERR_\w+):/gm);
  const headings = readText("docs/reference/errors.md").matchAll(/^## (ERR_\w+)$/gm);
  expect([...headings].map(([, code]) => code)).toEqual([...table].map(([, code]) => code));
});

test("docs/reference/errors.md lists the code of each problem, in the order of the table", () => {
  const table = readText("src/problem-table.ts").matchAll(/^ {2}([A-Z_]+): /gm);
  const [, list = ""] = readText("docs/reference/errors.md").split("## Problems");
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
  const readers = [...sources].flatMap(([file, text]) => (reading.test(text) ? [file] : []));
  expect(readers.toSorted()).toEqual(THIRD_PARTY);
});

/** The messages in the first column of the tables of messages. */
function quotedMessages(page: string): readonly string[] {
  const tables = page.split("\n\n").filter((block) => block.startsWith("| message"));
  const cells = tables.flatMap((table) => table.split("\n").slice(2)).map((row) => row.split(" | ")[0] ?? "");
  return cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, message = ""]) => message));
}

/** A pattern of the texts that contain a message. Its values, omitted (…) or in quotation marks, match any text. */
function toPattern(message: string): RegExp {
  const parts = message.split(/…|"[^"]*"/).map((part) => part.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`));
  return new RegExp(parts.join("[^]*"));
}

/** The string literals and templates of a source file, with … for the values of templates. */
function textsIn(file: string, source: string): readonly string[] {
  const texts: string[] = [];
  new Visitor({
    Literal: ({ value }) => {
      if (typeof value === "string") texts.push(value);
    },
    TemplateLiteral: ({ quasis }) => {
      texts.push(quasis.map(({ value }) => value.cooked ?? "").join("…"));
    },
  }).visit(parseSync(file, source).program);
  return texts;
}

describe("docs/operate/troubleshooting.md", () => {
  const messages = quotedMessages(readText("docs/operate/troubleshooting.md"));
  const texts = [...sources].flatMap(([file, source]) => textsIn(file, source));

  test("quotes messages", () => {
    expect(messages.length).toBeGreaterThanOrEqual(10);
  });

  test.each(messages)("%s is a message of the source", (message) => {
    const pattern = toPattern(message);
    expect(texts.some((text) => pattern.test(text))).toBe(true);
  });
});

/** The items of the page's lists: word, meaning, names. */
const words = [...readText("docs/reference/glossary.md").matchAll(/^- \*\*(.+?)\*\*: (.+?)(?: · (.*))?$/gm)].map(
  ([, word = "", meaning = "", names = ""]) => ({ word, meaning, names }),
);

/** The exported names of all files of `src`. */
const exportedNames = new Set(
  [...sources.values()]
    .flatMap((text) => [...text.matchAll(/^export (?:async )?(?:function\*?|interface|type|const|class) (\w+)/gm)])
    .map(([, name = ""]) => name),
);

/** The named types and functions, also those of a field; values in capitals are not included. */
function namesIn(text: string): readonly string[] {
  const names = [...text.matchAll(/`(\w+)(?:\.\w+)?`/g)].map(([, name = ""]) => name);
  return names.filter((name) => !/^[A-Z]+(?:_[A-Z]+)+$/.test(name));
}

describe("the glossary", () => {
  test("has a word and a meaning in every row, and no word twice", () => {
    expect(words.length).toBeGreaterThan(50);
    const all = words.flatMap(({ word }) => word.split(/, (?:or )?/));
    expect(all.filter((word, index) => all.indexOf(word) !== index)).toEqual([]);
  });

  test.each(words)("lists names for $word that a file of src exports", ({ names }) => {
    expect(namesIn(names).filter((name) => !exportedNames.has(name))).toEqual([]);
  });

  test("is searched for types and functions", () => {
    expect(namesIn("`Invoice`, `preview`, `Charge.parts`; `ERR_REFUSED`")).toEqual(["Invoice", "preview", "Charge"]);
  });
});

const architecture = readText("docs/contribute/architecture.md");

/** The folders in the lists of the page. */
const folderRows = [...architecture.matchAll(/^- `([a-z-]+(?:\/[a-z-]+)?)`: /gm)].map(([, folder = ""]) => folder);

/** The folders of `src`, or those and their subfolders. */
function listFolders(depth: number): readonly string[] {
  const folders = [...sources.keys()].map((file) => file.split("/").slice(0, -1));
  return [...new Set(folders.flatMap((parts) => (parts.length < depth ? [] : [parts.slice(0, depth).join("/")])))];
}

/** The folders that the files of a folder import, relative to src, including type imports and dynamic ones. */
function foldersImportedBy(folder: string): readonly string[] {
  const imported = [...sources].flatMap(([file, text]) =>
    file.startsWith(`${folder}/`)
      ? [...text.matchAll(/(?:from |import\()"(\.[^"]+)"/g)].map(([, path = ""]) => join(dirname(file), dirname(path)))
      : [],
  );
  return [...new Set(imported)];
}

/** The imports at the end of a folder's row. */
function saidOf(folder: string): readonly string[] {
  const row = architecture.split("\n").find((line) => line.startsWith(`- \`${folder}\`: `)) ?? "";
  const list = / \(imports (.*)\)$/.exec(row)?.[1] ?? "";
  return [...list.matchAll(/`([a-z-]+)`/g)].map(([, name = ""]) => name).toSorted();
}

describe("docs/contribute/architecture.md", () => {
  test.each(listFolders(1))("lists %s below the folders that it imports", (folder) => {
    const importedFolders = foldersImportedBy(folder).map((place) => place.split("/")[0] ?? "");
    const others = new Set(importedFolders.filter((name) => name !== "." && name !== folder));
    const foldersAbove = folder === "verify" ? [] : folderRows.slice(0, folderRows.indexOf(folder));
    expect([...others].filter((name) => !foldersAbove.includes(name))).toEqual([]);
  });

  test.each(listFolders(2))("says what %s imports", (corridor) => {
    const [folder = ""] = corridor.split("/");
    const others = foldersImportedBy(corridor).filter(
      (place) => place.startsWith(`${folder}/`) && !place.startsWith(corridor),
    );
    expect(others.map((place) => place.slice(folder.length + 1)).toSorted()).toEqual(saidOf(corridor));
  });

  test("has a row for every folder and subfolder of src", () => {
    expect([...listFolders(1), ...listFolders(2)].filter((folder) => !folderRows.includes(folder))).toEqual([]);
  });

  test("names only existing files and folders", () => {
    const paths = [...architecture.matchAll(/`([a-z-]+(?:\/[a-z-]+)+(?:\.[a-z.]+)?|[a-z-]+\.ts)`/g)].map(
      ([, path = ""]) => path,
    );
    expect(paths.length).toBeGreaterThan(40);
    const missing = paths.filter((path) => !existsSync(pathOf("src", path)) && !existsSync(pathOf(path)));
    expect(missing).toEqual([]);
  });
});
