/**
 * The exact amount of a card's line while the inputs of the first invoice are replaced, group by group, by those of the second.
 *
 * @module
 */
import type { CardExplanation } from "../../invoicing/explain.ts";
import type { Invoice, InvoiceLine } from "../../invoicing/invoice.ts";
import { type Decimal, ZERO } from "../../numbers/decimal.ts";
import { compareFractions, type Fraction, ZERO_FRACTION } from "../../numbers/fraction.ts";
import { amountOf, amountsBetween, type CardInputs, inputsOf } from "./card-inputs.ts";
import {
  cardBehind,
  cardInPlan,
  isChargedInAdvance,
  isLicense,
  isSamePrice,
  joinedPrices,
  type PlanCard,
} from "./card-prices.ts";
import { incomparable } from "./leaves.ts";
import type { CycleTerms } from "./plan-terms.ts";

/** One side of two invoices of one kind and cycle. */
export interface InvoiceSide {
  /** Absent where the side has no such invoice. */
  readonly invoice?: Invoice | undefined;
  readonly currency: string;
  /** The changes of the seats that the account holds, where they are known. */
  readonly seats: string | undefined;
  /** The plan of the cycle; undefined where the account has no such cycle on this side. */
  readonly terms: CycleTerms | undefined;
}

/** A thing of the first side and the same of the second. */
export type Sides<T> = readonly [T, T];

/** The line of each side, where it has one. */
export type SideLines = Sides<InvoiceLine | undefined>;

/**
 * The amount by the first side's inputs, and after the second side's usage, rates, bounds, days, commitment and credits have
 * been put in, in this order.
 */
export type Steps = readonly Fraction[];

/** The steps of a line that is another from one step on. @param step the index of the group that changes it */
export function stepsAt(step: number, from: Fraction, to: Fraction): Steps {
  return Array.from({ length: 7 }, (_, index) => (index <= step ? from : to));
}

/** The index of the group that days are. */
export const DAYS = 3;

/** A card: usage, rates, bounds and days are put in; commitment and credits do not touch it. */
export function cardSteps(sides: Sides<InvoiceSide>, lines: SideLines, line: InvoiceLine): Steps {
  const [from, to] = [exactOf(lines[0]), exactOf(lines[1])];
  const compared = comparedInputs(sides, lines, line);
  if (compared === undefined) return stepsAt(DAYS, from, to);
  const [used, rated, bounded] = amountsBetween(...compared.inputs, compared.isSameQuantity);
  return [from, used, rated, bounded, to, to, to];
}

function exactOf(line: InvoiceLine | undefined): Fraction {
  return line === undefined ? ZERO_FRACTION : cardOf(line).exact;
}

interface Compared {
  readonly inputs: Sides<CardInputs>;
  /** Whether the quantities are known to be the same, however they are charged. */
  readonly isSameQuantity: boolean;
}

/** The inputs of a card on both sides; undefined where one side does not charge it for these days. */
function comparedInputs(sides: Sides<InvoiceSide>, lines: SideLines, line: InvoiceLine): Compared | undefined {
  const [before, after] = sides;
  if (before.terms === undefined || after.terms === undefined) return undefined;
  const own = [checkedInputs(lines[0]), checkedInputs(lines[1])] as const;
  const cards = [cardOn(before.terms, own[0], line, before), cardOn(after.terms, own[1], line, after)] as const;
  const isOnePlan = before.terms.plan !== undefined && before.terms.plan === after.terms.plan;
  const isSameQuantity = haveSameSeats(sides, line);
  const missing: MissingLine = { line, isOnePlan, isSameQuantity };
  const start = own[0] ?? missingInputs(before, cards[0], own[1], missing);
  const end = own[1] ?? missingInputs(after, cards[1], own[0], missing);
  if (start === undefined || end === undefined) return undefined;
  const areUnknown = cards[0] === undefined && cards[1] === undefined;
  const prices = [withCard(start.prices, cards[0]), withCard(end.prices, cards[1])] as const;
  const shared = areUnknown && isOnePlan ? ([joined(...prices), joined(prices[1], prices[0])] as const) : prices;
  return {
    inputs: [
      { ...start, prices: shared[0] },
      { ...end, prices: shared[1] },
    ],
    isSameQuantity,
  };
}

/** Whether a line is a license's, and the account holds the same seats of it on both sides. */
function haveSameSeats([before, after]: Sides<InvoiceSide>, { type }: InvoiceLine): boolean {
  return isLicense(type) && before.seats !== undefined && before.seats === after.seats;
}

/** The inputs of a line, whose explanation must give its own exact amount: else causes would be made of nothing. */
function checkedInputs(line: InvoiceLine | undefined): CardInputs | undefined {
  if (line === undefined) return undefined;
  const card = cardOf(line);
  const inputs = inputsOf(card);
  const amount = amountOf(inputs);
  if (amount !== undefined && compareFractions(amount, card.exact) === 0) return inputs;
  throw incomparable(`${nameOf(line)}: the explanation does not give the exact amount that stands in it`);
}

/** The card of a plan that has none for what a line charges. */
const NO_CARD = "NO_CARD";

/** The card of a line on one side; undefined where it is not known. */
function cardOn(
  { details }: CycleTerms,
  shown: CardInputs | undefined,
  line: InvoiceLine,
  { currency }: InvoiceSide,
): PlanCard | typeof NO_CARD | undefined {
  if (shown?.prices !== undefined) return cardBehind(details, shown.prices, line, currency);
  const [first] = details;
  return first && (cardInPlan(first, line, currency) ?? NO_CARD);
}

/** A line that one side does not have. */
interface MissingLine {
  readonly line: InvoiceLine;
  /** Whether both sides have one version of one plan. */
  readonly isOnePlan: boolean;
  readonly isSameQuantity: boolean;
}

/**
 * The inputs of a side that has no such line, as the other side's with nothing counted; undefined where its card would have
 * charged something, so that it does not charge for these days.
 */
function missingInputs(
  { invoice }: InvoiceSide,
  card: PlanCard | typeof NO_CARD | undefined,
  other: CardInputs | undefined,
  { line, isOnePlan, isSameQuantity }: MissingLine,
): CardInputs | undefined {
  if (other === undefined) return undefined;
  const { parts, bounds, notBelowZero } = other;
  const used = usedOn(invoice, line);
  const counting = (counted: Decimal): CardInputs["parts"] =>
    parts.map((part) => (part.quantity === undefined ? part : { ...part, quantity: counted }));
  const nothing: CardInputs = { parts: counting(used), prices: undefined, bounds, notBelowZero };
  if (card === NO_CARD) return nothing;
  if (card === undefined) return nothingLike(other, nothing, isOnePlan && used.isZero() && line.quantity !== undefined);
  const own: CardInputs = {
    parts: counting(card.quantity ?? used),
    prices: card.prices,
    bounds: card.bounds && { ...card.bounds, share: bounds?.share ?? "EACH_PART" },
    notBelowZero,
  };
  // Seats that are the same are charged with another piece of the natural cycle, or not by days.
  if (isSameQuantity && line.quantity?.isZero() === false) return undefined;
  return card.isInAdvance === isChargedInAdvance(line.type) && isNothing(own) ? own : undefined;
}

/**
 * Without the books: only of one plan it is known that a quantity of none costs as much on both sides.
 *
 * @param isAlike whether both sides have one version of one plan, and this one a quantity of none
 */
function nothingLike({ prices }: CardInputs, nothing: CardInputs, isAlike: boolean): CardInputs {
  if (!isAlike) return nothing;
  const alike: CardInputs = { ...nothing, prices };
  if (isNothing(alike)) return alike;
  return isNothing({ ...alike, bounds: undefined }) ? { ...alike, bounds: undefined } : nothing;
}

function isNothing(inputs: CardInputs): boolean {
  return amountOf(inputs)?.numerator.isZero() === true;
}

/** The usage of a line's meter on an invoice that does not charge it. */
function usedOn(invoice: Invoice | undefined, { type, id }: InvoiceLine): Decimal {
  if (type !== "USAGE_RATE_CARD_AMOUNT") return ZERO;
  return invoice?.usageInfo?.lineItems.find((each) => each.id === id)?.quantity ?? ZERO;
}

/** Prices with the slabs that the plan's card has besides. */
function withCard(prices: CardInputs["prices"], card: PlanCard | typeof NO_CARD | undefined): CardInputs["prices"] {
  return prices === undefined || typeof card !== "object" ? prices : joinedPrices(prices, card.prices);
}

/** Prices with the slabs that the other side shows of the same ones. */
function joined(own: CardInputs["prices"], other: CardInputs["prices"]): CardInputs["prices"] {
  if (own === undefined || other === undefined || !isSamePrice(own, other)) return own;
  return joinedPrices(own, other);
}

function cardOf(line: InvoiceLine): CardExplanation {
  if (line.explanation?.of === "CARD") return line.explanation;
  throw incomparable(`${nameOf(line)}: the line has no explanation: preview with --explain, or \`explain\``);
}

function nameOf({ type, id = "" }: InvoiceLine): string {
  return `${type} ${id}`;
}
