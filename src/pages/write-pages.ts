/**
 * Writes the pages into the package at the end of its build, with the licenses of bundled packages.
 *
 * @module
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";

import { buildPages } from "./build-pages.ts";
import { PAGE_BUDGETS, measurePageSize } from "./page-file.ts";

/** The packages bundled into the pages. */
const BUNDLED_PACKAGES = [
  "preact",
  "csv-parse",
  "decimal.js",
  "lossless-json",
  "@noble/hashes",
  "zod",
  "@humanwhocodes/momoa",
];

await buildPages();
const notices = BUNDLED_PACKAGES.map((name) => {
  const folder = new URL(`../../node_modules/${name}/`, import.meta.url);
  const text = readLicense(folder);
  return `The pages in this folder contain parts of ${name} under this license:\n\n${text}`;
});
const file = new URL("../../dist/pages/third-party-notices.txt", import.meta.url);
mkdirSync(new URL(".", file), { recursive: true });
writeFileSync(file, notices.join("\n"));

for (const name of Object.keys(PAGE_BUDGETS) as (keyof typeof PAGE_BUDGETS)[]) {
  const [size, { maxBytes, isGzipped }] = [await measurePageSize(name), PAGE_BUDGETS[name]];
  const sizeReport = `${name}.html: ${formatKilobytes(size)} ${isGzipped ? "gzipped" : "without data"}, of at most ${formatKilobytes(maxBytes)}`;
  if (size > maxBytes) throw new RangeError(sizeReport);
  process.stdout.write(`${sizeReport}\n`);
}

function formatKilobytes(bytes: number): string {
  return `${(bytes / 1000).toFixed(1)} kB`;
}

/** A package's license text, or its name if it has none. */
function readLicense(folder: URL): string {
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  if (file !== undefined) return readFileSync(new URL(file, folder), "utf8");
  const { license, author } = JSON.parse(readFileSync(new URL("package.json", folder), "utf8")) as Record<
    string,
    string
  >;
  return `${license} (https://spdx.org/licenses/${license}.html), by ${author}\n`;
}
