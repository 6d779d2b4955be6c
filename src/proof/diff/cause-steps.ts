/**
 * The exact amount of a line while the inputs of the first invoice are replaced, group by group, by those of the second.
 *
 * @module
 */
import type { Book } from "../../book/model/book.ts";
import type { CardExplanation, TrueUpExplanation } from "../../invoicing/explain.ts";
import { CARD_LINE_TYPES, type Invoice, type InvoiceLine } from "../../invoicing/invoice.ts";
import { minorUnitDigits } from "../../numbers/currency.ts";
import { type Decimal, subtract, sum, ZERO } from "../../numbers/decimal.ts";
import {
  compareFractions,
  type Fraction,
  NOTHING,
  roundFraction,
  shareOf,
  subtractFractions,
  sumFractions,
  whole,
} from "../../numbers/fraction.ts";
import { bookPrices } from "./book-prices.ts";
import { amountOf, type CardInputs, inputsOf, NO_CARD, NONE_COUNTED, withSlabsOf } from "./card-inputs.ts";
import { incomparable, leavesOf } from "./leaves.ts";

/** Two invoices of one kind and cycle, or one that the other side does not have. */
export interface InvoicePair {
  readonly before?: Invoice;
  readonly after?: Invoice;
}

/** A thing of the first invoice and the same of the second. */
export type Sides<T> = readonly [T | undefined, T | undefined];

/** The books that the first and the second invoices were made by. */
export type Books = readonly [Book, Book];

/**
 * The amount by the first side's inputs, and after the second side's usage, rates, bounds, days, commitment and credits have
 * been put in, in this order.
 */
export type Steps = readonly Fraction[];

/** A card: usage, rates, bounds and days are put in; commitment and credits do not touch it. */
export function cardSteps(
  { before, after }: InvoicePair,
  sides: Sides<InvoiceLine>,
  line: InvoiceLine,
  books: Books | undefined,
): Steps {
  const [from = NOTHING, to = NOTHING] = sides.map((side) => side && cardOf(side).exact);
  // A cycle that one side alone has: all of it is days.
  if (before === undefined || after === undefined) return [from, from, from, from, to, to, to];
  const [start, end] = comparedInputs([before, after], sides, line, books);
  const middle = stepsBetween(start, end).map((inputs) => amountOf(inputs, nameOf(line)));
  return [from, ...middle, to, to, to];
}

/** The inputs of a card on both sides; a side without its line has the other's, with its own usage and prices. */
function comparedInputs(
  [before, after]: readonly [Invoice, Invoice],
  [a, b]: Sides<InvoiceLine>,
  line: InvoiceLine,
  books: Books | undefined,
): readonly [CardInputs, CardInputs] {
  const [from, to] = [a && checkedInputs(a), b && checkedInputs(b)];
  const own = joined(from?.prices, books && bookPrices(books[0], before, line));
  const other = joined(to?.prices, books && bookPrices(books[1], after, line));
  const areShared = haveOnePlan({ before, after }, books) && isSharable([a, b], [before, after]);
  const prices = areShared ? ([joined(own, other), joined(other, own)] as const) : ([own, other] as const);
  const start = { ...(from ?? { ...(to ?? NO_CARD), ...usageOf(before, line) }), prices: prices[0] };
  return [start, { ...(to ?? { ...start, ...usageOf(after, line) }), prices: prices[1] }];
}

/** The inputs of a line, whose explanation must give its own exact amount: else causes would be made of nothing. */
function checkedInputs(line: InvoiceLine): CardInputs {
  const card = cardOf(line);
  const inputs = inputsOf(card);
  if (compareFractions(amountOf(inputs, nameOf(line)), card.exact) === 0) return inputs;
  throw incomparable(`${nameOf(line)}: the explanation does not give the exact amount that stands in it`);
}

/** The inputs after the usage, the rates and the bounds of the second side have been put in, one after another. */
function stepsBetween(start: CardInputs, end: CardInputs): readonly CardInputs[] {
  const used: CardInputs = {
    ...start,
    counted: end.counted,
    notBelowZero: end.notBelowZero,
    ...(start.counted.length !== end.counted.length && { shares: end.shares }),
  };
  const rated: CardInputs = { ...used, prices: end.prices };
  const bounded: CardInputs = {
    ...rated,
    bounds: end.bounds,
    ...(start.bounds === undefined && { boundShare: end.boundShare }),
  };
  return [used, rated, bounded];
}

/** Prices with the slabs that others of the same card show; the others where there are none. */
function joined(own: CardInputs["prices"], other: CardInputs["prices"]): CardInputs["prices"] {
  return own === undefined ? other : withSlabsOf(own, other);
}

/** Whether both sides were priced by one version of one plan, so that what one shows of it holds for the other. */
function haveOnePlan({ before, after }: InvoicePair, books: Books | undefined): boolean {
  const isOne = before?.pricePlanId === after?.pricePlanId && before?.pricePlanVersion === after?.pricePlanVersion;
  return isOne && (books === undefined || books[0] === books[1]);
}

/** Whether one side's slabs may stand for the other's: not of a fee, nor where a side without the line used the meter. */
function isSharable([a, b]: Sides<InvoiceLine>, [before, after]: readonly [Invoice, Invoice]): boolean {
  const line = b ?? a;
  if (line?.quantity === undefined) return false;
  if (a !== undefined && b !== undefined) return true;
  return usageOf(a === undefined ? before : after, line).counted?.some(({ quantity }) => quantity?.gt(ZERO)) !== true;
}

/** The usage of the meter on the side that lacks the line. */
function usageOf({ usageInfo }: Invoice, { type, id, quantity }: InvoiceLine): Partial<CardInputs> {
  if (quantity === undefined) return {};
  const used =
    type === "USAGE_RATE_CARD_AMOUNT" ? usageInfo?.lineItems.find((line) => line.id === id)?.quantity : undefined;
  return used === undefined ? NONE_COUNTED : { ...NONE_COUNTED, counted: [{ sign: 1, quantity: used }] };
}

/** The true-up of a commitment at each step, from the charges of the cards there. */
export function trueUpSteps(
  pair: InvoicePair,
  sides: Sides<InvoiceLine>,
  cards: ReadonlyMap<string, Steps>,
  books: Books | undefined,
): Steps {
  const [a, b] = sides.map((line) => line && commitmentOf(line));
  const isOnePlan = haveOnePlan(pair, books);
  const lackingOf = ({ committed, elsewhere }: Commitment, charged: Fraction): Fraction => {
    const lacking = subtractFractions(subtractFractions(committed, whole(elsewhere)), charged);
    return compareFractions(lacking, NOTHING) > 0 ? lacking : NOTHING;
  };
  const at = (of: Commitment | undefined, step: number): Fraction =>
    of === undefined
      ? NOTHING
      : lackingOf(of, sumFractions([...cards.values()].map((steps) => steps[step] ?? NOTHING)));
  // A side that lacks nothing may have the other's commitment only where nothing would lack with it. Its plan may have been
  // edited under the same version, or its invoices in advance may have come to more.
  const borrowed = (of: Commitment | undefined, invoice: Invoice | undefined): Commitment | undefined => {
    if (!isOnePlan || of === undefined || invoice === undefined) return undefined;
    const lacking = lackingOf(of, whole(chargedOn(invoice)));
    return roundFraction(lacking, minorUnitDigits(invoice.currency), "DOWN").isZero() ? of : undefined;
  };
  const [start, end] = [a ?? borrowed(b, pair.before), b ?? borrowed(a, pair.after)];
  return [at(start, 0), at(start, 1), at(start, 2), at(start, 3), at(start, 4), at(end, 4), at(end, 4)];
}

/** The sum of the cards of an invoice, rounded. */
function chargedOn(invoice: Invoice): Decimal {
  const cards = [...leavesOf(invoice).values()].filter(({ type }) => CARD_LINE_TYPES.has(type));
  return sum(cards.map(({ value }) => value));
}

/** A commitment, and what the other invoices for its cycle come to, less the refunds of them. */
interface Commitment {
  readonly committed: Fraction;
  readonly elsewhere: Decimal;
}

function commitmentOf(line: InvoiceLine): Commitment {
  const { parts, invoiced, refunds = [] } = trueUpOf(line);
  const committed = parts.slice(0, 1).map(({ rate = ZERO, share }) => shareOf(whole(rate), share.days, share.of));
  const charged = sum(invoiced.filter(({ invoiceType }) => invoiceType !== "STANDARD").map(({ value }) => value));
  return {
    committed: sumFractions(committed),
    elsewhere: subtract(charged, sum(refunds.map(({ value }) => value))),
  };
}

/** Credits are put in last. */
export function creditSteps([a, b]: Sides<InvoiceLine>): Steps {
  const [before, after] = [whole(a?.value ?? ZERO), whole(b?.value ?? ZERO)];
  return [before, before, before, before, before, before, after];
}

function cardOf(line: InvoiceLine): CardExplanation {
  if (line.explanation?.of === "CARD") return line.explanation;
  throw incomparable(
    `${line.type} ${line.id ?? ""}: the line has no explanation: preview with --explain, or \`explain\``,
  );
}

function trueUpOf(line: InvoiceLine): TrueUpExplanation {
  if (line.explanation?.of === "TRUE_UP") return line.explanation;
  throw incomparable(`${line.type}: the line has no explanation: preview with --explain, or \`explain\``);
}

function nameOf({ type, id = "" }: InvoiceLine): string {
  return `${type} ${id}`;
}
