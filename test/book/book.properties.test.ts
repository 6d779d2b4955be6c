import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { parseBook } from "../../src/book/book.ts";
import type { Book } from "../../src/book/resources/book.ts";
import { formatInstant } from "../../src/calendar/instant.ts";
import { stringifyJson } from "../../src/numbers/json.ts";
import { listProblems } from "./break-book.ts";
import { sampleBook } from "./sample-book.ts";

const decimalText = fc
  .tuple(fc.integer({ min: 0, max: 999_999 }), fc.nat(99))
  .map(([whole, cents]) => `${whole}.${String(cents).padStart(2, "0")}`);
const dateText = fc
  .integer({ min: 0, max: 20_000 })
  .map((day) => new Date(day * 86_400_000).toISOString().slice(0, 10));
const arbitraryIds = (prefix: string) =>
  fc
    .uniqueArray(fc.stringMatching(/^[a-z0-9._-]{1,8}$/), { minLength: 1, maxLength: 4 })
    .map((list) => list.map((id) => `${prefix}${id}`));

/** Ascending slabs from 0, with a rate for each in every currency. */
const pricing = fc
  .tuple(
    fc.uniqueArray(fc.integer({ min: 1, max: 1_000_000 }), { maxLength: 5 }),
    fc.array(decimalText, { minLength: 6, maxLength: 6 }),
    fc.constantFrom("TIERED", "VOLUME"),
    fc.constantFrom("FLAT", "PER_UNIT", "PACKAGE"),
  )
  .map(([bounds, rates, pricingModel, priceType]) => {
    const starts = [0, ...bounds.toSorted((a, b) => a - b)];
    const slabs = starts.map((startAfter, at) => ({
      order: at + 1,
      startAfter,
      endAt: starts[at + 1] ?? null,
      priceType,
      ...(priceType === "PACKAGE" ? { slabConfig: { packageSize: "10" } } : {}),
    }));
    const slabRates = slabs.map(({ order }) => ({ order, rate: rates[order - 1] ?? "0" }));
    return {
      ratePlan: { pricingModel, slabs },
      rateValues: ["USD", "JPY"].map((currency) => ({ currency, slabRates })),
    };
  });

/** A valid book: the sample's catalog with random plans, customers and accounts. */
const validBook = fc
  .record({
    planIds: arbitraryIds("pp-"),
    accountIds: arbitraryIds("acc-"),
    prices: fc.array(pricing, { minLength: 4, maxLength: 4 }),
    currency: fc.constantFrom("USD", "JPY"),
    from: dateText,
    granted: decimalText,
    timing: fc.constantFrom("IN_ARREARS", "IN_ADVANCE", null, undefined),
    byName: fc.boolean(),
  })
  .map(({ planIds, accountIds, prices, currency, from, granted, timing, byName }) => ({
    ...sampleBook(),
    invoiceGroups: [{ id: "g", accountIds }],
    pricePlans: planIds.map((id, at) => ({
      id,
      name: `Plan ${id}`,
      status: "ACTIVE",
      pricePlanDetails: {
        supportedCurrencies: ["USD", "JPY"],
        pricingCycleConfig: { interval: "MONTHLY", startOffset: { dayOffset: "LAST", monthOffset: null } },
        usageRateCards: [{ usageMeterId: byName ? "requests" : "um.requests", ...prices[at] }],
        fixedFeeRateCards: [
          {
            id: "Platform fee",
            invoiceTiming: timing,
            rateValues: ["USD", "JPY"].map((code) => ({ currency: code, rate: granted })),
          },
        ],
      },
    })),
    accounts: accountIds.map((id, at) => ({
      id,
      name: `Account ${id}`,
      customerId: byName ? "Contoso" : "contoso",
      invoiceCurrency: currency,
      aliases: [`alias-${id}`],
      pricePlans: [{ pricePlanId: planIds[at % planIds.length], effectiveFrom: from }],
      credits: [{ purpose: "", creditAmount: granted, effectiveFrom: from }],
    })),
  }));

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
      fc.property(validBook, (document) => {
        const book = parseBook(document);
        expect(book.accounts.map(({ id }) => id)).toEqual(document.accounts.map(({ id }) => id));
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
