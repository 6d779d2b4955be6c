/** Laws of a whole book: properties of its invoices and its engine that hold for any usage. */
import type { Arbitrary, IAsyncPropertyWithHooks, IPropertyWithHooks } from "fast-check";

import { type BookSource, toBookInput, readBook } from "../book/book.ts";
import type { BookInput } from "../book/resources/book.ts";
import { formatGroup } from "../book/resources/event-schema.ts";
import { formatDate, toInstant, instantOfDay, addDays } from "../calendar/instant.ts";
import { RatebookError } from "../errors.ts";
import { allLines, type Invoice, type InvoiceLine, netTotal } from "../invoicing/invoice.ts";
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
import {
  activatePlans,
  eventBatchArbitrary,
  formatContent,
  findDayBefore,
  type HistoryEvent,
  historyArbitrary,
  type HistoryRun,
  type HistoryStep,
  formatHistory,
  startHistory,
} from "./history.ts";
import { fastCheck, toArbitrary, type ValueOrArbitrary, formatBook, withPrintedText, formatTable } from "./report.ts";

/** A book and events for it. */
export interface BookWithEvents {
  readonly book: BookInput;
  readonly events: readonly GeneratedEvent[];
}

/** Events as a table. */
export function formatEventTable(events: readonly GeneratedEvent[]): string {
  return formatTable(
    ["account", "time", "event"],
    events.map((event) => [event.accountId, event.timestamp, formatContent(event)]),
  );
}

function formatBookWithEvents({ book, events }: BookWithEvents): string {
  return `${formatBook(book)}\n${formatEventTable(events)}`;
}

/** Makes fast-check print a case as its book and events, and then a second table under a title. */
export function withSecondTable<Case extends BookWithEvents>(
  value: Case,
  title: string,
  format: (value: Case) => string,
): Case {
  return withPrintedText(value, (each) => `${formatBookWithEvents(each)}\n  ${title}\n${format(each)}`);
}

/** The given book or books, in input form. */
function toBookArbitrary(book: ValueOrArbitrary<BookSource>): Arbitrary<BookInput> {
  if (typeof book === "string") return fastCheck().constant(toBookInput(book));
  return toArbitrary(book).map(toBookInput);
}

/** The given book or books, each with random events. @param events default {@link eventsArbitrary} */
export function bookWithEventsArbitrary(
  book: ValueOrArbitrary<BookSource>,
  options: EventOptions,
  events?: Arbitrary<readonly GeneratedEvent[]>,
): Arbitrary<BookWithEvents> {
  return toBookArbitrary(book).chain((bookInput) =>
    (events ?? eventsArbitrary(bookInput, options)).map((generatedEvents) =>
      withPrintedText({ book: bookInput, events: generatedEvents }, formatBookWithEvents),
    ),
  );
}

/** The invoices of the cycles that contain the events. */
export function previewInvoices({ book, events }: BookWithEvents, options: EventOptions): readonly Invoice[] {
  return preview(readBook(book), events, eventRange(book, options)).invoices;
}

/** An invoice in one line. */
function describeInvoice({ accountId, invoiceType, startDate, endDate, currency, revenueInfo }: Invoice): string {
  const period = `${startDate.slice(0, 10)} to ${endDate.slice(0, 10)}`;
  return `${accountId} ${invoiceType} ${period}: ${formatDecimal(revenueInfo.value)} ${currency}`;
}

/** All amounts of an invoice, as text. */
function formatInvoice(invoice: Invoice, isShown: (line: InvoiceLine) => boolean = () => true): string {
  const lines = allLines(invoice.revenueInfo)
    .filter(isShown)
    .map(
      ({ type, id = "", quantity, value }) =>
        `${type} ${id} ${quantity === undefined ? "" : formatDecimal(quantity)} ${formatDecimal(value)}`,
    );
  const { invoiceDate, pricePlanId, pricePlanVersion } = invoice;
  return [describeInvoice(invoice), `${invoiceDate} ${pricePlanId}@${pricePlanVersion}`, ...lines].join("\n");
}

/** The amounts of an invoice without those of slabs and rows, as text. */
export function formatCharges(invoice: Invoice): string {
  return formatInvoice(invoice, ({ type }) => !type.endsWith("_SLAB_AMOUNT"));
}

/**
 * The law that every invoice line is the sum of the lines directly below it, to the cent, and that the slabs of a
 * tiered usage card without a price table contain every unit of its meter exactly once (S1.5, S7.2).
 *
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
  // Lines of a price table lack free units and those without a row.
  const slabs = lineItems.filter((item) => item.type === "USAGE_RATE_CARD_SLAB_AMOUNT" && item.usage === undefined);
  const slabQuantity = sum(slabs.map((slab) => slab.quantity ?? ZERO));
  if (type === "USAGE_RATE_CARD_AMOUNT" && slabs.length > 0 && quantity !== undefined && !slabQuantity.eq(quantity)) {
    throw new Error(
      `the slabs do not add up: the quantity of ${id} is ${formatDecimal(quantity)}, the slabs have ${formatDecimal(slabQuantity)}, on ${describeInvoice(invoice)}`,
    );
  }
  for (const item of lineItems) checkLine(item, invoice);
}

/** A book, events, and the same events in another order with some duplicates. */
export interface BookWithShuffledEvents extends BookWithEvents {
  readonly shuffled: readonly GeneratedEvent[];
}

/**
 * The law that the order and duplicates of events don't change the invoices (S14.4). Schemas whose events consume a
 * feature are excluded, because the order decides which of these are accepted.
 *
 * @throws {RatebookError} ERR_INPUT_INVALID if all schemas of a book consume a feature; ERR_BOOK_INVALID; ERR_REFUSED
 * without fast-check
 */
export function orderOfEventsDoesNotMatter(
  book: ValueOrArbitrary<BookSource>,
  options: EventOptions = {},
): IPropertyWithHooks<[BookWithShuffledEvents]> {
  const fc = fastCheck();
  const cases = toBookArbitrary(book).chain((bookInput) =>
    eventsArbitrary(bookInput, { ...options, schemas: options.schemas ?? findSchemasWithoutFeatures(bookInput) }).chain(
      (events) =>
        fc
          .shuffledSubarray([...events, ...events], { minLength: 2 * events.length })
          .map((shuffled) =>
            withSecondTable({ book: bookInput, events, shuffled }, "in this order", (value) =>
              formatEventTable(value.shuffled),
            ),
          ),
    ),
  );
  return fc.property(cases, ({ book, events, shuffled }) => {
    const originalInvoices = previewInvoices({ book, events }, options);
    const shuffledInvoices = previewInvoices({ book, events: shuffled }, options);
    compareInvoices(originalInvoices, shuffledInvoices, "in order", "out of order");
  });
}

function findSchemasWithoutFeatures(book: BookInput): readonly string[] {
  const { all, featureSchemas } = listSchemas(book);
  const schemasWithoutFeatures = all.filter((name) => !featureSchemas.has(name));
  if (schemasWithoutFeatures.length > 0) return schemasWithoutFeatures;
  const message = "expected a schema whose events consume no feature: with features, the order of events matters";
  throw new RatebookError("ERR_INPUT_INVALID", message, {
    problems: [rejection("$.features", "NOT_SUPPORTED", message)],
  });
}

/** @throws if the invoices differ */
export function compareInvoices(
  expectedInvoices: readonly Invoice[],
  actualInvoices: readonly Invoice[],
  firstLabel: string,
  secondLabel: string,
  format = (invoice: Invoice): string => formatInvoice(invoice),
): void {
  const texts = (invoices: readonly Invoice[]): readonly string[] => invoices.map(format).toSorted();
  const [a, b] = [texts(expectedInvoices), texts(actualInvoices)];
  if (a.length === b.length && a.every((text, index) => text === b[index])) return;
  const [onlyA, onlyB] = [a.filter((text) => !b.includes(text)), b.filter((text) => !a.includes(text))];
  throw new Error(
    `the invoices differ: ${firstLabel}\n${onlyA.join("\n") || "(none)"}\n${secondLabel}\n${onlyB.join("\n") || "(none)"}`,
  );
}

/** A book, a history of its accounts, and a batch of events to undo. */
export interface BookWithUndo {
  readonly book: BookInput;
  readonly history: readonly HistoryStep[];
  readonly batch: readonly HistoryEvent[];
}

/**
 * The law that undo reverses everything that ingest did, whatever happened before: usage by account, meter and day, and
 * the balance and overage of each feature (S15.4). Grants due with the batch are processed before the comparison.
 *
 * @throws {RatebookError} ERR_BOOK_INVALID; ERR_REFUSED without fast-check
 */
export function undoRestoresUsage(
  book: ValueOrArbitrary<BookSource>,
  options: EventOptions = {},
): IAsyncPropertyWithHooks<[BookWithUndo]> {
  const fc = fastCheck();
  const cases = toBookArbitrary(book).chain((bookInput) =>
    fc
      .tuple(historyArbitrary(bookInput, options), eventBatchArbitrary(bookInput, options))
      .map(([history, batch]) =>
        withPrintedText({ book: bookInput, history, batch }, (value) =>
          [
            formatBook(value.book),
            formatHistory([...value.history, { kind: "ingest", events: value.batch }]),
            "  the last step is undone",
          ].join("\n"),
        ),
      ),
  );
  return fc.asyncProperty(cases, async ({ book, history, batch }) => {
    const run = await startHistory(book, addDays(toInstant(eventRange(book, options).from), 40));
    for (const step of history) await run.play(step);
    const { engine, store } = run;
    const ingestAndUndo = async (): Promise<void> => {
      const results = await engine.ingest(batch.map(run.toEvent));
      // The last event first.
      for (const [index, { referenceId, status }] of [...results.entries()].toReversed()) {
        const account = batch[index]?.accountId ?? "";
        if (isCompleted(status) && referenceId !== undefined) await engine.undo({ account, referenceId });
      }
    };
    const accountIds = listAccountIds(book);
    const before = await readHoldings(store, accountIds);
    await ingestAndUndo();
    const after = await readHoldings(store, accountIds);
    compareHoldings(before.usage, after.usage);
    // Everything due up to the batch's latest event is now granted, so only events change balances from here on.
    await ingestAndUndo();
    const again = await readHoldings(store, accountIds);
    compareHoldings([...after.usage, ...after.features], [...again.usage, ...again.features]);
  });
}

/** Usage and balances of accounts, one sentence each. */
async function readHoldings({ read }: HistoryRun["store"], accountIds: readonly string[]) {
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
      .map(({ accountId, meterOrFeatureId, group, day, quantity }) => {
        const meter = group === undefined ? meterOrFeatureId : `${meterOrFeatureId} ${formatGroup(group)}`;
        return `${formatDecimal(quantity)} of ${meter} of ${accountId} on ${formatDate(instantOfDay(day))}`;
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
    `the undo was incomplete: before ${missing.join(", ") || "nothing"}, after ${added.join(", ") || "nothing"}`,
  );
}

/**
 * The law that a preview matches the final invoices of an engine: the book is loaded the day before anything starts,
 * each event is sent at its own time, and everything due is processed (S13.5).
 *
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
    waitUntil(addDays(toInstant(range.until), countDaysToFinal(book)));
    await engine.finalize();
    const finalInvoices = (await store.read.invoices(listAccountIds(book), Number.NEGATIVE_INFINITY)).map(
      ({ invoice }) => invoice,
    );
    const finalInvoicesInRange = finalInvoices.filter(({ startDate }) => toInstant(startDate) < toInstant(range.until));
    compareInvoices(previewInvoices, finalInvoicesInRange, "in the preview", "as final invoices");
  });
}

const CYCLE_DAYS = { WEEKLY: 7, MONTHLY: 31, QUARTERLY: 92, HALF_YEARLY: 184, ANNUALLY: 366 } as const;

/** The number of days after which any started cycle is final: the book's longest cycle and grace period. */
function countDaysToFinal({ pricePlans }: BookInput): number {
  const days = (pricePlans ?? []).map(({ pricePlanDetails: { pricingCycleConfig: config } }) =>
    config ? CYCLE_DAYS[config.interval] + (config.gracePeriod ?? 0) : CYCLE_DAYS.MONTHLY,
  );
  return Math.max(0, ...days) + 1;
}

/** The expected revenue, and the usage to try. */
export interface RevenueBounds extends EventOptions {
  /** The minimum that each account pays over all invoices, in major units of its currency. Default: unlimited. */
  readonly atLeast?: DecimalInput;
  /** The maximum that each account pays over all invoices, in major units of its currency. Default: unlimited. */
  readonly atMost?: DecimalInput;
  /** The usage to try. Default: {@link eventsArbitrary}. */
  readonly events?: Arbitrary<readonly GeneratedEvent[]>;
}

/**
 * The law that each account pays an amount within bounds, for any generated usage, over all cycles that overlap
 * `[from, until)` and after credits.
 *
 * @throws {RatebookError} ERR_NUMBER_INVALID for a bound that isn't a decimal; ERR_BOOK_INVALID; ERR_REFUSED without
 * fast-check
 * @example
 * ```ts
 * const events = eventsArbitrary(book, { values: fc.nat(1000), eventsMax: 10 });
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
  const [low, high] = [atLeast, atMost].map((bound) => (bound === undefined ? undefined : parseDecimal(bound)));
  return fastCheck().property(bookWithEventsArbitrary(book, options, events), (bookWithEvents) => {
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
