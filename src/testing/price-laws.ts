/**
 * Laws of prices: those of one plan (S7), the order of the rows of price tables (S18.2), and what an account pays if
 * measurements are repeated, and if there are more events (S19.1).
 */
import type { Arbitrary, IPropertyWithHooks } from "fast-check";

import { priceCurve } from "../analysis/price-curve.ts";
import type { BookSource } from "../book/book.ts";
import type { BookInput } from "../book/resources/book.ts";
import type { RateValueInput } from "../book/resources/rate-card.ts";
import { netTotal } from "../invoicing/invoice.ts";
import {
  add,
  type DecimalInput,
  Decimal,
  parseDecimal,
  maximum,
  multiply,
  ONE,
  subtract,
  formatDecimal,
  ZERO,
} from "../numbers/decimal.ts";
import { priceQuantity } from "../rating/slab-charge.ts";
import {
  bookWithEventsArbitrary,
  type BookWithEvents,
  compareInvoices,
  withSecondTable,
  formatCharges,
  previewInvoices,
  formatEventTable,
} from "./book-laws.ts";
import { type EventOptions, type GeneratedEvent, listAccountIds } from "./events-arbitrary.ts";
import {
  fastCheck,
  toArbitrary,
  type ValueOrArbitrary,
  findEdges,
  listPricedCards,
  requireQuantityCards,
  type QuantityCard,
  quantityArbitrary,
  formatCard,
  withPrintedText,
  formatTable,
  formatBook,
  type AnyPlanInput,
} from "./report.ts";

/** A card in one currency. */
interface CardCase {
  readonly planId: string;
  readonly card: QuantityCard;
  readonly currency: string;
  /** The card's rates in the currency. */
  readonly rates: RateValueInput;
}

/** Every card of a plan that prices a quantity, and every row of a price table, in each currency. */
function cardCaseArbitrary(plan: ValueOrArbitrary<AnyPlanInput>): Arbitrary<CardCase> {
  return toArbitrary(plan).chain((generatedPlan) => {
    const cases = requireQuantityCards(generatedPlan, listPricedCards).flatMap((card) =>
      card.rateValues.map((rates) => ({ planId: generatedPlan.id, card, currency: rates.currency, rates })),
    );
    return fastCheck().constantFrom(...cases);
  });
}

/** The exact price of a quantity on a card. */
function priceCase({ card, rates }: CardCase, quantity: Decimal): Decimal {
  return priceQuantity(card.ratePlan, rates, quantity).amount;
}

function formatCase(cardCase: CardCase, rows: readonly (readonly string[])[]): string {
  return `plan ${cardCase.planId}\n${formatCard(cardCase.card, cardCase.currency)}\n${formatTable(["quantity", "price"], rows)}`;
}

/**
 * The law that a larger quantity never costs less, for each usage, license and overage card of a plan, and each row of
 * a price table, in each currency; exact, before rounding (S7.2, S7.4). Fees and the minimum commitment can't break it: they don't fall as a quantity
 * grows.
 *
 * @param plan in short or long form
 * @throws {RatebookError} ERR_INPUT_INVALID for a plan without quantity prices; ERR_BOOK_INVALID for a wrong short form;
 * ERR_REFUSED without fast-check
 * @example
 * ```ts
 * test("more never costs less", () => {
 *   fc.assert(neverDecreases(plan));
 * });
 * ```
 */
export function neverDecreases(plan: ValueOrArbitrary<AnyPlanInput>): IPropertyWithHooks<[QuantityPair]> {
  const fc = fastCheck();
  const pairs = cardCaseArbitrary(plan).chain((cardCase) =>
    fc.tuple(quantityArbitrary(cardCase.card), quantityArbitrary(cardCase.card)).map(([a, b]): QuantityPair => {
      const [less, more] = a.lte(b) ? [a, b] : [b, a];
      return withPrintedText({ ...cardCase, less, more }, (pair) =>
        formatCase(
          pair,
          [less, more].map((quantity) => [formatDecimal(quantity), formatDecimal(priceCase(pair, quantity))]),
        ),
      );
    }),
  );
  return fc.property(pairs, (pair) => {
    const [less, more] = [priceCase(pair, pair.less), priceCase(pair, pair.more)];
    if (more.gte(less)) return;
    const { card, currency } = pair;
    throw new Error(
      `the price falls: ${formatDecimal(pair.less)} of ${card.id} cost ${formatDecimal(less)} ${currency}, ${formatDecimal(pair.more)} cost ${formatDecimal(more)} ${currency}`,
    );
  });
}

/** Two quantities of a card, the smaller first. */
export interface QuantityPair extends CardCase {
  readonly less: Decimal;
  readonly more: Decimal;
}

/**
 * The law that no price jumps at a slab edge: just above the edge, a quantity costs at most `share` more than at it.
 * The first package of a slab doesn't count as a jump, and neither does a price that starts from 0.
 *
 * @param plan in short or long form
 * @param share of the price at the edge: `0.2` for 20 %, 0 for no increase
 * @throws {RatebookError} ERR_INPUT_INVALID for a plan without quantity prices; ERR_NUMBER_INVALID for an invalid
 * share; ERR_REFUSED without fast-check
 */
export function noJumpAbove(
  plan: ValueOrArbitrary<AnyPlanInput>,
  share: DecimalInput,
): IPropertyWithHooks<[PriceEdge]> {
  const fc = fastCheck();
  const maxShare = parseDecimal(share);
  const edges = cardCaseArbitrary(plan).chain((cardCase) =>
    fc.constantFrom(...findPriceEdges(cardCase)).map((edge) =>
      withPrintedText({ ...cardCase, ...edge }, ({ at, before, above }) =>
        formatCase(cardCase, [
          [formatDecimal(at), formatDecimal(before)],
          [`just above ${formatDecimal(at)}`, formatDecimal(above)],
        ]),
      ),
    ),
  );
  return fc.property(edges, ({ card, currency, at, before, above, firstPackagePrice }) => {
    const jump = subtract(subtract(above, before), firstPackagePrice);
    if (before.lte(ZERO) || jump.lte(multiply(before, maxShare))) return;
    throw new Error(
      `the price jumps by more than ${formatDecimal(multiply(maxShare, new Decimal(100)))}%: ${formatDecimal(at)} of ${card.id} cost ${formatDecimal(before)} ${currency}, any more costs ${formatDecimal(above)} ${currency}`,
    );
  });
}

/** The prices at and just above a slab edge. */
export interface PriceEdge extends CardCase {
  /** The last quantity of the slab below. */
  readonly at: Decimal;
  readonly before: Decimal;
  /** The price just above it. */
  readonly above: Decimal;
  /** The price of the first package of the slab above; 0 without packages. */
  readonly firstPackagePrice: Decimal;
}

/** The edges between a card's slabs; 0 for a card with one slab. */
function findPriceEdges({ card, rates }: CardCase): readonly [Edge, ...Edge[]] {
  const last = findEdges(card).reduce(maximum, ONE);
  const { atZero, pieces } = priceCurve(card.ratePlan, rates, { upTo: add(multiply(last, new Decimal(2)), ONE) });
  const edges = pieces.flatMap((piece, index): readonly Edge[] => {
    const before = pieces[index - 1];
    const isReached = card.maxQuantity === undefined || piece.from.quantity.lt(card.maxQuantity);
    if (before === undefined || before.slab === piece.slab || !isReached) return [];
    const slab = card.ratePlan.slabs[piece.slab - 1];
    const rate = rates.slabRates.find(({ order }) => order === slab?.order)?.rate ?? 0;
    const firstPackagePrice = slab?.priceType === "PACKAGE" ? maximum(parseDecimal(rate), ZERO) : ZERO;
    return [{ at: piece.from.quantity, before: before.last, above: piece.first, firstPackagePrice }];
  });
  const [first = { at: ZERO, before: atZero, above: atZero, firstPackagePrice: ZERO }, ...rest] = edges;
  return [first, ...rest];
}

type Edge = Omit<PriceEdge, keyof CardCase>;

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
      withSecondTable({ ...bookWithEvents, shuffled }, "with rows in this order", (value) =>
        formatBook(value.shuffled),
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
      .map((some) => withSecondTable({ ...bookWithEvents, some }, label, (value) => formatEventTable(value.some))),
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
