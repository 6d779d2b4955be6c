/**
 * Resolves price plans: every card names its meter, add-on or feature by id.
 *
 * @module
 */
import type { CreditGrantRateCard } from "../model/grant-card.ts";
import type { PricePlan, PricePlanDetails, PricePlanDetailsOverride } from "../model/price-plan.ts";
import type { Path } from "../problems.ts";
import { idAmong, idAt, type ReferredList, type Resolving } from "../reading/references.ts";

/** The words for all cards of a kind in `applicableEntityIds` (S12.2). */
export const ALL_CARDS: ReadonlySet<string> = new Set([
  "ALL_USAGE_METER_RATE_CARDS",
  "ALL_FIXED_FEE_RATE_CARDS",
  "ALL_LICENSE_RATE_CARDS",
  "ALL_BILLING_ENTITLEMENT_RATE_CARDS",
  "ALL_ENTITLEMENT_OVERAGE_RATE_CARDS",
]);
const BILLABLES: readonly ReferredList[] = ["usageMeters", "addOns", "features"];

/** Resolves one version of a plan. */
export function resolvePricePlan(plan: PricePlan, path: Path, resolving: Resolving): PricePlan {
  return { ...plan, pricePlanDetails: resolveDetails(plan.pricePlanDetails, [...path, "pricePlanDetails"], resolving) };
}

/** Resolves a plan's details, or what an association changes of them. */
export function resolveDetails<Details extends PricePlanDetails | PricePlanDetailsOverride>(
  details: Details,
  path: Path,
  resolving: Resolving,
): Details {
  const addOn = cardResolver("id", "addOns", path, resolving);
  const feature = cardResolver("featureId", "features", path, resolving);
  return {
    ...details,
    usageRateCards: details.usageRateCards.map(
      cardResolver("usageMeterId", "usageMeters", path, resolving)("usageRateCards"),
    ),
    fixedFeeRateCards: details.fixedFeeRateCards.map(addOn("fixedFeeRateCards")),
    licenseRateCards: details.licenseRateCards.map(addOn("licenseRateCards")),
    billingEntitlementRateCards: details.billingEntitlementRateCards.map(feature("billingEntitlementRateCards")),
    creditGrantRateCards: details.creditGrantRateCards
      .map(addOn("creditGrantRateCards"))
      .map((card, index) => resolveGrant(card, [...path, "creditGrantRateCards", index], resolving)),
    entitlementOverageRateCards: details.entitlementOverageRateCards.map(feature("entitlementOverageRateCards")),
  };
}

/** Resolves what a credit pays for (S12.2). */
export function resolveEntities(
  given: readonly string[] | null | undefined,
  path: () => Path,
  resolving: Resolving,
): string[] | undefined {
  return given?.map((entity, index) =>
    ALL_CARDS.has(entity) ? entity : idAmong(BILLABLES, entity, [...path(), index], resolving),
  );
}

/** The versions of one plan. */
export interface PlanVersions {
  readonly all: ReadonlyMap<number, PricePlan>;
  /** The version of an association that names none: the latest ACTIVE one, else the latest DRAFT. */
  readonly current: PricePlan | undefined;
}

/** The versions of every plan, by plan id. */
export function versionsOf(plans: readonly PricePlan[]): ReadonlyMap<string, PlanVersions> {
  const versions = new Map<string, { all: Map<number, PricePlan>; current: PricePlan | undefined }>();
  plans.forEach((plan) => {
    const known = versions.get(plan.id) ?? { all: new Map<number, PricePlan>(), current: undefined };
    known.all.set(plan.version, plan);
    if (isPreferred(plan, known.current)) known.current = plan;
    versions.set(plan.id, known);
  });
  return versions;
}

function isPreferred(plan: PricePlan, to: PricePlan | undefined): boolean {
  if (plan.status === "ARCHIVED") return false;
  if (to === undefined) return true;
  if (plan.status !== to.status) return plan.status === "ACTIVE";
  return plan.version > to.version;
}

function cardResolver<Field extends "usageMeterId" | "id" | "featureId">(
  field: Field,
  list: ReferredList,
  path: Path,
  resolving: Resolving,
) {
  return (cards: keyof PricePlanDetailsOverride) =>
    <Card extends Readonly<Record<Field, string>>>(card: Card, index: number): Card => ({
      ...card,
      [field]: idAt(list, card[field], () => [...path, cards, index, field], resolving),
    });
}

function resolveGrant(card: CreditGrantRateCard, path: Path, resolving: Resolving): CreditGrantRateCard {
  const { applicableEntityIds } = card.grantDetails;
  const at = (): Path => [...path, "grantDetails", "applicableEntityIds"];
  return {
    ...card,
    grantDetails: { ...card.grantDetails, applicableEntityIds: resolveEntities(applicableEntityIds, at, resolving) },
  };
}
