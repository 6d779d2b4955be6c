/** The page about lint and its examples: for each code, a book and the complete output. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { LINT_CODES } from "../../../src/book/resources/book.ts";
import { firstBlock, readGuide } from "../../support/guides.ts";
import { testFolder } from "../fake-io.ts";

const guide = readGuide("reference/lint.md");
const examples = readFileSync(join(import.meta.dirname, "lint-examples.md"), "utf8");
const files = testFolder();

interface Example {
  readonly code: string;
  readonly part: string;
  readonly output: string;
}
const exampleList: readonly Example[] = [...examples.matchAll(/### (\w+)\n([^]*?)(?=\n### |$)/g)].flatMap(
  ([, code = "", section = ""]) =>
    [...section.matchAll(/```json\n([^]*?)\n```\n\n```text\n([^]*?)\n```/g)].map(([, part = "", output = ""]) => ({
      code,
      part,
      output,
    })),
);

interface Book {
  readonly pricePlans: readonly [{ readonly pricePlanDetails: object }];
}

/** The book of the examples, with one part replaced. */
function exampleBook(part: string): string {
  const book = JSON.parse(firstBlock(examples, "json")) as Book;
  const [plan] = book.pricePlans;
  const { usage: _, ...all } = JSON.parse(part) as Record<string, unknown>;
  const isOfBook = ([name]: readonly [string, unknown]): boolean =>
    ["eventSchemas", "usageMeters", "pricePlans", "accounts"].includes(name);
  const details = Object.fromEntries(Object.entries(all).filter((field) => !isOfBook(field)));
  const own = [{ ...plan, pricePlanDetails: { ...plan.pricePlanDetails, ...details } }];
  const more = Object.fromEntries(Object.entries(all).filter(isOfBook));
  return JSON.stringify({ ...book, pricePlans: own, ...more }, null, 2);
}
/** What lint prints of the book of an example, with its usage. */
async function lint(part: string): Promise<string> {
  const { usage } = JSON.parse(part) as { readonly usage?: unknown };
  const options = usage === undefined ? [] : ["--usage", files.file("usage.json", usage)];
  const argv = ["lint", files.file("book.json", exampleBook(part)), ...options];
  return (await files.run(argv)).out;
}

test("every code has an example, and an item in the list of the page", () => {
  expect([...new Set(exampleList.map(({ code }) => code))]).toEqual(LINT_CODES);
  expect([...guide.matchAll(/^- `(\w+)`: /gm)].map(([, code]) => code)).toEqual(LINT_CODES);
});

test.each(exampleList)("$code is reported as in the example, and nothing else is", async ({ code, part, output }) => {
  const [first = "", ...rest] = (await lint(part)).split("\n").slice(0, -2);
  expect([first.replace(/^book\.json:\d+:\d+: /, ""), ...rest].join("\n")).toBe(output);
  expect(output).toContain(` ${code} `);
  // A person can check the second line by hand.
  expect(output.split("\n")).toHaveLength(2);
});

test("the base book of the examples has no findings", async () => {
  expect(await lint("{}")).toBe("book.json: 0 warnings, 0 notes\n");
});

test("the page begins with the first example as printed", async () => {
  expect(await lint(exampleList[0]?.part ?? "{}")).toBe(`${firstBlock(guide, "text")}\n`);
});
