/**
 * A true-up as each group of inputs is replaced by those of the second invoices (S13.3).
 *
 * @module
 */
import type { Share } from "../../calendar/proration.ts";
import type { CountedRefund, TrueUpExplanation } from "../../invoicing/explain.ts";
import type { Invoice, InvoiceLine } from "../../invoicing/invoice.ts";
import { type Decimal, subtract, sum, ZERO } from "../../numbers/decimal.ts";
import {
  compareFractions,
  ZERO_FRACTION,
  roundFraction,
  multiplyByShare,
  subtractFractions,
  sumFractions,
  toFraction,
} from "../../numbers/fraction.ts";
import { computeStepAmounts, toCardInputs } from "./card-inputs.ts";
import { DAYS, type InvoiceSide, type SideLines, type Sides, type Steps, createSteps } from "./card-steps.ts";
import { incomparableError, computeSubTotal } from "./invoice-leaves.ts";

/** Two invoices of the same type and cycle, and the sum of their cards at each step. */
export interface ChargedPair {
  readonly sides: Sides<InvoiceSide>;
  readonly chargedAmounts: Steps;
}

/** The true-up of two STANDARD invoices at each step (S13.3). @param accountPairs the account's other invoices */
export function computeTrueUpSteps(
  ownPair: ChargedPair,
  lines: SideLines,
  accountPairs: readonly ChargedPair[],
): Steps {
  const explanations = [
    lines[0] && requireTrueUpExplanation(lines[0]),
    lines[1] && requireTrueUpExplanation(lines[1]),
  ] as const;
  const { sides } = ownPair;
  if (sides.some(({ terms }) => terms === undefined))
    return createSteps(DAYS, explanations[0]?.exact ?? ZERO_FRACTION, explanations[1]?.exact ?? ZERO_FRACTION);
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
function computeRefundSteps(before: TrueUpExplanation | undefined, after: TrueUpExplanation | undefined): Steps {
  const remaining = [...(before?.refunds ?? [])];
  const pairs = (after?.refunds ?? []).map((refund): readonly [CountedRefund | undefined, CountedRefund] => {
    const index = remaining.findIndex(({ effectiveFrom }) => effectiveFrom === refund.effectiveFrom);
    return [index < 0 ? undefined : remaining.splice(index, 1)[0], refund];
  });
  const steps = [...pairs, ...remaining.map((refund) => [refund, undefined] as const)].map(([a, b]): Steps => {
    const [from, to] = [a?.exact ?? ZERO_FRACTION, b?.exact ?? ZERO_FRACTION];
    if (a === undefined || b === undefined) return createSteps(DAYS, from, to);
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
