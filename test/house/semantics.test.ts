/** Every rule of the semantics is stated by a test: its number is in a title. */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

import { describe, expect, test } from "vitest";

/** How many rules each section has: S1.1 to S1.5, S2.1 to S2.4, and so on to S16.8. */
const RULES_IN_SECTION = [5, 4, 7, 4, 4, 7, 7, 2, 5, 3, 8, 6, 6, 4, 4, 8];
const RULES = RULES_IN_SECTION.flatMap((count, section) =>
  Array.from({ length: count }, (_, rule) => `S${section + 1}.${rule + 1}`),
);

const root = resolve(import.meta.dirname, "..");
const THIS = join("house", "semantics.test.ts");

/**
 * The rules that texts of a file name, wherever such a text becomes a title: at the call, in a row of a table, in a
 * golden case. Comments name none.
 */
function rulesNamedIn(text: string): ReadonlySet<string> {
  const lines = text.split("\n").filter((line) => !/^\s*(?:\/\/|\/?\*)/.test(line));
  const texts = lines.join("\n").match(/"(?:[^"\\\n]|\\.)*"|`[^`]*`/g) ?? [];
  return new Set(texts.flatMap((each) => each.match(/\bS\d+\.\d+\b/g) ?? []));
}

function testFiles(): readonly string[] {
  return readdirSync(root, { recursive: true, encoding: "utf8" }).filter(
    (file) => file !== THIS && (file.endsWith(".test.ts") || /^golden\/.*\.json$/.test(file)),
  );
}

describe("the rules of the semantics", () => {
  const named = new Set(testFiles().flatMap((file) => [...rulesNamedIn(readFileSync(join(root, file), "utf8"))]));

  test("are each named by a test", () => {
    expect(RULES).toHaveLength(84);
    expect(RULES.filter((rule) => !named.has(rule))).toEqual([]);
  });

  test("are the only ones that tests name", () => {
    expect([...named].filter((rule) => !RULES.includes(rule))).toEqual([]);
  });

  test.each([
    ['test("S1.1 a thing", …)', ["S1.1"]],
    ['  ["S1.1, S2.1 a row"],', ["S1.1", "S2.1"]],
    ["test(`S1.1 ${name}`, …)", ["S1.1"]],
    ["// S1.1 said in passing", []],
    ["/** A law (S1.1). */", []],
    [" * S1.1", []],
    ["expect(x).toBe(S1.1)", []],
  ])("are looked for in texts, not in comments: %s", (text, rules) => {
    expect([...rulesNamedIn(text)]).toEqual(rules);
  });
});
