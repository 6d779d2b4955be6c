/**
 * The pages that the build made, as files of the package.
 *
 * @module
 */
import { readFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";

/** The pages by name, with their titles. Each has its sources in a folder of `browser`, which begin with `main.tsx`. */
export const PAGE_TITLES = { play: "ratebook playground", report: "ratebook report" } as const;
/** The name of a page. */
export type PageName = keyof typeof PAGE_TITLES;

/** Where a built page is: in `dist/pages`, seen from `src` and from `dist`. */
export function pageFile(name: PageName): URL {
  return new URL(`../../dist/pages/${name}.html`, import.meta.url);
}

/** How large a page may be, in bytes; the playground is counted as it is sent, packed by gzip. */
export const PAGE_BUDGETS: Readonly<Record<PageName, { readonly maxBytes: number; readonly isGzipped: boolean }>> = {
  play: { maxBytes: 300_000, isGzipped: true },
  report: { maxBytes: 150_000, isGzipped: false },
};

/** How large a built page is without data, as its budget counts it, in bytes. @throws as node:fs does */
export async function measurePageSize(name: PageName): Promise<number> {
  const bytes = await readFile(pageFile(name));
  return PAGE_BUDGETS[name].isGzipped ? gzipSync(bytes).length : bytes.length;
}

/** The text of a built page. @throws as node:fs does, where the package was not built */
export async function readPage(name: PageName): Promise<string> {
  return readFile(pageFile(name), "utf8");
}
