/** Bundles the pages, each with the package code it uses, into single files. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";

import { toDescribedSchema } from "../book/describing/json-schema.ts";
import { shortBookSchema } from "../book/resources/book.ts";
import { PAGE_TITLES, pageFile, type PageName } from "./page-file.ts";
import { type PlayExample, createStateFromRecipe, parseRecipes } from "./play/play-state.ts";
import { buildSelfContainedPage } from "./self-contained-page.ts";
import { buildPageTokens } from "./tokens.ts";

/** The sources of the pages, relative to both `src` and `dist`. */
const SOURCES = new URL("../../src/pages/browser/", import.meta.url);

/** Bundles the script and style of a page, with the paths of the files that they come from. */
async function bundlePage(
  name: PageName,
): Promise<{ readonly script: string; readonly style: string; readonly inputs: readonly string[] }> {
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
  return { script: findOutput(".js"), style: findOutput(".css"), inputs: Object.keys(metafile.inputs) };
}

/** The JSON Schema with which the playground completes a book. */
function serializeBookSchema(): string {
  return JSON.stringify(toDescribedSchema(shortBookSchema, "book"));
}

/** The recipes that the playground offers as examples. */
function listExamples(): readonly PlayExample[] {
  const text = readFileSync(new URL("../../docs/examples/recipes.json", import.meta.url), "utf8");
  return parseRecipes(text).map(({ title, recipe }) => ({ title, state: createStateFromRecipe(recipe, title) }));
}

/** Writes all pages to `dist/pages`. @returns the paths of all bundled files */
export async function buildPages(): Promise<readonly string[]> {
  const bundledFiles: string[] = [];
  for (const [name, title] of Object.entries(PAGE_TITLES) as [PageName, string][]) {
    const file = pageFile(name);
    mkdirSync(new URL(".", file), { recursive: true });
    const { script, style, inputs } = await bundlePage(name);
    writeFileSync(file, buildSelfContainedPage({ title, script, style: buildPageTokens() + style }));
    bundledFiles.push(...inputs);
  }
  return bundledFiles;
}
