/**
 * A plan as it is for an account: its details with the association's override over them (S16.2).
 *
 * @module
 */
import type { PricePlanDetails, PricePlanDetailsOverride } from "../model/price-plan.ts";

/** An override of no card. */
export const NO_CARDS: PricePlanDetailsOverride = {
  usageRateCards: [],
  fixedFeeRateCards: [],
  licenseRateCards: [],
  billingEntitlementRateCards: [],
  creditGrantRateCards: [],
  entitlementOverageRateCards: [],
};

/**
 * A plan's details with an override: a card replaces the plan's card of the same kind and billable, in its place;
 * others are added after it; none is removed. pricingCycleConfig and minimumCommitment replace whole (S16.2).
 */
export function applyOverride(
  details: PricePlanDetails,
  override: PricePlanDetailsOverride | null | undefined,
): PricePlanDetails {
  if (override === undefined || override === null) return details;
  const byId = (card: { readonly id: string }): string => card.id;
  const byFeature = (card: { readonly featureId: string }): string => card.featureId;
  return {
    ...details,
    usageRateCards: replaceCards(details.usageRateCards, override.usageRateCards, (card) => card.usageMeterId),
    fixedFeeRateCards: replaceCards(details.fixedFeeRateCards, override.fixedFeeRateCards, byId),
    licenseRateCards: replaceCards(details.licenseRateCards, override.licenseRateCards, byId),
    billingEntitlementRateCards: replaceCards(
      details.billingEntitlementRateCards,
      override.billingEntitlementRateCards,
      byFeature,
    ),
    creditGrantRateCards: replaceCards(details.creditGrantRateCards, override.creditGrantRateCards, byId),
    entitlementOverageRateCards: replaceCards(
      details.entitlementOverageRateCards,
      override.entitlementOverageRateCards,
      byFeature,
    ),
    pricingCycleConfig: override.pricingCycleConfig ?? details.pricingCycleConfig,
    minimumCommitment: override.minimumCommitment ?? details.minimumCommitment,
  };
}

function replaceCards<Card>(
  cards: readonly Card[],
  overrideCards: readonly Card[],
  toBillableId: (card: Card) => string,
): Card[] {
  if (overrideCards.length === 0) return [...cards];
  // `flatMap` and `forEach` skip what was too broken to read, so that a half-read plan can be looked at too.
  const replacements = new Map(overrideCards.flatMap((card) => [[toBillableId(card), card] as const]));
  const result = cards.flatMap((card) => [replacements.get(toBillableId(card)) ?? card]);
  const planBillables = new Set(cards.flatMap((card) => [toBillableId(card)]));
  overrideCards.forEach((card) => {
    if (!planBillables.has(toBillableId(card))) result.push(card);
  });
  return result;
}
/** Whether an override changes anything of a plan; derived and retained offsets are none (S16.2). */
export function overridesAnything(
  override: PricePlanDetailsOverride | undefined,
): override is PricePlanDetailsOverride {
  if (override === undefined) return false;
  return Object.values(override).some((part) => (Array.isArray(part) ? part.length > 0 : (part ?? null) !== null));
}
