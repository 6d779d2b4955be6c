/**
 * Resolves accounts: plans and their versions, licenses, credits; ids are made where a book gives none.
 *
 * @module
 */
import { type Instant, parseInstant } from "../../calendar/instant.ts";
import type { Account, PlanAssociation } from "../model/account.ts";
import type { Path } from "../problems.ts";
import { idAt, type Resolving } from "../reading/references.ts";
import type { AccountDocument, PlanAssociationDocument } from "../resources/account.ts";
import { shown } from "../sentences.ts";
import { type PlanVersions, resolveDetails, resolveEntities } from "./resolve-plan.ts";

/** "No end", as a date. */
const NO_END: Instant = parseInstant("9999-01-01T00:00:00.000Z");

/** The parts of a book by which accounts are resolved. */
export interface AccountDefaults {
  readonly currency: string;
  readonly versions: ReadonlyMap<string, PlanVersions>;
}

/**
 * Resolves an account. Every field is written out: a book may have a hundred thousand accounts, and a copy by spread
 * with fields added to it costs several times as much.
 */
export function resolveAccount(
  account: AccountDocument,
  defaults: AccountDefaults,
  path: Path,
  resolving: Resolving,
): Account {
  return {
    id: account.id,
    name: account.name,
    customerId: idAt("customers", account.customerId, () => [...path, "customerId"], resolving),
    status: account.status,
    invoiceCurrency: account.invoiceCurrency ?? defaults.currency,
    aliases: activeAliases(account),
    address: account.address,
    primaryEmail: account.primaryEmail,
    netTermDays: account.netTermDays,
    metadata: account.metadata,
    tags: account.tags,
    pricePlans: account.pricePlans.map((association, at) =>
      resolveAssociation(association, defaults.versions, () => [...path, "pricePlans", at], resolving),
    ),
    licenseUpdates: account.licenseUpdates.map((update, at) => ({
      licenseId: idAt("addOns", update.licenseId, () => [...path, "licenseUpdates", at, "licenseId"], resolving),
      updateType: update.updateType,
      quantity: update.quantity,
      effectiveFrom: update.effectiveFrom,
      idempotencyKey: update.idempotencyKey,
    })),
    credits: account.credits.map((credit, at) => ({
      id: credit.id ?? `${account.id}.credit.${at + 1}`,
      purpose: credit.purpose,
      creditAmount: credit.creditAmount,
      priority: credit.priority,
      effectiveFrom: credit.effectiveFrom,
      effectiveUntil: endOf(credit.effectiveUntil),
      applicableEntityIds: resolveEntities(
        credit.applicableEntityIds,
        () => [...path, "credits", at, "applicableEntityIds"],
        resolving,
      ),
    })),
    featureCredits: account.featureCredits.map((entry, at) => ({
      id: entry.id ?? `${account.id}.featureCredit.${at + 1}`,
      featureId: idAt("features", entry.featureId, () => [...path, "featureCredits", at, "featureId"], resolving),
      granted: entry.granted,
      effectiveFrom: entry.effectiveFrom,
      effectiveUntil: entry.effectiveUntil,
    })),
  };
}

/** The aliases that an account has; archiving it frees them. */
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
  resolving: Resolving,
): PlanAssociation {
  const pricePlanId = idAt("pricePlans", association.pricePlanId, () => [...path(), "pricePlanId"], resolving);
  const override = association.pricePlanDetailsOverride;
  return {
    pricePlanId,
    version: versionAt(association, pricePlanId, versions.get(pricePlanId), path, resolving),
    effectiveFrom: association.effectiveFrom,
    effectiveUntil: endOf(association.effectiveUntil),
    decidedAt: association.decidedAt,
    pricePlanDetailsOverride:
      override === undefined || override === null
        ? undefined
        : resolveDetails(override, [...path(), "pricePlanDetailsOverride"], resolving),
    retainStartOffsets: association.retainStartOffsets,
  };
}

function versionAt(
  { version }: PlanAssociationDocument,
  planId: string,
  plan: PlanVersions | undefined,
  path: () => Path,
  { report }: Resolving,
): number {
  // A plan that is unknown, or too broken to read, has been reported.
  if (plan === undefined) return version ?? 1;
  if (version === undefined || version === null) {
    if (plan.current !== undefined) return plan.current.version;
    report([...path(), "pricePlanId"], `expected a price plan with an ACTIVE or DRAFT version, got ${shown(planId)}`);
    return 1;
  }
  if (!plan.all.has(version)) {
    report([...path(), "version"], `expected a version of the price plan ${shown(planId)}, got ${version}`);
  }
  return version;
}

function endOf(given: Instant | null | undefined): Instant | undefined {
  return given === undefined || given === null || given === NO_END ? undefined : given;
}
