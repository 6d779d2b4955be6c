/**
 * Laws of a whole book: what its invoices and its engine keep, whatever is used.
 *
 * @module
 */
import type { Arbitrary, IAsyncPropertyWithHooks, IPropertyWithHooks } from "fast-check";

import { readBook } from "../book/book.ts";
import type { BookInput } from "../book/model/book.ts";
import { DAY_MS, formatDate, toInstant } from "../calendar/instant.ts";
import { RatebookError } from "../errors.ts";
import { allLines, type Invoice, type InvoiceLine } from "../invoicing/invoice.ts";
import { netTotal } from "../invoicing/paid-in-all.ts";
import { isCompleted } from "../ledger/outcome.ts";
import { preview } from "../ledger/preview/preview.ts";
import {
  add,
  type Decimal,
  type DecimalInput,
  parseDecimal,
  subtract,
  sum,
  formatDecimal,
  ZERO,
} from "../numbers/decimal.ts";
import { accountIdsOf, daysOf, eventsFor, type EventOptions, schemasOf, type SentEvent } from "./events-arbitrary.ts";
import { fastCheck } from "./fast-check.ts";
import { drawnFrom, type OneOrRandom } from "./given.ts";
import {
  activeBook,
  batchesFor,
  contentText,
  dayBefore,
  type HistoryEvent,
  historyFor,
  type HistoryStep,
  historyTable,
  startHistory,
} from "./history.ts";
import { bookTables, shownAs, tableOf } from "./report.ts";

/** A book and events that it takes. */
export interface UsedBook {
  readonly book: BookInput;
  readonly events: readonly SentEvent[];
}

/** Events as a table. */
function eventTable(events: readonly SentEvent[]): string {
  return tableOf(
    ["account", "time", "event"],
    events.map((event) => [event.accountId, event.timestamp, contentText(event)]),
  );
}

function showUsed({ book, events }: UsedBook): string {
  return `${bookTables(book)}\n${eventTable(events)}`;
}

/** The book, or random ones, each with events of its own. */
function usedBooks(book: OneOrRandom<BookInput>, options: EventOptions): Arbitrary<UsedBook> {
  return drawnFrom(book).chain((given) =>
    eventsFor(given, options).map((events) => shownAs({ book: given, events }, showUsed)),
  );
}

/** The invoices of the cycles that the days of the events touch. */
function invoicesOf({ book, events }: UsedBook, options: EventOptions): readonly Invoice[] {
  return preview(readBook(book), events, daysOf(book, options)).invoices;
}

/** An invoice in one line. */
function headOf({ accountId, invoiceType, startDate, endDate, currency, revenueInfo }: Invoice): string {
  const period = `${startDate.slice(0, 10)} to ${endDate.slice(0, 10)}`;
  return `${accountId} ${invoiceType} ${period}: ${formatDecimal(revenueInfo.value)} ${currency}`;
}

/** All that an invoice says of money, as text. */
function textOfInvoice(invoice: Invoice): string {
  const lines = allLines(invoice.revenueInfo).map(
    ({ type, id = "", quantity, value }) =>
      `${type} ${id} ${quantity === undefined ? "" : formatDecimal(quantity)} ${formatDecimal(value)}`,
  );
  const { invoiceDate, pricePlanId, pricePlanVersion } = invoice;
  return [headOf(invoice), `${invoiceDate} ${pricePlanId}@${pricePlanVersion}`, ...lines].join("\n");
}

/**
 * The law that every line of every invoice is the sum of the lines right below it, to the cent, and that the slabs of a
 * tiered usage card hold all that was used of its meter, each unit once (S1.5, S7.2).
 *
 * @param book a book, or an arbitrary of books
 * @throws {RatebookError} ERR_BOOK_INVALID; ERR_REFUSED without fast-check
 */
export function linesAddUp(book: OneOrRandom<BookInput>, options: EventOptions = {}): IPropertyWithHooks<[UsedBook]> {
  return fastCheck().property(usedBooks(book, options), (used) => {
    for (const invoice of invoicesOf(used, options)) checkLine(invoice.revenueInfo, invoice);
  });
}

function checkLine(line: InvoiceLine, invoice: Invoice): void {
  const { type, id = "", value, quantity, lineItems } = line;
  if (lineItems === undefined) return;
  const below = sum(lineItems.map((item) => item.value));
  if (!below.eq(value)) {
    throw new Error(
      `the lines do not add up: ${type} ${id} is ${formatDecimal(value)}, the lines below it are ${formatDecimal(below)}, on ${headOf(invoice)}`,
    );
  }
  const slabs = lineItems.filter((item) => item.type === "USAGE_RATE_CARD_SLAB_AMOUNT");
  const held = sum(slabs.map((slab) => slab.quantity ?? ZERO));
  if (type === "USAGE_RATE_CARD_AMOUNT" && slabs.length > 0 && quantity !== undefined && !held.eq(quantity)) {
    throw new Error(
      `the slabs do not add up: ${formatDecimal(quantity)} of ${id} were used, the slabs hold ${formatDecimal(held)}, on ${headOf(invoice)}`,
    );
  }
  for (const item of lineItems) checkLine(item, invoice);
}

/** A book, events, and the same events in another order, some of them twice. */
export interface ShuffledBook extends UsedBook {
  readonly shuffled: readonly SentEvent[];
}

/**
 * The law that events may come in any order, and may come again: the invoices are the same (S14.4). Schemas whose events take
 * of a feature are left out: of these the first to come are served.
 *
 * @param book a book, or an arbitrary of books
 * @throws {RatebookError} ERR_INPUT_INVALID for a book all of whose schemas take of a feature; ERR_BOOK_INVALID;
 * ERR_REFUSED without fast-check
 */
export function orderOfEventsDoesNotMatter(
  book: OneOrRandom<BookInput>,
  options: EventOptions = {},
): IPropertyWithHooks<[ShuffledBook]> {
  const fc = fastCheck();
  const cases = drawnFrom(book).chain((given) =>
    eventsFor(given, { ...options, schemas: options.schemas ?? schemasWithoutFeatures(given) }).chain((events) =>
      fc
        .shuffledSubarray([...events, ...events], { minLength: 2 * events.length })
        .map((shuffled) =>
          shownAs(
            { book: given, events, shuffled },
            (shown) => `${showUsed(shown)}\n  in this order\n${eventTable(shown.shuffled)}`,
          ),
        ),
    ),
  );
  return fc.property(cases, ({ book, events, shuffled }) => {
    const inOrder = invoicesOf({ book, events }, options);
    const outOfOrder = invoicesOf({ book, events: shuffled }, options);
    compareInvoices(inOrder, outOfOrder, "in order", "out of order");
  });
}

function schemasWithoutFeatures(book: BookInput): readonly string[] {
  const { all, taking } = schemasOf(book);
  const plain = all.filter((name) => !taking.has(name));
  if (plain.length > 0) return plain;
  const message = "expected a schema whose events take of no feature: where all do, the order matters";
  throw new RatebookError("ERR_INPUT_INVALID", message, { problems: [{ path: "$.features", message }] });
}

/** @throws where the invoices are not the same */
function compareInvoices(some: readonly Invoice[], others: readonly Invoice[], first: string, second: string): void {
  const texts = (invoices: readonly Invoice[]): readonly string[] => invoices.map(textOfInvoice).toSorted();
  const [a, b] = [texts(some), texts(others)];
  if (a.length === b.length && a.every((text, index) => text === b[index])) return;
  const [onlyA, onlyB] = [a.filter((text) => !b.includes(text)), b.filter((text) => !a.includes(text))];
  throw new Error(
    `the invoices differ: ${first}\n${onlyA.join("\n") || "(none)"}\n${second}\n${onlyB.join("\n") || "(none)"}`,
  );
}

/** A book and what happens to its accounts: a history, then a batch of events that is taken back. */
export interface UndoneBook {
  readonly book: BookInput;
  readonly history: readonly HistoryStep[];
  readonly batch: readonly HistoryEvent[];
}

/**
 * The law that an undo takes back all that an ingest did, whatever was done before: usage by account, meter and day is as it
 * was, and for each feature the balance and the overage (S15.4). Entries that fall due with the batch are granted before it
 * is looked at.
 *
 * @param book a book, or an arbitrary of books
 * @throws {RatebookError} ERR_BOOK_INVALID; ERR_REFUSED without fast-check
 */
export function undoRestores(
  book: OneOrRandom<BookInput>,
  options: EventOptions = {},
): IAsyncPropertyWithHooks<[UndoneBook]> {
  const fc = fastCheck();
  const cases = drawnFrom(book).chain((given) =>
    fc
      .tuple(historyFor(given, options), batchesFor(given, options))
      .map(([history, batch]) =>
        shownAs({ book: given, history, batch }, (shown) =>
          [
            bookTables(shown.book),
            historyTable([...shown.history, { kind: "ingest", events: shown.batch }]),
            "  the last step is undone",
          ].join("\n"),
        ),
      ),
  );
  return fc.asyncProperty(cases, async ({ book, history, batch }) => {
    const played = await startHistory(book, toInstant(daysOf(book, options).from) + 40 * DAY_MS);
    for (const step of history) await played.play(step);
    const { engine, store } = played;
    const thereAndBack = async (): Promise<void> => {
      for (const { accountId, referenceId, status } of await ingested(played, batch)) {
        if (isCompleted(status) && referenceId !== undefined) await engine.undo({ account: accountId, referenceId });
      }
    };
    const accountIds = accountIdsOf(book);
    const before = await heldIn(store, accountIds);
    await thereAndBack();
    const after = await heldIn(store, accountIds);
    compareHeld(before.usage, after.usage);
    // What falls due up to the latest event of the batch has been granted: from here on balances are the events' alone.
    await thereAndBack();
    const again = await heldIn(store, accountIds);
    compareHeld([...after.usage, ...after.features], [...again.usage, ...again.features]);
  });
}

type Played = Awaited<ReturnType<typeof startHistory>>;
type Ingested = Awaited<ReturnType<Played["engine"]["ingest"]>>[number] & { readonly accountId: string };

/** What came of each event of a batch, the last first. */
async function ingested({ engine, sent }: Played, batch: readonly HistoryEvent[]): Promise<readonly Ingested[]> {
  const results = await engine.ingest(batch.map(sent));
  return results.map((result, index) => ({ ...result, accountId: batch[index]?.accountId ?? "" })).toReversed();
}

/** What accounts hold, a sentence each. */
interface Held {
  readonly usage: readonly string[];
  readonly features: readonly string[];
}

async function heldIn({ read }: Played["store"], accountIds: readonly string[]): Promise<Held> {
  const [from, until] = [-1_000_000, 1_000_000];
  const usage = await read.usage(accountIds, from, until);
  const sums = new Map<string, Decimal>();
  const count = (key: string, quantity: Decimal): void => void sums.set(key, add(sums.get(key) ?? ZERO, quantity));
  for (const { accountId, meterOrFeatureId, quantity } of await read.overage(accountIds, from, until))
    count(`overage of ${meterOrFeatureId} of ${accountId}`, quantity);
  for (const { accountId, featureId, balance } of await read.entries(accountIds))
    count(`balance of ${featureId} of ${accountId}`, balance);
  return {
    usage: usage
      .filter(({ quantity }) => !quantity.isZero())
      .map(({ accountId, meterOrFeatureId, day, quantity }) => {
        return `${formatDecimal(quantity)} of ${meterOrFeatureId} of ${accountId} on ${formatDate(day * DAY_MS)}`;
      })
      .toSorted(),
    features: [...sums]
      .flatMap(([key, quantity]) => (quantity.isZero() ? [] : [`${formatDecimal(quantity)} ${key}`]))
      .toSorted(),
  };
}

function compareHeld(before: readonly string[], after: readonly string[]): void {
  const gone = before.filter((text) => !after.includes(text));
  const made = after.filter((text) => !before.includes(text));
  if (gone.length + made.length === 0) return;
  throw new Error(
    `the undo left something: before ${gone.join(", ") || "nothing"}, after ${made.join(", ") || "nothing"}`,
  );
}

/**
 * The law that a preview shows the invoices that an engine makes final: the book is loaded the day before anything begins,
 * each event is sent at its own time, and all falls due (S13.5).
 *
 * @param book a book, or an arbitrary of books
 * @throws {RatebookError} ERR_BOOK_INVALID; ERR_REFUSED without fast-check
 */
export function previewIsInvoice(
  book: OneOrRandom<BookInput>,
  options: EventOptions = {},
): IAsyncPropertyWithHooks<[UsedBook]> {
  return fastCheck().asyncProperty(usedBooks(book, options), async ({ book, events }) => {
    const range = { from: daysOf(book).from, until: daysOf(book, options).until };
    const previewed = preview(readBook(activeBook(book)), events, range).invoices;
    const { engine, store, waitUntil } = await startHistory(book, dayBefore(book));
    for (const event of events) {
      waitUntil(toInstant(event.timestamp));
      await engine.ingest([event]);
    }
    waitUntil(toInstant(range.until) + daysToFinal(book) * DAY_MS);
    await engine.finalize();
    const finals = (await store.read.invoices(accountIdsOf(book), Number.NEGATIVE_INFINITY)).map(
      ({ invoice }) => invoice,
    );
    const asked = finals.filter(({ startDate }) => toInstant(startDate) < toInstant(range.until));
    compareInvoices(previewed, asked, "previewed", "made final");
  });
}

const DAYS_OF = { WEEKLY: 7, MONTHLY: 31, QUARTERLY: 92, HALF_YEARLY: 184, ANNUALLY: 366 } as const;

/** After so many days every cycle that began is final: the longest of the book's, with its grace. */
function daysToFinal({ pricePlans }: BookInput): number {
  const days = (pricePlans ?? []).map(({ pricePlanDetails: { pricingCycleConfig: config } }) =>
    config ? DAYS_OF[config.interval] + (config.gracePeriod ?? 0) : DAYS_OF.MONTHLY,
  );
  return Math.max(0, ...days) + 1;
}

/** Which revenue is expected of which usage. */
export interface RevenueBounds extends EventOptions {
  /** The least that each account pays in all, in major units of its currency; default: any. */
  readonly atLeast?: DecimalInput;
  /** The most that each account pays in all, in major units of its currency; default: any. */
  readonly atMost?: DecimalInput;
  /** The usage that is looked at; default that of {@link eventsFor}. */
  readonly events?: Arbitrary<readonly SentEvent[]>;
}

/**
 * The law that each account pays, over all cycles that `[from, until)` touches and after credits, at least and at most so
 * much, whatever it uses of what is drawn.
 *
 * @param book a book, or an arbitrary of books
 * @throws {RatebookError} ERR_NUMBER_INVALID for a bound that is no decimal; ERR_BOOK_INVALID; ERR_REFUSED without fast-check
 * @example
 * ```ts
 * const events = eventsFor(book, { values: fc.nat(1000), eventsMax: 10 });
 * test("10,000 calls a month cost at most 500", () => {
 *   fc.assert(revenueWithin(book, { atMost: 500, events }));
 * });
 * ```
 */
export function revenueWithin(book: OneOrRandom<BookInput>, bounds: RevenueBounds): IPropertyWithHooks<[UsedBook]> {
  const { atLeast, atMost, events, ...options } = bounds;
  const [low, high] = [atLeast, atMost].map((bound) => (bound === undefined ? undefined : parseDecimal(bound)));
  const cases =
    events === undefined
      ? usedBooks(book, options)
      : drawnFrom(book).chain((given) => events.map((drawn) => shownAs({ book: given, events: drawn }, showUsed)));
  return fastCheck().property(cases, (used) => {
    const invoices = invoicesOf(used, options);
    for (const accountId of accountIdsOf(used.book)) {
      const paid = netTotal(invoices.filter((each) => each.accountId === accountId));
      const isLess = low !== undefined && subtract(paid, low).isNegative();
      const isMore = high !== undefined && paid.gt(high);
      if (isLess || isMore)
        throw new Error(
          `account ${accountId} pays ${formatDecimal(paid)}, expected ${isLess ? `at least ${formatDecimal(low)}` : `at most ${formatDecimal(high ?? ZERO)}`}`,
        );
    }
  });
}
