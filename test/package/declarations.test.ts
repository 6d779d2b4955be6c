/**
 * The dependencies and cost of the published types: a program does not need Node's types, and a large book is checked
 * quickly.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

const root = resolve(import.meta.dirname, "../..");
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "ratebook-types-"));
  const argv = [
    "node_modules/typescript/bin/tsc",
    "-p",
    "src",
    "--emitDeclarationOnly",
    "--noCheck",
    "--outDir",
    folder,
  ];
  execFileSync(process.execPath, argv, { cwd: root });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The text of a declaration file without its comments. */
function codeOf(file: string): string {
  return readFileSync(file, "utf8").replaceAll(/\/\*[^]*?\*\//g, "");
}

/** The packages that an entry's declarations import, directly or indirectly, and the names of Node that they use. */
function reachedFrom(entry: string): readonly string[] {
  const seenFiles = new Set<string>();
  const reachable = new Set<string>();
  const walk = (file: string): void => {
    if (seenFiles.has(file)) return;
    seenFiles.add(file);
    const code = codeOf(file);
    for (const [, target = ""] of code.matchAll(/^\s*(?:import|export)\b[^;]*?\bfrom "([^"]+)";/gm)) {
      if (target.startsWith(".")) walk(resolve(dirname(file), target.replace(/\.(?:js|ts)$/, ".d.ts")));
      else reachable.add(target);
    }
    for (const [, target = ""] of code.matchAll(/\bimport\("([^"]+)"\)/g)) {
      if (target.startsWith(".")) walk(resolve(dirname(file), target.replace(/\.(?:js|ts)$/, ".d.ts")));
      else reachable.add(target);
    }
    for (const [name] of code.matchAll(/\bNodeJS\.\w+|\bBuffer\b|reference types="[^"]*"/g)) reachable.add(name);
  };
  walk(join(folder, `${entry}.d.ts`));
  expect(seenFiles.size).toBeGreaterThan(0);
  return [...reachable].toSorted();
}

test.each([
  ["index", ["decimal.js", "zod"]],
  ["store", ["decimal.js", "zod"]],
  ["postgres", ["decimal.js", "zod"]],
  ["testing", ["decimal.js", "fast-check", "zod"]],
  ["verify", []],
  ["vectors", []],
])("the types of %s import only %j", (entry, packages) => {
  expect(reachedFrom(entry)).toEqual(packages);
});

test("the search works: it finds that the server's types import Fastify and Node's", () => {
  expect(reachedFrom("server")).toEqual(expect.arrayContaining(["fastify", "zod", "node:http"]));
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
    const options = [
      "--strict",
      "--noEmit",
      "--checkers",
      "1",
      "--skipLibCheck",
      "--module",
      "nodenext",
      "--target",
      "es2023",
    ];
    const argv = [join(root, "node_modules/typescript/bin/tsc"), ...options, "--extendedDiagnostics", "program.ts"];
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
