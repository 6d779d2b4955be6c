/**
 * Recomputes every line of an invoice from its explanation alone (S13.6): no code of rating or invoicing is used, and
 * the invoice is read as the JSON that a user gets.
 */
import {
  compareRatios,
  type ExplanationFacts,
  toRatio,
  type Ratio,
  recompute,
  roundOnce,
} from "../rating/recompute.ts";
import { rulebook } from "./rulebook.ts";

type Mode = "HALF_UP" | "HALF_EVEN" | "DOWN";

interface Exact {
  readonly numerator: string;
  readonly denominator: number;
}

interface RoundingFacts {
  readonly digits: number;
  readonly mode: Mode;
}

interface CreditFacts {
  readonly left: string;
  readonly paid: readonly { readonly amount: string }[];
  readonly refund?: ExplanationFacts & { readonly exact: Exact; readonly rounding: RoundingFacts };
}

/** A line as JSON. */
interface LineFacts {
  readonly type: string;
  readonly id?: string;
  readonly value: string;
  readonly exactValue?: string;
  readonly lineItems?: readonly LineFacts[];
  readonly explanation?: { readonly of: string; readonly rules: readonly string[] } & Readonly<Record<string, unknown>>;
}

/** The links to the rules. */
const RULE_LINKS: ReadonlySet<string> = new Set(
  rulebook().rules.map((rule) => `docs/reference/semantics.md#${rule.toLowerCase()}`),
);
const ZERO: Ratio = { over: 0n, under: 1n };

/**
 * Checks a line and all below it.
 *
 * @returns the number of recomputed lines
 * @throws if a line does not match its explanation
 */
export function recomputeTree(tree: unknown): number {
  return recomputeLine(JSON.parse(JSON.stringify(tree)) as LineFacts);
}

function recomputeLine(line: LineFacts): number {
  const items = line.lineItems ?? [];
  const countBelow = items.map(recomputeLine).reduce((total, count) => total + count, 0);
  const { explanation } = line;
  if (explanation === undefined) throw new Error(`${describeLine(line)} has no explanation`);
  for (const rule of explanation.rules) {
    if (!RULE_LINKS.has(rule)) throw new Error(`${describeLine(line)} cites ${rule}, which is not a rule`);
  }
  requireEqual(recomputeValue(line, items), toRatio(line.value), line);
  return countBelow + 1;
}

/** The value that the explanation gives. */
function recomputeValue(line: LineFacts, items: readonly LineFacts[]): Ratio {
  const facts = line.explanation as unknown;
  switch (line.explanation?.of) {
    case "CARD":
      return cardValue(line, items, facts as ExplanationFacts & { exact: Exact; rounding: RoundingFacts });
    case "SLAB":
      return slabValue(facts as { exact: Exact; digits: number; missing: number });
    case "BOUNDS": {
      const { bounded, charged } = facts as { bounded: string; charged: string };
      return minus(toRatio(bounded), toRatio(charged));
    }
    case "SUM":
      return sum(items.map(({ value }) => toRatio(value)));
    case "TRUE_UP":
      return trueUpValue(line, facts as TrueUpFacts);
    case "CREDIT": {
      const { left, paid, refund } = facts as CreditFacts;
      if (refund !== undefined) {
        const refundAmount = recompute(refund);
        requireEqual(refundAmount, toExactRatio(refund.exact), line);
        const amount = toRatio(roundOnce(refundAmount, refund.rounding.digits, refund.rounding.mode));
        if (compareRatios(toRatio(left), amount) > 0)
          throw new Error(`${describeLine(line)} has more left than was refunded`);
      }
      const total = sum(paid.map(({ amount }) => toRatio(amount)));
      if (compareRatios(total, toRatio(left)) > 0) throw new Error(`${describeLine(line)} takes more than is left`);
      return minus(ZERO, total);
    }
    default:
      throw new Error(`${describeLine(line)} has an unknown explanation`);
  }
}

/** The parts recomputed, rounded once; the slabs and the adjustment below add up to it (S1.5, S7.4). */
function cardValue(
  line: LineFacts,
  items: readonly LineFacts[],
  facts: ExplanationFacts & { exact: Exact; rounding: RoundingFacts },
): Ratio {
  const exact = recompute(facts);
  requireEqual(exact, toExactRatio(facts.exact), line);
  const slabs = items.filter(({ explanation }) => explanation?.of === "SLAB");
  const slabAmounts = chargedBySlab(facts);
  if (slabs.length > 0) {
    if (slabs.length !== slabAmounts.length)
      throw new Error(`${describeLine(line)} has other slabs than its explanation`);
    for (const [index, slab] of slabs.entries()) requireEqual(exactSlabAmount(slab), slabAmounts[index] ?? ZERO, slab);
  }
  if (items.length > 0) requireEqual(sum(items.map(({ value }) => toRatio(value))), toRatio(line.value), line);
  return toRatio(roundOnce(exact, facts.rounding.digits, facts.rounding.mode));
}

/**
 * The amount of each slab of a card's charge, in slab order: its amount in every part, with the part's sign and share.
 */
function chargedBySlab({ parts }: ExplanationFacts): readonly Ratio[] {
  const bySlab = new Map<number, Ratio>();
  for (const { sign, share, slabs } of parts) {
    for (const { order, amount } of slabs ?? []) {
      const { over: top, under } = toRatio(amount);
      const part = { over: BigInt(sign) * top * BigInt(share.days), under: under * BigInt(share.of) };
      bySlab.set(order, sum([bySlab.get(order) ?? ZERO, part]));
    }
  }
  return [...bySlab].toSorted(([a], [b]) => a - b).map(([, amount]) => amount);
}

/** Rounded down to the minor unit, plus the units assigned to it (S1.5). */
function slabValue({ exact, digits, missing }: { exact: Exact; digits: number; missing: number }): Ratio {
  const { over: top, under } = toExactRatio(exact);
  const unit = 10n ** BigInt(digits);
  const amount = top * unit;
  const roundedDown = amount / under - (amount < 0n && amount % under !== 0n ? 1n : 0n);
  return { over: roundedDown + BigInt(missing), under: unit };
}

interface TrueUpFacts extends ExplanationFacts {
  readonly invoiced: readonly { readonly value: string }[];
  readonly refunds?: readonly (ExplanationFacts & { value: string; exact: Exact; rounding: RoundingFacts })[];
  readonly exact: Exact;
  readonly rounding: RoundingFacts;
}

function trueUpValue(line: LineFacts, facts: TrueUpFacts): Ratio {
  const takenParts = facts.parts.filter(({ sign }) => sign === -1).map(({ rate }) => toRatio(rate ?? 0));
  requireEqual(sum(takenParts), sum(facts.invoiced.map(({ value }) => toRatio(value))), line);
  const refunds = (facts.refunds ?? []).map((refund) => {
    requireEqual(recompute(refund), toExactRatio(refund.exact), line);
    return toRatio(roundOnce(recompute(refund), refund.rounding.digits, refund.rounding.mode));
  });
  requireEqual(sum(facts.parts.slice(2).map(({ rate }) => toRatio(rate ?? 0))), sum(refunds), line);
  requireEqual(recompute(facts), toExactRatio(facts.exact), line);
  return toRatio(roundOnce(recompute(facts), facts.rounding.digits, facts.rounding.mode));
}

function exactSlabAmount(slab: LineFacts): Ratio {
  return toExactRatio((slab.explanation as unknown as { exact: Exact }).exact);
}

function toExactRatio({ numerator, denominator }: Exact): Ratio {
  const { over: top, under } = toRatio(numerator);
  return { over: top, under: under * BigInt(denominator) };
}

function sum(ratios: readonly Ratio[]): Ratio {
  return ratios.reduce((a, b) => ({ over: a.over * b.under + b.over * a.under, under: a.under * b.under }), ZERO);
}

function minus(a: Ratio, b: Ratio): Ratio {
  return sum([a, { over: -b.over, under: b.under }]);
}

function requireEqual(actual: Ratio, printedValue: Ratio, line: LineFacts): void {
  if (compareRatios(actual, printedValue) !== 0)
    throw new Error(`${describeLine(line)} is not what its explanation gives`);
}

function describeLine({ type, id, value }: LineFacts): string {
  return `the line ${type} ${id ?? ""} of ${value}`;
}
