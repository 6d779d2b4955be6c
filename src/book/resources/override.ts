/**
 * Applies an association's override to a plan (S16.2).
 *
 * @module
 */
import type { PricePlanDetails, PricePlanDetailsOverride } from "./price-plan.ts";

/** An override without cards. */
export const NO_CARDS: PricePlanDetailsOverride = {
  usageRateCards: [],
  fixedFeeRateCards: [],
  licenseRateCards: [],
  billingEntitlementRateCards: [],
  creditGrantRateCards: [],
  entitlementOverageRateCards: [],
};

/**
 * Applies an override to plan details: a card replaces the plan's card of the same kind and billable item, in its
 * position; others are appended; none is removed. pricingCycleConfig and minimumCommitment are replaced completely
 * (S16.2).
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
  // `flatMap` and `forEach` skip holes, so that a partly readable plan can be checked too.
  const replacements = new Map(overrideCards.flatMap((card) => [[toBillableId(card), card] as const]));
  const result = cards.flatMap((card) => [replacements.get(toBillableId(card)) ?? card]);
  const planBillables = new Set(cards.flatMap((card) => [toBillableId(card)]));
  overrideCards.forEach((card) => {
    if (!planBillables.has(toBillableId(card))) result.push(card);
  });
  return result;
}
/** Whether an override changes a plan; derived and retained offsets do not count (S16.2). */
export function overridesAnything(
  override: PricePlanDetailsOverride | undefined,
): override is PricePlanDetailsOverride {
  if (override === undefined) return false;
  return Object.values(override).some((part) => (Array.isArray(part) ? part.length > 0 : (part ?? null) !== null));
}
