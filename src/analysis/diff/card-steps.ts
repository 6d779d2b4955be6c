/**
 * The exact amount of a card's line as each group of inputs is replaced by those of the second invoice.
 *
 * @module
 */
import type { CardExplanation } from "../../invoicing/explain.ts";
import type { Invoice, InvoiceLine } from "../../invoicing/invoice.ts";
import { type Decimal, ZERO } from "../../numbers/decimal.ts";
import { compareFractions, type Fraction, ZERO_FRACTION } from "../../numbers/fraction.ts";
import type { CycleTerms } from "./account-plans.ts";
import { computeAmount, computeStepAmounts, type CardInputs, toCardInputs } from "./card-inputs.ts";
import {
  findCardByPrices,
  findPlanCard,
  isChargedInAdvance,
  isLicense,
  arePricesAlike,
  mergePrices,
  type PlanCard,
} from "./card-prices.ts";
import { incomparableError } from "./invoice-leaves.ts";

/** One side of two invoices of the same type and cycle. */
export interface InvoiceSide {
  /** Absent if the side has no such invoice. */
  readonly invoice?: Invoice | undefined;
  readonly currency: string;
  /** The account's license updates, if known. */
  readonly licenseUpdates: string | undefined;
  /** The plan of the cycle; undefined if the account has no such cycle on this side. */
  readonly terms: CycleTerms | undefined;
}

/** The values of the first and the second side. */
export type Sides<T> = readonly [T, T];

/** The line on each side, if any. */
export type SideLines = Sides<InvoiceLine | undefined>;

/**
 * The amount with the first side's inputs, then after replacing usage, rates, bounds, days, commitment and credits, in
 * this order.
 */
export type Steps = readonly Fraction[];

/** Steps of a line that changes in one step. @param step the index of the group that changes it */
export function createSteps(step: number, from: Fraction, to: Fraction): Steps {
  return Array.from({ length: 7 }, (_, index) => (index <= step ? from : to));
}

/** The index of days among the groups. */
export const DAYS = 3;

/** Steps of a card. Usage, rates, bounds and days change it; commitment and credits don't. */
export function computeCardSteps(sides: Sides<InvoiceSide>, lines: SideLines, line: InvoiceLine): Steps {
  const [from, to] = [exactAmount(lines[0]), exactAmount(lines[1])];
  const comparison = compareInputs(sides, lines, line);
  if (comparison === undefined) return createSteps(DAYS, from, to);
  const [afterUsage, afterRates, afterBounds] = computeStepAmounts(...comparison.inputs, comparison.isSameQuantity);
  return [from, afterUsage, afterRates, afterBounds, to, to, to];
}

function exactAmount(line: InvoiceLine | undefined): Fraction {
  return line === undefined ? ZERO_FRACTION : requireExplanation(line).exact;
}

interface ComparedInputs {
  readonly inputs: Sides<CardInputs>;
  /** Whether the quantities are known to be equal, however they are charged. */
  readonly isSameQuantity: boolean;
}

/** The inputs of a card on both sides; undefined if one side doesn't charge it for these days. */
function compareInputs(sides: Sides<InvoiceSide>, lines: SideLines, line: InvoiceLine): ComparedInputs | undefined {
  const [before, after] = sides;
  if (before.terms === undefined || after.terms === undefined) return undefined;
  const inputs = [requireInputs(lines[0]), requireInputs(lines[1])] as const;
  const cards = [
    findSideCard(before.terms, inputs[0], line, before),
    findSideCard(after.terms, inputs[1], line, after),
  ] as const;
  const isOnePlan = before.terms.plan !== undefined && before.terms.plan === after.terms.plan;
  const isSameQuantity = haveSameLicenses(sides, line);
  const missing: MissingLine = { line, isOnePlan, isSameQuantity };
  const start = inputs[0] ?? inferMissingInputs(before, cards[0], inputs[1], missing);
  const end = inputs[1] ?? inferMissingInputs(after, cards[1], inputs[0], missing);
  if (start === undefined || end === undefined) return undefined;
  const areCardsUnknown = cards[0] === undefined && cards[1] === undefined;
  const prices = [addCardPrices(start.prices, cards[0]), addCardPrices(end.prices, cards[1])] as const;
  const fullPrices =
    areCardsUnknown && isOnePlan
      ? ([mergeKnownPrices(...prices), mergeKnownPrices(prices[1], prices[0])] as const)
      : prices;
  return {
    inputs: [
      { ...start, prices: fullPrices[0] },
      { ...end, prices: fullPrices[1] },
    ],
    isSameQuantity,
  };
}

/** Whether a line is a license's and the account has the same quantities on both sides. */
function haveSameLicenses([before, after]: Sides<InvoiceSide>, { type }: InvoiceLine): boolean {
  return isLicense(type) && before.licenseUpdates !== undefined && before.licenseUpdates === after.licenseUpdates;
}

/** The inputs of a line. They must give its exact amount; otherwise the causes would be wrong. */
function requireInputs(line: InvoiceLine | undefined): CardInputs | undefined {
  if (line === undefined) return undefined;
  const card = requireExplanation(line);
  const inputs = toCardInputs(card);
  const amount = computeAmount(inputs);
  if (amount !== undefined && compareFractions(amount, card.exact) === 0) return inputs;
  throw incomparableError(
    `${describeLine(line)}: the amount does not follow from its explanation; check both files with ratebook verify`,
  );
}

/** Marks a plan without a card for a line. */
const NO_CARD = "NO_CARD";

/** The card of a line on one side; undefined if unknown. */
function findSideCard(
  { details }: CycleTerms,
  shownInputs: CardInputs | undefined,
  line: InvoiceLine,
  { currency }: InvoiceSide,
): PlanCard | typeof NO_CARD | undefined {
  if (shownInputs?.prices !== undefined) return findCardByPrices(details, shownInputs.prices, line, currency);
  const [first] = details;
  return first && (findPlanCard(first, line, currency) ?? NO_CARD);
}

/** A line that one side lacks. */
interface MissingLine {
  readonly line: InvoiceLine;
  /** Whether both sides have the same plan version. */
  readonly isOnePlan: boolean;
  readonly isSameQuantity: boolean;
}

/**
 * The inputs of a side without this line: those of the other side with quantity 0. Undefined if its card would charge
 * something at 0, which means that it isn't charged for these days.
 */
function inferMissingInputs(
  { invoice }: InvoiceSide,
  card: PlanCard | typeof NO_CARD | undefined,
  other: CardInputs | undefined,
  { line, isOnePlan, isSameQuantity }: MissingLine,
): CardInputs | undefined {
  if (other === undefined) return undefined;
  const { parts, bounds, isNeverNegative } = other;
  const usage = findUsage(invoice, line);
  const partsWithQuantity = (quantity: Decimal): CardInputs["parts"] =>
    parts.map((part) => (part.quantity === undefined ? part : { ...part, quantity: quantity }));
  const emptyInputs: CardInputs = { parts: partsWithQuantity(usage), prices: undefined, bounds, isNeverNegative };
  if (card === NO_CARD) return emptyInputs;
  if (card === undefined)
    return emptyInputsLike(other, emptyInputs, isOnePlan && usage.isZero() && line.quantity !== undefined);
  const lineInputs: CardInputs = {
    parts: partsWithQuantity(card.quantity ?? usage),
    prices: card.prices,
    bounds: card.bounds && { ...card.bounds, share: bounds?.share ?? "EACH_PART" },
    isNeverNegative,
  };
  // The same licenses are charged in another part of the natural cycle, or not by days.
  if (isSameQuantity && line.quantity?.isZero() === false) return undefined;
  return card.isInAdvance === isChargedInAdvance(line.type) && isZeroAmount(lineInputs) ? lineInputs : undefined;
}

/**
 * Without books, the price at quantity 0 is known to be equal only within one plan version.
 * @param isAlike whether both sides have the same plan version, and this one a quantity of 0
 */
function emptyInputsLike({ prices }: CardInputs, emptyInputs: CardInputs, isAlike: boolean): CardInputs {
  if (!isAlike) return emptyInputs;
  const sameInputs: CardInputs = { ...emptyInputs, prices };
  if (isZeroAmount(sameInputs)) return sameInputs;
  return isZeroAmount({ ...sameInputs, bounds: undefined }) ? { ...sameInputs, bounds: undefined } : emptyInputs;
}

function isZeroAmount(inputs: CardInputs): boolean {
  return computeAmount(inputs)?.numerator.isZero() === true;
}

/** The usage of a line's meter on an invoice that doesn't charge it. */
function findUsage(invoice: Invoice | undefined, { type, id }: InvoiceLine): Decimal {
  if (type !== "USAGE_RATE_CARD_AMOUNT") return ZERO;
  return invoice?.usageInfo?.lineItems.find((each) => each.id === id)?.quantity ?? ZERO;
}

/** Prices completed with the slabs of the plan's card. */
function addCardPrices(
  prices: CardInputs["prices"],
  card: PlanCard | typeof NO_CARD | undefined,
): CardInputs["prices"] {
  return prices === undefined || typeof card !== "object" ? prices : mergePrices(prices, card.prices);
}

/** Prices completed with matching slabs of the other side. */
function mergeKnownPrices(ownPrices: CardInputs["prices"], otherPrices: CardInputs["prices"]): CardInputs["prices"] {
  if (ownPrices === undefined || otherPrices === undefined || !arePricesAlike(ownPrices, otherPrices)) return ownPrices;
  return mergePrices(ownPrices, otherPrices);
}

function requireExplanation(line: InvoiceLine): CardExplanation {
  if (line.explanation?.of === "CARD") return line.explanation;
  throw incomparableError(`${describeLine(line)}: the line has no explanation: preview with --explain, or \`explain\``);
}

function describeLine({ type, id = "" }: InvoiceLine): string {
  return `${type} ${id}`;
}
