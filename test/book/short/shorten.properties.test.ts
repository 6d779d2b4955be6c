/** The short form of a book is the same book: over random books, the examples, the vectors and the golden cases (book.md). */
import { readFileSync } from "node:fs";
import { join } from "node:path";

import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { parseBook, toBookInput } from "../../../src/book/book.ts";
import { shortenBook } from "../../../src/book/short/book-forms.ts";
import { formatComparable } from "../../../src/book/short/fields.ts";
import { type BookInput, preview, type ShortBookInput } from "../../../src/index.ts";
import { bookArbitrary } from "../../../src/testing.ts";
import { exampleText } from "../../support/examples.ts";
import { goldenCases } from "../../support/golden.ts";
import { catalogBook } from "../catalog-book.ts";
import { sampleBook } from "../sample-book.ts";

/** The short form of a book in any form. */
function shorten(book: BookInput | ShortBookInput): ShortBookInput {
  return shortenBook({ ...book });
}

/** Long to short to long is the same book; short to long to short is the same text. */
function expectSameBook(book: BookInput | ShortBookInput): void {
  const short = shorten(book);
  expect(formatComparable(parseBook(short))).toBe(formatComparable(parseBook(book)));
  expect(shorten(toBookInput(short))).toEqual(short);
  expect(shorten(short)).toEqual(short);
}

describe("shortening a book", () => {
  test("random books", { timeout: 60_000 }, () => {
    fc.assert(
      fc.property(bookArbitrary(), (book) => {
        expectSameBook(book);
      }),
      { numRuns: 40 },
    );
  });

  test("random books in another currency", { timeout: 60_000 }, () => {
    fc.assert(
      fc.property(bookArbitrary({ currency: "EUR" }), (book) => {
        expectSameBook(book);
        expectSameBook({ ...book, organization: { id: "acme", baseCurrency: "EUR" } });
      }),
      { numRuns: 15 },
    );
  });

  test.each(["llm-api", "seats-and-usage", "cloud-storage"])("the example %s", (example) => {
    expectSameBook(toBookInput(exampleText(example, "book.json")));
  });

  test("the book with every kind of resource", () => {
    expectSameBook(sampleBook());
  });

  test.each(goldenCases().map((golden) => [golden.it, golden] as const))("golden: %s", (_, golden) => {
    const book = toBookInput(catalogBook(golden.book));
    expectSameBook(book);
    const invoicesOf = (source: BookInput | ShortBookInput): unknown =>
      preview(source, golden.events as never, golden.options).invoices;
    expect(invoicesOf(shorten(book))).toEqual(invoicesOf(book));
  });

  const { vectors } = JSON.parse(
    readFileSync(join(import.meta.dirname, "../../../docs/vectors/vectors.json"), "utf8"),
  ) as { readonly vectors: readonly { readonly id: string; readonly input: Readonly<Record<string, object>> }[] };
  const usageMeterId = "um.calls";
  const plan = { id: "p", name: "Plan", status: "DRAFT" } as const;
  const details = vectors.flatMap(({ id, input: { book, ratePlan, rateValue, pricingCycleConfig } }) => {
    const usageRateCards = [{ usageMeterId, ratePlan, rateValues: [rateValue] }];
    const supportedCurrencies = [Reflect.get(rateValue ?? {}, "currency") ?? "USD"];
    if (book !== undefined) return [[id, book] as const];
    if (ratePlan !== undefined) return [[id, { supportedCurrencies, usageRateCards }] as const];
    return pricingCycleConfig === undefined ? [] : [[id, { supportedCurrencies, pricingCycleConfig }] as const];
  });
  test.each(details)("the vector %s", (_, part) => {
    if ("usageRateCards" in part || "pricingCycleConfig" in part)
      expectSameBook({ ...toBookInput(catalogBook({})), pricePlans: [{ ...plan, pricePlanDetails: part as never }] });
    else expectSameBook(toBookInput(part));
  });
});
