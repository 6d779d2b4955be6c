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
import { amountsBetween, inputsOf } from "./card-inputs.ts";
import { DAYS, type InvoiceSide, type SideLines, type Sides, type Steps, stepsAt } from "./card-steps.ts";
import { incomparable, subTotalOf } from "./leaves.ts";

/** Two invoices of one kind and cycle, and what their cards come to at each step. */
export interface ChargedPair {
  readonly sides: Sides<InvoiceSide>;
  readonly charged: Steps;
}

/** The true-up of two STANDARD invoices at each step (S13.3). @param others the account's other invoices */
export function trueUpSteps(own: ChargedPair, lines: SideLines, others: readonly ChargedPair[]): Steps {
  const explained = [lines[0] && trueUpOf(lines[0]), lines[1] && trueUpOf(lines[1])] as const;
  const { sides } = own;
  if (sides.some(({ terms }) => terms === undefined))
    return stepsAt(DAYS, explained[0]?.exact ?? ZERO_FRACTION, explained[1]?.exact ?? ZERO_FRACTION);
  const beside = others.filter((pair) => isBeside(own, pair));
  const known = [sideOf(0, explained[0], beside), sideOf(1, explained[1], beside)] as const;
  const refunded = refundSteps(explained[0] ?? explained[1], explained[1] ?? explained[0]);
  const [start, end] = [completed(own, 0, known, explained[1]), completed(own, 1, known, explained[0])] as const;
  return Array.from({ length: 7 }, (_, step) => {
    const side = step <= DAYS ? start : end;
    const { rate } = step <= DAYS + 1 ? start : end;
    const elsewhere = beside.flatMap((pair) => (side.counted.has(pair) ? [pair.charged[step] ?? ZERO_FRACTION] : []));
    const charged = sumFractions([own.charged[step] ?? ZERO_FRACTION, toFraction(side.uncounted), ...elsewhere]);
    const paid = subtractFractions(charged, refunded[step] ?? ZERO_FRACTION);
    const lacking = subtractFractions(multiplyByShare(toFraction(rate), side.share.days, side.share.of), paid);
    return compareFractions(lacking, ZERO_FRACTION) > 0 ? lacking : ZERO_FRACTION;
  });
}

/** What true-ups count as given back, at each step. A refund that one side alone has is one of days. */
function refundSteps(before: TrueUpExplanation | undefined, after: TrueUpExplanation | undefined): Steps {
  const left = [...(before?.refunds ?? [])];
  const pairs = (after?.refunds ?? []).map((refund): readonly [CountedRefund | undefined, CountedRefund] => {
    const index = left.findIndex(({ effectiveFrom }) => effectiveFrom === refund.effectiveFrom);
    return [index < 0 ? undefined : left.splice(index, 1)[0], refund];
  });
  const steps = [...pairs, ...left.map((refund) => [refund, undefined] as const)].map(([a, b]): Steps => {
    const [from, to] = [a?.exact ?? ZERO_FRACTION, b?.exact ?? ZERO_FRACTION];
    if (a === undefined || b === undefined) return stepsAt(DAYS, from, to);
    const [used, rated, bounded] = amountsBetween(inputsOf(a), inputsOf(b), false);
    return [from, used, rated, bounded, to, to, to];
  });
  return Array.from({ length: 7 }, (_, step) => sumFractions(steps.map((each) => each[step] ?? ZERO_FRACTION)));
}

/** Whether an invoice may be one of the cycle of a STANDARD one. */
function isBeside({ sides }: ChargedPair, other: ChargedPair): boolean {
  const [cycle, invoice] = [invoiceOf(sides), invoiceOf(other.sides)];
  if (cycle === undefined || invoice === undefined || invoice.invoiceType === "STANDARD") return false;
  const isOnePlan = cycle.pricePlanId === invoice.pricePlanId;
  return isOnePlan && cycle.startDate <= invoice.startDate && invoice.startDate < cycle.endDate;
}

function invoiceOf([before, after]: Sides<InvoiceSide>): Invoice | undefined {
  return after.invoice ?? before.invoice;
}

/** What a true-up of one side counts. */
interface Counted {
  /** The invoices beside the STANDARD one. */
  readonly counted: ReadonlySet<ChargedPair>;
  /** What invoices that are not at hand come to. */
  readonly uncounted: Decimal;
}

/** A commitment on one side. */
interface Commitment extends Counted {
  /** Of the whole natural cycle; 0 where there is none. */
  readonly rate: Decimal;
  readonly share: Share;
}

function sideOf(
  side: 0 | 1,
  explained: TrueUpExplanation | undefined,
  beside: readonly ChargedPair[],
): Counted & Partial<Commitment> {
  if (explained === undefined) return { counted: new Set(beside), uncounted: ZERO };
  const others = explained.invoiced.filter(({ invoiceType }) => invoiceType !== "STANDARD");
  const keys = new Set(others.map(({ invoiceType, invoiceDate }) => `${invoiceType}|${invoiceDate}`));
  const counted = beside.filter(({ sides }) => {
    const { invoice } = sides[side];
    return invoice === undefined || keys.has(`${invoice.invoiceType}|${invoice.invoiceDate}`);
  });
  const sums = counted.map(({ sides }) => subTotalOf(sides[side].invoice));
  const [part] = explained.parts.filter(({ sign }) => sign === 1);
  return {
    counted: new Set(counted),
    uncounted: subtract(sum(others.map(({ value }) => value)), sum(sums)),
    rate: part?.rate ?? ZERO,
    share: part?.share ?? WHOLE,
  };
}

const WHOLE: Share = { days: 1, of: 1 };

/**
 * The commitment of a side, also where nothing is lacking of it: it is then that of its plan, or without the books that of the
 * other side, where both have one plan and nothing would lack.
 */
function completed(
  own: ChargedPair,
  side: 0 | 1,
  known: Sides<Counted & Partial<Commitment>>,
  other: TrueUpExplanation | undefined,
): Commitment {
  const { counted, uncounted, rate, share } = known[side];
  if (rate !== undefined && share !== undefined) return { counted, uncounted, rate, share };
  const opposite = known[side === 0 ? 1 : 0];
  const alike = { counted, uncounted: opposite.uncounted, share: opposite.share ?? WHOLE };
  const found = rateOn(own.sides, side, opposite.rate);
  if (other === undefined || found === undefined) return { ...alike, rate: ZERO };
  const sums = [...counted].map(({ sides }) => subTotalOf(sides[side].invoice));
  const refunds = sum((other.refunds ?? []).map(({ value }) => value));
  const charged = subtract(sum([subTotalOf(own.sides[side].invoice), alike.uncounted, ...sums]), refunds);
  const lacking = subtractFractions(
    multiplyByShare(toFraction(found), alike.share.days, alike.share.of),
    toFraction(charged),
  );
  const { digits, mode } = other.rounding;
  return { ...alike, rate: roundFraction(lacking, digits, mode).gt(ZERO) ? ZERO : found };
}

/** The rate of a commitment that a side does not show. @param other that of the other side */
function rateOn(sides: Sides<InvoiceSide>, side: 0 | 1, other: Decimal | undefined): Decimal | undefined {
  const { terms, invoice, currency } = sides[side];
  const [details] = terms?.details ?? [];
  if (details !== undefined)
    return details.minimumCommitment?.rateValues.find((each) => each.currency === currency)?.rate;
  const isOnePlan = terms?.plan !== undefined && terms.plan === sides[side === 0 ? 1 : 0].terms?.plan;
  return isOnePlan && invoice !== undefined ? other : undefined;
}

function trueUpOf(line: InvoiceLine): TrueUpExplanation {
  if (line.explanation?.of === "TRUE_UP") return line.explanation;
  throw incomparable(`${line.type}: the line has no explanation: preview with --explain, or \`explain\``);
}
