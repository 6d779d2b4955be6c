/**
 * Writes the pages into the package, as the last part of its build, with the licences of what is bundled in them.
 *
 * @module
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";

import { buildPages } from "./build-pages.ts";
import { PAGE_BUDGETS, pageSize } from "./page-file.ts";

/** The packages whose code is in the pages. */
const BUNDLED = ["preact", "csv-parse", "decimal.js", "lossless-json", "@noble/hashes", "zod", "@humanwhocodes/momoa"];

await buildPages();
const notices = BUNDLED.map((name) => {
  const folder = new URL(`../../node_modules/${name}/`, import.meta.url);
  const text = licenceIn(folder);
  return `The pages in this folder hold parts of ${name}, under this licence:\n\n${text}`;
});
const file = new URL("../../dist/pages/third-party-notices.txt", import.meta.url);
mkdirSync(new URL(".", file), { recursive: true });
writeFileSync(file, notices.join("\n"));

for (const name of Object.keys(PAGE_BUDGETS) as (keyof typeof PAGE_BUDGETS)[]) {
  const [size, { most, isPacked }] = [await pageSize(name), PAGE_BUDGETS[name]];
  const said = `${name}.html: ${kilobytes(size)} ${isPacked ? "packed" : "without data"}, of at most ${kilobytes(most)}`;
  if (size > most) throw new RangeError(said);
  process.stdout.write(`${said}\n`);
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1000).toFixed(1)} kB`;
}

/** The text of a package's licence, or its name where the package has no text of it. */
function licenceIn(folder: URL): string {
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  if (file !== undefined) return readFileSync(new URL(file, folder), "utf8");
  const { license, author } = JSON.parse(readFileSync(new URL("package.json", folder), "utf8")) as Record<
    string,
    string
  >;
  return `${license} (https://spdx.org/licenses/${license}.html), by ${author}\n`;
}
