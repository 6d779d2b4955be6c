/** The law of price tables: the order of rows changes no amount (S18.2). */
import type { Arbitrary, IPropertyWithHooks } from "fast-check";

import type { BookSource } from "../book/book.ts";
import type { BookInput } from "../book/resources/book.ts";
import {
  bookWithEventsArbitrary,
  type BookWithEvents,
  compareInvoices,
  formatBookWithEvents,
  formatCharges,
  previewInvoices,
} from "./book-laws.ts";
import type { EventOptions } from "./events-arbitrary.ts";
import { fastCheck, type ValueOrArbitrary } from "./fast-check.ts";
import { formatBook, withPrintedText } from "./report.ts";

/** A book, events, and the same book with the rows of its price tables in another order. */
export interface BookWithShuffledRows extends BookWithEvents {
  readonly shuffled: BookInput;
}

/**
 * The law that the order of the rows of price tables doesn't change what accounts pay (S18.2). It can be false for a
 * table with an allowance for all rows, which its first rows take (S18.5).
 *
 * @throws {RatebookError} ERR_BOOK_INVALID; ERR_REFUSED without fast-check
 */
export function orderOfRowsDoesNotMatter(
  book: ValueOrArbitrary<BookSource>,
  options: EventOptions = {},
): IPropertyWithHooks<[BookWithShuffledRows]> {
  const cases = bookWithEventsArbitrary(book, options).chain((bookWithEvents) =>
    shuffledRowsArbitrary(bookWithEvents.book).map((shuffled) =>
      withPrintedText(
        { ...bookWithEvents, shuffled },
        (value) => `${formatBookWithEvents(value)}\n  with rows in this order\n${formatBook(value.shuffled)}`,
      ),
    ),
  );
  return fastCheck().property(cases, ({ book: ordered, events, shuffled }) => {
    const orderedInvoices = previewInvoices({ book: ordered, events }, options);
    const shuffledInvoices = previewInvoices({ book: shuffled, events }, options);
    compareInvoices(orderedInvoices, shuffledInvoices, "in order", "in another order", formatCharges);
  });
}

/** The book with the rows of each price table in random order. */
function shuffledRowsArbitrary(book: BookInput): Arbitrary<BookInput> {
  const fc = fastCheck();
  const plans = (book.pricePlans ?? []).map(({ pricePlanDetails: details, ...plan }) => {
    const cards = (details.usageRateCards ?? []).map((card) => {
      const { rateTable } = card;
      if (!rateTable) return fc.constant(card);
      const { rows } = rateTable;
      const shuffles = fc.shuffledSubarray([...rows], { minLength: rows.length });
      return shuffles.map((shuffled) => ({ ...card, rateTable: { ...rateTable, rows: shuffled } }));
    });
    return fc.tuple(...cards).map((usageRateCards) => ({ ...plan, pricePlanDetails: { ...details, usageRateCards } }));
  });
  return fc.tuple(...plans).map((pricePlans) => ({ ...book, pricePlans }));
}
