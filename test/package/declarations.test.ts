/** What the published types bring: a program that imports the package's root needs neither zod's types nor Node's. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";

import { afterAll, beforeAll, expect, test } from "vitest";

const root = resolve(import.meta.dirname, "../..");
const COMPILE_MS = 120_000;
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "ratebook-types-"));
  const argv = ["node_modules/typescript/bin/tsc", "-p", "src", "--emitDeclarationOnly", "--outDir", folder];
  execFileSync(process.execPath, argv, { cwd: root });
}, COMPILE_MS);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The text of a declaration file without its comments. */
function codeOf(file: string): string {
  return readFileSync(file, "utf8").replaceAll(/\/\*[^]*?\*\//g, "");
}

/** The packages that an entry's declarations import, however far, and the names of Node that they use. */
function reachedFrom(entry: string): readonly string[] {
  const seen = new Set<string>();
  const reached = new Set<string>();
  const walk = (file: string): void => {
    if (seen.has(file)) return;
    seen.add(file);
    const code = codeOf(file);
    for (const [, target = ""] of code.matchAll(/^\s*(?:import|export)\b[^;]*?\bfrom "([^"]+)";/gm)) {
      if (target.startsWith(".")) walk(resolve(dirname(file), target.replace(/\.(?:js|ts)$/, ".d.ts")));
      else reached.add(target);
    }
    for (const [, target = ""] of code.matchAll(/\bimport\("([^"]+)"\)/g)) {
      if (target.startsWith(".")) walk(resolve(dirname(file), target.replace(/\.(?:js|ts)$/, ".d.ts")));
      else reached.add(target);
    }
    for (const [name] of code.matchAll(/\bNodeJS\.\w+|\bBuffer\b|reference types="[^"]*"/g)) reached.add(name);
  };
  walk(join(folder, `${entry}.d.ts`));
  expect(seen.size).toBeGreaterThan(0);
  return [...reached].toSorted();
}

test.each([
  ["index", ["decimal.js"]],
  ["store", ["decimal.js"]],
  ["postgres", ["decimal.js"]],
  ["testing", ["decimal.js", "fast-check"]],
  ["verify", []],
  ["vectors", []],
])("the types of %s import %j alone", (entry, packages) => {
  expect(reachedFrom(entry)).toEqual(packages);
});

test("the walk sees what is there: the server's types import zod and Node's", () => {
  expect(reachedFrom("server")).toEqual(expect.arrayContaining(["fastify", "zod", "node:http"]));
});
