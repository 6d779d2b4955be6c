/** The law of S13.5 as tests over any store. */
import fc from "fast-check";
import { describe, test } from "vitest";

import type { Store } from "../../../src/store/store.ts";
import { books, longRates, rates } from "./books.ts";
import { arbitraryEvents, values, wideEvents } from "./events.ts";
import { compareEvents, compareInvoices } from "./law.ts";

/** How often each of the tests is run, with its own book, events and store. */
export interface Runs {
  readonly events: number;
  readonly invoices: number;
  /** With amounts so long that some bills can't be calculated (S1.4): how often each of the two tests is run. */
  readonly long: number;
}

/**
 * Defines the tests.
 *
 * @param emptyStore opens an empty store
 */
export function testPreviewLaw(over: string, emptyStore: () => Promise<Store>, runs: Runs): void {
  const runComparison =
    (compare: typeof compareEvents) =>
    async (book: object, events: readonly unknown[]): Promise<void> =>
      compare(book, events, await emptyStore());
  const hostile = [books(rates), arbitraryEvents(values)] as const;
  const long = [books(longRates), wideEvents] as const;

  describe(`S13.5 over ${over}: each event has the same outcome, units and consumption in a preview and an engine`, () => {
    test("S13.5 for any book and events", async () => {
      await fc.assert(fc.asyncProperty(...hostile, runComparison(compareEvents)), { numRuns: runs.events });
    });

    test("S1.4 S13.5 if amounts are so long that bills can't be calculated", async () => {
      await fc.assert(fc.asyncProperty(...long, runComparison(compareEvents)), { numRuns: runs.long });
    });
  });

  describe(`S13.5 over ${over}: a preview has the invoices of an engine`, () => {
    test("S9.2 S9.5 S10.3 S13.5 for any book and events", async () => {
      await fc.assert(fc.asyncProperty(...hostile, runComparison(compareInvoices)), { numRuns: runs.invoices });
    });

    test("S1.4 S13.5 without the accounts whose bill can't be calculated, in both", async () => {
      await fc.assert(fc.asyncProperty(...long, runComparison(compareInvoices)), { numRuns: runs.long });
    });
  });
}
