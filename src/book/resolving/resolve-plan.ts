/** Resolves price plans and accounts: replaces references by ids; missing ids are generated. */

import { type Instant, parseInstant } from "../../calendar/instant.ts";
import type { Path } from "../problems.ts";
import { resolveIdAmong, resolveId, type ReferableList, type ResolveContext } from "../reading/references.ts";
import type { AccountDocument, PlanAssociationDocument, Account, PlanAssociation } from "../resources/account.ts";
import { billableOf, CARD_LIST_NAMES, CARD_LISTS, type CardList } from "../resources/override.ts";
import type { PricePlan, PricePlanDetails, PricePlanDetailsOverride } from "../resources/price-plan.ts";
import type { CreditGrantRateCard } from "../resources/rate-card.ts";

/** The values in `applicableEntityIds` for all cards of a kind (S12.2). */
export const CARD_KIND_WORDS: ReadonlySet<string> = new Set(
  Object.values(CARD_LISTS).flatMap(({ allCards }) => allCards ?? []),
);
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
  const lists = CARD_LIST_NAMES.map((list) => {
    const { field, items } = CARD_LISTS[list];
    const cards = (details[list] as readonly object[]).map((card, index) => ({
      ...card,
      [field]: resolveId(items, billableOf(list, card), () => [...path, list, index, field], context),
    }));
    if (list !== "creditGrantRateCards") return [list, cards];
    const grants = cards as readonly object[] as readonly CreditGrantRateCard[];
    return [list, grants.map((card, index) => resolveGrant(card, [...path, list, index], context))];
  });
  return { ...details, ...(Object.fromEntries(lists) as Pick<Details, CardList>) };
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

/** "No end", as a date. */
const NO_END: Instant = parseInstant("9999-01-01T00:00:00.000Z");

/** The parts of a book needed to resolve accounts. */
export interface AccountDefaults {
  readonly currency: string;
  readonly versions: ReadonlyMap<string, PlanVersions>;
}

/**
 * Resolves an account. All fields are listed: a book may have a hundred thousand accounts, and a spread with added
 * fields is several times slower.
 */
export function resolveAccount(
  account: AccountDocument,
  defaults: AccountDefaults,
  path: Path,
  context: ResolveContext,
): Account {
  return {
    id: account.id,
    name: account.name,
    customerId: resolveId("customers", account.customerId, () => [...path, "customerId"], context),
    status: account.status,
    invoiceCurrency: account.invoiceCurrency ?? defaults.currency,
    aliases: activeAliases(account),
    address: account.address,
    primaryEmail: account.primaryEmail,
    netTermDays: account.netTermDays,
    metadata: account.metadata,
    tags: account.tags,
    pricePlans: account.pricePlans.map((association, index) =>
      resolveAssociation(association, defaults.versions, () => [...path, "pricePlans", index], context),
    ),
    licenseUpdates: account.licenseUpdates.map((update, index) => ({
      licenseId: resolveId("addOns", update.licenseId, () => [...path, "licenseUpdates", index, "licenseId"], context),
      updateType: update.updateType,
      quantity: update.quantity,
      effectiveFrom: update.effectiveFrom,
      idempotencyKey: update.idempotencyKey,
    })),
    credits: account.credits.map((credit, index) => ({
      id: credit.id ?? `${account.id}.credit.${index + 1}`,
      purpose: credit.purpose,
      creditAmount: credit.creditAmount,
      priority: credit.priority,
      effectiveFrom: credit.effectiveFrom,
      effectiveUntil: endOrUndefined(credit.effectiveUntil),
      applicableEntityIds: resolveEntities(
        credit.applicableEntityIds,
        () => [...path, "credits", index, "applicableEntityIds"],
        context,
      ),
    })),
    featureCredits: account.featureCredits.map((entry, index) => ({
      id: entry.id ?? `${account.id}.featureCredit.${index + 1}`,
      featureId: resolveId("features", entry.featureId, () => [...path, "featureCredits", index, "featureId"], context),
      granted: entry.granted,
      effectiveFrom: entry.effectiveFrom,
      effectiveUntil: entry.effectiveUntil,
    })),
  };
}

/** The active aliases of an account; archiving it frees them. */
function activeAliases(account: AccountDocument): readonly string[] {
  const aliases: string[] = [];
  if (account.status === "ARCHIVED") return aliases;
  account.aliases.forEach((alias) => {
    if (typeof alias === "string") aliases.push(alias);
    else if (alias.status === "ACTIVE") aliases.push(alias.alias);
  });
  return aliases;
}

function resolveAssociation(
  association: PlanAssociationDocument,
  versions: ReadonlyMap<string, PlanVersions>,
  path: () => Path,
  context: ResolveContext,
): PlanAssociation {
  const pricePlanId = resolveId("pricePlans", association.pricePlanId, () => [...path(), "pricePlanId"], context);
  const override = association.pricePlanDetailsOverride;
  return {
    pricePlanId,
    version: resolveVersion(association, pricePlanId, versions.get(pricePlanId), path, context),
    effectiveFrom: association.effectiveFrom,
    effectiveUntil: endOrUndefined(association.effectiveUntil),
    decidedAt: association.decidedAt,
    pricePlanDetailsOverride:
      override === undefined || override === null
        ? undefined
        : resolveDetails(override, [...path(), "pricePlanDetailsOverride"], context),
    retainStartOffsets: association.retainStartOffsets,
  };
}

function resolveVersion(
  { version }: PlanAssociationDocument,
  planId: string,
  plan: PlanVersions | undefined,
  path: () => Path,
  { report }: ResolveContext,
): number {
  // A plan that is unknown or unreadable was reported already.
  if (plan === undefined) return version ?? 1;
  if (version === undefined || version === null) {
    if (plan.current !== undefined) return plan.current.version;
    report([...path(), "pricePlanId"], "UNKNOWN_VERSION", { plan: planId });
    return 1;
  }
  if (!plan.all.has(version)) {
    report([...path(), "version"], "UNKNOWN_VERSION", { plan: planId, version });
  }
  return version;
}

function endOrUndefined(date: Instant | null | undefined): Instant | undefined {
  return date === undefined || date === null || date === NO_END ? undefined : date;
}
