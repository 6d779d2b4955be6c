/** The examples in docs/reference/book.md are correct. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { readBook } from "../../src/book/book.ts";
import { listProblems } from "./break-book.ts";

const guide = readFileSync(join(import.meta.dirname, "../../docs/reference/book.md"), "utf8");

/** The text of the guide's code block with a label. */
function block(label: string): string {
  return new RegExp(`^\`\`\`json ${label}\\n(.*?)^\`\`\``, "ms").exec(guide)?.[1] ?? "";
}

describe("docs/reference/book.md", () => {
  test("contains a valid book", () => {
    const book = readBook(block("book"));
    expect(book.accounts[0]?.pricePlans[0]).toMatchObject({ pricePlanId: "pp.team", version: 1 });
  });

  test("shows the actual problems", () => {
    const brokenText = block("book")
      .replace('"usageMeterId": "um.writes"', '"usageMeterId": "um.calls"')
      .replace('"aliases": [ "key-1" ]', '"netTermDays": 1.5');
    expect(listProblems(() => readBook(brokenText))).toEqual(JSON.parse(block("problems")));
  });
});
