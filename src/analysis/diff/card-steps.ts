/**
 * The exact amount of a card's line and of a true-up as each group of inputs is replaced by those of the second invoice
 * (S13.3).
 */

import type { Share } from "../../calendar/cycle.ts";
import type {
  CardExplanation,
  CountedRefund,
  TrueUpExplanation,
  Invoice,
  InvoiceLine,
} from "../../invoicing/invoice.ts";
import { type Decimal, ZERO, subtract, sum } from "../../numbers/decimal.ts";
import {
  compareFractions,
  type Fraction,
  ZERO_FRACTION,
  roundFraction,
  multiplyByShare,
  subtractFractions,
  sumFractions,
  toFraction,
} from "../../numbers/fraction.ts";
import { type CycleTerms, incomparableError, computeSubTotal } from "./account-plans.ts";
import {
  computeAmount,
  computeStepAmounts,
  type CardInputs,
  toCardInputs,
  findCardByPrices,
  findPlanCard,
  findLineKind,
  arePricesAlike,
  mergePrices,
  type PlanCard,
} from "./card-inputs.ts";
import { computeTableSteps, isPricedByTable } from "./table-steps.ts";

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
export type StepAmounts = readonly Fraction[];

/** The amounts of a line that changes in one step only. @param step the index of the group that changes it */
export function changeAtStep(step: number, from: Fraction, to: Fraction): StepAmounts {
  return Array.from({ length: 7 }, (_, index) => (index <= step ? from : to));
}

/** The index of days among the groups. */
export const DAYS = 3;

/** The amounts of a card. Usage, rates, bounds and days change it; commitment and credits don't. */
export function computeCardSteps(sides: Sides<InvoiceSide>, lines: SideLines, line: InvoiceLine): StepAmounts {
  const [from, to] = [exactAmount(lines[0]), exactAmount(lines[1])];
  if (lines.some(isPricedByTable) && sides.every(({ terms }) => terms !== undefined)) {
    const [afterUsage, afterRates] = computeTableSteps(sides, lines);
    return [from, afterUsage, afterRates, to, to, to, to];
  }
  const comparison = compareInputs(sides, lines, line);
  if (comparison === undefined) return changeAtStep(DAYS, from, to);
  const [afterUsage, afterRates, afterBounds] = computeStepAmounts(...comparison.inputs, comparison.isSameQuantity);
  return [from, afterUsage, afterRates, afterBounds, to, to, to];
}

function exactAmount(line: InvoiceLine | undefined): Fraction {
  return line === undefined ? ZERO_FRACTION : requireExplanation(line).exact;
}

/**
 * The inputs of a card on both sides, and whether the quantities are known to be equal, however they are charged; undefined
 * if one side doesn't charge it for these days.
 */
function compareInputs(sides: Sides<InvoiceSide>, lines: SideLines, line: InvoiceLine) {
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
  const compared = [
    { ...start, prices: fullPrices[0] },
    { ...end, prices: fullPrices[1] },
  ] as const;
  return { inputs: compared, isSameQuantity };
}

/** Whether a line is a license's and the account has the same quantities on both sides. */
function haveSameLicenses([before, after]: Sides<InvoiceSide>, { type }: InvoiceLine): boolean {
  return (
    findLineKind(type)?.kind === "LICENSE" &&
    before.licenseUpdates !== undefined &&
    before.licenseUpdates === after.licenseUpdates
  );
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
  const isSameTiming = card.isInAdvance === (findLineKind(line.type)?.isInAdvance === true);
  return isSameTiming && isZeroAmount(lineInputs) ? lineInputs : undefined;
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

/** Two invoices of the same type and cycle, and the sum of their cards at each step. */
export interface ChargedPair {
  readonly sides: Sides<InvoiceSide>;
  readonly chargedAmounts: StepAmounts;
}

/** The true-up of two STANDARD invoices at each step (S13.3). @param accountPairs the account's other invoices */
export function computeTrueUpSteps(
  ownPair: ChargedPair,
  lines: SideLines,
  accountPairs: readonly ChargedPair[],
): StepAmounts {
  const explanations = [
    lines[0] && requireTrueUpExplanation(lines[0]),
    lines[1] && requireTrueUpExplanation(lines[1]),
  ] as const;
  const { sides } = ownPair;
  if (sides.some(({ terms }) => terms === undefined))
    return changeAtStep(DAYS, explanations[0]?.exact ?? ZERO_FRACTION, explanations[1]?.exact ?? ZERO_FRACTION);
  const otherPairs = accountPairs.filter((pair) => isInSameCycle(ownPair, pair));
  const commitments = [
    readCommitment(0, explanations[0], otherPairs),
    readCommitment(1, explanations[1], otherPairs),
  ] as const;
  const refundAmounts = computeRefundSteps(explanations[0] ?? explanations[1], explanations[1] ?? explanations[0]);
  const [start, end] = [
    completeCommitment(ownPair, 0, commitments, explanations[1]),
    completeCommitment(ownPair, 1, commitments, explanations[0]),
  ] as const;
  return Array.from({ length: 7 }, (_, step) => {
    const side = step <= DAYS ? start : end;
    const { rate } = step <= DAYS + 1 ? start : end;
    const otherAmounts = otherPairs.flatMap((pair) =>
      side.countedPairs.has(pair) ? [pair.chargedAmounts[step] ?? ZERO_FRACTION] : [],
    );
    const chargedTotal = sumFractions([
      ownPair.chargedAmounts[step] ?? ZERO_FRACTION,
      toFraction(side.uncountedTotal),
      ...otherAmounts,
    ]);
    const netCharged = subtractFractions(chargedTotal, refundAmounts[step] ?? ZERO_FRACTION);
    const shortfall = subtractFractions(multiplyByShare(toFraction(rate), side.share.days, side.share.of), netCharged);
    return compareFractions(shortfall, ZERO_FRACTION) > 0 ? shortfall : ZERO_FRACTION;
  });
}

/** The refunds that true-ups count, at each step. A refund on only one side is a change by days. */
function computeRefundSteps(before: TrueUpExplanation | undefined, after: TrueUpExplanation | undefined): StepAmounts {
  const remaining = [...(before?.refunds ?? [])];
  const pairs = (after?.refunds ?? []).map((refund): readonly [CountedRefund | undefined, CountedRefund] => {
    const index = remaining.findIndex(({ effectiveFrom }) => effectiveFrom === refund.effectiveFrom);
    return [index < 0 ? undefined : remaining.splice(index, 1)[0], refund];
  });
  const steps = [...pairs, ...remaining.map((refund) => [refund, undefined] as const)].map(([a, b]): StepAmounts => {
    const [from, to] = [a?.exact ?? ZERO_FRACTION, b?.exact ?? ZERO_FRACTION];
    if (a === undefined || b === undefined) return changeAtStep(DAYS, from, to);
    const [afterUsage, afterRates, afterBounds] = computeStepAmounts(toCardInputs(a), toCardInputs(b), false);
    return [from, afterUsage, afterRates, afterBounds, to, to, to];
  });
  return Array.from({ length: 7 }, (_, step) => sumFractions(steps.map((each) => each[step] ?? ZERO_FRACTION)));
}

/** Whether an invoice can be in the cycle of a STANDARD one. */
function isInSameCycle({ sides }: ChargedPair, other: ChargedPair): boolean {
  const [cycle, invoice] = [findInvoice(sides), findInvoice(other.sides)];
  if (cycle === undefined || invoice === undefined || invoice.invoiceType === "STANDARD") return false;
  const isOnePlan = cycle.pricePlanId === invoice.pricePlanId;
  return isOnePlan && cycle.startDate <= invoice.startDate && invoice.startDate < cycle.endDate;
}

function findInvoice([before, after]: Sides<InvoiceSide>): Invoice | undefined {
  return after.invoice ?? before.invoice;
}

/** The invoices that one side's true-up counts. */
interface CountedInvoices {
  /** The counted invoices besides the STANDARD one. */
  readonly countedPairs: ReadonlySet<ChargedPair>;
  /** The total of invoices that are not available. */
  readonly uncountedTotal: Decimal;
}

interface Commitment extends CountedInvoices {
  /** For the whole natural cycle; 0 without a commitment. */
  readonly rate: Decimal;
  readonly share: Share;
}

function readCommitment(
  side: 0 | 1,
  explanation: TrueUpExplanation | undefined,
  otherPairs: readonly ChargedPair[],
): CountedInvoices & Partial<Commitment> {
  if (explanation === undefined) return { countedPairs: new Set(otherPairs), uncountedTotal: ZERO };
  const otherCharges = explanation.invoiced.filter(({ invoiceType }) => invoiceType !== "STANDARD");
  const keys = new Set(otherCharges.map(({ invoiceType, invoiceDate }) => `${invoiceType}|${invoiceDate}`));
  const countedPairs = otherPairs.filter(({ sides }) => {
    const { invoice } = sides[side];
    return invoice === undefined || keys.has(`${invoice.invoiceType}|${invoice.invoiceDate}`);
  });
  const sums = countedPairs.map(({ sides }) => computeSubTotal(sides[side].invoice));
  const [part] = explanation.parts.filter(({ sign }) => sign === 1);
  return {
    countedPairs: new Set(countedPairs),
    uncountedTotal: subtract(sum(otherCharges.map(({ value }) => value)), sum(sums)),
    rate: part?.rate ?? ZERO,
    share: part?.share ?? WHOLE,
  };
}

const WHOLE: Share = { days: 1, of: 1 };

/**
 * The commitment of a side even if nothing is missing: from its plan or, without books, from the other side if both
 * have the same plan and no true-up would result.
 */
function completeCommitment(
  ownPair: ChargedPair,
  side: 0 | 1,
  commitments: Sides<CountedInvoices & Partial<Commitment>>,
  other: TrueUpExplanation | undefined,
): Commitment {
  const { countedPairs, uncountedTotal, rate, share } = commitments[side];
  if (rate !== undefined && share !== undefined) return { countedPairs, uncountedTotal, rate, share };
  const opposite = commitments[side === 0 ? 1 : 0];
  const base = { countedPairs, uncountedTotal: opposite.uncountedTotal, share: opposite.share ?? WHOLE };
  const planRate = findCommitmentRate(ownPair.sides, side, opposite.rate);
  if (other === undefined || planRate === undefined) return { ...base, rate: ZERO };
  const sums = [...countedPairs].map(({ sides }) => computeSubTotal(sides[side].invoice));
  const refunds = sum((other.refunds ?? []).map(({ value }) => value));
  const chargedTotal = subtract(
    sum([computeSubTotal(ownPair.sides[side].invoice), base.uncountedTotal, ...sums]),
    refunds,
  );
  const shortfall = subtractFractions(
    multiplyByShare(toFraction(planRate), base.share.days, base.share.of),
    toFraction(chargedTotal),
  );
  const { digits, mode } = other.rounding;
  return { ...base, rate: roundFraction(shortfall, digits, mode).gt(ZERO) ? ZERO : planRate };
}

/** The commitment's rate if a side doesn't show it. @param other the other side's rate */
function findCommitmentRate(sides: Sides<InvoiceSide>, side: 0 | 1, other: Decimal | undefined): Decimal | undefined {
  const { terms, invoice, currency } = sides[side];
  const [details] = terms?.details ?? [];
  if (details !== undefined)
    return details.minimumCommitment?.rateValues.find((each) => each.currency === currency)?.rate;
  const isOnePlan = terms?.plan !== undefined && terms.plan === sides[side === 0 ? 1 : 0].terms?.plan;
  return isOnePlan && invoice !== undefined ? other : undefined;
}

function requireTrueUpExplanation(line: InvoiceLine): TrueUpExplanation {
  if (line.explanation?.of === "TRUE_UP") return line.explanation;
  throw incomparableError(`${line.type}: the line has no explanation: preview with --explain, or \`explain\``);
}
