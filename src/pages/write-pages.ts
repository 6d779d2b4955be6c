/** Writes the pages into the package at the end of its build, with the licenses of bundled packages. */
import { buildPages } from "./build-pages.ts";
import { PAGE_BUDGETS, measurePageSize } from "./page-file.ts";
import { writeNotices } from "./third-party-notices.ts";

writeNotices(new URL("../../dist/pages/", import.meta.url), await buildPages());

for (const name of Object.keys(PAGE_BUDGETS) as (keyof typeof PAGE_BUDGETS)[]) {
  const [size, { maxBytes, isGzipped }] = [await measurePageSize(name), PAGE_BUDGETS[name]];
  const sizeReport = `${name}.html: ${formatKilobytes(size)} ${isGzipped ? "packed" : "without data"}, of at most ${formatKilobytes(maxBytes)}`;
  if (size > maxBytes) throw new RangeError(sizeReport);
  process.stdout.write(`${sizeReport}\n`);
}

function formatKilobytes(bytes: number): string {
  return `${(bytes / 1000).toFixed(1)} kB`;
}
