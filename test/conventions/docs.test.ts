/** Links between the project's pages resolve to an existing file and anchor. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

import { describe, expect, test } from "vitest";

const root = resolve(import.meta.dirname, "../..");
const pages = [
  "README.md",
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  ...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".md"))
    .map((file) => join("docs", file)),
].filter((page) => existsSync(join(root, page)));

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
  const text = readFileSync(join(root, page), "utf8");

  test("links only to existing files", () => {
    const targets = [...text.matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)].map(([, target]) => target ?? "");
    expect(targets.filter((target) => !existsSync(resolve(root, dirname(page), target)))).toEqual([]);
  });

  test("links only to existing anchors and headings", () => {
    const links = [...text.matchAll(/\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)/g)];
    const targets = links.map(([, file = "", anchor = ""]) => ({ file, anchor }));
    const missing = targets.filter(({ file, anchor }) => {
      const target = file === "" ? join(root, page) : resolve(root, dirname(page), file);
      return !listAnchors(readFileSync(target, "utf8")).has(anchor);
    });
    expect(missing).toEqual([]);
  });

  test("mentions only the project", () => {
    expect(text).not.toMatch(/\/(?:work|tmp)\/|\.\.\/shared/);
  });
});

test("the index of the documentation links to every page of it", () => {
  const index = readFileSync(join(root, "docs/README.md"), "utf8");
  const linkedPages = [...index.matchAll(/\]\(([\w/-]+\.md)\)/g)].map(([, page = ""]) => join("docs", page));
  const indexedPages = pages.filter((page) => /^docs\/(?!examples\/)[\w-]+\//.test(page));
  expect(linkedPages.toSorted()).toEqual(indexedPages.toSorted());
});

test("the guide has at most 10,000 words, the pages for operators 3,000", () => {
  const words = (page: string): number => readFileSync(join(root, page), "utf8").split(/\s+/).filter(Boolean).length;
  const countWords = (folder: string): number =>
    pages.filter((page) => page.startsWith(folder)).reduce((sum, page) => sum + words(page), 0);
  expect(countWords("docs/guide/")).toBeLessThanOrEqual(10_000);
  expect(countWords("docs/operate/")).toBeLessThanOrEqual(3_000);
});

test("the README and the documents have at most 45,000 words, code and tables included", () => {
  const texts = pages
    .filter((page) => page === "README.md" || page.startsWith("docs"))
    .map((page) => readFileSync(join(root, page), "utf8"));
  const words = texts.flatMap((text) => text.match(/\S+/g) ?? []).length;
  expect(words).toBeGreaterThan(20_000);
  expect(words).toBeLessThanOrEqual(45_000);
});

/** The names in camel case in a page's code, without values and names of other packages. */
function namesIn(text: string): readonly string[] {
  const code = [...text.matchAll(/`([^`\n]+)`/g)].map(([, part = ""]) => part.replaceAll(/"[^"]*"/g, ""));
  return code.flatMap((part) => part.match(/\b[a-z]+[A-Z]\w*/g) ?? []);
}

describe("docs/reference/library.md", () => {
  const text = readFileSync(join(root, "docs/reference/library.md"), "utf8");
  const sources = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => readFileSync(join(root, "src", file), "utf8"));
  const sourceWords = new Set(sources.flatMap((source) => source.match(/\w+/g) ?? []));

  test("names only what exists in the code", () => {
    const names = namesIn(text);
    expect(names.length).toBeGreaterThan(70);
    expect(names.filter((name) => !sourceWords.has(name))).toEqual([]);
  });

  test("has every function that the package exports", () => {
    const entries = ["index.ts", "server.ts", "warehouse.ts"].map((file) =>
      readFileSync(join(root, "src", file), "utf8"),
    );
    const exportNames = entries.flatMap((entry) =>
      [...entry.matchAll(/^export \{([^}]*)\}/gm)].flatMap(
        ([, list = ""]) => list.match(/(?<!type )\b[a-z]\w+(?=,|\s*$|\s+\})/g) ?? [],
      ),
    );
    expect(exportNames).toContain("readBook");
    expect(exportNames.filter((name) => !text.includes(`\`${name}`))).toEqual([]);
  });
});
