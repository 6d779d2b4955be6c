import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { parseBook } from "../../src/book/book.ts";
import type { Book } from "../../src/book/resources/book.ts";
import { formatInstant } from "../../src/calendar/instant.ts";
import { stringifyJson } from "../../src/numbers/json.ts";
import { bookArbitrary } from "../../src/testing.ts";
import { listProblems } from "./break-book.ts";
import { sampleBook } from "./sample-book.ts";

/** Converts a book to a document: dates and constants as text, rules as their source text. */
function writeBook(book: Book): string {
  const rule = (value: unknown): unknown => (value === undefined ? undefined : stringifyJson(value));
  const dateFields = new Set(["effectiveFrom", "effectiveUntil", "decidedAt"]);
  const text = stringifyJson({
    ...book,
    eventSchemas: book.eventSchemas.map((schema) => ({
      ...schema,
      enrichments: {
        ...schema.enrichments,
        fields: schema.enrichments.fields.map((field) =>
          field.enrichmentType === "JSON_LOGIC" ? { ...field, value: rule(field.value) } : field,
        ),
      },
    })),
    usageMeters: book.usageMeters.map((meter) => ({
      ...meter,
      computations: meter.computations.map((step) => ({
        ...step,
        matcher: rule(step.matcher),
        computation: rule(step.computation),
      })),
    })),
  });
  return text.replace(/"(\w+)":(-?\d+)(?=[,}])/g, (all, key: string, number: string) =>
    dateFields.has(key) ? `"${key}":"${formatInstant(Number(number))}"` : all,
  );
}

describe("readBook", () => {
  test("reads every valid book, and reads the result written as a document to an equal book", () => {
    fc.assert(
      fc.property(bookArbitrary({ groups: {} }), (document) => {
        const book = parseBook(document);
        expect(book.accounts.map(({ id }) => id)).toEqual(document.accounts?.map(({ id }) => id));
        expect(parseBook(writeBook(book))).toEqual(book);
      }),
      { numRuns: 30 },
    );
  });

  test("reads the sample book, and reads the result written as a document to an equal book", () => {
    const book = parseBook(sampleBook());
    expect(parseBook(writeBook(book))).toEqual(book);
  });

  test("returns a book or problems for any value anywhere in a document", () => {
    const places = placesIn(sampleBook());
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom(...places), fc.jsonValue()), { minLength: 1, maxLength: 3 }),
        (changes) => {
          const document = changes.reduce<unknown>(
            (book, [place, value]) => replacedAt(book, place, value),
            sampleBook(),
          );
          for (const problem of listProblems(() => parseBook(document))) {
            expect(problem).toMatch(/^\$.*: ./);
            expect(problem).not.toMatch(/\n|undefined|\[object/);
          }
        },
      ),
      { numRuns: 100 },
    );
  });
});

type Place = readonly (string | number)[];

/** Every path of a document, from the root's fields down. */
function placesIn(value: unknown, at: Place = []): Place[] {
  if (typeof value !== "object" || value === null) return [at];
  const below = Object.entries(value).flatMap(([key, part]) =>
    placesIn(part, [...at, Array.isArray(value) ? Number(key) : key]),
  );
  return at.length === 0 ? below : [at, ...below];
}

function replacedAt(value: unknown, [step, ...rest]: Place, by: unknown): unknown {
  if (step === undefined) return by;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item: unknown, at) => (at === step ? replacedAt(item, rest, by) : item));
  const entries = Object.entries(value).map(([key, part]): [string, unknown] => [
    key,
    key === step ? replacedAt(part, rest, by) : part,
  ]);
  return Object.fromEntries(entries);
}
