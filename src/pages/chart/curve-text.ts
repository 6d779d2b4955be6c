/**
 * What a price curve does, in words: how its slabs are priced, where it jumps, and where it falls.
 *
 * @module
 */
import { type CurveEdge, curveEdges, fallingPieces, priceAtQuantity } from "../../analysis/curve-edges.ts";
import type { CardCurve } from "../../analysis/plan-curves.ts";
import type { Breakpoint, PriceCurve } from "../../analysis/price-curve.ts";
import { formatMoney, formatNumber } from "../../invoicing/format-values.ts";
import { add, type Decimal, ONE, subtract } from "../../numbers/decimal.ts";
import { describePrice, describeSlabRange } from "../slab-text.ts";

/** So many letters of a number are shown whole; longer ones as a power of ten. */
const NUMBER_LENGTH_MAX = 16;
/** The smallest number that is written with its zeros; smaller ones as a power of ten. */
const PLAIN_NUMBER_MIN = "1e-12";
/** A name that is longer is no word of a sentence. */
const UNIT_LENGTH_MAX = 20;

/** A quantity as a person reads it; of a very large one, or one without an end, the first digits. */
export function formatQuantity(quantity: Decimal): string {
  return abbreviateNumber(quantity, formatNumber(quantity));
}

/** An amount as a person reads it. */
export function formatAmount(amount: Decimal, digits: number): string {
  return abbreviateNumber(amount, formatMoney(amount, digits));
}

function abbreviateNumber(value: Decimal, text: string): string {
  if (text.length <= NUMBER_LENGTH_MAX) return text;
  const size = value.abs();
  if (size.lt(1e9) && size.gte("1e-4")) return `about ${formatNumber(value.toSignificantDigits(9))}`;
  const short = value.toSignificantDigits(4);
  // What a token costs is read as money, zeros and all.
  if (size.lt("1e-4") && size.gte(PLAIN_NUMBER_MIN)) return `${short.eq(value) ? "" : "about "}${formatNumber(short)}`;
  const power = short.toExponential().replace("e+", " × 10^").replace("e", " × 10^");
  return short.eq(value) ? power : `about ${power}`;
}

/** The slabs of a card with their prices, a sentence each. */
export function describeSlabs(
  { slabs: { pricingModel, slabs, bounds } }: CardCurve,
  digits: number,
): readonly string[] {
  const cardBounds = [
    bounds?.minimumRate && `at least ${formatMoney(bounds.minimumRate, digits)} in all`,
    bounds?.maximumRate && `at most ${formatMoney(bounds.maximumRate, digits)} in all`,
  ].filter((text) => text !== undefined);
  return [
    ...slabs.map((slab) => `${describeSlabRange(pricingModel, slab)}: ${describePrice(slab, digits)}`),
    ...(cardBounds.length === 0 ? [] : [cardBounds.join(", ")]),
  ];
}

/** A jump or a fall. */
export interface CurveNote {
  readonly kind: "JUMP" | "FALL";
  readonly sentence: string;
}

/** An edge at which the price jumps or falls. */
export interface CurveJump extends CurveEdge {
  readonly kind: CurveNote["kind"];
}

/** Where a price jumps and falls, ascending; the first package of a slab is no jump, for its price says so. */
export function findJumps(curve: PriceCurve): readonly CurveJump[] {
  return curveEdges(curve).flatMap((edge, index): readonly CurveJump[] => {
    const { kind } = edge;
    if (kind === "TURN") return [];
    const piece = curve.pieces[index];
    const isPackage = piece?.shape === "STEPS" && subtract(edge.above, edge.below).eq(piece.rate);
    return isPackage && kind === "JUMP" ? [] : [{ ...edge, kind }];
  });
}

/** Where a card's price jumps and falls, ascending, with the figures that show it. */
export function describeJumps({ card, name, upTo }: CardCurve, digits: number): readonly CurveNote[] {
  const unit = name.length <= UNIT_LENGTH_MAX ? ` ${name}` : "";
  const toAmountText = (amount: Decimal): string => formatAmount(amount, digits);
  const toQuantityText = ({ quantity }: Breakpoint): string => formatQuantity(quantity);
  const edges = findJumps(card).map((edge) => {
    const { kind } = edge;
    const word = kind === "FALL" ? "falls" : "jumps";
    const above = findNextWholeQuantity(card, edge, upTo);
    const next =
      above === undefined
        ? `just above: ${toAmountText(edge.above)}`
        : `at ${formatQuantity(above.quantity)}: ${toAmountText(above.price)}`;
    const sentence = `${word}: at ${toQuantityText(edge.at)}${unit}: ${toAmountText(edge.below)}, ${next}`;
    return { from: edge.at.quantity, event: { kind, sentence } };
  });
  const falls = fallingPieces(card).map(({ from, until, first, last }) => ({
    from: from.quantity,
    event: {
      kind: "FALL" as const,
      sentence: `falls from ${toQuantityText(from)} to ${toQuantityText(until)}${unit}: ${toAmountText(first)} to ${toAmountText(last)}`,
    },
  }));
  return [...edges, ...falls].sort((a, b) => a.from.comparedTo(b.from)).map(({ event }) => event);
}

/** The next whole quantity above an edge, where it shows the same. */
function findNextWholeQuantity(
  curve: PriceCurve,
  { at, kind, below }: CurveEdge,
  upTo: Decimal,
): { readonly quantity: Decimal; readonly price: Decimal } | undefined {
  const quantity = add(at.quantity.floor(), ONE);
  if (!at.quantity.isInteger() || quantity.gt(upTo)) return undefined;
  const price = priceAtQuantity(curve, quantity);
  return (kind === "FALL" ? price.lt(below) : price.gt(below)) ? { quantity, price } : undefined;
}
