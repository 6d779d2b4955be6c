/**
 * What a cycle of a whole plan costs as the usage of one card grows: the exact curve of each card, and of the total.
 *
 * @module
 */
import type { Maybe } from "../book/model/common-types.ts";
import type { PricePlanDetails } from "../book/model/price-plan.ts";
import type { RatePlan, RateValue, RecurrenceConfig } from "../book/model/rate-card.ts";
import { RatebookError } from "../errors.ts";
import {
  add,
  type Decimal,
  type DecimalInput,
  parseDecimal,
  greatest,
  multiply,
  subtract,
  sum,
  ZERO,
} from "../numbers/decimal.ts";
import { grantedUnits } from "../rating/billing-entitlement.ts";
import { findInCurrency, ratedSlabsIn } from "../rating/card-rates.ts";
import { ratedGrantSlabs, creditAmountOf } from "../rating/credit-grant.ts";
import type { Bounds, RatedSlabs } from "../rating/prepared-slabs.ts";
import { chargedIn, type RecurrenceType } from "../rating/recurrence.ts";
import { clampToBounds, priceThrough } from "../rating/slabs.ts";
import { requireCurveEnd, computePriceCurve, type PriceCurve } from "./price-curve.ts";

/** A kind of card whose quantity varies. */
export type CurveKind = "USAGE" | "LICENSE" | "ENTITLEMENT_OVERAGE";

/** What one card costs at every quantity, and what the whole cycle then costs. */
export interface CardCurve {
  readonly kind: CurveKind;
  /** Of the meter, the license or the feature. */
  readonly id: string;
  /** As invoices show it. */
  readonly name: string;
  /** The slabs with their rates in the currency. */
  readonly slabs: RatedSlabs;
  /** Units: what the card is held at in the totals of the others. */
  readonly heldAt: Decimal;
  /** The largest quantity of both curves, inclusive. */
  readonly upTo: Decimal;
  /** The card alone. */
  readonly card: PriceCurve;
  /** The cycle: the card, what is fixed of the plan, and the other cards at their quantities, held to the commitment. */
  readonly total: PriceCurve;
}

/** The curves of a plan in one currency. All amounts are exact, major units, of a whole natural cycle. */
export interface PlanCurves {
  readonly currency: string;
  /** The fees, entitlements and grants of the cycle together. */
  readonly fixed: Decimal;
  /** The least that the cycle costs (S13.3); absent where the plan has no commitment. */
  readonly commitment?: Decimal;
  /** In the order of the plan: usage, licenses, overage. */
  readonly cards: readonly CardCurve[];
}

/** What curves are drawn of. */
export interface PlanCurveOptions {
  /** ISO 4217; default the first that the plan supports. */
  readonly currency?: string | undefined;
  /** Units by the id of a meter, license or feature: what the other cards are held at; default 0. */
  readonly quantities?: Readonly<Record<string, DecimalInput>> | undefined;
  /** The largest quantity of every card, above 0; default one that shows all slabs. */
  readonly upTo?: DecimalInput | undefined;
  /** Which cycle of an association; a fee of another cycle is not in the total (S9.1). Default 1. */
  readonly cycle?: number | undefined;
  /** Names by the id of a meter, license or feature, for cards without one of their own; default the ids. */
  readonly names?: ReadonlyMap<string, string> | undefined;
}

/**
 * The exact curves of a plan (S7, S9.1, S13.3), before lines are rounded.
 *
 * @throws {RatebookError} ERR_RATES_INVALID when the plan has no rates in the currency, or no currency; ERR_NUMBER_INVALID
 * or ERR_OPTION_INVALID for an option that is none; ERR_ARITHMETIC where an amount needs more than 100 digits
 */
export function planCurves(plan: PricePlanDetails, options: PlanCurveOptions = {}): PlanCurves {
  const currency = options.currency ?? plan.supportedCurrencies?.[0];
  if (currency === undefined) throw new RatebookError("ERR_RATES_INVALID", "the plan supports no currency", {});
  const cards = listVaryingCards(plan, currency, options.names).map((card) => {
    const quantityInput = Object.hasOwn(options.quantities ?? {}, card.id) ? options.quantities?.[card.id] : undefined;
    const quantity = quantityInput === undefined ? ZERO : parseDecimal(quantityInput);
    return { ...card, heldAt: quantity, price: priceThrough(card.slabs, quantity).amount };
  });
  const fixed = sum(listFixedAmounts(plan, currency, options.cycle ?? 1));
  const commitment = plan.minimumCommitment
    ? findInCurrency(plan.minimumCommitment.rateValues, currency, "the minimum commitment").rate
    : undefined;
  const all = sum([fixed, ...cards.map(({ price }) => price)]);
  return {
    currency,
    fixed,
    ...(commitment === undefined ? {} : { commitment }),
    cards: cards.map(({ kind, id, name, slabs, most, heldAt, price }) => {
      const upTo = chooseCurveEnd(slabs, most, options.upTo);
      const total = computeTotalCurve(slabs, upTo, subtract(all, price), commitment);
      return { kind, id, name, slabs, heldAt, upTo, card: computePriceCurve(slabs, upTo), total };
    }),
  };
}

interface VaryingCard {
  readonly kind: CurveKind;
  readonly id: string;
  readonly name: string;
  readonly slabs: RatedSlabs;
  /** The largest quantity there can be. */
  readonly most: Decimal | undefined;
}

interface SlabPricedCard {
  readonly ratePlan: RatePlan;
  readonly rateValues: readonly RateValue[];
  readonly displayName?: Maybe<string>;
}

function listVaryingCards(
  plan: PricePlanDetails,
  currency: string,
  names: ReadonlyMap<string, string> | undefined,
): readonly VaryingCard[] {
  const toVaryingCard = (kind: CurveKind, id: string, card: SlabPricedCard, most?: Decimal | null): VaryingCard => ({
    kind,
    id,
    name: card.displayName ?? names?.get(id) ?? id,
    slabs: ratedSlabsIn(card, currency, id),
    most: most ?? undefined,
  });
  return [
    ...plan.usageRateCards.map((card) => toVaryingCard("USAGE", card.usageMeterId, card)),
    ...plan.licenseRateCards.map((card) => toVaryingCard("LICENSE", card.id, card, card.config?.maxQuantity)),
    ...plan.entitlementOverageRateCards.map((card) =>
      toVaryingCard("ENTITLEMENT_OVERAGE", card.featureId, card, card.maxQuantity),
    ),
  ];
}

/** What a cycle costs whatever is used: fees, entitlements and credit grants that begin in it. */
function listFixedAmounts(plan: PricePlanDetails, currency: string, cycle: number): readonly Decimal[] {
  const filterDue = <Card extends RecurringCard>(cards: readonly Card[]): readonly Card[] =>
    cards.filter(({ recurrenceConfig, type }) => chargedIn(recurrenceConfig, type ?? "RECURRING", cycle));
  return [
    ...filterDue(plan.fixedFeeRateCards).map(({ rateValues, id }) => findInCurrency(rateValues, currency, id).rate),
    ...filterDue(plan.billingEntitlementRateCards).map(
      (card) => priceThrough(ratedSlabsIn(card, currency, card.featureId), grantedUnits(card)).amount,
    ),
    ...filterDue(plan.creditGrantRateCards).map(
      (card) => priceThrough(ratedGrantSlabs(card, currency), creditAmountOf(card, currency)).amount,
    ),
  ];
}

/** A card that is charged in some cycles only (S9.1). */
interface RecurringCard {
  readonly recurrenceConfig?: Maybe<RecurrenceConfig>;
  readonly type?: RecurrenceType;
}

/**
 * The curve of `besides` + the card, at least the commitment. The least that the card would have to cost for it is a
 * bound of the card like any other, so that breakpoints are found by one function.
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

/** Bounds after which an amount is raised to `floor`. */
function raiseBounds(floor: Decimal, bounds: Bounds | undefined): Bounds {
  const { minimumRate, maximumRate } = bounds ?? {};
  return {
    minimumRate: minimumRate === undefined ? floor : greatest(minimumRate, floor),
    ...(maximumRate === undefined ? {} : { maximumRate: clampToBounds(maximumRate, { minimumRate: floor }) }),
  };
}

const HUNDRED = parseDecimal(100);

/** A range that shows every slab, package and bound of a card; never beyond what there can be. */
function chooseCurveEnd(slabs: RatedSlabs, most: Decimal | undefined, requestedEnd: DecimalInput | undefined): Decimal {
  if (requestedEnd !== undefined) return requireCurveEnd(requestedEnd);
  const packages = slabs.slabs.flatMap(({ packageSize, startAfter }) =>
    packageSize === undefined ? [] : [add(startAfter, multiply(packageSize, parseDecimal(4)))],
  );
  const edges = [...slabs.slabs.map(({ startAfter }) => startAfter), ...packages].reduce(greatest, ZERO);
  // Bounds that begin to hold far beyond all slabs are not worth a chart of which the slabs would be no part.
  const lastBoundEdge = computePriceCurve(
    slabs,
    multiply(edges.isZero() ? parseDecimal("1e9") : edges, HUNDRED),
  ).pieces.at(-1)?.from.quantity;
  const last = greatest(edges, lastBoundEdge ?? ZERO);
  const roundEnd = last.isZero() ? HUNDRED : roundUp(multiply(last, parseDecimal("1.4")));
  return most !== undefined && most.gt(ZERO) && most.lt(roundEnd) ? most : roundEnd;
}

/** The least 1, 1.5, 2, 2.5, 3, 4, 5, 6 or 8 times a power of ten that is not below a quantity. */
function roundUp(quantity: Decimal): Decimal {
  const power = parseDecimal(`1e${quantity.e}`);
  const candidate = ["1", "1.5", "2", "2.5", "3", "4", "5", "6", "8", "10"]
    .map((factor) => multiply(parseDecimal(factor), power))
    .find((round) => round.gte(quantity));
  return candidate ?? quantity;
}
