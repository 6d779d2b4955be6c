/**
 * What a price curve does, in words: how its slabs are priced, where it jumps, and where it falls.
 *
 * @module
 */
import { formatMoney, formatNumber } from "../../invoicing/figure-text.ts";
import { add, type Decimal, ONE, subtract } from "../../numbers/decimal.ts";
import { type CurveEdge, curveEdges, fallingPieces, priceOn } from "../../proof/curve-edges.ts";
import type { CardCurve } from "../../proof/plan-curves.ts";
import type { Breakpoint, PriceCurve } from "../../proof/price-curve.ts";
import { priceWords, slabWords } from "../slab-words.ts";

/** So many letters of a number are shown whole; longer ones as a power of ten. */
const NUMBER_LENGTH_MAX = 16;
/** The smallest number that is written with its zeros; smaller ones as a power of ten. */
const PLAIN_LEAST = "1e-12";
/** A name that is longer is no word of a sentence. */
const UNIT_LENGTH_MAX = 20;

/** A quantity as a person reads it; of a very large one, or one without an end, the first digits. */
export function quantityText(quantity: Decimal): string {
  return shortened(quantity, formatNumber(quantity));
}

/** An amount as a person reads it. */
export function amountText(amount: Decimal, digits: number): string {
  return shortened(amount, formatMoney(amount, digits));
}

function shortened(value: Decimal, text: string): string {
  if (text.length <= NUMBER_LENGTH_MAX) return text;
  const size = value.abs();
  if (size.lt(1e9) && size.gte("1e-4")) return `about ${formatNumber(value.toSignificantDigits(9))}`;
  const short = value.toSignificantDigits(4);
  // What a token costs is read as money, zeros and all.
  if (size.lt("1e-4") && size.gte(PLAIN_LEAST)) return `${short.eq(value) ? "" : "about "}${formatNumber(short)}`;
  const power = short.toExponential().replace("e+", " × 10^").replace("e", " × 10^");
  return short.eq(value) ? power : `about ${power}`;
}

/** The slabs of a card with their prices, a sentence each. */
export function slabSentences(
  { slabs: { pricingModel, slabs, bounds } }: CardCurve,
  digits: number,
): readonly string[] {
  const whole = [
    bounds?.minimumRate && `at least ${formatMoney(bounds.minimumRate, digits)} in all`,
    bounds?.maximumRate && `at most ${formatMoney(bounds.maximumRate, digits)} in all`,
  ].filter((text) => text !== undefined);
  return [
    ...slabs.map((slab) => `${slabWords(pricingModel, slab)}: ${priceWords(slab, digits)}`),
    ...(whole.length === 0 ? [] : [whole.join(", ")]),
  ];
}

/** A jump or a fall. */
export interface CurveEvent {
  readonly kind: "JUMP" | "FALL";
  readonly sentence: string;
}

/** An edge at which the price jumps or falls. */
export interface Leap extends CurveEdge {
  readonly kind: CurveEvent["kind"];
}

/** Where a price jumps and falls, ascending; the first package of a slab is no jump, for its price says so. */
export function leapsOf(curve: PriceCurve): readonly Leap[] {
  return curveEdges(curve).flatMap((edge, index): readonly Leap[] => {
    const { kind } = edge;
    if (kind === "TURN") return [];
    const piece = curve.pieces[index];
    const isPackage = piece?.shape === "STEPS" && subtract(edge.above, edge.below).eq(piece.rate);
    return isPackage && kind === "JUMP" ? [] : [{ ...edge, kind }];
  });
}

/** Where a card's price jumps and falls, ascending, with the figures that show it. */
export function curveEvents({ card, name, upTo }: CardCurve, digits: number): readonly CurveEvent[] {
  const unit = name.length <= UNIT_LENGTH_MAX ? ` ${name}` : "";
  const money = (amount: Decimal): string => amountText(amount, digits);
  const at = ({ quantity }: Breakpoint): string => quantityText(quantity);
  const edges = leapsOf(card).map((edge) => {
    const { kind } = edge;
    const word = kind === "FALL" ? "falls" : "jumps";
    const above = nextWhole(card, edge, upTo);
    const next =
      above === undefined
        ? `just above: ${money(edge.above)}`
        : `at ${quantityText(above.quantity)}: ${money(above.price)}`;
    const sentence = `${word}: at ${at(edge.at)}${unit}: ${money(edge.below)}, ${next}`;
    return { from: edge.at.quantity, event: { kind, sentence } };
  });
  const falling = fallingPieces(card).map(({ from, until, first, last }) => ({
    from: from.quantity,
    event: {
      kind: "FALL" as const,
      sentence: `falls from ${at(from)} to ${at(until)}${unit}: ${money(first)} to ${money(last)}`,
    },
  }));
  return [...edges, ...falling].sort((a, b) => a.from.comparedTo(b.from)).map(({ event }) => event);
}

/** The next whole quantity above an edge, where it shows the same. */
function nextWhole(
  curve: PriceCurve,
  { at, kind, below }: CurveEdge,
  upTo: Decimal,
): { readonly quantity: Decimal; readonly price: Decimal } | undefined {
  const quantity = add(at.quantity.floor(), ONE);
  if (!at.quantity.isInteger() || quantity.gt(upTo)) return undefined;
  const price = priceOn(curve, quantity);
  return (kind === "FALL" ? price.lt(below) : price.gt(below)) ? { quantity, price } : undefined;
}
