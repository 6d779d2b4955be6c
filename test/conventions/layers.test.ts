/**
 * The rules for files: which layer may import which, where each package may be used, and how many files a folder may have.
 * The linter limits the length of files, and finds import cycles.
 */
import { posix } from "node:path";

import { expect, test } from "vitest";

import { sources } from "../support/files.ts";

/** The pure layers, in the direction of data flow: no `node:` imports at all. */
const PURE_LAYERS = [
  "rulebook",
  "problem-table",
  "errors",
  "numbers",
  "calendar",
  "rules",
  "book",
  "metering",
  "credits",
  "rating",
  "invoicing",
  "ledger",
  "analysis",
] as const;
/**
 * The layers in the direction of data flow: a layer imports only those above it. `rulebook`, `errors`, `index`,
 * `vectors` and `postgres` are files.
 */
const LAYERS = [
  "verify",
  "vectors",
  ...PURE_LAYERS,
  "event-files",
  "warehouse",
  "store",
  "engine",
  "testing",
  "pages",
  "server",
  "cli",
  "index",
  "postgres",
] as const;
const CORE: ReadonlySet<string> = new Set(PURE_LAYERS);
/** Imports no other layer: an independent verifier proves nothing if it shares code with what it verifies. */
const ALONE = new Set(["verify", "vectors"]);
/** Where each package may be imported. */
const PACKAGE_FOLDERS: Readonly<Record<string, readonly string[]>> = {
  "decimal.js": ["numbers/decimal.ts"],
  "lossless-json": ["numbers/json.ts"],
  "@noble/hashes": ["numbers/ids.ts"],
  "date-fns": ["calendar/"],
  "@date-fns/tz": ["calendar/zone.ts"],
  "@date-fns/utc": ["calendar/"],
  "json-logic-js": ["verify/"],
  zod: ["book/", "engine/", "server/", "event-files/", "cli/", "pages/invoice/invoice-details.ts"],
  "csv-parse": ["event-files/", "cli/"],
  "@humanwhocodes/momoa": [
    "book/reading/json-document.ts",
    "book/reading/json-details.ts",
    "cli/event-inputs/line-shape.ts",
  ],
  "cli-table3": ["cli/"],
  "cli-progress": ["cli/"],
  fastify: ["server/", "server.ts"],
  "@fastify/helmet": ["server/"],
  "@fastify/swagger": ["server/"],
  "@fastify/swagger-ui": ["server/"],
  "ipaddr.js": ["server/"],
  jose: ["server/"],
  pg: ["store/"],
  "@electric-sql/pglite": ["store/embedded/"],
  "fast-check": ["testing/"],
  "@duckdb/node-api": ["warehouse/duckdb/"],
  "@clickhouse/client": ["warehouse/clickhouse/"],
  esbuild: ["pages/write-pages.ts", "cli/build-program.ts"],
  "jsonc-parser": ["pages/play/"],
  preact: ["pages/browser/"],
};
const FOLDER_FILES_MAX = 24;

/** Every module specifier of a file: imports, type imports, re-exports, side-effect and dynamic imports. */
function listSpecifiers(text: string): string[] {
  const matches = text.matchAll(
    /^[^\s*/].*?\bfrom "([^"]+)"|^} from "([^"]+)"|^import "([^"]+)"|\b(?:import|require(?:\.resolve)?)\("([^"]+)"\)/gm,
  );
  return [...matches].map((match) => match.slice(1).find((group) => group !== undefined) ?? "");
}

function layerOf(file: string): string {
  return (file.split("/")[0] ?? "").replace(/\.ts$/, "");
}

function toPackageName(specifier: string): string {
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}

/** Forbidden imports of a file, as sentences. */
function listImportFaults(file: string, text: string): string[] {
  const layer = layerOf(file);
  const place = LAYERS.findIndex((name) => name === layer);
  const faults: string[] = [];
  for (const specifier of listSpecifiers(text)) {
    if (specifier.startsWith(".")) {
      const target = layerOf(posix.join(posix.dirname(file), specifier));
      if (target !== layer && (ALONE.has(layer) || LAYERS.findIndex((name) => name === target) > place))
        faults.push(`imports ${target} from below`);
    } else if (specifier.startsWith("node:")) {
      if (CORE.has(layer)) faults.push(`imports ${specifier} in a pure layer`);
    } else {
      const homes = PACKAGE_FOLDERS[toPackageName(specifier)];
      if (homes === undefined) faults.push(`imports ${specifier}, which has no home`);
      else if (!homes.some((home) => file.startsWith(home)))
        faults.push(`imports ${specifier} outside ${homes.join(", ")}`);
    }
  }
  if (/^import (?:type )?(?:\{|z\b).*"zod"/m.test(text))
    faults.push("imports parts of zod: of `* as z` alone a bundler leaves out what is not used");
  return faults;
}

/** Violations of the rules by a file, as sentences. */
function listFaults(file: string, text: string): string[] {
  const layer = layerOf(file);
  const faults = listImportFaults(file, text);
  if (!LAYERS.some((name) => name === layer)) faults.push(`${layer} is no layer`);
  // decimal.js rounds silently at its precision: outside `numbers` only the exact functions are called.
  if (CORE.has(layer) && layer !== "numbers" && /\.(?:plus|minus|times|div|dividedBy|sub|mul)\(/.test(text)) {
    faults.push("calls a rounding method of a Decimal");
  }
  if (CORE.has(layer) && /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(/.test(text))
    faults.push("reads a clock or draws lots");
  return faults;
}

test.each([...sources])("src/%s follows the rules", (file, text) => {
  expect(listFaults(file, text)).toEqual([]);
});

test(`a folder has at most ${FOLDER_FILES_MAX} files`, () => {
  const folders = [...sources.keys()].map((file) => posix.dirname(file));
  const countFiles = (folder: string): number => folders.filter((each) => each === folder).length;
  expect(folders.filter((folder) => countFiles(folder) > FOLDER_FILES_MAX)).toEqual([]);
});

const decider = "ledger/events/decide-event.ts";
const creators = [...sources].filter(([, text]) => /\bcreateOutcome\(/.test(text)).map(([file]) => file);
const naming =
  /\bcreateOutcome\(|"INGESTION_(?:REFUSED|FAILED|COMPLETED)|\b(?:METERED|NOT_BILLED|NOT_METERED|NO_METERS)[,:;]/;
const namers = [...sources].filter(([file, text]) => file.startsWith("ledger/") && naming.test(text));
// These compare existing outcomes and create none.
const counting = ["ledger/preview/scenarios.ts", "ledger/preview/preview-run.ts", "ledger/events/new-event.ts"];

test("outcomes of events are created only by the decider", () => {
  expect(creators.filter((file) => file !== "ledger/outcome.ts" && file !== decider)).toEqual([]);
  const known = ["ledger/outcome.ts", decider, ...counting];
  expect(namers.map(([file]) => file).filter((file) => !known.includes(file))).toEqual([]);
  for (const file of counting) expect(sources.get(file)).not.toMatch(/\bcreateOutcome\(|status: "ING/);
});

test.each([
  ["a layer below", "numbers/x.ts", 'import { a } from "../rating/slabs.ts";'],
  ["a type of a layer below", "numbers/x.ts", 'import type { A } from "../rating/slabs.ts";'],
  ["a re-export", "numbers/x.ts", 'export { a } from "../cli/run.ts";'],
  ["an import over several lines", "numbers/x.ts", 'import {\n  a,\n} from "../cli/run.ts";'],
  ["a side effect", "numbers/x.ts", 'import "../cli/run.ts";'],
  ["a dynamic import", "numbers/x.ts", 'const a = await import("../cli/run.ts");'],
  ["node in the core", "rating/x.ts", 'import { readFileSync } from "node:fs";'],
  ["a package outside its folder", "rating/x.ts", 'import { Decimal } from "decimal.js";'],
  ["a package without a home", "cli/x.ts", 'import x from "left-pad";'],
  ["a rounding method", "rating/x.ts", "const y = a.plus(b);"],
  ["a part of zod", "book/x.ts", 'import { z } from "zod";'],
  ["anything at all in the second program", "verify/x.ts", 'import { a } from "../numbers/decimal.ts";'],
  ["even errors in the second program", "verify/x.ts", 'import { a } from "../errors.ts";'],
  ["a required package outside its folder", "cli/x.ts", 'const a = require("json-logic-js");'],
  ["a clock", "ledger/x.ts", "const y = Date.now();"],
])("the rules themselves reject %s", (_, file, text) => {
  expect(listFaults(file, text)).toHaveLength(1);
});
