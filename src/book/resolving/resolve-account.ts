/**
 * Resolves accounts: plans and their versions, licenses, credits; missing ids are generated.
 *
 * @module
 */
import { type Instant, parseInstant } from "../../calendar/instant.ts";
import type { Path } from "../problems.ts";
import { resolveId, type ResolveContext } from "../reading/references.ts";
import type { AccountDocument, PlanAssociationDocument, Account, PlanAssociation } from "../resources/account.ts";
import { type PlanVersions, resolveDetails, resolveEntities } from "./resolve-plan.ts";

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
