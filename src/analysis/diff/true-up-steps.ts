/**
 * A true-up while the inputs of the first invoices are replaced, group by group, by those of the second (S13.3).
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

/** Two invoices of one kind and cycle, and what their cards come to at each step. */
export interface ChargedPair {
  readonly sides: Sides<InvoiceSide>;
  readonly chargedAmounts: Steps;
}

/** The true-up of two STANDARD invoices at each step (S13.3). @param others the account's other invoices */
export function computeTrueUpSteps(own: ChargedPair, lines: SideLines, others: readonly ChargedPair[]): Steps {
  const explanations = [
    lines[0] && requireTrueUpExplanation(lines[0]),
    lines[1] && requireTrueUpExplanation(lines[1]),
  ] as const;
  const { sides } = own;
  if (sides.some(({ terms }) => terms === undefined))
    return createSteps(DAYS, explanations[0]?.exact ?? ZERO_FRACTION, explanations[1]?.exact ?? ZERO_FRACTION);
  const otherPairs = others.filter((pair) => isInSameCycle(own, pair));
  const commitments = [
    readCommitment(0, explanations[0], otherPairs),
    readCommitment(1, explanations[1], otherPairs),
  ] as const;
  const refundAmounts = computeRefundSteps(explanations[0] ?? explanations[1], explanations[1] ?? explanations[0]);
  const [start, end] = [
    completeCommitment(own, 0, commitments, explanations[1]),
    completeCommitment(own, 1, commitments, explanations[0]),
  ] as const;
  return Array.from({ length: 7 }, (_, step) => {
    const side = step <= DAYS ? start : end;
    const { rate } = step <= DAYS + 1 ? start : end;
    const otherAmounts = otherPairs.flatMap((pair) =>
      side.countedPairs.has(pair) ? [pair.chargedAmounts[step] ?? ZERO_FRACTION] : [],
    );
    const chargedTotal = sumFractions([
      own.chargedAmounts[step] ?? ZERO_FRACTION,
      toFraction(side.uncountedTotal),
      ...otherAmounts,
    ]);
    const netCharged = subtractFractions(chargedTotal, refundAmounts[step] ?? ZERO_FRACTION);
    const shortfall = subtractFractions(multiplyByShare(toFraction(rate), side.share.days, side.share.of), netCharged);
    return compareFractions(shortfall, ZERO_FRACTION) > 0 ? shortfall : ZERO_FRACTION;
  });
}

/** What true-ups count as given back, at each step. A refund that one side alone has is one of days. */
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

/** Whether an invoice may be one of the cycle of a STANDARD one. */
function isInSameCycle({ sides }: ChargedPair, other: ChargedPair): boolean {
  const [cycle, invoice] = [findInvoice(sides), findInvoice(other.sides)];
  if (cycle === undefined || invoice === undefined || invoice.invoiceType === "STANDARD") return false;
  const isOnePlan = cycle.pricePlanId === invoice.pricePlanId;
  return isOnePlan && cycle.startDate <= invoice.startDate && invoice.startDate < cycle.endDate;
}

function findInvoice([before, after]: Sides<InvoiceSide>): Invoice | undefined {
  return after.invoice ?? before.invoice;
}

/** What a true-up of one side counts. */
interface CountedInvoices {
  /** The invoices beside the STANDARD one. */
  readonly countedPairs: ReadonlySet<ChargedPair>;
  /** Total of the invoices that are not available. */
  readonly uncountedTotal: Decimal;
}

/** A commitment on one side. */
interface Commitment extends CountedInvoices {
  /** Of the whole natural cycle; 0 where there is none. */
  readonly rate: Decimal;
  readonly share: Share;
}

function readCommitment(
  side: 0 | 1,
  explanation: TrueUpExplanation | undefined,
  otherPairs: readonly ChargedPair[],
): CountedInvoices & Partial<Commitment> {
  if (explanation === undefined) return { countedPairs: new Set(otherPairs), uncountedTotal: ZERO };
  const others = explanation.invoiced.filter(({ invoiceType }) => invoiceType !== "STANDARD");
  const keys = new Set(others.map(({ invoiceType, invoiceDate }) => `${invoiceType}|${invoiceDate}`));
  const countedPairs = otherPairs.filter(({ sides }) => {
    const { invoice } = sides[side];
    return invoice === undefined || keys.has(`${invoice.invoiceType}|${invoice.invoiceDate}`);
  });
  const sums = countedPairs.map(({ sides }) => computeSubTotal(sides[side].invoice));
  const [part] = explanation.parts.filter(({ sign }) => sign === 1);
  return {
    countedPairs: new Set(countedPairs),
    uncountedTotal: subtract(sum(others.map(({ value }) => value)), sum(sums)),
    rate: part?.rate ?? ZERO,
    share: part?.share ?? WHOLE,
  };
}

const WHOLE: Share = { days: 1, of: 1 };

/**
 * The commitment of a side, also where nothing is lacking of it: it is then that of its plan, or without the books that of the
 * other side, where both have one plan and nothing would lack.
 */
function completeCommitment(
  own: ChargedPair,
  side: 0 | 1,
  commitments: Sides<CountedInvoices & Partial<Commitment>>,
  other: TrueUpExplanation | undefined,
): Commitment {
  const { countedPairs, uncountedTotal, rate, share } = commitments[side];
  if (rate !== undefined && share !== undefined) return { countedPairs, uncountedTotal, rate, share };
  const opposite = commitments[side === 0 ? 1 : 0];
  const base = { countedPairs, uncountedTotal: opposite.uncountedTotal, share: opposite.share ?? WHOLE };
  const planRate = findCommitmentRate(own.sides, side, opposite.rate);
  if (other === undefined || planRate === undefined) return { ...base, rate: ZERO };
  const sums = [...countedPairs].map(({ sides }) => computeSubTotal(sides[side].invoice));
  const refunds = sum((other.refunds ?? []).map(({ value }) => value));
  const chargedTotal = subtract(sum([computeSubTotal(own.sides[side].invoice), base.uncountedTotal, ...sums]), refunds);
  const shortfall = subtractFractions(
    multiplyByShare(toFraction(planRate), base.share.days, base.share.of),
    toFraction(chargedTotal),
  );
  const { digits, mode } = other.rounding;
  return { ...base, rate: roundFraction(shortfall, digits, mode).gt(ZERO) ? ZERO : planRate };
}

/** The rate of a commitment that a side does not show. @param other that of the other side */
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
