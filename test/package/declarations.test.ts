/**
 * The dependencies and cost of the published types: a program does not need Node's types, and a large book is checked
 * quickly.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

const root = resolve(import.meta.dirname, "../..");
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "ratebook-types-"));
  const argv = "node_modules/typescript/bin/tsc -p src --emitDeclarationOnly --noCheck --outDir".split(" ");
  execFileSync(process.execPath, [...argv, folder], { cwd: root });
  // As in an installation, where the types that the declarations import are found.
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The text of a declaration file without its comments. */
function codeOf(file: string): string {
  return readFileSync(file, "utf8").replaceAll(/\/\*[^]*?\*\//g, "");
}

/** The files that an entry's declarations import, directly or indirectly, and the packages and names of Node they use. */
function reachedFrom(entry: string): { readonly files: readonly string[]; readonly packages: readonly string[] } {
  const files = new Set<string>();
  const packages = new Set<string>();
  const walk = (file: string): void => {
    if (files.has(file)) return;
    files.add(file);
    const code = codeOf(file);
    const imports = [
      ...code.matchAll(/^\s*(?:import|export)\b[^;]*?\bfrom "([^"]+)";/gm),
      ...code.matchAll(/\bimport\("([^"]+)"\)/g),
    ];
    for (const [, target = ""] of imports) {
      if (target.startsWith(".")) walk(resolve(dirname(file), target.replace(/\.(?:js|ts)$/, ".d.ts")));
      else packages.add(target);
    }
    for (const [name] of code.matchAll(/\bNodeJS\.\w+|\bBuffer\b|reference types="[^"]*"/g)) packages.add(name);
  };
  walk(join(folder, `${entry}.d.ts`));
  return { files: [...files], packages: [...packages].toSorted() };
}

const ENTRIES = [
  ["index", ["decimal.js", "zod"]],
  ["store", ["decimal.js", "zod"]],
  ["postgres", ["decimal.js", "zod"]],
  ["testing", ["decimal.js", "fast-check", "zod"]],
  ["verify", []],
  ["vectors", []],
] as const;

test.each(ENTRIES)("the types of %s import only %j", (entry, packages) => {
  expect(reachedFrom(entry).packages).toEqual(packages);
});

test("the search works: it finds that the server's types import Fastify and Node's", () => {
  expect(reachedFrom("server").packages).toEqual(expect.arrayContaining(["fastify", "zod", "node:http"]));
});

test("the package contains every declaration that its types import", () => {
  const { files } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    readonly files: readonly string[];
  };
  // `{a,b}`, `**/` and `*` of the patterns as regular expressions; a pattern of a folder covers its files.
  const excluded = files
    .filter((pattern) => pattern.startsWith("!"))
    .map((pattern) =>
      pattern
        .slice(1)
        .replaceAll(".", "\\.")
        .replaceAll(/\{([^}]*)\}/g, (_, names: string) => `(?:${names.replaceAll(",", "|")})`)
        .replaceAll("**/", "(?:.+/)?")
        .replaceAll(/(?<!\.)\*/g, "[^/]*"),
    )
    .map((source) => new RegExp(`^${source}(?:/|$)`));
  expect(excluded.some((pattern) => pattern.test("dist/cli/main.d.ts"))).toBe(true);
  const imported = [...ENTRIES.map(([entry]) => entry), "server", "warehouse"].flatMap(
    (entry) => reachedFrom(entry).files,
  );
  const missing = imported
    .map((file) => `dist/${relative(folder, file)}`)
    .filter((file) => excluded.some((pattern) => pattern.test(file)));
  expect([...new Set(missing)]).toEqual([]);
});

describe("defineBook with 50 meters and 1,000 cards", () => {
  const METERS = 50;
  const PLANS = 20;
  const meters = Array.from(
    { length: METERS },
    (_, n) =>
      `{ id: "um.m${n}", name: "Meter ${n}", aggregation: "COUNT", eventSchemaName: "e", computations: [{ order: 1 }] }`,
  );
  const slabs = [0, 1000].map(
    (startAfter, n) => `{ order: ${n + 1}, startAfter: ${startAfter}, priceType: "PER_UNIT" }`,
  );
  const rates = `[{ currency: "USD", slabRates: [{ order: 1, rate: 0 }, { order: 2, rate: "0.002" }] }]`;
  const cardOf = (meter: string): string =>
    `{ usageMeterId: "${meter}", ratePlan: { pricingModel: "TIERED", slabs: [${slabs.join(", ")}] }, rateValues: ${rates} }`;
  const cards = meters.map((_, n) => cardOf(n % 2 === 0 ? `um.m${n}` : `Meter ${n}`));
  const planText = (n: number, its: readonly string[]): string =>
    `{ id: "pp.${n}", name: "Plan ${n}", pricePlanDetails: { usageRateCards: [\n${its.join(",\n")}] } }`;

  /**
   * The compiler's output for the book, with statistics such as the number of types.
   *
   * @param count the number of plans
   */
  function compileBook(
    lastPlan: readonly string[],
    count = PLANS,
  ): { readonly diagnostics: string; readonly types: number } {
    const plans = Array.from({ length: count }, (_, n) => planText(n, n === count - 1 ? lastPlan : cards));
    const book = `{ eventSchemas: [{ name: "e" }], usageMeters: [${meters.join(", ")}], pricePlans: [${plans.join(", ")}] }`;
    writeFileSync(
      join(folder, "program.ts"),
      `import { defineBook } from "./index.js";\nexport const book = defineBook(${book});\n`,
    );
    const options =
      "--strict --noEmit --checkers 1 --skipLibCheck --module nodenext --target es2023 --extendedDiagnostics";
    const argv = [join(root, "node_modules/typescript/bin/tsc"), ...options.split(" "), "program.ts"];
    const { stdout } = spawnSync(process.execPath, argv, { cwd: folder, encoding: "utf8" });
    const [, types = "NaN"] = /^Types: +(\d+)$/m.exec(stdout) ?? [];
    return { diagnostics: stdout, types: Number(types) };
  }

  test("creates few types, and so takes about half a second", () => {
    const { diagnostics, types } = compileBook(cards);
    expect(diagnostics).not.toContain("error TS");
    // Types are counted instead of seconds, which depend on the machine: there were 30,000 when the check took 0.3 s.
    expect(types).toBeLessThan(45_000);
  });

  test("names the one misspelt meter, and suggests the right one", () => {
    const { diagnostics } = compileBook([...cards.slice(1), cardOf("um.m499")], 2);
    expect(diagnostics.match(/error TS\d+/g)).toHaveLength(1);
    expect(diagnostics).toMatch(/^program\.ts\(\d+,\d+\): error TS2820: Type '"um\.m499"' is not assignable to type/m);
    expect(diagnostics).toContain(`Did you mean '"um.m49"'?`);
  });
});
