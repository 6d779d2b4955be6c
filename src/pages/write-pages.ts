/**
 * Writes the pages into the package, as the last part of its build, with the licences of what is bundled in them.
 *
 * @module
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";

import { buildPages } from "./build-pages.ts";

/** The packages whose code is in the pages. */
const BUNDLED = ["preact"];

await buildPages();
const notices = BUNDLED.map((name) => {
  const licence = readFileSync(new URL(`../../node_modules/${name}/LICENSE`, import.meta.url), "utf8");
  return `The pages in this folder hold parts of ${name}, under this licence:\n\n${licence}`;
});
const file = new URL("../../dist/pages/third-party-notices.txt", import.meta.url);
mkdirSync(new URL(".", file), { recursive: true });
writeFileSync(file, notices.join("\n"));
