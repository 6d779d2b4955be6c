/** The core gets its time and its ids from the caller (S2.3). */
import { randomUUID, webcrypto } from "node:crypto";

import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";

import { preview } from "../../src/ledger/preview/preview.ts";
import type { EventInput } from "../../src/metering/event-envelope.ts";
import { catalogBook } from "../book/catalog-book.ts";
import { type EventLedger, granting, openEvents, requestOf, tokenBook, tokenOverage } from "../ledger/event-harness.ts";
import { goldenCases } from "../support/golden.ts";

const refuse = (what: string) => (): never => {
  throw new Error(`S2.3: the core asked for ${what}`);
};

beforeEach(() => {
  vi.spyOn(Date, "now").mockImplementation(refuse("the time"));
  vi.spyOn(performance, "now").mockImplementation(refuse("the time"));
  vi.spyOn(Math, "random").mockImplementation(refuse("chance"));
  vi.spyOn(webcrypto, "randomUUID").mockImplementation(refuse("an id"));
  vi.stubGlobal(
    "Date",
    new Proxy(Date, {
      construct: (target, args: readonly unknown[]) =>
        args.length === 0 ? refuse("the time")() : (Reflect.construct(target, args) as object),
    }),
  );
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

describe("S2.3 the core reads no clock and generates no id", () => {
  test("S2.3 for previews of all golden cases", () => {
    const cases = goldenCases();
    const invoices = cases.flatMap(
      (golden) => preview(catalogBook(golden.book), golden.events as Iterable<EventInput>, golden.options).invoices,
    );
    expect(invoices.length).toBeGreaterThan(cases.length);
  });

  test("S2.3 for ingest, grants and undo: equal times and ids give equal decisions", async () => {
    // Engines draw a revision when they load a book, and read this clock to yield; no decision depends on it.
    vi.spyOn(Math, "random").mockReturnValue(0.5);
    let elapsed = 0;
    vi.spyOn(performance, "now").mockImplementation(() => (elapsed += 7));
    const book = tokenBook({ ...granting(10), ...tokenOverage(6) });
    const [one, other] = [await openEvents(book), await openEvents(book)];
    vi.spyOn(Math, "random").mockImplementation(refuse("chance"));
    const decideEvents = async (ledger: EventLedger) => {
      const now = "2024-03-05T12:00:00Z";
      const results = await ledger.ingest([requestOf("e1", 12, now), requestOf("e2", 9, now)], now);
      await ledger.grant(5, now, "2024-04-01", now);
      const undone = await ledger.undo({ account: "a", eventId: "e1" }, now);
      const [entries, events] = [await ledger.entries(), await ledger.events()];
      return { results, undone, entries, events, totals: await ledger.totals() };
    };
    expect(await decideEvents(one)).toEqual(await decideEvents(other));
  });

  test("S2.3 would fail this test otherwise", () => {
    expect(() => Date.now()).toThrow("S2.3");
    expect(() => new Date()).toThrow("S2.3");
    expect(() => Math.random()).toThrow("S2.3");
    expect(() => webcrypto.randomUUID()).toThrow("S2.3");
    expect(new Date(0).getTime()).toBe(0);
    expect(randomUUID()).not.toBe("");
  });
});
