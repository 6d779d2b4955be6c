/**
 * Laws of a whole book: what its invoices and its engine keep, whatever is used.
 *
 * @module
 */
import type { Arbitrary, IAsyncPropertyWithHooks, IPropertyWithHooks } from "fast-check";

import { type BookSource, toBookInput } from "../book/book-source.ts";
import { readBook } from "../book/book.ts";
import type { BookInput } from "../book/model/book.ts";
import { DAY_MS, formatDate, toInstant } from "../calendar/instant.ts";
import { RatebookError } from "../errors.ts";
import { allLines, type Invoice, type InvoiceLine } from "../invoicing/invoice.ts";
import { netTotal } from "../invoicing/net-total.ts";
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
import { rejection } from "../problem-table.ts";
import {
  listAccountIds,
  eventRange,
  eventsArbitrary,
  type EventOptions,
  listSchemas,
  type GeneratedEvent,
} from "./events-arbitrary.ts";
import { fastCheck } from "./fast-check.ts";
import {
  activatePlans,
  eventBatchArbitrary,
  formatContent,
  findDayBefore,
  type HistoryEvent,
  historyArbitrary,
  type HistoryStep,
  formatHistory,
  startHistory,
} from "./history.ts";
import { formatBook, withPrintedText, formatTable } from "./report.ts";
import { toArbitrary, type ValueOrArbitrary } from "./value-or-arbitrary.ts";

/** A book and events that it takes. */
export interface BookWithEvents {
  readonly book: BookInput;
  readonly events: readonly GeneratedEvent[];
}

/** Events as a table. */
function formatEventTable(events: readonly GeneratedEvent[]): string {
  return formatTable(
    ["account", "time", "event"],
    events.map((event) => [event.accountId, event.timestamp, formatContent(event)]),
  );
}

function formatBookWithEvents({ book, events }: BookWithEvents): string {
  return `${formatBook(book)}\n${formatEventTable(events)}`;
}

/** The book, or random ones, as they are written. */
function toBookArbitrary(book: ValueOrArbitrary<BookSource>): Arbitrary<BookInput> {
  if (typeof book === "string") return fastCheck().constant(toBookInput(book));
  return toArbitrary(book).map(toBookInput);
}

/** The book, or random ones, each with events of its own. */
function bookWithEventsArbitrary(book: ValueOrArbitrary<BookSource>, options: EventOptions): Arbitrary<BookWithEvents> {
  return toBookArbitrary(book).chain((drawnBook) =>
    eventsArbitrary(drawnBook, options).map((events) =>
      withPrintedText({ book: drawnBook, events }, formatBookWithEvents),
    ),
  );
}

/** The invoices of the cycles that the days of the events touch. */
function previewInvoices({ book, events }: BookWithEvents, options: EventOptions): readonly Invoice[] {
  return preview(readBook(book), events, eventRange(book, options)).invoices;
}

/** An invoice in one line. */
function describeInvoice({ accountId, invoiceType, startDate, endDate, currency, revenueInfo }: Invoice): string {
  const period = `${startDate.slice(0, 10)} to ${endDate.slice(0, 10)}`;
  return `${accountId} ${invoiceType} ${period}: ${formatDecimal(revenueInfo.value)} ${currency}`;
}

/** All that an invoice says of money, as text. */
function formatInvoice(invoice: Invoice): string {
  const lines = allLines(invoice.revenueInfo).map(
    ({ type, id = "", quantity, value }) =>
      `${type} ${id} ${quantity === undefined ? "" : formatDecimal(quantity)} ${formatDecimal(value)}`,
  );
  const { invoiceDate, pricePlanId, pricePlanVersion } = invoice;
  return [describeInvoice(invoice), `${invoiceDate} ${pricePlanId}@${pricePlanVersion}`, ...lines].join("\n");
}

/**
 * The law that every line of every invoice is the sum of the lines right below it, to the cent, and that the slabs of a
 * tiered usage card hold all that was used of its meter, each unit once (S1.5, S7.2).
 *
 * @param book a book as it is written, its text, or one that `readBook` read; or an arbitrary of such books
 * @throws {RatebookError} ERR_BOOK_INVALID; ERR_REFUSED without fast-check
 */
export function linesAddUp(
  book: ValueOrArbitrary<BookSource>,
  options: EventOptions = {},
): IPropertyWithHooks<[BookWithEvents]> {
  return fastCheck().property(bookWithEventsArbitrary(book, options), (bookWithEvents) => {
    for (const invoice of previewInvoices(bookWithEvents, options)) checkLine(invoice.revenueInfo, invoice);
  });
}

function checkLine(line: InvoiceLine, invoice: Invoice): void {
  const { type, id = "", value, quantity, lineItems } = line;
  if (lineItems === undefined) return;
  const sumOfLines = sum(lineItems.map((item) => item.value));
  if (!sumOfLines.eq(value)) {
    throw new Error(
      `the lines do not add up: ${type} ${id} is ${formatDecimal(value)}, the lines below it are ${formatDecimal(sumOfLines)}, on ${describeInvoice(invoice)}`,
    );
  }
  const slabs = lineItems.filter((item) => item.type === "USAGE_RATE_CARD_SLAB_AMOUNT");
  const slabQuantity = sum(slabs.map((slab) => slab.quantity ?? ZERO));
  if (type === "USAGE_RATE_CARD_AMOUNT" && slabs.length > 0 && quantity !== undefined && !slabQuantity.eq(quantity)) {
    throw new Error(
      `the slabs do not add up: ${formatDecimal(quantity)} of ${id} were used, the slabs hold ${formatDecimal(slabQuantity)}, on ${describeInvoice(invoice)}`,
    );
  }
  for (const item of lineItems) checkLine(item, invoice);
}

/** A book, events, and the same events in another order, some of them twice. */
export interface BookWithShuffledEvents extends BookWithEvents {
  readonly shuffled: readonly GeneratedEvent[];
}

/**
 * The law that events may come in any order, and may come again: the invoices are the same (S14.4). Schemas whose events take
 * of a feature are left out: of these the first to come are served.
 *
 * @param book a book as it is written, its text, or one that `readBook` read; or an arbitrary of such books
 * @throws {RatebookError} ERR_INPUT_INVALID for a book all of whose schemas take of a feature; ERR_BOOK_INVALID;
 * ERR_REFUSED without fast-check
 */
export function orderOfEventsDoesNotMatter(
  book: ValueOrArbitrary<BookSource>,
  options: EventOptions = {},
): IPropertyWithHooks<[BookWithShuffledEvents]> {
  const fc = fastCheck();
  const cases = toBookArbitrary(book).chain((drawnBook) =>
    eventsArbitrary(drawnBook, { ...options, schemas: options.schemas ?? findSchemasWithoutFeatures(drawnBook) }).chain(
      (events) =>
        fc
          .shuffledSubarray([...events, ...events], { minLength: 2 * events.length })
          .map((shuffled) =>
            withPrintedText(
              { book: drawnBook, events, shuffled },
              (value) => `${formatBookWithEvents(value)}\n  in this order\n${formatEventTable(value.shuffled)}`,
            ),
          ),
    ),
  );
  return fc.property(cases, ({ book, events, shuffled }) => {
    const inOrder = previewInvoices({ book, events }, options);
    const outOfOrder = previewInvoices({ book, events: shuffled }, options);
    compareInvoices(inOrder, outOfOrder, "in order", "out of order");
  });
}

function findSchemasWithoutFeatures(book: BookInput): readonly string[] {
  const { all, takingFeature } = listSchemas(book);
  const plain = all.filter((name) => !takingFeature.has(name));
  if (plain.length > 0) return plain;
  const message = "expected a schema whose events take of no feature: where all do, the order matters";
  throw new RatebookError("ERR_INPUT_INVALID", message, {
    problems: [rejection("$.features", message)],
  });
}

/** @throws where the invoices are not the same */
function compareInvoices(some: readonly Invoice[], others: readonly Invoice[], first: string, second: string): void {
  const texts = (invoices: readonly Invoice[]): readonly string[] => invoices.map(formatInvoice).toSorted();
  const [a, b] = [texts(some), texts(others)];
  if (a.length === b.length && a.every((text, index) => text === b[index])) return;
  const [onlyA, onlyB] = [a.filter((text) => !b.includes(text)), b.filter((text) => !a.includes(text))];
  throw new Error(
    `the invoices differ: ${first}\n${onlyA.join("\n") || "(none)"}\n${second}\n${onlyB.join("\n") || "(none)"}`,
  );
}

/** A book and what happens to its accounts: a history, then a batch of events that is taken back. */
export interface BookWithUndo {
  readonly book: BookInput;
  readonly history: readonly HistoryStep[];
  readonly batch: readonly HistoryEvent[];
}

/**
 * The law that an undo takes back all that an ingest did, whatever was done before: usage by account, meter and day is as it
 * was, and for each feature the balance and the overage (S15.4). Entries that fall due with the batch are granted before it
 * is looked at.
 *
 * @param book a book as it is written, its text, or one that `readBook` read; or an arbitrary of such books
 * @throws {RatebookError} ERR_BOOK_INVALID; ERR_REFUSED without fast-check
 */
export function undoRestoresUsage(
  book: ValueOrArbitrary<BookSource>,
  options: EventOptions = {},
): IAsyncPropertyWithHooks<[BookWithUndo]> {
  const fc = fastCheck();
  const cases = toBookArbitrary(book).chain((drawnBook) =>
    fc
      .tuple(historyArbitrary(drawnBook, options), eventBatchArbitrary(drawnBook, options))
      .map(([history, batch]) =>
        withPrintedText({ book: drawnBook, history, batch }, (value) =>
          [
            formatBook(value.book),
            formatHistory([...value.history, { kind: "ingest", events: value.batch }]),
            "  the last step is undone",
          ].join("\n"),
        ),
      ),
  );
  return fc.asyncProperty(cases, async ({ book, history, batch }) => {
    const run = await startHistory(book, toInstant(eventRange(book, options).from) + 40 * DAY_MS);
    for (const step of history) await run.play(step);
    const { engine, store } = run;
    const ingestAndUndo = async (): Promise<void> => {
      for (const { accountId, referenceId, status } of await ingestBatch(run, batch)) {
        if (isCompleted(status) && referenceId !== undefined) await engine.undo({ account: accountId, referenceId });
      }
    };
    const accountIds = listAccountIds(book);
    const before = await readHoldings(store, accountIds);
    await ingestAndUndo();
    const after = await readHoldings(store, accountIds);
    compareHoldings(before.usage, after.usage);
    // What falls due up to the latest event of the batch has been granted: from here on balances are the events' alone.
    await ingestAndUndo();
    const again = await readHoldings(store, accountIds);
    compareHoldings([...after.usage, ...after.features], [...again.usage, ...again.features]);
  });
}

type StartedHistory = Awaited<ReturnType<typeof startHistory>>;
type IngestedEvent = Awaited<ReturnType<StartedHistory["engine"]["ingest"]>>[number] & { readonly accountId: string };

/** What came of each event of a batch, the last first. */
async function ingestBatch(
  { engine, toEvent }: StartedHistory,
  batch: readonly HistoryEvent[],
): Promise<readonly IngestedEvent[]> {
  const results = await engine.ingest(batch.map(toEvent));
  return results.map((result, index) => ({ ...result, accountId: batch[index]?.accountId ?? "" })).toReversed();
}

/** What accounts hold, a sentence each. */
interface AccountHoldings {
  readonly usage: readonly string[];
  readonly features: readonly string[];
}

async function readHoldings(
  { read }: StartedHistory["store"],
  accountIds: readonly string[],
): Promise<AccountHoldings> {
  const [from, until] = [-1_000_000, 1_000_000];
  const usage = await read.usage(accountIds, from, until);
  const sums = new Map<string, Decimal>();
  const addToSum = (key: string, quantity: Decimal): void => void sums.set(key, add(sums.get(key) ?? ZERO, quantity));
  for (const { accountId, meterOrFeatureId, quantity } of await read.overage(accountIds, from, until))
    addToSum(`overage of ${meterOrFeatureId} of ${accountId}`, quantity);
  for (const { accountId, featureId, balance } of await read.entries(accountIds))
    addToSum(`balance of ${featureId} of ${accountId}`, balance);
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

function compareHoldings(before: readonly string[], after: readonly string[]): void {
  const missing = before.filter((text) => !after.includes(text));
  const added = after.filter((text) => !before.includes(text));
  if (missing.length + added.length === 0) return;
  throw new Error(
    `the undo left something: before ${missing.join(", ") || "nothing"}, after ${added.join(", ") || "nothing"}`,
  );
}

/**
 * The law that a preview shows the invoices that an engine makes final: the book is loaded the day before anything begins,
 * each event is sent at its own time, and all falls due (S13.5).
 *
 * @param book a book as it is written, its text, or one that `readBook` read; or an arbitrary of such books
 * @throws {RatebookError} ERR_BOOK_INVALID; ERR_REFUSED without fast-check
 */
export function previewMatchesInvoices(
  book: ValueOrArbitrary<BookSource>,
  options: EventOptions = {},
): IAsyncPropertyWithHooks<[BookWithEvents]> {
  return fastCheck().asyncProperty(bookWithEventsArbitrary(book, options), async ({ book, events }) => {
    const range = { from: eventRange(book).from, until: eventRange(book, options).until };
    const previewInvoices = preview(readBook(activatePlans(book)), events, range).invoices;
    const { engine, store, waitUntil } = await startHistory(book, findDayBefore(book));
    for (const event of events) {
      waitUntil(toInstant(event.timestamp));
      await engine.ingest([event]);
    }
    waitUntil(toInstant(range.until) + countDaysToFinal(book) * DAY_MS);
    await engine.finalize();
    const finals = (await store.read.invoices(listAccountIds(book), Number.NEGATIVE_INFINITY)).map(
      ({ invoice }) => invoice,
    );
    const finalsInRange = finals.filter(({ startDate }) => toInstant(startDate) < toInstant(range.until));
    compareInvoices(previewInvoices, finalsInRange, "previewed", "made final");
  });
}

const CYCLE_DAYS = { WEEKLY: 7, MONTHLY: 31, QUARTERLY: 92, HALF_YEARLY: 184, ANNUALLY: 366 } as const;

/** After so many days every cycle that began is final: the longest of the book's, with its grace. */
function countDaysToFinal({ pricePlans }: BookInput): number {
  const days = (pricePlans ?? []).map(({ pricePlanDetails: { pricingCycleConfig: config } }) =>
    config ? CYCLE_DAYS[config.interval] + (config.gracePeriod ?? 0) : CYCLE_DAYS.MONTHLY,
  );
  return Math.max(0, ...days) + 1;
}

/** Which revenue is expected of which usage. */
export interface RevenueBounds extends EventOptions {
  /** The least that each account pays in all, in major units of its currency; default: any. */
  readonly atLeast?: DecimalInput;
  /** The most that each account pays in all, in major units of its currency; default: any. */
  readonly atMost?: DecimalInput;
  /** The usage that is looked at; default that of {@link eventsArbitrary}. */
  readonly events?: Arbitrary<readonly GeneratedEvent[]>;
}

/**
 * The law that each account pays, over all cycles that `[from, until)` touches and after credits, at least and at most so
 * much, whatever it uses of what is drawn.
 *
 * @param book a book as it is written, its text, or one that `readBook` read; or an arbitrary of such books
 * @throws {RatebookError} ERR_NUMBER_INVALID for a bound that is no decimal; ERR_BOOK_INVALID; ERR_REFUSED without fast-check
 * @example
 * ```ts
 * const events = eventsFor(book, { values: fc.nat(1000), eventsMax: 10 });
 * test("10,000 calls a month cost at most 500", () => {
 *   fc.assert(revenueWithin(book, { atMost: 500, events }));
 * });
 * ```
 */
export function revenueWithin(
  book: ValueOrArbitrary<BookSource>,
  bounds: RevenueBounds,
): IPropertyWithHooks<[BookWithEvents]> {
  const { atLeast, atMost, events, ...options } = bounds;
  const [low, high] = [atLeast, atMost].map((bounds) => (bounds === undefined ? undefined : parseDecimal(bounds)));
  const cases =
    events === undefined
      ? bookWithEventsArbitrary(book, options)
      : toBookArbitrary(book).chain((drawnBook) =>
          events.map((drawnEvents) => withPrintedText({ book: drawnBook, events: drawnEvents }, formatBookWithEvents)),
        );
  return fastCheck().property(cases, (bookWithEvents) => {
    const invoices = previewInvoices(bookWithEvents, options);
    for (const accountId of listAccountIds(bookWithEvents.book)) {
      const netAmount = netTotal(invoices.filter((each) => each.accountId === accountId));
      const isLess = low !== undefined && subtract(netAmount, low).isNegative();
      const isMore = high !== undefined && netAmount.gt(high);
      if (isLess || isMore)
        throw new Error(
          `account ${accountId} pays ${formatDecimal(netAmount)}, expected ${isLess ? `at least ${formatDecimal(low)}` : `at most ${formatDecimal(high ?? ZERO)}`}`,
        );
    }
  });
}
