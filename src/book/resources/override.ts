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
export function detailsWithOverride(
  details: PricePlanDetails,
  override: PricePlanDetailsOverride | null | undefined,
): PricePlanDetails {
  if (override === undefined || override === null) return details;
  const byId = (card: { readonly id: string }): string => card.id;
  const byFeature = (card: { readonly featureId: string }): string => card.featureId;
  return {
    ...details,
    usageRateCards: replaced(details.usageRateCards, override.usageRateCards, (card) => card.usageMeterId),
    fixedFeeRateCards: replaced(details.fixedFeeRateCards, override.fixedFeeRateCards, byId),
    licenseRateCards: replaced(details.licenseRateCards, override.licenseRateCards, byId),
    billingEntitlementRateCards: replaced(
      details.billingEntitlementRateCards,
      override.billingEntitlementRateCards,
      byFeature,
    ),
    creditGrantRateCards: replaced(details.creditGrantRateCards, override.creditGrantRateCards, byId),
    entitlementOverageRateCards: replaced(
      details.entitlementOverageRateCards,
      override.entitlementOverageRateCards,
      byFeature,
    ),
    pricingCycleConfig: override.pricingCycleConfig ?? details.pricingCycleConfig,
    minimumCommitment: override.minimumCommitment ?? details.minimumCommitment,
  };
}

function replaced<Card>(cards: readonly Card[], over: readonly Card[], billableOf: (card: Card) => string): Card[] {
  if (over.length === 0) return [...cards];
  // `flatMap` and `forEach` skip what was too broken to read, so that a half-read plan can be looked at too.
  const replacing = new Map(over.flatMap((card) => [[billableOf(card), card] as const]));
  const result = cards.flatMap((card) => [replacing.get(billableOf(card)) ?? card]);
  const own = new Set(cards.flatMap((card) => [billableOf(card)]));
  over.forEach((card) => {
    if (!own.has(billableOf(card))) result.push(card);
  });
  return result;
}
/** Whether an override changes anything of a plan; derived and retained offsets are none (S16.2). */
export function hasContent(override: PricePlanDetailsOverride | undefined): override is PricePlanDetailsOverride {
  if (override === undefined) return false;
  return Object.values(override).some((part) => (Array.isArray(part) ? part.length > 0 : (part ?? null) !== null));
}
