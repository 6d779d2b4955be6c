/**
 * The exact price of a card by quantity, as pieces between slab edges and the quantities at which a bound starts or stops
 * applying; packages form steps (S7).
 */
import type { RatePlanInput, RateValueInput } from "../book/resources/rate-card.ts";
import { optionError, RatebookError } from "../errors.ts";
import {
  add,
  type Decimal,
  type DecimalInput,
  parseDecimal,
  divide,
  maximum,
  minimum,
  multiply,
  ONE,
  subtract,
  ZERO,
} from "../numbers/decimal.ts";
import { type Bounds, joinSlabRates, type RatedSlab, type RatedSlabs } from "../rating/rated-slabs.ts";
import { clampToBounds, countPackages, priceBySlabs } from "../rating/slab-charge.ts";

/** A quantity at which the rate changes, the price steps, or a piece begins. */
export interface Breakpoint {
  /** Exact, or 34 significant digits, half up, if the decimal is infinite. */
  readonly quantity: Decimal;
  /** The exact quantity `numerator ÷ denominator`, if its decimal is infinite. */
  readonly ratio?: { readonly numerator: Decimal; readonly denominator: Decimal };
}

/** The price of the quantities above `from`, up to and including `until`. */
export interface PricePiece {
  /** The highest slab that these quantities reach, from 1. */
  readonly slab: number;
  /** Exclusive. */
  readonly from: Breakpoint;
  /** Inclusive. */
  readonly until: Breakpoint;
  /** Major units, exact: the price just above `from`. For a line, its limit there. */
  readonly first: Decimal;
  /** Major units, exact: the price at `until`. */
  readonly last: Decimal;
  /** `LINE`: every unit adds `rate`. `STEPS`: every package begun adds `rate`. */
  readonly shape: "LINE" | "STEPS";
  /** Major units per unit or package; 0 for a flat price or an active bound. */
  readonly rate: Decimal;
  /** Units per package; only with `STEPS`. */
  readonly packageSize?: Decimal;
  /** The quantity from which packages are counted: the slab's start in TIERED, 0 in VOLUME. Only with `STEPS`. */
  readonly countedFrom?: Decimal;
}

/** The price of a card at every quantity from 0 to `upTo`. */
export interface PriceCurve {
  /** The price of quantity 0 (S7.5). */
  readonly atZero: Decimal;
  /** In ascending order, without gaps, from 0. */
  readonly pieces: readonly PricePiece[];
}

/**
 * The exact price curve of a card (S7): linear between breakpoints, with steps for packages.
 *
 * @param options `upTo`: the largest quantity, inclusive, above 0
 * @throws {RatebookError} ERR_RATES_INVALID as `priceQuantity`; ERR_NUMBER_INVALID or ERR_OPTION_INVALID if `upTo`
 * isn't a decimal above 0
 */
export function priceCurve(
  plan: RatePlanInput,
  card: RateValueInput,
  { upTo }: { readonly upTo: DecimalInput },
): PriceCurve {
  return computePriceCurve(joinSlabRates(plan, card), requireCurveEnd(upTo));
}

/** Checks the end of a curve. @throws {RatebookError} ERR_NUMBER_INVALID or ERR_OPTION_INVALID as {@link priceCurve} */
export function requireCurveEnd(upTo: DecimalInput): Decimal {
  const end = parseDecimal(upTo);
  if (end.gt(ZERO)) return end;
  throw optionError("upTo", `expected more than 0, got ${end.toFixed()}`);
}

/** Same as {@link priceCurve}, for slabs that are already checked. @param upTo above 0 */
export function computePriceCurve(ratedSlabs: RatedSlabs, upTo: Decimal): PriceCurve {
  const pieces: PricePiece[] = [];
  let below = ZERO;
  for (const slab of ratedSlabs.slabs) {
    if (slab.startAfter.gte(upTo)) break;
    const isTiered = ratedSlabs.pricingModel === "TIERED";
    const end = slab.endAt === undefined ? upTo : minimum(slab.endAt, upTo);
    const segment: SlabSegment = {
      slab,
      end,
      origin: isTiered ? slab.startAfter : ZERO,
      below,
      bounds: ratedSlabs.bounds,
    };
    pieces.push(...(slab.priceType === "PACKAGE" ? createPackagePieces(segment) : createLinePieces(segment)));
    if (isTiered) below = add(below, clampToBounds(computeCharge(segment, end), slab));
  }
  return { atZero: priceBySlabs(ratedSlabs, ZERO).amount, pieces };
}

/** One slab, from its start to `end`. */
interface SlabSegment {
  readonly slab: RatedSlab;
  readonly end: Decimal;
  /** The quantity from which its units are counted: its start in TIERED, 0 in VOLUME (S7.2). */
  readonly origin: Decimal;
  /** The price of the slabs below it. */
  readonly below: Decimal;
  /** The bounds of the card. */
  readonly bounds: Bounds | undefined;
}

/** The charge of the slab for a quantity in it, before bounds. */
function computeCharge({ slab, origin }: SlabSegment, quantity: Decimal): Decimal {
  const units = subtract(quantity, origin);
  const flat = slab.flatRate ?? ZERO;
  switch (slab.priceType) {
    case "FLAT":
      return add(flat, slab.rate);
    case "PER_UNIT":
      return add(flat, multiply(slab.rate, units));
    case "PACKAGE":
      return add(flat, multiply(slab.rate, countPackages(units, slab.packageSize ?? ONE)));
  }
}

/** The card's price for a charge of its slab. */
function computePrice({ slab, below, bounds }: SlabSegment, charge: Decimal): Decimal {
  const price = add(below, clampToBounds(charge, slab));
  return bounds === undefined ? price : clampToBounds(price, bounds);
}

/** The charges of a slab at which a bound starts or stops applying. */
function listBoundLevels({ slab, below, bounds }: SlabSegment): readonly Decimal[] {
  const cardLevels = [bounds?.minimumRate, bounds?.maximumRate].map((level) => level && subtract(level, below));
  return [slab.minimumRate, slab.maximumRate, ...cardLevels].filter((level) => level !== undefined);
}

function createLinePieces(segment: SlabSegment): readonly PricePiece[] {
  const { slab, end, origin } = segment;
  const rate = slab.priceType === "FLAT" ? ZERO : slab.rate;
  const flat = add(slab.flatRate ?? ZERO, slab.priceType === "FLAT" ? slab.rate : ZERO);
  const charges = {
    first: add(flat, multiply(rate, subtract(slab.startAfter, origin))),
    last: computeCharge(segment, end),
  };
  const boundPoints = listBoundLevels(segment)
    .filter((level) => isBetween(level, charges.first, charges.last))
    .sort((a, b) => (rate.isNegative() ? b.comparedTo(a) : a.comparedTo(b)))
    .map((charge) => ({ charge, at: createBreakpoint(add(multiply(origin, rate), subtract(charge, flat)), rate) }));
  const points = [
    { charge: charges.first, at: { quantity: slab.startAfter } },
    ...boundPoints,
    { charge: charges.last, at: { quantity: end } },
  ];
  const pieces: PricePiece[] = [];
  for (const [index, to] of points.entries()) {
    const from = points[index - 1];
    if (from === undefined || (from.charge.eq(to.charge) && index < points.length - 1)) continue;
    const [first, last] = [computePrice(segment, from.charge), computePrice(segment, to.charge)];
    const piece = { slab: slab.order, from: from.at, until: to.at, first, last, shape: "LINE" } as const;
    appendPiece(pieces, { ...piece, rate: first.eq(last) ? ZERO : rate });
  }
  return pieces;
}

/** Adds a piece, or extends the previous one if both are on the same line. */
function appendPiece(pieces: PricePiece[], next: PricePiece): void {
  const before = pieces.at(-1);
  if (before !== undefined && before.rate.eq(next.rate)) {
    pieces[pieces.length - 1] = { ...before, until: next.until, last: next.last };
  } else pieces.push(next);
}

function createPackagePieces(segment: SlabSegment): readonly PricePiece[] {
  const { slab, end, origin } = segment;
  const size = slab.packageSize ?? ONE;
  const first = add(subtract(slab.startAfter, origin).divToInt(size), ONE);
  const last = countPackages(subtract(end, origin), size);
  // Package counts after which a bound may start or stop applying.
  const lastCounts = listBoundLevels(segment)
    .flatMap((level) => findCountsAround(subtract(level, slab.flatRate ?? ZERO), slab.rate))
    .filter((count) => count.gte(first) && count.lt(last))
    .sort((a, b) => a.comparedTo(b));
  const pieces: PricePiece[] = [];
  let from = first;
  for (const until of [...lastCounts, last]) {
    if (until.lt(from)) continue;
    pieces.push(createPackageRun(segment, from, until));
    from = add(until, ONE);
  }
  return pieces;
}

/** The piece for `from` to `until` packages, all on the same side of every bound. */
function createPackageRun(segment: SlabSegment, from: Decimal, until: Decimal): PricePiece {
  const { slab, end, origin } = segment;
  const size = slab.packageSize ?? ONE;
  const start = maximum(slab.startAfter, add(origin, multiply(size, subtract(from, ONE))));
  const stop = minimum(end, add(origin, multiply(size, until)));
  const priceForCount = (count: Decimal): Decimal =>
    computePrice(segment, add(slab.flatRate ?? ZERO, multiply(slab.rate, count)));
  const [first, last] = [priceForCount(from), priceForCount(until)];
  const range = { slab: slab.order, from: { quantity: start }, until: { quantity: stop }, first, last };
  return first.eq(last)
    ? { ...range, shape: "LINE", rate: ZERO }
    : { ...range, shape: "STEPS", rate: slab.rate, packageSize: size, countedFrom: origin };
}

/** The largest whole count below `amount ÷ rate`, and the ratio itself if it is whole; none unless it is positive. */
function findCountsAround(amount: Decimal, rate: Decimal): readonly Decimal[] {
  if (rate.isZero() || amount.isZero() || amount.isNegative() !== rate.isNegative()) return [];
  const count = amount.divToInt(rate);
  return multiply(count, rate).eq(amount) ? [subtract(count, ONE), count] : [count];
}

function isBetween(level: Decimal, a: Decimal, b: Decimal): boolean {
  return level.gt(minimum(a, b)) && level.lt(maximum(a, b));
}

function createBreakpoint(numerator: Decimal, denominator: Decimal): Breakpoint {
  const quantity = divide(numerator, denominator);
  const isExact = multiply(quantity, denominator).eq(numerator);
  return isExact ? { quantity } : { quantity, ratio: { numerator, denominator } };
}

/** How the price changes above an edge: TURN is a new rate, JUMP a higher price, FALL a lower price. */
export type EdgeKind = "TURN" | "JUMP" | "FALL";

/** A quantity at which two pieces of a curve meet. */
export interface CurveEdge {
  readonly at: Breakpoint;
  readonly kind: EdgeKind;
  /** Major units, exact. The price at the edge, which belongs to the piece below. */
  readonly below: Decimal;
  /** Major units, exact. The limit of the price just above the edge. */
  readonly above: Decimal;
  /** The slab of the quantities above the edge, from 1. */
  readonly slab: number;
  /** Whether a slab begins here. Otherwise a bound starts or stops applying, or the quantity is 0. */
  readonly isSlabEdge: boolean;
}

/** The edges of a curve, in ascending order. The first is at 0. */
export function curveEdges({ atZero, pieces }: PriceCurve): readonly CurveEdge[] {
  return pieces.map((piece, index) => {
    const before = pieces[index - 1];
    const below = before?.last ?? atZero;
    const kind = piece.first.gt(below) ? "JUMP" : piece.first.lt(below) ? "FALL" : "TURN";
    const isSlabEdge = before !== undefined && before.slab !== piece.slab;
    return { at: piece.from, kind, below, above: piece.first, slab: piece.slab, isSlabEdge };
  });
}

/** The pieces in which the price falls as the quantity grows, because the rate is negative. */
export function fallingPieces({ pieces }: PriceCurve): readonly PricePiece[] {
  return pieces.filter(({ first, last }) => last.lt(first));
}

/**
 * The price of a quantity on a curve, equal to `priceQuantity` (S7).
 *
 * @param quantity units, from 0 to the end of the curve
 * @throws {RatebookError} ERR_OPTION_INVALID for a quantity below 0 or beyond the curve
 */
export function priceAtQuantity({ atZero, pieces }: PriceCurve, quantity: Decimal): Decimal {
  if (quantity.isZero()) return atZero;
  const piece = quantity.isNegative() ? undefined : pieces.find(({ until }) => isAtOrAbove(until, quantity));
  if (piece === undefined) {
    throw new RatebookError("ERR_OPTION_INVALID", `quantity: ${quantity.toFixed()} is not on the curve`, {
      option: "quantity",
    });
  }
  return priceWithinPiece(piece, quantity);
}

/** Whether a breakpoint is at or above a quantity, computed without division. */
function isAtOrAbove({ quantity: at, ratio }: Breakpoint, quantity: Decimal): boolean {
  if (ratio === undefined) return quantity.lte(at);
  const times = multiply(quantity, ratio.denominator);
  return ratio.denominator.isNegative() ? times.gte(ratio.numerator) : times.lte(ratio.numerator);
}

function priceWithinPiece(
  { shape, from, first, rate, packageSize, countedFrom }: PricePiece,
  quantity: Decimal,
): Decimal {
  if (rate.isZero()) return first;
  if (shape === "STEPS") {
    const [size, origin] = [packageSize ?? ONE, countedFrom ?? ZERO];
    // The package after those that are full at the start of the piece.
    const firstCount = add(subtract(from.quantity, origin).divToInt(size), ONE);
    return add(first, multiply(rate, subtract(countPackages(subtract(quantity, origin), size), firstCount)));
  }
  // The denominator of this breakpoint equals the rate, so it cancels.
  if (from.ratio?.denominator.eq(rate) === true) {
    return add(first, subtract(multiply(rate, quantity), from.ratio.numerator));
  }
  return add(first, multiply(rate, subtract(quantity, from.quantity)));
}
