/** Everything that takes a book takes it in any of its forms. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";

import {
  backtest,
  type BookInput,
  type BookSource,
  createPreview,
  lintBook,
  meter,
  parseBook,
  preview,
} from "../../src/index.ts";
import { eventsArbitrary, linesAddUp } from "../../src/testing.ts";
import { exampleEvents, exampleText, previewExample } from "../support/examples.ts";

describe("a book in any form", () => {
  const text = exampleText("cloud-storage", "book.json");
  const events = exampleEvents("cloud-storage", "events.ndjson");
  const expected = previewExample("cloud-storage", events).invoices;

  test.each<readonly [string, BookSource]>([
    ["a text", text],
    ["an object as it is written", JSON.parse(text) as BookInput],
    ["a book that was read", parseBook(text)],
    ["a copy of a book that was read", { ...parseBook(text) }],
  ])("%s is previewed, metered, compared with a draft and linted", (_, source) => {
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

  test.each([undefined, null, 5, [], "", { accounts: [{ id: 5 }] }])("%j is no book", (source) => {
    expect(() => preview(source as BookSource, [])).toThrow(
      expect.objectContaining({ code: "ERR_BOOK_INVALID" }) as Error,
    );
  });
});

test("laws and arbitraries take a book in any form", () => {
  const text = exampleText("cloud-storage", "book.json");
  const written = JSON.parse(text) as BookInput;
  const drawn = (book: BookSource): unknown => fc.sample(eventsArbitrary(book), { seed: 1, numRuns: 3 });
  for (const source of [text, parseBook(text), parseBook(written)]) {
    expect(drawn(source)).toEqual(drawn(written));
    fc.assert(linesAddUp(source), { seed: 1, numRuns: 3 });
  }
});
