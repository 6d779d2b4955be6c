/**
 * Invoice files that are invalid, truncated or from other programs: a one-sentence message with file, line and column.
 */
import { readFileSync } from "node:fs";

import { beforeAll, describe, expect, test } from "vitest";

import { examplePath } from "../../support/examples.ts";
import { ratebook, testFolder } from "../fake-io.ts";

const files = testFolder();
let output: string;
let right: string;
beforeAll(async () => {
  const paths = [examplePath("seats-and-usage", "book.json"), examplePath("seats-and-usage", "events.ndjson")] as const;
  output = (await ratebook(["preview", paths[0], "--events", paths[1], "--explain", "--format", "json"])).out;
  right = files.file("right.json", output);
});

describe("verify and diff reject with a one-sentence message", () => {
  const change = (from: string, to: string) => (): string => output.replace(from, to);
  const DEEP = '{"type":"NET_AMOUNT","lineItems":['.repeat(20_000) + "]}".repeat(20_000);

  // What is wrong, the file, and the beginning of the sentence after the place.
  test.each<[string, () => string, RegExp]>([
    ["a file that is cut off", () => output.slice(0, 3000), /:\d+:\d+: not JSON: the text ends early\n$/],
    ["an empty file", () => "", /:1:1: not JSON: the text is empty\n$/],
    ["an empty list", () => "[]", /:1:1: the file has no invoices\n$/],
    ["no invoices", () => '{"invoices":[]}', /:1:13: \$\.invoices: the file has no invoices\n$/],
    ["a number instead of an invoice", () => "[1]", /:1:2: \$\[0\]: expected an invoice written by preview/],
    [
      "a book",
      () => '{"organization":{"id":"a"}}',
      / is not a file of invoices; write one with preview --explain --format json\n$/,
    ],
    ["100,000 lists in each other", () => "[".repeat(100_000) + "]".repeat(100_000), /:.*\n$/],
    ["lines nested 20,000 deep", change('"lineItems": [', `"lineItems": [${DEEP},`), /.*: (it is )?nested .*deep/],
    [
      "a number of too many digits",
      change('"value": 3,', '"value": 1e99999,'),
      /:169:38: not JSON: the number has more than 100 significant digits or is beyond 10\^1000\n$/,
    ],
    [
      "an invalid date",
      change('"startDate": "2024-06-01T00:00:00.000Z"', '"startDate": "yesterday"'),
      /:\d+:\d+: \$\.invoices\[0\]\.startDate: .*expected an instant such as 2024-06-01T00:00:00\.000Z\n$/,
    ],
    [
      "lines that are a text",
      change('"lineItems": [', '"lineItems": "none", "items": ['),
      /:\d+:\d+: \$\.invoices\[0\]\.revenueInfo\.lineItems: expected an invoice/,
    ],
    [
      "parts that are null",
      change('"parts": [', '"parts": null, "others": ['),
      /:\d+:\d+: .*\.explanation\.parts: expected an invoice/,
    ],
    [
      "days that are a text",
      change('"days": 30', '"days": "thirty"'),
      /:\d+:\d+: .*\.share\.days: expected an invoice/,
    ],
    [
      "invoices without explanations",
      () => JSON.stringify(JSON.parse(output, (name, value: unknown) => (name === "explanation" ? undefined : value))),
      /:1:\d+: \$\.invoices\[0\]\.revenueInfo: the invoice has no explanations; write it with preview --explain --format json\n$/,
    ],
    [
      "explanations of another version",
      () => output.replaceAll('"of": "CARD"', '"of": "RATE_CARD"'),
      /:\d+:\d+: .*written by another version of ratebook; run preview again with this version\n$/,
    ],
  ])("%s", async (_, text, sentence) => {
    const path = files.file("x.json", text());
    for (const argv of [
      ["verify", path],
      ["diff", right, path],
    ]) {
      const { code, out, err } = await files.run(argv);
      expect(err).toMatch(new RegExp(`^ratebook: x\\.json${sentence.source}`));
      expect({ code, out }).toEqual({ code: 1, out: "" });
    }
  });

  test("a key __proto__ is treated like any other", async () => {
    const path = files.file("x.json", output.replace('"accountId"', '"__proto__": {"isPolluted": true}, "accountId"'));
    expect(await ratebook(["verify", path])).toEqual({ code: 0, out: "121 of 121 amounts verified\n", err: "" });
    expect(({} as { isPolluted?: boolean }).isPolluted).toBeUndefined();
  });

  test("lines written by another version are rejected by diff and reported by verify", async () => {
    const path = files.file("x.json", output.replaceAll("USAGE_RATE_CARD_AMOUNT", "USAGE_AMOUNT"));
    const diff = await ratebook(["diff", right, path]);
    expect(diff.err).toBe("ratebook: unknown invoice line type USAGE_AMOUNT; run preview again with this version\n");
    const verify = await ratebook(["verify", path]);
    expect(verify.code).toBe(1);
    expect(verify.out).toContain("a type that can contain");
  });

  test("S1.4 an amount of too many digits is printed as it was written", async () => {
    const path = files.file("x.json", output.replace('"value": 3,', '"value": 1e99,'));
    const { code, out } = await ratebook(["verify", path]);
    expect(out.split("\n")[0]).toMatch(/SUB_TOTAL_AMOUNT, value: expected 10{90,}130, found 133$/);
    expect(code).toBe(1);
  });

  test("verify reads a book with comments, like every other command", async () => {
    const book = files.file(
      "book.json",
      `// A comment.\n${readFileSync(examplePath("seats-and-usage", "book.json"), "utf8")}`,
    );
    const events = examplePath("seats-and-usage", "events.ndjson");
    const { code, out } = await ratebook(["verify", right, "--book", book, "--events", events]);
    expect(out).toContain("3 of 3 quantities verified");
    expect(code).toBe(0);
  });
});
