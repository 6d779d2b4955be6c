/**
 * The inputs of one card's line, taken apart again: quantities, prices, bounds and days, each to be replaced alone.
 *
 * @module
 */
import type { Share } from "../../calendar/proration.ts";
import type { CardExplanation } from "../../invoicing/explain.ts";
import { type Decimal, textOf, ZERO } from "../../numbers/decimal.ts";
import {
  addFractions,
  compareFractions,
  type Fraction,
  negated,
  NOTHING,
  shareOf,
  whole,
} from "../../numbers/fraction.ts";
import type { PartExplanation, SlabExplanation } from "../../rating/charge.ts";
import type { Bounds, RatedSlab } from "../../rating/rated-slabs.ts";
import { held, slabsReached, totalOf } from "../../rating/slabs.ts";
import { incomparable } from "./leaves.ts";

/** One quantity, or a fee once. */
interface Counted {
  readonly sign: 1 | -1;
  /** Absent for a fee. */
  readonly quantity?: Decimal;
}

/** How a card prices what is counted: by slabs, of which some may be unknown, or at a rate. */
export interface CardPrices {
  readonly pricingModel: "TIERED" | "VOLUME" | undefined;
  /** By order, ascending. */
  readonly slabs: ReadonlyMap<number, RatedSlab>;
  readonly chargeAtZero: boolean;
  /** Of a fee. */
  readonly rate?: Decimal;
}

/** The inputs of one card's line. */
export interface CardInputs {
  readonly counted: readonly Counted[];
  /** Absent where there is no such card. */
  readonly prices: CardPrices | undefined;
  readonly bounds: (Bounds & { readonly each: boolean }) | undefined;
  /** One for each quantity. */
  readonly shares: readonly Share[];
  /** The share of bounds that hold the sum. */
  readonly boundShare: Share;
  /** Whether the charge is not taken below 0. */
  readonly notBelowZero: boolean;
}

const WHOLE: Share = { days: 1, of: 1 };

/** The inputs that an explanation holds. */
export function inputsOf({ parts, bounds, least }: CardExplanation): CardInputs {
  const each = parts.find((part) => part.bounds !== undefined)?.bounds;
  return {
    counted: parts.map(({ sign, quantity }) => ({ sign, ...(quantity !== undefined && { quantity }) })),
    prices: pricesOf(parts),
    bounds: bounds === undefined ? each && { ...each, each: true } : { ...bounds, each: false },
    shares: parts.map(({ share }) => share),
    boundShare: bounds?.share ?? WHOLE,
    notBelowZero: least !== undefined,
  };
}

function pricesOf(parts: readonly PartExplanation[]): CardPrices {
  const shown = parts.flatMap((part) => part.slabs ?? []).toSorted((a, b) => a.order - b.order);
  const slabs = new Map(shown.map((slab) => [slab.order, ratedSlabOf(slab)]));
  const rate = parts.find((part) => part.rate !== undefined)?.rate;
  const chargeAtZero = parts.some(({ quantity, slabs: of = [] }) => quantity?.isZero() === true && of.length > 0);
  const pricingModel = parts.find((part) => part.pricingModel !== undefined)?.pricingModel;
  return { pricingModel, slabs, chargeAtZero, ...(rate !== undefined && { rate }) };
}

/** A slab without what fell in it. */
function ratedSlabOf(slab: SlabExplanation): RatedSlab {
  const { order, startAfter, endAt, priceType, rate, packageSize, flatRate, minimumRate, maximumRate } = slab;
  return {
    order,
    startAfter,
    priceType,
    rate,
    ...(endAt !== undefined && { endAt }),
    ...(packageSize !== undefined && { packageSize }),
    ...(flatRate !== undefined && { flatRate }),
    ...(minimumRate !== undefined && { minimumRate }),
    ...(maximumRate !== undefined && { maximumRate }),
  };
}

/** Prices with the slabs that another account of the same prices knows; alone where both show a slab and it differs. */
export function withSlabsOf(prices: CardPrices, other: CardPrices | undefined): CardPrices {
  if (other === undefined || other.pricingModel !== (prices.pricingModel ?? other.pricingModel)) return prices;
  const isOther = ([order, slab]: readonly [number, RatedSlab]): boolean => {
    const own = prices.slabs.get(order);
    return own !== undefined && !isSameSlab(own, slab);
  };
  if ([...other.slabs].some(isOther)) return prices;
  return {
    ...prices,
    pricingModel: prices.pricingModel ?? other.pricingModel,
    slabs: new Map([...other.slabs, ...prices.slabs].toSorted(([a], [b]) => a - b)),
    chargeAtZero: prices.chargeAtZero || other.chargeAtZero,
  };
}

/** Whether slabs price alike: bounds that are left out are those that are none. */
function isSameSlab(a: RatedSlab, b: RatedSlab): boolean {
  const terms = ({ startAfter, endAt, priceType, rate, packageSize, flatRate, minimumRate, maximumRate }: RatedSlab) =>
    JSON.stringify([startAfter, endAt, priceType, rate, packageSize, flatRate, minimumRate, maximumRate]);
  return terms(a) === terms(b);
}

/**
 * The exact amount that inputs come to; 0 without prices.
 *
 * @param name names the card in a refusal
 * @throws {RatebookError} ERR_INPUT_INVALID where a slab is needed that no explanation shows
 */
export function amountOf(
  { counted, prices, bounds, shares, boundShare, notBelowZero }: CardInputs,
  name: string,
): Fraction {
  if (prices === undefined) return NOTHING;
  let total = NOTHING;
  for (const [index, { sign, quantity }] of counted.entries()) {
    const price = quantity === undefined ? (prices.rate ?? ZERO) : priceOf(prices, quantity, name);
    const { days, of } = shares[index] ?? WHOLE;
    const shared = shareOf(whole(bounds?.each === true ? held(price, bounds) : price), days, of);
    total = addFractions(total, sign === 1 ? shared : negated(shared));
  }
  if (notBelowZero && total.numerator.isNegative()) total = NOTHING;
  return bounds === undefined || bounds.each ? total : heldTo(total, bounds, boundShare);
}

function heldTo(amount: Fraction, { minimumRate, maximumRate }: Bounds, { days, of }: Share): Fraction {
  const low = minimumRate && shareOf(whole(minimumRate), days, of);
  const high = maximumRate && shareOf(whole(maximumRate), days, of);
  const raised = low !== undefined && compareFractions(amount, low) < 0 ? low : amount;
  return high !== undefined && compareFractions(raised, high) > 0 ? high : raised;
}

function priceOf(
  { pricingModel = "TIERED", slabs, chargeAtZero, rate }: CardPrices,
  quantity: Decimal,
  name: string,
): Decimal {
  if (slabs.size === 0 && rate !== undefined) return rate;
  if (quantity.lte(ZERO) && !chargeAtZero) return ZERO;
  const known = knownFor([...slabs.values()], pricingModel, quantity);
  if (known === undefined) {
    throw incomparable(
      `${name}: ${textOf(quantity)} units are in a slab that the explanations do not show, as they show those alone that were reached: give the books, too`,
    );
  }
  return totalOf(slabsReached({ pricingModel, slabs: known, chargeAtZero }, quantity));
}

/** The known slabs, where they price a quantity; undefined where one is missing. */
function knownFor(
  slabs: readonly RatedSlab[],
  pricingModel: "TIERED" | "VOLUME",
  quantity: Decimal,
): readonly RatedSlab[] | undefined {
  if (pricingModel === "VOLUME" && quantity.gt(ZERO)) {
    const holding = slabs.find(
      ({ startAfter, endAt }) => startAfter.lt(quantity) && (endAt === undefined || quantity.lte(endAt)),
    );
    return holding && [holding];
  }
  const gap = slabs.findIndex(({ order }, index) => order !== index + 1);
  const run = gap < 0 ? slabs : slabs.slice(0, gap);
  const last = run.at(-1);
  return last !== undefined && (last.endAt === undefined || quantity.lte(last.endAt)) ? run : undefined;
}

/** A quantity of none, priced in full. */
export const NONE_COUNTED: Pick<CardInputs, "counted" | "shares"> = {
  counted: [{ sign: 1, quantity: ZERO }],
  shares: [WHOLE],
};

/** The inputs where there is no such card. */
export const NO_CARD: CardInputs = {
  ...NONE_COUNTED,
  prices: undefined,
  bounds: undefined,
  boundShare: WHOLE,
  notBelowZero: false,
};
