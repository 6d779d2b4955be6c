/**
 * The prices of a card, as an explanation shows them (reached slabs only) or as a plan defines them.
 *
 * @module
 */
import type { PricePlanDetails } from "../../book/resources/price-plan.ts";
import type { CreditGrantRateCard, FixedFeeRateCard } from "../../book/resources/rate-card.ts";
import type { RatePlan, RateValue } from "../../book/resources/rates.ts";
import { cardLineType } from "../../invoicing/invoice.ts";
import { type Decimal, ZERO } from "../../numbers/decimal.ts";
import { grantedUnits } from "../../rating/billing-entitlement.ts";
import { findInCurrency, ratedSlabsIn } from "../../rating/card-rates.ts";
import { CARD_KINDS, type CardKind, type PartExplanation, type SlabExplanation } from "../../rating/charge.ts";
import { creditAmountOf, toRatedSlabs } from "../../rating/credit-grant.ts";
import type { Bounds, RatedSlab, RatedSlabs } from "../../rating/rated-slabs.ts";
import { priceReachedSlabs, sumSlabs } from "../../rating/slabs.ts";

/** The prices of a card: slabs, some of which may be unknown, or a rate. */
export interface CardPrices {
  readonly pricingModel: "TIERED" | "VOLUME" | undefined;
  /** By order, ascending. */
  readonly slabs: ReadonlyMap<number, RatedSlab>;
  /** Whether all slabs are known. */
  readonly isComplete: boolean;
  /** Whether the first slab is charged at quantity 0; undefined if unknown. */
  readonly chargeAtZero: boolean | undefined;
  /** For fees. */
  readonly rate?: Decimal;
}

/** A plan's card in one currency. */
export interface PlanCard {
  readonly prices: CardPrices;
  /** The bounds of the whole card. */
  readonly bounds: Bounds | undefined;
  readonly isInAdvance: boolean;
  /** The quantity that the plan grants, in units or money; absent if the plan doesn't set it. */
  readonly quantity?: Decimal;
}

/** The prices that the explanations of a line show. */
export function readShownPrices(parts: readonly PartExplanation[]): CardPrices {
  const shownSlabs = parts.flatMap((part) => part.slabs ?? []).toSorted((a, b) => a.order - b.order);
  const rate = parts.find((part) => part.rate !== undefined)?.rate;
  const atZero = parts.filter(({ quantity }) => quantity?.isZero() === true);
  return {
    pricingModel: parts.find((part) => part.pricingModel !== undefined)?.pricingModel,
    slabs: new Map(shownSlabs.map((slab) => [slab.order, toRatedSlab(slab)])),
    isComplete: rate !== undefined,
    chargeAtZero: atZero.length === 0 ? undefined : atZero.some(({ slabs = [] }) => slabs.length > 0),
    ...(rate !== undefined && { rate }),
  };
}

/** A slab without the quantity that reached it. */
function toRatedSlab(slab: SlabExplanation): RatedSlab {
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

/** The card kind of a line type, and whether it is charged in advance. */
function findLineKind(type: string): { readonly kind: CardKind; readonly isInAdvance: boolean } | undefined {
  for (const kind of CARD_KINDS) {
    for (const isInAdvance of [false, true]) if (cardLineType(kind, isInAdvance) === type) return { kind, isInAdvance };
  }
  return undefined;
}

/** Whether a line was charged in advance. */
export function isChargedInAdvance(type: string): boolean {
  return findLineKind(type)?.isInAdvance === true;
}

/** Whether a line belongs to a license. */
export function isLicense(type: string): boolean {
  return findLineKind(type)?.kind === "LICENSE";
}

/** A plan's card for a line; undefined if the plan has none, or none in the currency. */
export function findPlanCard(
  details: PricePlanDetails,
  { type, id }: { readonly type: string; readonly id?: string | undefined },
  currency: string,
): PlanCard | undefined {
  const findCard = <Card extends WithRateValues>(
    cards: readonly Card[],
    idOf: (card: Card) => string,
  ): Card | undefined =>
    cards.find((card) => idOf(card) === id && card.rateValues.some((each) => each.currency === currency));
  const toSlabCard = (
    card: (WithRateValues & WithSlabs & WithTiming) | undefined,
    quantity?: Decimal,
  ): PlanCard | undefined =>
    card && createSlabCard(ratedSlabsIn(card, currency, id ?? ""), card.invoiceTiming, quantity);
  switch (findLineKind(type)?.kind) {
    case "USAGE":
      return toSlabCard(findCard(details.usageRateCards, ({ usageMeterId }) => usageMeterId));
    case "FIXED_FEE":
      return toFeeCard(findCard(details.fixedFeeRateCards, cardId), currency);
    case "LICENSE":
      return toSlabCard(findCard(details.licenseRateCards, cardId));
    case "BILLING_ENTITLEMENT": {
      const card = findCard(details.billingEntitlementRateCards, cardFeatureId);
      return toSlabCard(card, card && grantedUnits(card));
    }
    case "ENTITLEMENT_OVERAGE":
      return toSlabCard(findCard(details.entitlementOverageRateCards, cardFeatureId));
    case "CREDIT_GRANT":
      return toGrantCard(
        details.creditGrantRateCards.find((card) => card.id === id),
        currency,
      );
    case undefined:
      return undefined;
  }
}

interface WithRateValues {
  readonly rateValues: readonly { readonly currency: string }[];
}

interface WithSlabs {
  readonly ratePlan: RatePlan;
  readonly rateValues: readonly RateValue[];
}

interface WithTiming {
  readonly invoiceTiming?: string;
}

const cardId = ({ id }: { readonly id: string }): string => id;
const cardFeatureId = ({ featureId }: { readonly featureId: string }): string => featureId;

function toFeeCard(card: FixedFeeRateCard | undefined, currency: string): PlanCard | undefined {
  if (card === undefined) return undefined;
  const { rate } = findInCurrency(card.rateValues, currency, card.id);
  const prices = { pricingModel: undefined, slabs: new Map(), isComplete: true, chargeAtZero: undefined, rate };
  return { prices, bounds: undefined, isInAdvance: card.invoiceTiming === "IN_ADVANCE" };
}

function toGrantCard(card: CreditGrantRateCard | undefined, currency: string): PlanCard | undefined {
  const hasCurrency = card?.rateDetails.currencySlabRateDetails.some((each) => each.currency === currency) === true;
  if (card === undefined || !hasCurrency) return undefined;
  return createSlabCard(toRatedSlabs(card, currency), card.invoiceTiming, creditAmountOf(card, currency));
}

function createSlabCard(
  { pricingModel, slabs, chargeAtZero, bounds }: RatedSlabs,
  invoiceTiming: string | undefined,
  quantity: Decimal | undefined,
): PlanCard {
  return {
    prices: { pricingModel, slabs: new Map(slabs.map((slab) => [slab.order, slab])), isComplete: true, chargeAtZero },
    bounds,
    isInAdvance: invoiceTiming === "IN_ADVANCE",
    ...(quantity !== undefined && { quantity }),
  };
}

/** The card of a line: the first, in the plans that may have priced it, that matches the prices on the line. */
export function findCardByPrices(
  details: readonly PricePlanDetails[],
  shownPrices: CardPrices,
  line: { readonly type: string; readonly id?: string | undefined },
  currency: string,
): PlanCard | undefined {
  const cards = details.map((each) => findPlanCard(each, line, currency));
  return cards.find((card) => card !== undefined && arePricesAlike(card.prices, shownPrices));
}

/** Whether prices match, as far as both are known. */
export function arePricesAlike(a: CardPrices, b: CardPrices): boolean {
  if (a.rate !== undefined && b.rate !== undefined && !a.rate.eq(b.rate)) return false;
  if (a.chargeAtZero !== undefined && b.chargeAtZero !== undefined && a.chargeAtZero !== b.chargeAtZero) return false;
  if (a.pricingModel !== undefined && b.pricingModel !== undefined && a.pricingModel !== b.pricingModel) return false;
  const agrees = (one: CardPrices, other: CardPrices): boolean =>
    [...one.slabs].every(([order, slab]) => {
      const otherSlab = other.slabs.get(order);
      return otherSlab === undefined ? !other.isComplete : isSameSlab(slab, otherSlab);
    });
  return agrees(a, b) && agrees(b, a);
}

function isSameSlab(a: RatedSlab, b: RatedSlab): boolean {
  const terms = ({ startAfter, endAt, priceType, rate, packageSize, flatRate, minimumRate, maximumRate }: RatedSlab) =>
    JSON.stringify([startAfter, endAt, priceType, rate, packageSize, flatRate, minimumRate, maximumRate]);
  return terms(a) === terms(b);
}

/** Completes prices with the terms and slabs that matching prices have. */
export function mergePrices(ownPrices: CardPrices, otherPrices: CardPrices): CardPrices {
  return {
    ...ownPrices,
    pricingModel: ownPrices.pricingModel ?? otherPrices.pricingModel,
    slabs: new Map([...otherPrices.slabs, ...ownPrices.slabs].toSorted(([a], [b]) => a - b)),
    isComplete: ownPrices.isComplete || otherPrices.isComplete,
    chargeAtZero: ownPrices.chargeAtZero ?? otherPrices.chargeAtZero,
  };
}

/** The price of a quantity, before proration; undefined if it needs an unknown slab. */
export function computeKnownPrice(
  { pricingModel = "TIERED", slabs, chargeAtZero = false, rate }: CardPrices,
  quantity: Decimal,
): Decimal | undefined {
  if (slabs.size === 0 && rate !== undefined) return rate;
  if (quantity.lte(ZERO) && !chargeAtZero) return ZERO;
  const knownSlabs = findKnownSlabs([...slabs.values()], pricingModel, quantity);
  return knownSlabs && sumSlabs(priceReachedSlabs({ pricingModel, slabs: knownSlabs, chargeAtZero }, quantity));
}

/** The known slabs that price a quantity; undefined if one is missing. */
function findKnownSlabs(
  slabs: readonly RatedSlab[],
  pricingModel: "TIERED" | "VOLUME",
  quantity: Decimal,
): readonly RatedSlab[] | undefined {
  if (pricingModel === "VOLUME" && quantity.gt(ZERO)) {
    const slab = slabs.find(
      ({ startAfter, endAt }) => startAfter.lt(quantity) && (endAt === undefined || quantity.lte(endAt)),
    );
    return slab && [slab];
  }
  const gap = slabs.findIndex(({ order }, index) => order !== index + 1);
  const consecutiveSlabs = gap < 0 ? slabs : slabs.slice(0, gap);
  const last = consecutiveSlabs.at(-1);
  return last !== undefined && (last.endAt === undefined || quantity.lte(last.endAt)) ? consecutiveSlabs : undefined;
}
