import type { Instant } from "../../calendar/instant.ts";
import type { PlanAssociation } from "./account.ts";
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

/** An association of a book with its decision time. */
export interface DecidedAssociation {
  readonly association: PlanAssociation;
  readonly decidedAt: Instant;
  /** Its index in the account's list. */
  readonly index: number;
}

/**
 * An account's associations by decision time, then by list order. An association without decidedAt was decided at its
 * effectiveFrom, or with the next association in the list that has one, if that is earlier (S9.2): otherwise the
 * earlier one would take precedence over the later one. In a checked list the decidedAt never decrease.
 *
 * @param associations the list in the book; unreadable items are skipped
 */
export function sortByDecision(associations: readonly PlanAssociation[]): readonly DecidedAssociation[] {
  const result: DecidedAssociation[] = [];
  let earliestLaterDecision = Number.POSITIVE_INFINITY;
  for (let index = associations.length - 1; index >= 0; index--) {
    const association = associations[index];
    if (association === undefined) continue;
    const ownDecidedAt = association.decidedAt ?? undefined;
    result.push({
      association,
      index,
      decidedAt: ownDecidedAt ?? Math.min(association.effectiveFrom, earliestLaterDecision),
    });
    if (ownDecidedAt !== undefined) earliestLaterDecision = Math.min(earliestLaterDecision, ownDecidedAt);
  }
  return result.sort((a, b) => a.decidedAt - b.decidedAt || a.index - b.index);
}
