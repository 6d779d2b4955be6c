/** The lists of cards; applies an association's override to a plan (S16.2); the order of associations (S9.2, S16.1). */

import type { Instant } from "../../calendar/instant.ts";
import type { PlanAssociation } from "./account.ts";
import type { PricePlanDetails, PricePlanDetailsOverride } from "./price-plan.ts";
import type { UsageRateCard } from "./rate-card.ts";

/**
 * The lists of cards: the field with the priced item, the list of a book with such items, and the name for all of its
 * cards in credits (S12.2).
 */
export const CARD_LISTS = {
  usageRateCards: { field: "usageMeterId", items: "usageMeters", allCards: "ALL_USAGE_METER_RATE_CARDS" },
  fixedFeeRateCards: { field: "id", items: "addOns", allCards: "ALL_FIXED_FEE_RATE_CARDS" },
  licenseRateCards: { field: "id", items: "addOns", allCards: "ALL_LICENSE_RATE_CARDS" },
  billingEntitlementRateCards: {
    field: "featureId",
    items: "features",
    allCards: "ALL_BILLING_ENTITLEMENT_RATE_CARDS",
  },
  creditGrantRateCards: { field: "id", items: "addOns", allCards: undefined },
  entitlementOverageRateCards: {
    field: "featureId",
    items: "features",
    allCards: "ALL_ENTITLEMENT_OVERAGE_RATE_CARDS",
  },
} as const;
/** A list of cards. */
export type CardList = keyof typeof CARD_LISTS;
export const CARD_LIST_NAMES = Object.keys(CARD_LISTS) as readonly CardList[];

/** The id, or in input form perhaps the name, of the item that a card prices. */
export function billableOf(list: CardList, card: object): string {
  return String(Reflect.get(card, CARD_LISTS[list].field));
}

/** An override without cards. */
export const NO_CARDS = Object.fromEntries(CARD_LIST_NAMES.map((list) => [list, []])) as unknown as Readonly<
  Record<CardList, readonly never[]>
>;

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
  const cards = CARD_LIST_NAMES.map((list) => [list, replaceCards(list, details[list], override[list])]);
  return {
    ...details,
    ...(Object.fromEntries(cards) as Pick<PricePlanDetails, CardList>),
    pricingCycleConfig: override.pricingCycleConfig ?? details.pricingCycleConfig,
    minimumCommitment: override.minimumCommitment ?? details.minimumCommitment,
  };
}

function replaceCards(list: CardList, cards: readonly object[], overrideCards: readonly object[]): readonly object[] {
  // `flatMap` skips holes, so that a partly readable plan can be checked too.
  const replacements = new Map(overrideCards.flatMap((card) => [[billableOf(list, card), card] as const]));
  const planBillables = new Set(cards.flatMap((card) => [billableOf(list, card)]));
  return [
    ...cards.flatMap((card) => [changeCard(card, replacements.get(billableOf(list, card)))]),
    ...overrideCards.flatMap((card) => (planBillables.has(billableOf(list, card)) ? [] : [card])),
  ];
}

/** The card of an override in place of a plan's; one that changes a price table keeps the rest of it (S18.7). */
function changeCard(card: Partial<UsageRateCard>, change: Partial<UsageRateCard> | undefined): object {
  if (change === undefined || !changesTable(change)) return change ?? card;
  const { rows, multiply, displayName = card.displayName, tag = card.tag } = change;
  return { ...card, displayName, tag, rows, multiply };
}

/** Whether a card of an override adds rows to the plan's price table, or multiplies its amounts. */
export function changesTable({ rows, multiply }: Partial<UsageRateCard>): boolean {
  return Boolean(rows) || Boolean(multiply);
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
