/**
 * The rulebook and the tests match: every cited number is in docs/reference/semantics.md, and every rule is named by a
 * test.
 */
import { describe, expect, test } from "vitest";

import { filesOf, readText, sources } from "../support/files.ts";
import { rulebook, parseRulebook } from "../support/rulebook.ts";

/** Rules that are not implemented yet. The first test of a rule removes it from this list. */
const WITHOUT_TEST: readonly string[] = [];

/** The numbers of rules and sections in a text. */
function numbersIn(text: string): readonly string[] {
  return text.match(/\bS\d{1,2}(?:\.\d+)?\b/g) ?? [];
}

/**
 * The rules in strings of a file, wherever such a string becomes a title: at the call, in a row of a table, in a golden
 * case. Comments are not counted.
 */
function rulesNamedIn(text: string): ReadonlySet<string> {
  return new Set(textsIn(text).flatMap((each) => each.match(/\bS\d+\.\d+\b/g) ?? []));
}

/** The strings of a file with their quotes, without those in comment lines. */
function textsIn(text: string): readonly string[] {
  const lines = text.split("\n").filter((line) => !/^\s*(?:\/\/|\/?\*)/.test(line));
  return lines.join("\n").match(/"(?:[^"\\\n]|\\.)*"|`[^`]*`/g) ?? [];
}

const { sections, rules } = rulebook();
/** The files of tests, without this one. */
const testFiles = filesOf("test", /\.(?:ts|md|json|sql)$/).filter((file) => !file.endsWith("semantics.test.ts"));

describe("the rules of the rulebook", () => {
  const tests = testFiles.filter((file) => /\.test\.ts$|^test\/golden\/.*\.json$/.test(file));
  const citedRules = new Set(tests.flatMap((file) => [...rulesNamedIn(readText(file))]));

  test("are each named by a test", () => {
    expect(rules.length).toBeGreaterThanOrEqual(91);
    expect(rules.filter((rule) => !citedRules.has(rule) && !WITHOUT_TEST.includes(rule))).toEqual([]);
  });

  test("are on the list of untested rules only while they have no test", () => {
    expect(WITHOUT_TEST.filter((rule) => citedRules.has(rule) || !rules.includes(rule))).toEqual([]);
  });

  test.each([
    ['test("S1.1 a thing", …)', ["S1.1"]],
    ['  ["S1.1, S2.1 a row"],', ["S1.1", "S2.1"]],
    ["test(`S1.1 ${name}`, …)", ["S1.1"]],
    ["// S1.1 said in passing", []],
    ["/** A law (S1.1). */", []],
    [" * S1.1", []],
    ["expect(x).toBe(S1.1)", []],
  ])("are found in strings, not in comments: %s", (text, expected) => {
    expect([...rulesNamedIn(text)]).toEqual(expected);
  });
});

describe("the rule numbers", () => {
  const knownRules = new Set([...sections, ...rules]);

  test.each(["src", "docs", "bench", "test"])("cited in %s are in the rulebook", (folder) => {
    const files = folder === "test" ? testFiles : filesOf(folder, /\.(?:ts|md|json|sql)$/);
    expect(files.length).toBeGreaterThan(0);
    const unknown = files.flatMap((file) =>
      numbersIn(readText(file))
        .filter((number) => !knownRules.has(number))
        .map((number) => `${file}: ${number}`),
    );
    expect(unknown).toEqual([]);
  });

  test("are found anywhere in a text", () => {
    expect(numbersIn("(S7.3, S16) // S1.5: ES256, S3.Client [S2.1](semantics.md#s2.1)")).toEqual([
      "S7.3",
      "S16",
      "S1.5",
      "S3",
      "S2.1",
    ]);
  });
});

/** Strings with only a rule number: they are neither a number for code nor a message that begins with one. */
function nakedNumbersIn(text: string): readonly string[] {
  return textsIn(text).filter((each) => /\bS\d+\.\d+\b/.test(each) && !/^["`]S\d+\.\d+(?:: .+)?["`]$/.test(each));
}

describe("messages for users", () => {
  // A violated invariant begins with the number and states the rule, for the developer.
  test("never cite a rule by its number alone", () => {
    const strayNumbers = [...sources].flatMap(([file, text]) =>
      nakedNumbersIn(text).map((number) => `${file}: ${number}`),
    );
    expect(strayNumbers).toEqual([]);
  });

  test.each([
    ['description: "At most 10 in all (S16.6).",', ['"At most 10 in all (S16.6)."']],
    ["throw new Error(`${what} breaks S7.3`);", ["`${what} breaks S7.3`"]],
    ['throw refused("S16.6", "at most 10 aliases");', []],
    ['invariant(days > 0, "S8.1: the natural period has at least one day");', []],
    ["/** At most 10 (S16.6). */", []],
  ])("are searched for bare rule numbers: %s", (line, expected) => {
    expect(nakedNumbersIn(line)).toEqual(expected);
  });
});

describe("the rulebook", () => {
  const section = '<a id="s1"></a>\n\n## S1 Numbers\n\n';
  const rule = '<a id="s1.1"></a>\n**S1.1 Exact.** …\n\n';

  test("is parsed by its anchors", () => {
    expect(parseRulebook(`${section}${rule}`)).toEqual({ sections: ["S1"], rules: ["S1.1"] });
  });

  test.each([
    ["an anchor above another rule", `${section}<a id="s1.2"></a>\n**S1.1 Exact.** …`, "the anchor s1.2 is above"],
    ["a number that is left out", `${section}<a id="s1.2"></a>\n**S1.2 Exact.** …`, "expected S1.1, found S1.2"],
    ["a duplicate number", `${section}${rule}${rule}`, "expected S1.2, found S1.1"],
    ["a section that is left out", '<a id="s2"></a>\n\n## S2 Time', "expected S1, found S2"],
  ])("rejects %s", (_, text, sentence) => {
    expect(() => parseRulebook(text)).toThrow(sentence);
  });

  test("has an anchor above every rule and section", () => {
    const page = readText("docs/reference/semantics.md");
    const titles = page.match(/^(?:## |\*\*)S\d+(?:\.\d+)? /gm) ?? [];
    expect(titles).toHaveLength(sections.length + rules.length);
  });
});
