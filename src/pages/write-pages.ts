/** Writes the pages into the package at the end of its build, each bundled into one file, with licenses of other packages. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

import { build } from "esbuild";

import { toDescribedSchema } from "../book/describing/json-schema.ts";
import { shortBookSchema } from "../book/resources/book.ts";
import { buildSelfContainedPage, PAGE_TITLES, pageFile, type PageName } from "./page-file.ts";
import { type PlayExample, createStateFromRecipe, parseRecipes } from "./play-state.ts";
import { writeNotices } from "./third-party-notices.ts";
import { buildPageTokens, buildSeriesStyle } from "./tokens.ts";

/** The sources of the pages, relative to both `src` and `dist`. */
const SOURCES = new URL("../../src/pages/browser/", import.meta.url);

/** The maximum sizes of the pages in bytes, without data; the playground's is compressed. */
const SIZE_LIMITS = {
  play: { maxBytes: 300_000, isGzipped: true },
  report: { maxBytes: 150_000, isGzipped: false },
} as const;

const folder = new URL("../../dist/pages/", import.meta.url);
mkdirSync(folder, { recursive: true });
const bundledFiles = await Promise.all((Object.keys(PAGE_TITLES) as PageName[]).map(writePage));
writeNotices(folder, bundledFiles.flat());

/** Writes a page. @returns the paths of the bundled files */
async function writePage(name: PageName): Promise<readonly string[]> {
  const { outputFiles, metafile } = await build({
    entryPoints: [fileURLToPath(new URL(`${name}/main.tsx`, SOURCES))],
    bundle: true,
    minify: true,
    format: "iife",
    platform: "browser",
    target: "es2022",
    jsx: "automatic",
    jsxImportSource: "preact",
    charset: "utf8",
    legalComments: "none",
    outdir: "out",
    write: false,
    metafile: true,
    tsconfigRaw: {},
    alias: { "csv-parse": "csv-parse/browser/esm" },
    define: name === "play" ? { EXAMPLES: JSON.stringify(listExamples()), BOOK_SCHEMA: serializeBookSchema() } : {},
  });
  const findOutput = (ending: string): string => outputFiles.find(({ path }) => path.endsWith(ending))?.text ?? "";
  const style = buildPageTokens() + buildSeriesStyle() + findOutput(".css");
  const html = buildSelfContainedPage({ title: PAGE_TITLES[name], script: findOutput(".js"), style });
  writeFileSync(pageFile(name), html);
  const { maxBytes, isGzipped } = SIZE_LIMITS[name];
  const size = isGzipped ? gzipSync(html).length : Buffer.byteLength(html);
  const sizeReport = `${name}.html: ${formatKilobytes(size)} ${isGzipped ? "packed" : "without data"}, of at most ${formatKilobytes(maxBytes)}`;
  if (size > maxBytes) throw new RangeError(sizeReport);
  process.stdout.write(`${sizeReport}\n`);
  return Object.keys(metafile.inputs);
}

/** The JSON Schema with which the playground completes a book. */
function serializeBookSchema(): string {
  return JSON.stringify(toDescribedSchema(shortBookSchema, "book"));
}

/** The recipes that the playground offers as examples. */
function listExamples(): readonly PlayExample[] {
  const text = readFileSync(new URL("../../docs/examples/recipes.json", import.meta.url), "utf8");
  return parseRecipes(text).map((recipe) => ({ title: recipe.title, state: createStateFromRecipe(recipe) }));
}

function formatKilobytes(bytes: number): string {
  return `${(bytes / 1000).toFixed(1)} kB`;
}
