/**
 * Resolves a book: references become ids, rules are parsed, and defaults filled in. References that cannot be
 * resolved are reported and stay unchanged.
 */
import type { Steps } from "../../numbers/steps.ts";
import { type Path, quoteValue } from "../problems.ts";
import type { BookCache } from "../reading/book-cache.ts";
import { resolveId, type ResolveContext, areSameReferences, type Lookup } from "../reading/references.ts";
import type { Book, BookDocument } from "../resources/book.ts";
import type { AddOnDocument, SettingDocument, AddOn, Setting } from "../resources/catalog-items.ts";
import { resolveFeatures, resolveEventSchema, resolveUsageMeter } from "./resolve-metering.ts";
import { resolveAccount, resolvePricePlan, indexVersions } from "./resolve-plan.ts";

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
