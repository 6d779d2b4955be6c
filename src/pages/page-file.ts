/**
 * The pages that the build made, as files of the package.
 *
 * @module
 */
import { readFile } from "node:fs/promises";

/** The pages by name, with their titles. Each has its sources in a folder of `browser`, which begin with `main.tsx`. */
export const PAGE_TITLES = { play: "ratebook playground", report: "ratebook report" } as const;
/** The name of a page. */
export type PageName = keyof typeof PAGE_TITLES;

/** Where a built page is: in `dist/pages`, seen from `src` and from `dist`. */
export function pageFile(name: PageName): URL {
  return new URL(`../../dist/pages/${name}.html`, import.meta.url);
}

/** The text of a built page. @throws as node:fs does, where the package was not built */
export async function readPage(name: PageName): Promise<string> {
  return readFile(pageFile(name), "utf8");
}
