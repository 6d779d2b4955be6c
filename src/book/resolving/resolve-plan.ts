/**
 * Resolves price plans: replaces the references of cards by ids.
 *
 * @module
 */
import type { Path } from "../problems.ts";
import { resolveIdAmong, resolveId, type ReferableList, type ResolveContext } from "../reading/references.ts";
import type { PricePlan, PricePlanDetails, PricePlanDetailsOverride } from "../resources/price-plan.ts";
import type { CreditGrantRateCard } from "../resources/rate-card.ts";

/** The values in `applicableEntityIds` for all cards of a kind (S12.2). */
export const CARD_KIND_WORDS: ReadonlySet<string> = new Set([
  "ALL_USAGE_METER_RATE_CARDS",
  "ALL_FIXED_FEE_RATE_CARDS",
  "ALL_LICENSE_RATE_CARDS",
  "ALL_BILLING_ENTITLEMENT_RATE_CARDS",
  "ALL_ENTITLEMENT_OVERAGE_RATE_CARDS",
]);
const BILLABLE_LISTS: readonly ReferableList[] = ["usageMeters", "addOns", "features"];

/** Resolves one version of a plan. */
export function resolvePricePlan(plan: PricePlan, path: Path, context: ResolveContext): PricePlan {
  return { ...plan, pricePlanDetails: resolveDetails(plan.pricePlanDetails, [...path, "pricePlanDetails"], context) };
}

/** Resolves plan details or an override. */
export function resolveDetails<Details extends PricePlanDetails | PricePlanDetailsOverride>(
  details: Details,
  path: Path,
  context: ResolveContext,
): Details {
  const resolveAddOnCards = createCardResolver("id", "addOns", path, context);
  const resolveFeatureCards = createCardResolver("featureId", "features", path, context);
  return {
    ...details,
    usageRateCards: details.usageRateCards.map(
      createCardResolver("usageMeterId", "usageMeters", path, context)("usageRateCards"),
    ),
    fixedFeeRateCards: details.fixedFeeRateCards.map(resolveAddOnCards("fixedFeeRateCards")),
    licenseRateCards: details.licenseRateCards.map(resolveAddOnCards("licenseRateCards")),
    billingEntitlementRateCards: details.billingEntitlementRateCards.map(
      resolveFeatureCards("billingEntitlementRateCards"),
    ),
    creditGrantRateCards: details.creditGrantRateCards
      .map(resolveAddOnCards("creditGrantRateCards"))
      .map((card, index) => resolveGrant(card, [...path, "creditGrantRateCards", index], context)),
    entitlementOverageRateCards: details.entitlementOverageRateCards.map(
      resolveFeatureCards("entitlementOverageRateCards"),
    ),
  };
}

/** Resolves the items that a credit can pay for (S12.2). */
export function resolveEntities(
  entities: readonly string[] | null | undefined,
  path: () => Path,
  context: ResolveContext,
): string[] | undefined {
  return entities?.map((entity, index) =>
    CARD_KIND_WORDS.has(entity) ? entity : resolveIdAmong(BILLABLE_LISTS, entity, [...path(), index], context),
  );
}

/** The versions of one plan. */
export interface PlanVersions {
  readonly all: ReadonlyMap<number, PricePlan>;
  /** The default version of an association: the latest ACTIVE one, else the latest DRAFT. */
  readonly current: PricePlan | undefined;
}

/** The versions of every plan, by plan id. */
export function indexVersions(plans: readonly PricePlan[]): ReadonlyMap<string, PlanVersions> {
  const versions = new Map<string, { all: Map<number, PricePlan>; current: PricePlan | undefined }>();
  plans.forEach((plan) => {
    const planVersions = versions.get(plan.id) ?? { all: new Map<number, PricePlan>(), current: undefined };
    planVersions.all.set(plan.version, plan);
    if (isPreferred(plan, planVersions.current)) planVersions.current = plan;
    versions.set(plan.id, planVersions);
  });
  return versions;
}

function isPreferred(plan: PricePlan, other: PricePlan | undefined): boolean {
  if (plan.status === "ARCHIVED") return false;
  if (other === undefined) return true;
  if (plan.status !== other.status) return plan.status === "ACTIVE";
  return plan.version > other.version;
}

function createCardResolver<Field extends "usageMeterId" | "id" | "featureId">(
  field: Field,
  list: ReferableList,
  path: Path,
  context: ResolveContext,
) {
  return (cardList: keyof PricePlanDetailsOverride) =>
    <Card extends Readonly<Record<Field, string>>>(card: Card, index: number): Card => ({
      ...card,
      [field]: resolveId(list, card[field], () => [...path, cardList, index, field], context),
    });
}

function resolveGrant(card: CreditGrantRateCard, path: Path, context: ResolveContext): CreditGrantRateCard {
  const { applicableEntityIds } = card.grantDetails;
  const entitiesPath = (): Path => [...path, "grantDetails", "applicableEntityIds"];
  return {
    ...card,
    grantDetails: {
      ...card.grantDetails,
      applicableEntityIds: resolveEntities(applicableEntityIds, entitiesPath, context),
    },
  };
}
