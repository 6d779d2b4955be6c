/** The built pages of the package. */
import { readFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";

/** The titles of the pages by name. The sources of each are in a folder of `browser`, with `main.tsx` as entry. */
export const PAGE_TITLES = { play: "ratebook playground", report: "ratebook report" } as const;
export type PageName = keyof typeof PAGE_TITLES;

/** The file of a built page in `dist/pages`, relative to both `src` and `dist`. */
export function pageFile(name: PageName): URL {
  return new URL(`../../dist/pages/${name}.html`, import.meta.url);
}

/** The maximum size of a page in bytes; the playground's is compressed by gzip. */
export const PAGE_BUDGETS: Readonly<Record<PageName, { readonly maxBytes: number; readonly isGzipped: boolean }>> = {
  play: { maxBytes: 300_000, isGzipped: true },
  report: { maxBytes: 150_000, isGzipped: false },
};

/** The size of a built page without data, in bytes, as its budget measures it. @throws as node:fs does */
export async function measurePageSize(name: PageName): Promise<number> {
  const bytes = await readFile(pageFile(name));
  return PAGE_BUDGETS[name].isGzipped ? gzipSync(bytes).length : bytes.length;
}

/** Reads a built page. @throws as node:fs does, if the package is not built */
export async function readPage(name: PageName): Promise<string> {
  return readFile(pageFile(name), "utf8");
}
