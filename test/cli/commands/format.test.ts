/** `ratebook format`: both forms of a book, its comments, and what the command writes (cli.md). */
import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { parseBook } from "../../../src/book/book.ts";
import { parseJsonDocument } from "../../../src/book/reading/json-document.ts";
import { formatComparable } from "../../../src/book/short/fields.ts";
import { formatBookText } from "../../../src/cli/documents/format-book.ts";
import { bookArbitrary } from "../../../src/testing.ts";
import { exampleText } from "../../support/examples.ts";
import { failure, testFolder } from "../fake-io.ts";

const files = testFolder();

const LONG = `// The prices of 2026.
{
  "organization": { "id": "acme" /* us */, "baseCurrency": "USD" }, // in dollars
  "eventSchemas": [{ "name": "api_call", "attributes": [{ "name": "calls" }] }],

  // What is measured.
  "usageMeters": [
    { "id": "um.calls", "name": "calls", "aggregation": "SUM", "eventSchemaName": "api_call",
      "computations": [{ "order": 1, /* each call */ "computation": { "var": "attribute.calls" } }] }
  ],
  // What is sold.
  "addOns": [
    { "id": "fee", "name": "The fee", "type": "FIXED_FEE" } // for the platform
    // No others.
  ],
  "pricePlans": [
    { "id": "team", "name": "Team", "status": "ACTIVE",
      "pricePlanDetails": {
        "supportedCurrencies": ["USD"],
        "pricingCycleConfig": { "interval": "MONTHLY", "startOffset": { "dayOffset": "1" } },
        "usageRateCards": [
          { "usageMeterId": "um.calls",
            "ratePlan": { "pricingModel": "TIERED", "slabs": [
              { "order": 1, "startAfter": 0, "endAt": 1000, "priceType": "PER_UNIT" }, // free
              { "order": 2, "startAfter": 1000, "priceType": "PER_UNIT" }
            ] },
            "rateValues": [{ "currency": "USD", "slabRates": [{ "order": 1, "rate": 0 }, { "order": 2, "rate": "0.0020" }] }]
          }
        ],
        "fixedFeeRateCards": [{ "id": "fee", "rateValues": [{ "currency": "USD", "rate": 49 }] }]
      }
    }
  ]
}
// The end.
`;

const SHORT = `// The prices of 2026.
{
  "organization": {
    "id": "acme", /* us */
    "baseCurrency": "USD"
  }, // in dollars
  "eventSchemas": [{ "name": "api_call", "attributes": ["calls"] }],

  // What is measured.
  "usageMeters": [{
    "id": "um.calls", "name": "calls", "schema": "api_call",
    /* each call */
    "sum": "calls"
  }],
  "pricePlans": [{
    "id": "team", "name": "Team", "cycle": "MONTHLY",
    "usage": [{
      "meter": "um.calls",
      "tiers": [
        { "upTo": 1000, "rate": 0 }, // free
        { "rate": "0.0020" }
      ]
    }],
    "fees": [
      // What is sold.
      // No others.
      { "id": "fee", "name": "The fee", "rate": 49 } // for the platform
    ]
  }]
}
// The end.
`;

describe("ratebook format", () => {
  const SILENT = { code: 0, out: "", err: "" };

  test("writes the short form in place, each comment at what its part became", async () => {
    files.file("book.jsonc", LONG);
    expect(await files.run("format book.jsonc")).toEqual(SILENT);
    expect(files.read("book.jsonc")).toBe(SHORT);
    expect(await files.run("format book.jsonc --check")).toEqual(SILENT);
  });

  test("writes the long form to a file", async () => {
    files.file("short.jsonc", SHORT);
    expect(await files.run("format short.jsonc --long -o long.json")).toEqual(SILENT);
    expect(files.read("short.jsonc")).toBe(SHORT);
    const long = files.read("long.json");
    expect(long).toContain(`{ "order": 1, "startAfter": 0, "endAt": 1000, "priceType": "PER_UNIT" }, // free\n`);
    expect(formatComparable(toBook(long))).toBe(formatComparable(toBook(SHORT)));
    expect(await files.run("format long.json --long --check")).toEqual(SILENT);
  });

  test.each([
    [
      "--check says that a file would change",
      "--check",
      LONG,
      /^book\.json: not formatted; run ratebook format book\.json\n$/,
    ],
    ["a wrong book has problems", "--long", '{ "acounts": [] }', /^book\.json:1:3: \$\.acounts: /],
  ])("%s, and nothing is written", async (_, option, content, sentence) => {
    files.file("book.json", content);
    const { code, out, err } = await files.run(`format book.json ${option}`);
    expect([code, out, err]).toEqual([1, "", expect.stringMatching(sentence)]);
    expect(files.read("book.json")).toBe(content);
  });

  test.each([
    ["--short --long", "--short and --long exclude each other"],
    ["--check -o x.json", "--check writes nothing; remove --output"],
  ])("%j is wrong usage", async (options, sentence) => {
    files.file("b.json", SHORT);
    expect(await files.run(`format b.json ${options}`)).toEqual(failure(sentence, 2));
  });

  test("keeps the line ends of Windows", () => {
    expect(formatBookText(LONG.replaceAll("\n", "\r\n"), "short")).toBe(SHORT.replaceAll("\n", "\r\n"));
  });
});

test("keeps the text of each number that the other form has too", () => {
  const tiers = `[{ "upTo": 1000.0, "rate": 0.00 }, { "rate": 2.50, "flat": 1e2 }]`;
  const short = SHORT.replace('"rate": 49 ', '"rate": 49.00 ').replace(/"tiers": \[[^\]]*\]/, `"tiers": ${tiers}`);
  const formatted = formatBookText(short, "short");
  expect(formatted).toContain(`      "tiers": ${tiers}\n`);
  expect(formatted).toContain(`"rate": 49.00 `);
  const long = formatBookText(formatted, "long");
  for (const field of [`"endAt": 1000.0`, `"rate": 0.00`, `"rate": 2.50`, `"flatRate": 1e2`, `"rate": 49.00`])
    expect(long).toContain(field);
  expect(formatBookText(long, "short")).toContain(`      "tiers": ${tiers}\n`);
  // The short form has this rate as one per 1,000,000 units.
  const small = formatBookText(long.replace("2.50", "0.000050"), "short");
  expect(small).toContain(`{ "rate": 50, "flat": 1e2 }`);
});

/** The book of a text with comments. */
function toBook(text: string): unknown {
  const document = parseJsonDocument(text);
  return parseBook("value" in document ? document.value : undefined);
}

/** A text with comments between its tokens. */
function addComments(text: string, places: readonly number[]): { readonly text: string; readonly marks: string[] } {
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[[\]{}:,]|[^\s[\]{}:,"]+/g) ?? [];
  const marks: string[] = [];
  for (const [index, place] of places.entries()) {
    const at = place % (tokens.length + 1);
    const mark = index % 2 === 0 ? `/* note ${index} */` : `// note ${index}\n`;
    tokens.splice(at, 0, index % 3 === 0 ? `\n${mark}` : mark);
    marks.push(mark.trim());
  }
  return { text: tokens.join(" "), marks };
}

/** The law of formatting: no comment is lost, twice is the same as once, and the book is the same. */
function expectFormatted(text: string, marks: readonly string[]): void {
  const book = formatComparable(toBook(text));
  const long = formatBookText(text, "long");
  const texts = [long, formatBookText(text, "short"), formatBookText(long, "short")];
  for (const formatted of [...texts, formatBookText(texts[1] ?? "", "long")]) {
    expect((formatted.match(/(?:\/\*|\/\/) note \d+(?: \*\/)?/g) ?? []).toSorted()).toEqual(marks.toSorted());
    expect(formatComparable(toBook(formatted))).toBe(book);
  }
  expect(formatBookText(long, "long")).toBe(long);
  for (const short of texts.slice(1)) expect(formatBookText(short, "short")).toBe(short);
}

describe("formatting keeps the comments and the book", () => {
  test("of random books", { timeout: 60_000 }, () => {
    fc.assert(
      fc.property(bookArbitrary(), fc.array(fc.nat(3000), { maxLength: 12 }), (book, places) => {
        const { text, marks } = addComments(JSON.stringify(book), places);
        expectFormatted(text, marks);
      }),
      { numRuns: 10, endOnFailure: true },
    );
  });

  test.each(["llm-api", "seats-and-usage", "cloud-storage"])("of the example %s", (example) => {
    for (const step of [1, 7, 37]) {
      const places = Array.from({ length: 60 }, (_, index) => index * step);
      const { text, marks } = addComments(JSON.stringify(JSON.parse(exampleText(example, "book.json"))), places);
      expectFormatted(text, marks);
    }
  });
});

test.each(["llm-api", "cloud-storage", "seats-and-usage"])("the example %s is formatted", (example) => {
  const text = exampleText(example, "book.json");
  expect(formatBookText(text, "short")).toBe(text);
});
