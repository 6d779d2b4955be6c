/** The house rules of design: which room imports which, where each package lives, how long a file may be. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve, sep } from "node:path";

import { describe, expect, test } from "vitest";

/** The rooms in the order in which data goes: a room imports only those above it. `errors`, `index`, `testing` and `postgres` are files. */
const ROOMS = [
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
  "store",
  "engine",
  "server",
  "cli",
  "index",
  "postgres",
  "testing",
  "postgres",
] as const;
/** Pure rooms: no `node:` imports at all. */
const CORE = new Set([
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
]);
/** Where each package may be imported. */
const HOMES: Readonly<Record<string, readonly string[]>> = {
  "decimal.js": ["numbers/decimal.ts"],
  "currency-codes": ["numbers/currency.ts"],
  "lossless-json": ["numbers/json.ts"],
  "date-fns": ["calendar/"],
  "@date-fns/utc": ["calendar/"],
  "json-logic-js": ["rules/"],
  zod: ["book/", "server/", "cli/"],
  "csv-parse": ["cli/"],
  "cli-table3": ["cli/"],
  "cli-progress": ["cli/"],
  fastify: ["server/", "server.ts"],
  "@fastify/helmet": ["server/"],
  "@fastify/swagger": ["server/"],
  "@fastify/swagger-ui": ["server/"],
  jose: ["server/"],
  pg: ["store/"],
  "@electric-sql/pglite": ["store/embedded/"],
};
const FILE_LINES_MAX = 400;

const src = resolve(import.meta.dirname, "../../src");
const files = readdirSync(src, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));

/** Every module specifier of a file: imports, type imports, re-exports, side effects and dynamic imports. */
function specifiersOf(text: string): string[] {
  const found = text.matchAll(
    /^[^\s*/].*?\bfrom "([^"]+)"|^} from "([^"]+)"|^import "([^"]+)"|\bimport\("([^"]+)"\)/gm,
  );
  return [...found].map((match) => match.slice(1).find((group) => group !== undefined) ?? "");
}

function roomOf(file: string): string {
  return (file.split(sep)[0] ?? "").replace(/\.ts$/, "");
}

function packageOf(specifier: string): string {
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}

/** What a file does against the house rules, in sentences. */
function faultsOf(file: string, text: string): string[] {
  const room = roomOf(file);
  const faults: string[] = [];
  const place = ROOMS.findIndex((name) => name === room);
  if (place < 0) faults.push(`${room} is no room of the house`);
  for (const specifier of specifiersOf(text)) {
    if (specifier.startsWith(".")) {
      const target = roomOf(resolve(dirname(join(src, file)), specifier).slice(src.length + 1));
      if (target !== room && ROOMS.findIndex((name) => name === target) > place)
        faults.push(`imports ${target} from below`);
    } else if (specifier.startsWith("node:")) {
      if (CORE.has(room)) faults.push(`imports ${specifier} in a pure room`);
    } else {
      const homes = HOMES[packageOf(specifier)];
      if (homes === undefined) faults.push(`imports ${specifier}, which has no home`);
      else if (!homes.some((home) => file.startsWith(home)))
        faults.push(`imports ${specifier} outside ${homes.join(", ")}`);
    }
  }
  const lines = text.split("\n").length;
  if (lines > FILE_LINES_MAX) faults.push(`has ${lines} lines, more than ${FILE_LINES_MAX}`);
  // decimal.js rounds in silence at its precision: outside `numbers` only the exact functions are called.
  if (CORE.has(room) && room !== "numbers" && /\.(?:plus|minus|times|div|dividedBy|sub|mul)\(/.test(text)) {
    faults.push("calls a rounding method of a Decimal");
  }
  if (CORE.has(room) && /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(/.test(text))
    faults.push("reads a clock or draws lots");
  return faults;
}

describe.each(files)("src/%s", (file) => {
  test("keeps the house rules", () => {
    expect(faultsOf(file, readFileSync(join(src, file), "utf8"))).toEqual([]);
  });
});

describe("the house rules themselves", () => {
  test.each([
    ["a room below", "numbers/x.ts", 'import { a } from "../rating/slabs.ts";'],
    ["a type of a room below", "numbers/x.ts", 'import type { A } from "../rating/slabs.ts";'],
    ["a re-export", "numbers/x.ts", 'export { a } from "../cli/run.ts";'],
    ["an import over several lines", "numbers/x.ts", 'import {\n  a,\n} from "../cli/run.ts";'],
    ["a side effect", "numbers/x.ts", 'import "../cli/run.ts";'],
    ["a dynamic import", "numbers/x.ts", 'const a = await import("../cli/run.ts");'],
    ["node in the core", "rating/x.ts", 'import { readFileSync } from "node:fs";'],
    ["a package away from home", "rating/x.ts", 'import { Decimal } from "decimal.js";'],
    ["a package without a home", "cli/x.ts", 'import x from "left-pad";'],
    ["a rounding method", "rating/x.ts", "const y = a.plus(b);"],
    ["a clock", "ledger/x.ts", "const y = Date.now();"],
  ])("refuse %s", (_, file, text) => {
    expect(faultsOf(file, text)).toHaveLength(1);
  });
});
