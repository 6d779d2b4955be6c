/** What a cycle of a plan costs as the usage of one card grows: the exact curve of each card and of the total. */
import type { PricePlanDetails } from "../book/resources/price-plan.ts";
import { RatebookError } from "../errors.ts";
import type { PeriodicCard } from "../invoicing/charge-periods.ts";
import {
  add,
  type Decimal,
  type DecimalInput,
  parseDecimal,
  maximum,
  multiply,
  subtract,
  sum,
  ZERO,
} from "../numbers/decimal.ts";
import {
  grantedUnits,
  requireCurrencyEntry,
  joinRatesInCurrency,
  requireSlabs,
  toRatedSlabs,
  creditAmountOf,
  isChargedIn,
} from "../rating/cards.ts";
import type { Bounds, RatedSlabs } from "../rating/rated-slabs.ts";
import { clampToBounds, priceBySlabs } from "../rating/slab-charge.ts";
import { requireCurveEnd, computePriceCurve, type PriceCurve } from "./price-curve.ts";

/** A kind of card with a variable quantity. */
export type CurveKind = "USAGE" | "LICENSE" | "ENTITLEMENT_OVERAGE";

/** The price of one card and of the whole cycle, by the quantity of the card. */
export interface CardCurve {
  readonly kind: CurveKind;
  /** The id of the meter, license or feature. */
  readonly id: string;
  /** As shown on invoices. */
  readonly name: string;
  /** The slabs with their rates in the currency. */
  readonly slabs: RatedSlabs;
  /** Units. The quantity of this card in the totals of other cards. */
  readonly fixedQuantity: Decimal;
  /** The largest quantity of both curves, inclusive. */
  readonly upTo: Decimal;
  /** The card's price alone. */
  readonly card: PriceCurve;
  /**
   * The price of the cycle: this card, the plan's fixed amounts, and the other cards at their quantities; at least the
   * commitment.
   */
  readonly total: PriceCurve;
}

/** The curves of a plan in one currency. All amounts are exact major units for a whole natural cycle. */
export interface PlanCurves {
  readonly currency: string;
  /** The sum of fees, entitlements and grants of the cycle. */
  readonly fixed: Decimal;
  /** The minimum price of the cycle (S13.3); absent without a commitment. */
  readonly commitment?: Decimal;
  /** In plan order: usage, licenses, overage. */
  readonly cards: readonly CardCurve[];
}

/** Options of plan curves. */
export interface PlanCurveOptions {
  /** An ISO 4217 code. Default: the first currency of the plan. */
  readonly currency?: string | undefined;
  /** Units by the id of a meter, license or feature: the quantities of the other cards. Default 0. */
  readonly quantities?: Readonly<Record<string, DecimalInput>> | undefined;
  /** The largest quantity of every card, above 0. Default: enough to show all slabs. */
  readonly upTo?: DecimalInput | undefined;
  /** The cycle number. The total excludes fees of other cycles (S9.1). Default 1. */
  readonly cycle?: number | undefined;
  /** Names by the id of a meter, license or feature, for cards without a name. Default: the ids. */
  readonly names?: ReadonlyMap<string, string> | undefined;
}

/**
 * The exact curves of a plan (S7, S9.1, S13.3), before lines are rounded.
 *
 * @throws {RatebookError} ERR_RATES_INVALID if the plan has no currency, or no rates in the requested one;
 * ERR_NUMBER_INVALID or ERR_OPTION_INVALID for an invalid option; ERR_ARITHMETIC if an amount needs more than 100
 * digits
 */
export function planCurves(plan: PricePlanDetails, options: PlanCurveOptions = {}): PlanCurves {
  const currency = options.currency ?? plan.supportedCurrencies?.[0];
  if (currency === undefined) throw new RatebookError("ERR_RATES_INVALID", "the plan supports no currency", {});
  const cards = listVaryingCards(plan, currency, options.names).map((card) => {
    const quantityInput = Object.hasOwn(options.quantities ?? {}, card.id) ? options.quantities?.[card.id] : undefined;
    const quantity = quantityInput === undefined ? ZERO : parseDecimal(quantityInput);
    return { ...card, fixedQuantity: quantity, price: priceBySlabs(card.slabs, quantity).amount };
  });
  const fixed = sum(listFixedAmounts(plan, currency, options.cycle ?? 1));
  const commitment = plan.minimumCommitment
    ? requireCurrencyEntry(plan.minimumCommitment.rateValues, currency, "the minimum commitment").rate
    : undefined;
  const totalPrice = sum([fixed, ...cards.map(({ price }) => price)]);
  return {
    currency,
    fixed,
    ...(commitment === undefined ? {} : { commitment }),
    cards: cards.map(({ kind, id, name, slabs, quantityMax, fixedQuantity, price }) => {
      const upTo = chooseCurveEnd(slabs, quantityMax ?? undefined, options.upTo);
      const total = computeTotalCurve(slabs, upTo, subtract(totalPrice, price), commitment);
      return { kind, id, name, slabs, fixedQuantity, upTo, card: computePriceCurve(slabs, upTo), total };
    }),
  };
}

/** The cards with a variable quantity, with their slabs and the largest possible quantity. */
function listVaryingCards(plan: PricePlanDetails, currency: string, names: ReadonlyMap<string, string> | undefined) {
  const cards = [
    ...plan.usageRateCards.map((card) => {
      return { kind: "USAGE", id: card.usageMeterId, card: requireSlabs(card), quantityMax: undefined } as const;
    }),
    ...plan.licenseRateCards.map(
      (card) => ({ kind: "LICENSE", id: card.id, card, quantityMax: card.config?.maxQuantity }) as const,
    ),
    ...plan.entitlementOverageRateCards.map(
      (card) => ({ kind: "ENTITLEMENT_OVERAGE", id: card.featureId, card, quantityMax: card.maxQuantity }) as const,
    ),
  ];
  return cards.map(({ card, ...varying }) => ({
    ...varying,
    name: card.displayName ?? names?.get(varying.id) ?? varying.id,
    slabs: joinRatesInCurrency(card, currency, varying.id),
  }));
}

/** What a cycle costs regardless of usage: fees, entitlements and credit grants that begin in it. */
function listFixedAmounts(plan: PricePlanDetails, currency: string, cycle: number): readonly Decimal[] {
  const filterDue = <Card extends PeriodicCard>(cards: readonly Card[]): readonly Card[] =>
    cards.filter(({ recurrenceConfig, type = "RECURRING" }) => isChargedIn(recurrenceConfig, type, cycle));
  return [
    ...filterDue(plan.fixedFeeRateCards).map(
      ({ rateValues, id }) => requireCurrencyEntry(rateValues, currency, id).rate,
    ),
    ...filterDue(plan.billingEntitlementRateCards).map(
      (card) => priceBySlabs(joinRatesInCurrency(card, currency, card.featureId), grantedUnits(card)).amount,
    ),
    ...filterDue(plan.creditGrantRateCards).map(
      (card) => priceBySlabs(toRatedSlabs(card, currency), creditAmountOf(card, currency)).amount,
    ),
  ];
}

/**
 * The curve of the card plus `otherCosts`, at least the commitment. The commitment becomes a lower bound of the card, so
 * that one function finds all breakpoints.
 */
function computeTotalCurve(
  slabs: RatedSlabs,
  upTo: Decimal,
  otherCosts: Decimal,
  commitment: Decimal | undefined,
): PriceCurve {
  const boundedSlabs =
    commitment === undefined
      ? slabs
      : { ...slabs, bounds: raiseBounds(subtract(commitment, otherCosts), slabs.bounds) };
  const { atZero, pieces } = computePriceCurve(boundedSlabs, upTo);
  return {
    atZero: add(atZero, otherCosts),
    pieces: pieces.map((piece) => ({
      ...piece,
      first: add(piece.first, otherCosts),
      last: add(piece.last, otherCosts),
    })),
  };
}

/** Bounds that raise an amount to at least `floor`. */
function raiseBounds(floor: Decimal, bounds: Bounds | undefined): Bounds {
  const { minimumRate, maximumRate } = bounds ?? {};
  return {
    minimumRate: minimumRate === undefined ? floor : maximum(minimumRate, floor),
    ...(maximumRate === undefined ? {} : { maximumRate: clampToBounds(maximumRate, { minimumRate: floor }) }),
  };
}

const HUNDRED = parseDecimal(100);

/** A quantity up to which every slab, package and bound of a card is visible; at most the largest possible one. */
function chooseCurveEnd(
  slabs: RatedSlabs,
  quantityMax: Decimal | undefined,
  requestedEnd: DecimalInput | undefined,
): Decimal {
  if (requestedEnd !== undefined) return requireCurveEnd(requestedEnd);
  const packages = slabs.slabs.flatMap(({ packageSize, startAfter }) =>
    packageSize === undefined ? [] : [add(startAfter, multiply(packageSize, parseDecimal(4)))],
  );
  const edges = [...slabs.slabs.map(({ startAfter }) => startAfter), ...packages].reduce(maximum, ZERO);
  // Bounds far beyond all slabs are left out, because the slabs would be too small to see.
  const lastBoundEdge = computePriceCurve(
    slabs,
    multiply(edges.isZero() ? parseDecimal("1e9") : edges, HUNDRED),
  ).pieces.at(-1)?.from.quantity;
  const last = maximum(edges, lastBoundEdge ?? ZERO);
  const roundEnd = last.isZero() ? HUNDRED : roundUp(multiply(last, parseDecimal("1.4")));
  return quantityMax !== undefined && quantityMax.gt(ZERO) && quantityMax.lt(roundEnd) ? quantityMax : roundEnd;
}

/** The smallest 1, 1.5, 2, 2.5, 3, 4, 5, 6 or 8 times a power of ten that is at least `quantity`. */
function roundUp(quantity: Decimal): Decimal {
  const power = parseDecimal(`1e${quantity.e}`);
  const candidate = ["1", "1.5", "2", "2.5", "3", "4", "5", "6", "8", "10"]
    .map((factor) => multiply(parseDecimal(factor), power))
    .find((round) => round.gte(quantity));
  return candidate ?? quantity;
}
