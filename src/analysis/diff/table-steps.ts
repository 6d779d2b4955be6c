/** The exact amount of a card with a price table as its usage and then its rates are replaced, row by row (S18). */
import type { CardExplanation, InvoiceLine } from "../../invoicing/invoice.ts";
import { type Decimal, multiply, sum, ZERO } from "../../numbers/decimal.ts";
import { type Fraction, toFraction } from "../../numbers/fraction.ts";
import type { PartExplanation, SlabExplanation } from "../../rating/charge.ts";
import { clampToShare, sumSlabs } from "../../rating/slab-charge.ts";

/** Whether the explanation of a line has the rows of a price table. */
export function isPricedByTable(line: InvoiceLine | undefined): boolean {
  return findCard(line)?.parts.some(({ row }) => row !== undefined) === true;
}

/**
 * The amounts after replacing the quantities of all rows, then their rates, with the limits of the first side. If rows
 * came or went and the meter's usage is the same, other rates are the cause; otherwise it is the usage of these rows.
 */
export function computeTableSteps(
  lines: readonly [InvoiceLine | undefined, InvoiceLine | undefined],
): readonly [afterUsage: Fraction, afterRates: Fraction] {
  const [before, after] = [listParts(lines[0]), listParts(lines[1])];
  const hasSameRows = before.size === after.size && [...before.keys()].every((key) => after.has(key));
  const isSameUsage = (lines[0]?.quantity ?? ZERO).eq(lines[1]?.quantity ?? ZERO);
  const withRates = sum([...after.values()].map(partAmount));
  const withUsage =
    isSameUsage && !hasSameRows
      ? sum([...before.values()].map(partAmount))
      : sum([...after].map(([key, to]) => repricePart(before.get(key) ?? to, to)));
  const { bounds } = findCard(lines[0] ?? lines[1]) ?? {};
  const limit = (amount: Decimal): Fraction =>
    bounds === undefined ? toFraction(amount) : clampToShare(toFraction(amount), bounds, bounds.share);
  return [limit(withUsage), limit(withRates)];
}

/** The usage of one side at the rates of the other; if neither is the same and there are tiers, usage counts as unchanged. */
function repricePart(from: PartExplanation, to: PartExplanation): Decimal {
  if (haveSameRates(from, to)) return partAmount(to);
  const { quantity = ZERO } = to;
  const [only, ...others] = from.slabs ?? [];
  const isFlatRate = others.length === 0 && only?.priceType === "PER_UNIT" && only.endAt === undefined;
  return isFlatRate && only.startAfter.isZero() ? multiply(only.rate, quantity) : partAmount(from);
}

/** Whether the tiers that both sides show are alike. */
function haveSameRates(a: PartExplanation, b: PartExplanation): boolean {
  const describe = ({ slabs = [] }: PartExplanation): ReadonlyMap<number, string> =>
    new Map(slabs.map((slab) => [slab.order, describeRate(slab)]));
  const other = describe(b);
  return [...describe(a)].every(([order, slab]) => (other.get(order) ?? slab) === slab);
}

/** A slab without the quantity that reached it. */
function describeRate(explanation: SlabExplanation): string {
  const { quantity: _, packages: __, amount: ___, ...slab } = explanation;
  return JSON.stringify(slab);
}

function partAmount({ slabs = [] }: PartExplanation): Decimal {
  return sumSlabs(slabs);
}

/** The parts by the usage that they price. */
function listParts(line: InvoiceLine | undefined): ReadonlyMap<string, PartExplanation> {
  return new Map((findCard(line)?.parts ?? []).map((part) => [part.because, part]));
}

function findCard(line: InvoiceLine | undefined): CardExplanation | undefined {
  return line?.explanation?.of === "CARD" ? line.explanation : undefined;
}
