/** Price curves as sentences and as SVG paths, and chart axes with round ticks. */
import type { CardCurve } from "../../analysis/plan-curves.ts";
import {
  type CurveEdge,
  curveEdges,
  fallingPieces,
  priceAtQuantity,
  type Breakpoint,
  type PriceCurve,
  type PricePiece,
} from "../../analysis/price-curve.ts";
import { formatMoney, formatNumber, describeSlabRange } from "../../invoicing/invoice-rows.ts";
import {
  add,
  type Decimal,
  parseDecimal,
  divide,
  maximum,
  minimum,
  multiply,
  subtract,
  ZERO,
  ONE,
} from "../../numbers/decimal.ts";
import type { RatedSlab } from "../../rating/rated-slabs.ts";

/** The maximum length of a plain number; longer ones are powers of ten. */
const NUMBER_LENGTH_MAX = 16;
/** The smallest number written with zeros; smaller ones are powers of ten. */
const PLAIN_NUMBER_MIN = "1e-12";
/** The maximum length of a unit name in a sentence. */
const UNIT_LENGTH_MAX = 20;

/** A readable quantity; very long ones are shortened to their first digits. */
export function formatQuantity(quantity: Decimal): string {
  return abbreviateNumber(quantity, formatNumber(quantity));
}

/** A readable amount. */
export function formatCost(amount: Decimal, digits: number): string {
  return abbreviateNumber(amount, formatMoney(amount, digits));
}

function abbreviateNumber(value: Decimal, text: string): string {
  if (text.length <= NUMBER_LENGTH_MAX) return text;
  const size = value.abs();
  if (size.lt(1e9) && size.gte("1e-4")) return `about ${formatNumber(value.toSignificantDigits(9))}`;
  const short = value.toSignificantDigits(4);
  // Small unit prices are shown as money, with their zeros.
  if (size.lt("1e-4") && size.gte(PLAIN_NUMBER_MIN)) return `${short.eq(value) ? "" : "about "}${formatNumber(short)}`;
  const power = short.toExponential().replace("e+", " × 10^").replace("e", " × 10^");
  return short.eq(value) ? power : `about ${power}`;
}

/** The prices of a card's slabs, one sentence each. */
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

/** An edge at which the price jumps or falls. */
type CurveJump = CurveEdge & { readonly kind: "JUMP" | "FALL" };

/** A jump or a fall in words. */
type CurveNote = Pick<CurveJump, "kind"> & { readonly sentence: string };

/**
 * The edges at which a price jumps or falls, ascending. The first package of a slab doesn't count, because its price is
 * listed.
 */
export function findJumps(curve: PriceCurve): readonly CurveJump[] {
  return curveEdges(curve).flatMap((edge, index): readonly CurveJump[] => {
    const { kind } = edge;
    if (kind === "TURN") return [];
    const piece = curve.pieces[index];
    const isPackage = piece?.shape === "STEPS" && subtract(edge.above, edge.below).eq(piece.rate);
    return isPackage && kind === "JUMP" ? [] : [{ ...edge, kind }];
  });
}

/** Describes the jumps and falls of a card's price, ascending, with figures. */
export function describeJumps({ card, name, upTo }: CardCurve, digits: number): readonly CurveNote[] {
  const unit = name.length <= UNIT_LENGTH_MAX ? ` ${name}` : "";
  const toAmountText = (amount: Decimal): string => formatCost(amount, digits);
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
    return { from: edge.at.quantity, note: { kind, sentence } };
  });
  const falls = fallingPieces(card).map(({ from, until, first, last }) => ({
    from: from.quantity,
    note: {
      kind: "FALL" as const,
      sentence: `falls from ${toQuantityText(from)} to ${toQuantityText(until)}${unit}: ${toAmountText(first)} to ${toAmountText(last)}`,
    },
  }));
  return [...edges, ...falls].sort((a, b) => a.from.comparedTo(b.from)).map(({ note }) => note);
}

/** The next whole quantity above an edge, with its price, if that shows the jump or fall too. */
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

type SlabPrice = Omit<RatedSlab, "order" | "startAfter" | "endAt">;

/** Describes a slab's price: `0.01 each, at least 5.00`. @param digits minor-unit digits of the currency */
function describePrice(slab: SlabPrice, digits: number): string {
  const formatRate = (amount: Decimal): string => formatMoney(amount, digits);
  const phrases = [describeRate(slab, digits)];
  if (slab.flatRate?.isZero() === false) phrases.push(`and ${formatRate(slab.flatRate)} once`);
  if (slab.minimumRate !== undefined) phrases.push(`at least ${formatRate(slab.minimumRate)}`);
  if (slab.maximumRate !== undefined) phrases.push(`at most ${formatRate(slab.maximumRate)}`);
  return phrases.join(", ");
}

function describeRate({ priceType, rate, packageSize = ONE }: SlabPrice, digits: number): string {
  if (rate.isZero()) return "free";
  switch (priceType) {
    case "FLAT":
      return `${formatMoney(rate, digits)} in all`;
    case "PER_UNIT":
      return `${formatMoney(rate, digits)} each`;
    case "PACKAGE":
      return `${formatMoney(rate, digits)} for every ${formatNumber(packageSize)} begun`;
  }
}

export interface Axis {
  readonly min: Decimal;
  readonly max: Decimal;
  /** In ascending order, within the axis. Includes 0 if the axis does. */
  readonly ticks: readonly Decimal[];
  /** The position of a value, from 0 at `min` to 1 at `max`; for drawing, never an amount. */
  readonly toPosition: (value: Decimal) => number;
}

/** An axis from 0 to a quantity. @param count the approximate number of ticks */
export function createQuantityAxis(upTo: Decimal, count: number): Axis {
  return createAxis(ZERO, upTo, chooseStep(upTo, count));
}

/** An axis that contains 0 and all amounts, and ends at round ones. */
export function createAmountAxis(amounts: readonly Decimal[], count: number): Axis {
  const [low, high] = [amounts.reduce(minimum, ZERO), amounts.reduce(maximum, ZERO)];
  const step = chooseStep(maximum(high, low.abs()), low.isZero() || high.isZero() ? count : count / 2);
  const roundDownToStep = (value: Decimal): Decimal => multiply(divide(value, step).floor(), step);
  const max = roundDownToStep(high).eq(high) ? high : add(roundDownToStep(high), step);
  return createAxis(roundDownToStep(low), max.isZero() && low.isZero() ? step : max, step);
}

function createAxis(min: Decimal, max: Decimal, step: Decimal): Axis {
  const first = divide(min, step).ceil();
  const count = Math.min(20, divide(subtract(max, min), step).floor().toNumber());
  const ticks = Array.from({ length: count + 1 }, (_, index) => multiply(add(first, parseDecimal(index)), step));
  const span = subtract(max, min);
  return { min, max, ticks, toPosition: (value) => divide(subtractRoughly(value, min), span).toNumber() };
}

/** A difference with enough digits for drawing. The exact one can have more than 100 digits. */
function subtractRoughly(value: Decimal, min: Decimal): Decimal {
  return value.toSignificantDigits(30).sub(min.toSignificantDigits(30));
}

/** A step of 1, 2 or 5 times a power of ten that gives about `count` ticks. */
function chooseStep(length: Decimal, count: number): Decimal {
  const roughStep = length.isZero() ? parseDecimal(1) : divide(length, parseDecimal(count));
  const power = parseDecimal(`1e${roughStep.e}`);
  const factor = divide(roughStep, power).toNumber();
  return multiply(parseDecimal(factor <= 1 ? 1 : factor <= 2 ? 2 : factor <= 5 ? 5 : 10), power);
}

/** A point in pixels. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/**
 * The maximum number of steps drawn separately. More would be closer than a line's width, so one line through their
 * corners is drawn instead.
 */
const STEPS_DRAWN_MAX = 120;

/** The SVG path of a curve, interrupted where the price jumps. */
export function drawCurvePath(curve: PriceCurve, toPoint: (quantity: Decimal, amount: Decimal) => Point): string {
  let path = "";
  let end: Point | undefined;
  for (const piece of curve.pieces) {
    for (const [from, to] of splitIntoStrokes(piece, toPoint)) {
      const isJoined = end !== undefined && Math.abs(end.x - from.x) < 0.05 && Math.abs(end.y - from.y) < 0.05;
      path += `${isJoined ? "" : `M${formatPoint(from)}`}L${formatPoint(to)}`;
      end = to;
    }
  }
  return path;
}

function splitIntoStrokes(
  { shape, from, until, first, last, rate, packageSize, countedFrom }: PricePiece,
  toPoint: (quantity: Decimal, amount: Decimal) => Point,
): readonly (readonly [Point, Point])[] {
  const line = [[toPoint(from.quantity, first), toPoint(until.quantity, last)] as const];
  if (shape === "LINE") return line;
  const [size, origin] = [packageSize ?? ONE, countedFrom ?? ZERO];
  const before = divide(from.quantity.sub(origin), size).floor();
  const count = divide(until.quantity.sub(origin), size).ceil().sub(before).toNumber();
  if (count > STEPS_DRAWN_MAX) return line;
  return Array.from({ length: count }, (_, index) => {
    const end = add(origin, multiply(size, before.add(index + 1)));
    const start = index === 0 ? from.quantity : add(origin, multiply(size, before.add(index)));
    const amount = add(first, multiply(rate, ONE.mul(index)));
    return [toPoint(start, amount), toPoint(end.gt(until.quantity) ? until.quantity : end, amount)] as const;
  });
}

/** Coordinates with one decimal place. */
function formatPoint({ x, y }: Point): string {
  return `${x.toFixed(1)} ${y.toFixed(1)}`;
}
