/**
 * Findings in the price curve of one card: falls, jumps, unreachable slabs, and digits of a rate that never change a
 * rounded price. All but the last are exact.
 */
import type { RateValue } from "../../book/resources/rate-card.ts";
import { minorUnitDigits } from "../../numbers/currency.ts";
import { add, Decimal, maximum, multiply, ONE, subtract, formatDecimal, ZERO } from "../../numbers/decimal.ts";
import { roundFraction, type RoundingMode, toFraction } from "../../numbers/fraction.ts";
import { joinSlabRates, type RatedSlab, type RatedSlabs } from "../../rating/rated-slabs.ts";
import { priceBySlabs } from "../../rating/slab-charge.ts";
import { computePriceCurve, type PricePiece } from "../price-curve.ts";
import { createFinding, type LintFinding, formatAmountWithCurrency, type PricedCard } from "./finding.ts";
/** Steps above an edge to try for an example, largest first. Whole quantities use only the first. */
const STEPS: readonly Decimal[] = [ONE, ...Array.from({ length: 20 }, (_, place) => new Decimal(`1e-${place + 1}`))];

const HALF = new Decimal("0.5");

export interface CurveOptions {
  /** The largest price jump at a slab edge, as a share of the price. */
  readonly jumpShare: Decimal;
  readonly rounding: RoundingMode;
}

/** Findings in a card, by currency. */
export function lintCard(card: PricedCard, options: CurveOptions): readonly LintFinding[] {
  return [
    ...findUnreachableSlabs(card),
    ...card.rateValues.flatMap((rates) => {
      const currencyCard: CardInCurrency = { card, rates, slabs: joinSlabRates(card.ratePlan, rates) };
      return [...(card.isFixed ? [] : lintEdges(currencyCard, options)), ...lintRateDigits(currencyCard, options)];
    }),
  ];
}

/** A card in one currency. */
interface CardInCurrency {
  readonly card: PricedCard;
  readonly rates: RateValue;
  readonly slabs: RatedSlabs;
}

/** Slabs above the largest quantity, and VOLUME slabs that contain no possible quantity. */
function findUnreachableSlabs(card: PricedCard): readonly LintFinding[] {
  const { ratePlan, quantityMax, isWhole, isFixed, name } = card;
  return ratePlan.slabs.flatMap((slab, index) => {
    const end = ratePlan.slabs[index + 1]?.startAfter;
    const place = { path: [...card.path, "ratePlan", "slabs", index], at: `${card.at}/slab/${slab.order}` };
    const isBeyondLimit = quantityMax !== undefined && slab.startAfter.gte(quantityMax) && (index > 0 || !isFixed);
    if (isBeyondLimit) {
      const [limit, start] = [formatDecimal(quantityMax), formatDecimal(slab.startAfter)];
      return createFinding("SLAB_UNREACHABLE", place, {
        message: `slab ${slab.order} is never reached: there are at most ${limit} of ${JSON.stringify(name)}`,
        example: `the slab starts after ${start}, and ${limit} is not above ${start}`,
      });
    }
    const isEmpty = isWhole && ratePlan.pricingModel === "VOLUME" && end?.floor().lte(slab.startAfter) === true;
    if (!isEmpty) return [];
    return createFinding("SLAB_UNREACHABLE", place, {
      message: `slab ${slab.order} is never reached: ${JSON.stringify(name)} is counted in whole numbers`,
      example: `there is no whole number above ${formatDecimal(slab.startAfter)} up to ${formatDecimal(end)}`,
    });
  });
}

/** Findings at edges, and in slabs with a negative rate. */
function lintEdges(currencyCard: CardInCurrency, options: CurveOptions): readonly LintFinding[] {
  const { card, slabs } = currencyCard;
  const lastEdge = slabs.slabs.at(-1)?.startAfter ?? ZERO;
  const upTo = card.quantityMax ?? add(multiply(lastEdge, new Decimal(2)), ONE);
  if (upTo.lte(ZERO)) return [];
  const { atZero, pieces } = computePriceCurve(slabs, upTo);
  return pieces.flatMap((piece, index) => {
    const before = pieces[index - 1];
    if (piece.first.lt(before?.last ?? atZero)) return lintFall(currencyCard, before, piece);
    if (piece.last.lt(piece.first)) return lintFallWithin(currencyCard, piece);
    return before === undefined || piece.slab === before.slab ? [] : lintJump(currencyCard, before, piece, options);
  });
}

/**
 * Reports a price that falls at an edge. This is inherent in VOLUME if the rate falls there, and otherwise probably
 * unintended.
 */
function lintFall(
  currencyCard: CardInCurrency,
  before: PricePiece | undefined,
  piece: PricePiece,
): LintFinding | readonly [] {
  const example = findExample(currencyCard, piece.from.quantity, (less, more) => more.lt(less));
  if (example === undefined) return [];
  const [lower, upper] = [slabAt(currencyCard, before?.slab ?? 1), slabAt(currencyCard, piece.slab)];
  const isVolume =
    currencyCard.slabs.pricingModel === "VOLUME" &&
    lower?.order !== upper?.order &&
    lower?.priceType === "PER_UNIT" &&
    upper?.priceType === "PER_UNIT" &&
    upper.rate.lt(lower.rate);
  const message = isVolume
    ? `the price falls above ${formatDecimal(piece.from.quantity)}, which is normal for VOLUME prices when the rate drops`
    : `the price falls above ${formatDecimal(piece.from.quantity)}: more usage costs less`;
  return createFinding("PRICE_FALLS", toLintPlace(currencyCard, piece), {
    level: isVolume ? "note" : "warning",
    message,
    example,
  });
}

function lintFallWithin(currencyCard: CardInCurrency, piece: PricePiece): LintFinding | readonly [] {
  const { card, rates, slabs } = currencyCard;
  const [from, until] = [piece.from.quantity, piece.until.quantity];
  const example =
    piece.shape === "LINE"
      ? findExampleWithin(currencyCard, from, until)
      : `above ${formatDecimal(from)}: ${formatAmountWithCurrency(piece.first, rates.currency)}, ${formatDecimal(until)} of ${JSON.stringify(card.name)}: ${formatAmountWithCurrency(priceBySlabs(slabs, until).amount, rates.currency)}`;
  if (example === undefined) return [];
  const message = `the price falls from ${formatDecimal(from)} to ${formatDecimal(until)}: the rate of slab ${piece.slab} is below zero`;
  return createFinding("PRICE_FALLS", toLintPlace(currencyCard, piece), { message, example });
}

/** Two quantities in a piece, of which the larger costs less: at its start, or inside if the price jumps there. */
function findExampleWithin(currencyCard: CardInCurrency, from: Decimal, until: Decimal): string | undefined {
  const falls = (less: Decimal, more: Decimal): boolean => more.lt(less);
  const atStart = findExample(currencyCard, from, falls);
  if (atStart !== undefined) return atStart;
  const inside = currencyCard.card.isWhole ? add(from.floor(), ONE) : multiply(add(from, until), HALF);
  return currencyCard.card.isWhole && add(inside, ONE).gt(until) ? undefined : findExample(currencyCard, inside, falls);
}

/** Reports a price that jumps by more than the allowed share at an edge. The first package of a slab is not a jump. */
function lintJump(
  currencyCard: CardInCurrency,
  before: PricePiece,
  piece: PricePiece,
  { jumpShare }: CurveOptions,
): LintFinding | readonly [] {
  const slab = slabAt(currencyCard, piece.slab);
  const packagePrice = slab?.priceType === "PACKAGE" ? maximum(slab.rate, ZERO) : ZERO;
  const increase = subtract(subtract(piece.first, before.last), packagePrice);
  if (before.last.lte(ZERO) || increase.lte(multiply(before.last, jumpShare))) return [];
  const example = findExample(currencyCard, piece.from.quantity, (less, more) =>
    subtract(subtract(more, less), packagePrice).gt(multiply(less, jumpShare)),
  );
  if (example === undefined) return [];
  const message = `the price jumps above ${formatDecimal(piece.from.quantity)} by more than ${formatDecimal(multiply(jumpShare, new Decimal(100)))}%`;
  const level = slab?.priceType === "FLAT" ? "note" : "warning";
  return createFinding("PRICE_JUMPS", toLintPlace(currencyCard, piece), { level, message, example });
}

/** Two quantities, at an edge and just above it, whose prices demonstrate a finding. */
function findExample(
  { card, rates, slabs }: CardInCurrency,
  edge: Decimal,
  shows: (less: Decimal, more: Decimal) => boolean,
): string | undefined {
  const quantity = card.isWhole ? edge.floor() : edge;
  const less = priceBySlabs(slabs, quantity).amount;
  for (const step of card.isWhole ? STEPS.slice(0, 1) : STEPS) {
    const next = add(quantity, step);
    if (card.quantityMax !== undefined && next.gt(card.quantityMax)) continue;
    const more = priceBySlabs(slabs, next).amount;
    if (!shows(less, more)) continue;
    return `${formatDecimal(quantity)} of ${JSON.stringify(card.name)} cost ${formatAmountWithCurrency(less, rates.currency)}, ${formatDecimal(next)} cost ${formatAmountWithCurrency(more, rates.currency)}`;
  }
  return undefined;
}

/** Reports digits of a rate that change no rounded price in the slab. Found by trying quantities, not proved. */
function lintRateDigits(currencyCard: CardInCurrency, { rounding }: CurveOptions): readonly LintFinding[] {
  const { card, rates, slabs } = currencyCard;
  const digits = minorUnitDigits(rates.currency);
  const half = new Decimal(`5e-${digits + 1}`);
  return slabs.slabs.flatMap((slab) => {
    const { rate, order, endAt } = slab;
    const quantityMax = card.quantityMax ?? endAt;
    if (rate.decimalPlaces() <= digits || quantityMax === undefined) return [];
    const truncatedRate = rate.toDecimalPlaces(rate.decimalPlaces() - 1, Decimal.ROUND_DOWN);
    const times = countRateUses(slab, slabs, quantityMax);
    if (multiply(subtract(rate, truncatedRate).abs(), times).gte(half)) return [];
    const formatPrice = (each: Decimal): string =>
      formatAmountWithCurrency(roundFraction(toFraction(multiply(each, times)), digits, rounding), rates.currency);
    if (formatPrice(rate) !== formatPrice(truncatedRate)) return [];
    const place = toLintPlace(currencyCard, { slab: order });
    return createFinding("RATE_TOO_FINE", place, {
      level: "note",
      message: `the last digit of the rate ${formatDecimal(rate)} of slab ${order} is too small to matter in ${rates.currency}`,
      example: `${formatDecimal(times)} times ${formatDecimal(rate)} is ${formatPrice(rate)}, and ${formatDecimal(times)} times ${formatDecimal(truncatedRate)} is ${formatPrice(truncatedRate)}`,
      searched: true,
    });
  });
}

/** The largest number of times that a slab's rate is charged, up to a quantity. */
function countRateUses(slab: RatedSlab, { pricingModel }: RatedSlabs, quantityMax: Decimal): Decimal {
  const end = slab.endAt !== undefined && slab.endAt.lt(quantityMax) ? slab.endAt : quantityMax;
  const units = pricingModel === "VOLUME" ? end : maximum(subtract(end, slab.startAfter), ZERO);
  switch (slab.priceType) {
    case "FLAT":
      return ONE;
    case "PER_UNIT":
      return units;
    case "PACKAGE":
      return add(units.divToInt(slab.packageSize ?? ONE), ONE);
  }
}

function slabAt({ slabs }: CardInCurrency, order: number): RatedSlab | undefined {
  return slabs.slabs[order - 1];
}

function toLintPlace(
  { card, rates }: CardInCurrency,
  piece: Pick<PricePiece, "slab">,
): Pick<PricedCard, "path" | "at"> {
  const rateIndex = card.rateValues.indexOf(rates);
  return {
    path: [...card.path, "rateValues", rateIndex, "slabRates", piece.slab - 1],
    at: `${card.at}/slab/${piece.slab}`,
  };
}
