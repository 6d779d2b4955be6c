/** Every function that takes a book accepts all of its forms. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";

import {
  backtest,
  type BookInput,
  type BookSource,
  checkPlan,
  createPreview,
  diffInvoices,
  lintBook,
  meter,
  parseBook,
  parsePlan,
  preview,
} from "../../src/index.ts";
import { eventsArbitrary, linesAddUp } from "../../src/testing.ts";
import { exampleEvents, exampleText, longExampleBook, previewExample } from "../support/examples.ts";

describe("a book in any form", () => {
  const written = longExampleBook("cloud-storage");
  const text = JSON.stringify(written);
  const events = exampleEvents("cloud-storage", "events.ndjson");
  const expected = previewExample("cloud-storage", events).invoices;

  const [draft] = written.pricePlans ?? [];
  if (draft === undefined) throw new Error("the example has no plan");
  const sources: readonly (readonly [string, BookSource])[] = [
    ["a text", text],
    ["an input object", written],
    ["a book that was read", parseBook(text)],
    ["a copy of a book that was read", { ...parseBook(text) }],
  ];

  test.each(sources)("%s can be previewed, metered, compared with a draft and linted", (_, source) => {
    expect(preview(source, events).invoices).toEqual(expected);
    const run = createPreview(source);
    for (const event of events) run.add(event);
    expect(run.finish().invoices).toEqual(expected);
    const book = parseBook(text);
    expect(meter(source, events).usage).toEqual(meter(book, events).usage);
    const drafts = book.pricePlans.slice(0, 1);
    expect(backtest(source, drafts, { events })).toEqual(backtest(book, drafts, { events }));
    expect(lintBook(source)).toEqual(lintBook(book));
  });

  test.each([undefined, null, 5, [], "", { accounts: [{ id: 5 }] }])("%j is rejected", (source) => {
    const book = source as BookSource;
    for (const use of [
      () => preview(book, []),
      () => checkPlan(draft, book),
      () => diffInvoices([], [], { books: [written, book] }),
    ])
      expect(use).toThrow(expect.objectContaining({ code: "ERR_BOOK_INVALID" }) as Error);
  });

  test.each(sources)("%s checks a plan", (_, source) => {
    const plan = checkPlan(draft, source);
    expect(plan).toEqual(parseBook(text).pricePlans[0]);
    const fee = { id: "addon.none", invoiceTiming: "IN_ARREARS", type: "RECURRING", rateValues: [] };
    const unknown = { ...draft, pricePlanDetails: { ...draft.pricePlanDetails, fixedFeeRateCards: [fee] } };
    expect(() => parsePlan(unknown, source)).toThrow('"addon.none"');
  });
});

test("laws and arbitraries accept a book in any form", () => {
  const text = exampleText("cloud-storage", "book.json");
  const written = JSON.parse(text) as BookInput;
  const drawn = (book: BookSource): unknown => fc.sample(eventsArbitrary(book), { seed: 1, numRuns: 3 });
  for (const source of [text, parseBook(text), parseBook(written)]) {
    expect(drawn(source)).toEqual(drawn(written));
    fc.assert(linesAddUp(source), { seed: 1, numRuns: 3 });
  }
});
