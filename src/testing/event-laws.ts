/** Laws about a book's meters: what an account pays if measurements are repeated, and if there are more events (S19.1). */
import type { Arbitrary, IPropertyWithHooks } from "fast-check";

import type { BookSource } from "../book/book.ts";
import { netTotal } from "../invoicing/invoice.ts";
import { formatDecimal } from "../numbers/decimal.ts";
import {
  bookWithEventsArbitrary,
  type BookWithEvents,
  compareInvoices,
  formatBookWithEvents,
  formatEventTable,
  previewInvoices,
} from "./book-laws.ts";
import { type EventOptions, type GeneratedEvent, listAccountIds } from "./events-arbitrary.ts";
import { fastCheck, type ValueOrArbitrary } from "./fast-check.ts";
import { withPrintedText } from "./report.ts";

/** A book with events, and some of these events. */
export interface BookWithSomeEvents extends BookWithEvents {
  readonly some: readonly GeneratedEvent[];
}

function someEventsArbitrary(
  book: ValueOrArbitrary<BookSource>,
  options: EventOptions,
  label: string,
): Arbitrary<BookWithSomeEvents> {
  const fc = fastCheck();
  return bookWithEventsArbitrary(book, options).chain((bookWithEvents) =>
    fc
      .subarray([...bookWithEvents.events])
      .map((some) =>
        withPrintedText(
          { ...bookWithEvents, some },
          (value) => `${formatBookWithEvents(value)}\n  ${label}\n${formatEventTable(value.some)}`,
        ),
      ),
  );
}

/**
 * The law that a measurement that is sent again under another id changes no invoice. It is true for peaks, lows, last
 * values, levels and counts of different values, and false for a meter that counts, sums or adds changes (S19.1).
 *
 * @throws {RatebookError} ERR_BOOK_INVALID; ERR_REFUSED without fast-check
 */
export function repeatedMeasurementsDoNotMatter(
  book: ValueOrArbitrary<BookSource>,
  options: EventOptions = {},
): IPropertyWithHooks<[BookWithSomeEvents]> {
  const cases = someEventsArbitrary(book, options, "with these sent again");
  return fastCheck().property(cases, ({ book: input, events, some }) => {
    const again = some.map((event) => ({ ...event, id: `${event.id}-again` }));
    const once = previewInvoices({ book: input, events }, options);
    compareInvoices(once, previewInvoices({ book: input, events: [...events, ...again] }, options), "once", "again");
  });
}

/**
 * The law that no account pays less with more events. It is false where a price falls as a quantity grows, and may be
 * false for lows, last values, levels, negative values, and features whose credits run out (S19.1).
 *
 * @throws {RatebookError} ERR_BOOK_INVALID; ERR_REFUSED without fast-check
 */
export function moreEventsNeverCostLess(
  book: ValueOrArbitrary<BookSource>,
  options: EventOptions = {},
): IPropertyWithHooks<[BookWithSomeEvents]> {
  const cases = someEventsArbitrary(book, options, "of which only these are sent");
  return fastCheck().property(cases, ({ book: input, events, some }) => {
    const [all, fewer] = [events, some].map((sent) => previewInvoices({ book: input, events: sent }, options));
    for (const accountId of listAccountIds(input)) {
      const [most, least] = [all, fewer].map((list = []) =>
        netTotal(list.filter((each) => each.accountId === accountId)),
      );
      if (most && least?.gt(most))
        throw new Error(
          `account ${accountId} pays ${formatDecimal(most)} for all events, and ${formatDecimal(least)} for some of them`,
        );
    }
  });
}
