/**
 * Resolves a book: references become ids, rules are parsed, and defaults filled in. References that cannot be
 * resolved are reported and stay unchanged.
 */
import { type Instant, parseInstant } from "../../calendar/instant.ts";
import type { Steps } from "../../numbers/steps.ts";
import { type Path, quoteValue } from "../problems.ts";
import type { BookCache } from "../reading/book-cache.ts";
import {
  resolveId,
  type ResolveContext,
  areSameReferences,
  type Lookup,
  resolveIdAmong,
  type ReferableList,
} from "../reading/references.ts";
import type { AccountDocument, PlanAssociationDocument, Account, PlanAssociation } from "../resources/account.ts";
import type { Book, BookDocument } from "../resources/book.ts";
import type { AddOnDocument, SettingDocument, AddOn, Setting } from "../resources/catalog-items.ts";
import {
  readBillable,
  CARD_LIST_NAMES,
  CARD_LISTS,
  type CardList,
  type PricePlan,
  type PricePlanDetails,
  type PricePlanDetailsOverride,
} from "../resources/price-plan.ts";
import type { CreditGrantRateCard } from "../resources/rate-card.ts";
import { resolveFeatures, resolveEventSchema, resolveUsageMeter } from "./resolve-metering.ts";

/** Resolves a whole document in order, one item per step. Invalid items are holes in the lists, and stay holes. */
export function* resolveBook(document: BookDocument, context: CachedResolveContext): Steps<Book> {
  const { organization } = document;
  const { features, featureDetails } = resolveFeatures(document, context);
  const pricePlans = yield* mapInSteps(document.pricePlans, (plan, index) =>
    resolveOnce(plan, context, [], (itemContext) => resolvePricePlan(plan, ["pricePlans", index], itemContext)),
  );
  const defaults = { currency: organization.baseCurrency, versions: indexVersions(pricePlans) };
  return {
    organization,
    settings: yield* mapInSteps(document.settings, (setting, index) =>
      resolveOnce(setting, context, [organization.id], (itemContext) =>
        resolveSetting(setting, organization.id, ["settings", index, "entityId"], itemContext),
      ),
    ),
    eventSchemas: yield* mapInSteps(document.eventSchemas, (schema, index) => {
      const details = featureDetails.get(schema);
      return resolveOnce(schema, context, [details?.featureId, details?.attributeName], (itemContext) =>
        resolveEventSchema(schema, details, ["eventSchemas", index], itemContext),
      );
    }),
    usageMeters: yield* mapInSteps(document.usageMeters, (meter, index) =>
      resolveOnce(meter, context, [], (itemContext) => resolveUsageMeter(meter, ["usageMeters", index], itemContext)),
    ),
    features,
    addOns: document.addOns.map(resolveAddOn),
    pricePlans,
    customers: document.customers,
    accounts: yield* mapInSteps(document.accounts, (account, index) =>
      resolveAccount(account, defaults, ["accounts", index], context),
    ),
    invoiceGroups: document.invoiceGroups.map((group, index) => ({
      ...group,
      name: group.name ?? group.id,
      accountIds: group.accountIds.map((reference, position) =>
        resolveId("accounts", reference, () => ["invoiceGroups", index, "accountIds", position], context),
      ),
    })),
    ...(document.lint.length > 0 && { lint: document.lint }),
  };
}

/** The last step, after all checks: sorts enrichment fields and computations. */
export function sortByOrderField(book: Book, cache: BookCache): Book {
  const sortOnce = <Item extends object>(item: Item, run: () => Item): Item =>
    cache.runOrReuse({ work: "arrange", item, report: () => undefined, run });
  return {
    ...book,
    eventSchemas: book.eventSchemas.map((schema) =>
      sortOnce(schema, () => ({
        ...schema,
        enrichments: { ...schema.enrichments, fields: schema.enrichments.fields.toSorted(byOrder) },
      })),
    ),
    usageMeters: book.usageMeters.map((meter) =>
      sortOnce(meter, () => ({ ...meter, computations: meter.computations.toSorted(byOrder) })),
    ),
  };
}

/** Maps a list, one item per step. Its holes stay holes. */
function* mapInSteps<Item, Result>(
  list: readonly Item[],
  mapItem: (item: Item, index: number) => Result,
): Steps<readonly Result[]> {
  const results: Result[] = [];
  results.length = list.length;
  for (const [index, item] of list.entries()) {
    if (item === undefined) continue;
    results[index] = mapItem(item, index);
    yield;
  }
  return results;
}

function byOrder(a: { readonly order: number }, b: { readonly order: number }): number {
  return a.order - b.order;
}

function resolveAddOn(addOn: AddOnDocument): AddOn {
  return { ...addOn, displayName: addOn.displayName ?? addOn.billableName ?? addOn.name };
}

function resolveSetting(
  setting: SettingDocument,
  organizationId: string,
  path: Path,
  context: ResolveContext,
): Setting {
  const { entityType, entityId } = setting;
  switch (entityType) {
    case "ORGANIZATION":
      if (entityId !== undefined && entityId !== null && entityId !== organizationId) {
        context.report(path, "NOT_AN_OPTION", {
          options: [organizationId],
          reason: "the organization's id",
          got: quoteValue(entityId),
        });
      }
      return { ...setting, entityId: organizationId };
    case "CUSTOMER":
    case "ACCOUNT": {
      if (entityId !== undefined && entityId !== null) {
        const list = entityType === "CUSTOMER" ? "customers" : "accounts";
        return { ...setting, entityId: resolveId(list, entityId, () => path, context) };
      }
      const owner = entityType === "CUSTOMER" ? "a customer" : "an account";
      context.report(path, "MISSING", { expected: `the id or name of ${owner}` });
      return { ...setting, entityId: "" };
    }
  }
}

/** The context for resolving a book of which some items may be cached. */
export interface CachedResolveContext extends ResolveContext {
  readonly cache: BookCache;
}

/**
 * Resolves an item, or reuses its cached result if nothing it depends on has changed.
 *
 * @param dependsOn what the result depends on beside the item and its references, compared by identity
 */
export function resolveOnce<Result>(
  item: object,
  { cache, references, report }: CachedResolveContext,
  dependsOn: readonly unknown[],
  resolve: (itemContext: ResolveContext) => Result,
): Result {
  const resolveItem = (
    itemReport: ResolveContext["report"],
  ): { readonly result: Result; readonly lookups: readonly Lookup[] } => {
    const lookups: Lookup[] = [];
    return { result: resolve({ references, report: itemReport, lookups }), lookups };
  };
  return cache.runOrReuse({
    work: "resolve",
    item,
    dependsOn,
    report,
    run: resolveItem,
    isStillValid: ({ lookups }) => areSameReferences(lookups, references),
  }).result;
}

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
      [field]: resolveId(items, readBillable(list, card), () => [...path, list, index, field], context),
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
