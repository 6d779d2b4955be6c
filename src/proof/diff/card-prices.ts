/**
 * The prices of a card: as an explanation shows them, with the slabs alone that were reached, and as a plan has them.
 *
 * @module
 */
import type { CreditGrantRateCard } from "../../book/model/grant-card.ts";
import type { PricePlanDetails } from "../../book/model/price-plan.ts";
import type { FixedFeeRateCard, RatePlan, RateValue } from "../../book/model/rate-card.ts";
import { cardLineType } from "../../invoicing/invoice.ts";
import { type Decimal, ZERO } from "../../numbers/decimal.ts";
import { grantedUnits } from "../../rating/billing-entitlement.ts";
import { findInCurrency, ratedSlabsIn } from "../../rating/card-rates.ts";
import { CARD_KINDS, type CardKind, type PartExplanation, type SlabExplanation } from "../../rating/charge.ts";
import { creditAmountOf, ratedGrantSlabs } from "../../rating/credit-grant.ts";
import type { Bounds, RatedSlab, RatedSlabs } from "../../rating/rated-slabs.ts";
import { priceReachedSlabs, sumSlabs } from "../../rating/slabs.ts";

/** How a card prices what is counted: by slabs, of which some may be unknown, or at a rate. */
export interface CardPrices {
  readonly pricingModel: "TIERED" | "VOLUME" | undefined;
  /** By order, ascending. */
  readonly slabs: ReadonlyMap<number, RatedSlab>;
  /** Whether all of its slabs are known. */
  readonly isWhole: boolean;
  /** Whether the first slab is charged at a quantity of 0; undefined where that is not known. */
  readonly chargeAtZero: boolean | undefined;
  /** Of a fee. */
  readonly rate?: Decimal;
}

/** A card as a plan has it, for one currency. */
export interface PlanCard {
  readonly prices: CardPrices;
  /** Of the whole card. */
  readonly bounds: Bounds | undefined;
  readonly isInAdvance: boolean;
  /** What a plan grants, in units or money; absent where the quantity is not the plan's. */
  readonly quantity?: Decimal;
}

/** The prices that explanations of one line show. */
export function pricesShown(parts: readonly PartExplanation[]): CardPrices {
  const shown = parts.flatMap((part) => part.slabs ?? []).toSorted((a, b) => a.order - b.order);
  const rate = parts.find((part) => part.rate !== undefined)?.rate;
  const atZero = parts.filter(({ quantity }) => quantity?.isZero() === true);
  return {
    pricingModel: parts.find((part) => part.pricingModel !== undefined)?.pricingModel,
    slabs: new Map(shown.map((slab) => [slab.order, ratedSlabOf(slab)])),
    isWhole: rate !== undefined,
    chargeAtZero: atZero.length === 0 ? undefined : atZero.some(({ slabs = [] }) => slabs.length > 0),
    ...(rate !== undefined && { rate }),
  };
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

/** The kind of card that makes a line, and whether in advance. */
function kindOfLine(type: string): { readonly kind: CardKind; readonly isInAdvance: boolean } | undefined {
  for (const kind of CARD_KINDS) {
    for (const isInAdvance of [false, true]) if (cardLineType(kind, isInAdvance) === type) return { kind, isInAdvance };
  }
  return undefined;
}

/** Whether a line was charged in advance. */
export function isChargedInAdvance(type: string): boolean {
  return kindOfLine(type)?.isInAdvance === true;
}

/** Whether a line is a license's. */
export function isLicense(type: string): boolean {
  return kindOfLine(type)?.kind === "LICENSE";
}

/** The card of a line in a plan; undefined where the plan has none, or none in the currency. */
export function cardInPlan(
  details: PricePlanDetails,
  { type, id }: { readonly type: string; readonly id?: string | undefined },
  currency: string,
): PlanCard | undefined {
  const priced = <Card extends Priced>(cards: readonly Card[], idOf: (card: Card) => string): Card | undefined =>
    cards.find((card) => idOf(card) === id && card.rateValues.some((each) => each.currency === currency));
  const bySlabs = (card: (Priced & SlabRated & Timed) | undefined, quantity?: Decimal): PlanCard | undefined =>
    card && slabCard(ratedSlabsIn(card, currency, id ?? ""), card.invoiceTiming, quantity);
  switch (kindOfLine(type)?.kind) {
    case "USAGE":
      return bySlabs(priced(details.usageRateCards, ({ usageMeterId }) => usageMeterId));
    case "FIXED_FEE":
      return feeCard(priced(details.fixedFeeRateCards, idOfCard), currency);
    case "LICENSE":
      return bySlabs(priced(details.licenseRateCards, idOfCard));
    case "BILLING_ENTITLEMENT": {
      const card = priced(details.billingEntitlementRateCards, featureOfCard);
      return bySlabs(card, card && grantedUnits(card));
    }
    case "ENTITLEMENT_OVERAGE":
      return bySlabs(priced(details.entitlementOverageRateCards, featureOfCard));
    case "CREDIT_GRANT":
      return grantCard(
        details.creditGrantRateCards.find((card) => card.id === id),
        currency,
      );
    case undefined:
      return undefined;
  }
}

interface Priced {
  readonly rateValues: readonly { readonly currency: string }[];
}

interface SlabRated {
  readonly ratePlan: RatePlan;
  readonly rateValues: readonly RateValue[];
}

interface Timed {
  readonly invoiceTiming?: string;
}

const idOfCard = ({ id }: { readonly id: string }): string => id;
const featureOfCard = ({ featureId }: { readonly featureId: string }): string => featureId;

function feeCard(card: FixedFeeRateCard | undefined, currency: string): PlanCard | undefined {
  if (card === undefined) return undefined;
  const { rate } = findInCurrency(card.rateValues, currency, card.id);
  const prices = { pricingModel: undefined, slabs: new Map(), isWhole: true, chargeAtZero: undefined, rate };
  return { prices, bounds: undefined, isInAdvance: card.invoiceTiming === "IN_ADVANCE" };
}

function grantCard(card: CreditGrantRateCard | undefined, currency: string): PlanCard | undefined {
  const isGranted = card?.rateDetails.currencySlabRateDetails.some((each) => each.currency === currency) === true;
  if (card === undefined || !isGranted) return undefined;
  return slabCard(ratedGrantSlabs(card, currency), card.invoiceTiming, creditAmountOf(card, currency));
}

function slabCard(
  { pricingModel, slabs, chargeAtZero, bounds }: RatedSlabs,
  invoiceTiming: string | undefined,
  quantity: Decimal | undefined,
): PlanCard {
  return {
    prices: { pricingModel, slabs: new Map(slabs.map((slab) => [slab.order, slab])), isWhole: true, chargeAtZero },
    bounds,
    isInAdvance: invoiceTiming === "IN_ADVANCE",
    ...(quantity !== undefined && { quantity }),
  };
}

/** The card that made a line: of the plans that may have priced it, the first that agrees with the prices that the line shows. */
export function cardBehind(
  details: readonly PricePlanDetails[],
  shown: CardPrices,
  line: { readonly type: string; readonly id?: string | undefined },
  currency: string,
): PlanCard | undefined {
  const cards = details.map((each) => cardInPlan(each, line, currency));
  return cards.find((card) => card !== undefined && isSamePrice(card.prices, shown));
}

/** Whether prices are alike, as far as both are known. */
export function isSamePrice(a: CardPrices, b: CardPrices): boolean {
  if (a.rate !== undefined && b.rate !== undefined && !a.rate.eq(b.rate)) return false;
  if (a.chargeAtZero !== undefined && b.chargeAtZero !== undefined && a.chargeAtZero !== b.chargeAtZero) return false;
  if (a.pricingModel !== undefined && b.pricingModel !== undefined && a.pricingModel !== b.pricingModel) return false;
  const fits = (one: CardPrices, other: CardPrices): boolean =>
    [...one.slabs].every(([order, slab]) => {
      const found = other.slabs.get(order);
      return found === undefined ? !other.isWhole : isSameSlab(slab, found);
    });
  return fits(a, b) && fits(b, a);
}

function isSameSlab(a: RatedSlab, b: RatedSlab): boolean {
  const terms = ({ startAfter, endAt, priceType, rate, packageSize, flatRate, minimumRate, maximumRate }: RatedSlab) =>
    JSON.stringify([startAfter, endAt, priceType, rate, packageSize, flatRate, minimumRate, maximumRate]);
  return terms(a) === terms(b);
}

/** Prices with what others that are alike know besides. */
export function joinedPrices(own: CardPrices, other: CardPrices): CardPrices {
  return {
    ...own,
    pricingModel: own.pricingModel ?? other.pricingModel,
    slabs: new Map([...other.slabs, ...own.slabs].toSorted(([a], [b]) => a - b)),
    isWhole: own.isWhole || other.isWhole,
    chargeAtZero: own.chargeAtZero ?? other.chargeAtZero,
  };
}

/** The price of a quantity, before shares; undefined where a slab is needed that is not known. */
export function priceOf(
  { pricingModel = "TIERED", slabs, chargeAtZero = false, rate }: CardPrices,
  quantity: Decimal,
): Decimal | undefined {
  if (slabs.size === 0 && rate !== undefined) return rate;
  if (quantity.lte(ZERO) && !chargeAtZero) return ZERO;
  const known = knownFor([...slabs.values()], pricingModel, quantity);
  return known && sumSlabs(priceReachedSlabs({ pricingModel, slabs: known, chargeAtZero }, quantity));
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
