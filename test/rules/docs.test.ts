/** Runs the examples of docs/reference/rules.md. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";

import { describe, expect, test } from "vitest";

import { parseJson, stringifyJson } from "../../src/numbers/json.ts";
import { compileRule } from "../../src/rules/compile.ts";
import { OPERATORS } from "../../src/rules/operators.ts";

const guide = readFileSync(resolve(import.meta.dirname, "../../docs/reference/rules.md"), "utf8");
const facts = parseJson(/```json\n([^`]*)```/.exec(guide)?.[1] ?? "");
const rows = [...guide.matchAll(/^- `(\{.*?\})` → `(.*?)`$/gm)].map(([, rule = "", result = ""]) => [rule, result]);

describe("the guide to rules", () => {
  test.each(rows)("S3 %s is %s", (rule, result) => {
    expect(JSON.parse(stringifyJson(compileRule(rule)(facts)))).toEqual(JSON.parse(result));
  });

  test("S3.1 has a row for each operator", () => {
    const examples = new Set(rows.flatMap(([rule = ""]) => [...rule.matchAll(/"([^"]+)":/g)].map(([, name]) => name)));
    for (const operator of OPERATORS.keys()) expect(examples).toContain(operator);
  });
});
