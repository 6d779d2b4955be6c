/**
 * Findings in the curve of one card: where its price falls or jumps, slabs that no quantity reaches, and digits of a rate
 * that no quantity makes visible. All but the last are exact.
 *
 * @module
 */
import type { RateValue } from "../../book/model/rate-card.ts";
import { minorUnitDigits } from "../../numbers/currency.ts";
import { add, Decimal, greatest, multiply, ONE, subtract, formatDecimal, ZERO } from "../../numbers/decimal.ts";
import { roundFraction, type RoundingMode, toFraction } from "../../numbers/fraction.ts";
import { joinSlabRates, type RatedSlab, type RatedSlabs } from "../../rating/rated-slabs.ts";
import { priceThrough } from "../../rating/slabs.ts";
import { curveOf, type PricePiece } from "../price-curve.ts";
import { finding, type LintFinding, moneyText } from "./finding.ts";
import type { PricedCard } from "./priced-cards.ts";

/** Steps beyond an edge that are tried for an example, largest first; of a count only the first. */
const STEPS: readonly Decimal[] = [ONE, ...Array.from({ length: 20 }, (_, place) => new Decimal(`1e-${place + 1}`))];

const HALF = new Decimal("0.5");

/** How curves are looked at. */
export interface CurveOptions {
  /** The share of a price by which it may jump at the edge of a slab. */
  readonly jumpShare: Decimal;
  readonly rounding: RoundingMode;
}

/** Everything that is found in a card, currency by currency. */
export function lintCard(card: PricedCard, options: CurveOptions): readonly LintFinding[] {
  return [
    ...unreachable(card),
    ...card.rateValues.flatMap((rates) => {
      const of: CardIn = { card, rates, slabs: joinSlabRates(card.ratePlan, rates) };
      return [...(card.isFixed ? [] : edgesOf(of, options)), ...tooFine(of, options)];
    }),
  ];
}

/** A card in one currency. */
interface CardIn {
  readonly card: PricedCard;
  readonly rates: RateValue;
  readonly slabs: RatedSlabs;
}

/** Slabs above the largest quantity, and of VOLUME those that hold no quantity that there can be. */
function unreachable(card: PricedCard): readonly LintFinding[] {
  const { ratePlan, most, isWhole, isFixed, name } = card;
  return ratePlan.slabs.flatMap((slab, index) => {
    const end = ratePlan.slabs[index + 1]?.startAfter;
    const place = { path: [...card.path, "ratePlan", "slabs", index], at: `${card.at}/slab/${slab.order}` };
    const beyond = most !== undefined && slab.startAfter.gte(most) && (index > 0 || !isFixed);
    if (beyond) {
      const [limit, start] = [formatDecimal(most), formatDecimal(slab.startAfter)];
      return [
        finding("SLAB_UNREACHABLE", place, {
          message: `slab ${slab.order} is never reached: there are at most ${limit} of ${JSON.stringify(name)}`,
          example: `the slab starts after ${start}, and ${limit} is not above ${start}`,
        }),
      ];
    }
    const holdsNone = isWhole && ratePlan.pricingModel === "VOLUME" && end?.floor().lte(slab.startAfter) === true;
    if (!holdsNone) return [];
    return [
      finding("SLAB_UNREACHABLE", place, {
        message: `slab ${slab.order} is never reached: ${JSON.stringify(name)} is counted in whole numbers`,
        example: `there is no whole number above ${formatDecimal(slab.startAfter)} up to ${formatDecimal(end)}`,
      }),
    ];
  });
}

/** Findings on the price at edges, and within slabs whose rate is below zero. */
function edgesOf(of: CardIn, options: CurveOptions): readonly LintFinding[] {
  const { card, slabs } = of;
  const lastEdge = slabs.slabs.at(-1)?.startAfter ?? ZERO;
  const upTo = card.most ?? add(multiply(lastEdge, new Decimal(2)), ONE);
  if (upTo.lte(ZERO)) return [];
  const { atZero, pieces } = curveOf(slabs, upTo);
  const found: LintFinding[] = [];
  for (const [index, piece] of pieces.entries()) {
    const before = pieces[index - 1];
    const last = before?.last ?? atZero;
    if (piece.first.lt(last)) found.push(...fall(of, before, piece));
    else if (piece.last.lt(piece.first)) found.push(...fallWithin(of, piece));
    else if (before !== undefined && piece.slab !== before.slab) found.push(...jump(of, before, piece, options));
  }
  return found;
}

/** The price falls at an edge. Of VOLUME whose rate drops there that is its nature; else it is surely unwanted. */
function fall(of: CardIn, before: PricePiece | undefined, piece: PricePiece): readonly LintFinding[] {
  const example = exampleOf(of, piece.from.quantity, (less, more) => more.lt(less));
  if (example === undefined) return [];
  const [lower, upper] = [slabOf(of, before?.slab ?? 1), slabOf(of, piece.slab)];
  const isVolume =
    of.slabs.pricingModel === "VOLUME" &&
    lower?.order !== upper?.order &&
    lower?.priceType === "PER_UNIT" &&
    upper?.priceType === "PER_UNIT" &&
    upper.rate.lt(lower.rate);
  const message = isVolume
    ? `the price falls above ${formatDecimal(piece.from.quantity)}, as VOLUME prices do where their rate drops`
    : `the price falls above ${formatDecimal(piece.from.quantity)}: who uses more pays less`;
  return [finding("PRICE_FALLS", placeOf(of, piece), { level: isVolume ? "note" : "warning", message, example })];
}

function fallWithin(of: CardIn, piece: PricePiece): readonly LintFinding[] {
  const { card, rates, slabs } = of;
  const [from, until] = [piece.from.quantity, piece.until.quantity];
  const example =
    piece.shape === "LINE"
      ? exampleWithin(of, from, until)
      : `above ${formatDecimal(from)}: ${moneyText(piece.first, rates.currency)}, ${formatDecimal(until)} of ${JSON.stringify(card.name)}: ${moneyText(priceThrough(slabs, until).amount, rates.currency)}`;
  if (example === undefined) return [];
  const message = `the price falls from ${formatDecimal(from)} to ${formatDecimal(until)}: the rate of slab ${piece.slab} is below zero`;
  return [finding("PRICE_FALLS", placeOf(of, piece), { message, example })];
}

/** Two quantities of a stretch, of which the larger costs less: those at its start, or within it where the price jumps there. */
function exampleWithin(of: CardIn, from: Decimal, until: Decimal): string | undefined {
  const falls = (less: Decimal, more: Decimal): boolean => more.lt(less);
  const atStart = exampleOf(of, from, falls);
  if (atStart !== undefined) return atStart;
  const inside = of.card.isWhole ? add(from.floor(), ONE) : multiply(add(from, until), HALF);
  return of.card.isWhole && add(inside, ONE).gt(until) ? undefined : exampleOf(of, inside, falls);
}

/** A price that jumps at an edge by more than a share of it; the first package of a slab is no jump. */
function jump(of: CardIn, before: PricePiece, piece: PricePiece, { jumpShare }: CurveOptions): readonly LintFinding[] {
  const slab = slabOf(of, piece.slab);
  const usual = slab?.priceType === "PACKAGE" ? greatest(slab.rate, ZERO) : ZERO;
  const jumped = subtract(subtract(piece.first, before.last), usual);
  if (before.last.lte(ZERO) || jumped.lte(multiply(before.last, jumpShare))) return [];
  const example = exampleOf(of, piece.from.quantity, (less, more) =>
    subtract(subtract(more, less), usual).gt(multiply(less, jumpShare)),
  );
  if (example === undefined) return [];
  const message = `the price jumps above ${formatDecimal(piece.from.quantity)} by more than ${formatDecimal(multiply(jumpShare, new Decimal(100)))}%`;
  const level = slab?.priceType === "FLAT" ? "note" : "warning";
  return [finding("PRICE_JUMPS", placeOf(of, piece), { level, message, example })];
}

/** Two quantities, one at an edge and one just above it, whose prices show something. */
function exampleOf(
  { card, rates, slabs }: CardIn,
  edge: Decimal,
  shows: (less: Decimal, more: Decimal) => boolean,
): string | undefined {
  const quantity = card.isWhole ? edge.floor() : edge;
  const less = priceThrough(slabs, quantity).amount;
  for (const step of card.isWhole ? STEPS.slice(0, 1) : STEPS) {
    const next = add(quantity, step);
    if (card.most !== undefined && next.gt(card.most)) continue;
    const more = priceThrough(slabs, next).amount;
    if (!shows(less, more)) continue;
    return `${formatDecimal(quantity)} of ${JSON.stringify(card.name)} cost ${moneyText(less, rates.currency)}, ${formatDecimal(next)} cost ${moneyText(more, rates.currency)}`;
  }
  return undefined;
}

/** Digits of a rate that change no rounded price, however much of the slab is used. Prices were tried, not proved. */
function tooFine({ card, rates, slabs }: CardIn, { rounding }: CurveOptions): readonly LintFinding[] {
  const digits = minorUnitDigits(rates.currency);
  const half = new Decimal(`5e-${digits + 1}`);
  return slabs.slabs.flatMap((slab, index) => {
    const { rate, order, endAt } = slab;
    const most = card.most ?? endAt;
    if (rate.decimalPlaces() <= digits || most === undefined) return [];
    const cut = rate.toDecimalPlaces(rate.decimalPlaces() - 1, Decimal.ROUND_DOWN);
    const times = timesOf(slab, slabs, most);
    if (multiply(subtract(rate, cut).abs(), times).gte(half)) return [];
    const priceOf = (each: Decimal): string =>
      moneyText(roundFraction(toFraction(multiply(each, times)), digits, rounding), rates.currency);
    if (priceOf(rate) !== priceOf(cut)) return [];
    const list = card.rateValues.indexOf(rates);
    return [
      finding(
        "RATE_TOO_FINE",
        { path: [...card.path, "rateValues", list, "slabRates", index], at: `${card.at}/slab/${order}` },
        {
          level: "note",
          message: `the last digit of the rate ${formatDecimal(rate)} of slab ${order} is too fine to be seen in ${rates.currency}`,
          example: `${formatDecimal(times)} times ${formatDecimal(rate)} is ${priceOf(rate)}, and ${formatDecimal(times)} times ${formatDecimal(cut)} is ${priceOf(cut)}`,
          searched: true,
        },
      ),
    ];
  });
}

/** How often the rate of a slab is taken at most, up to a quantity. */
function timesOf(slab: RatedSlab, { pricingModel }: RatedSlabs, most: Decimal): Decimal {
  const end = slab.endAt !== undefined && slab.endAt.lt(most) ? slab.endAt : most;
  const units = pricingModel === "VOLUME" ? end : greatest(subtract(end, slab.startAfter), ZERO);
  switch (slab.priceType) {
    case "FLAT":
      return ONE;
    case "PER_UNIT":
      return units;
    case "PACKAGE":
      return add(units.divToInt(slab.packageSize ?? ONE), ONE);
  }
}

function slabOf({ slabs }: CardIn, order: number): RatedSlab | undefined {
  return slabs.slabs[order - 1];
}

function placeOf({ card, rates }: CardIn, piece: PricePiece): Pick<PricedCard, "path" | "at"> {
  const list = card.rateValues.indexOf(rates);
  return {
    path: [...card.path, "rateValues", list, "slabRates", piece.slab - 1],
    at: `${card.at}/slab/${piece.slab}`,
  };
}
