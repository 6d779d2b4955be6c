/**
 * Turns a book as it is written into a book as it is used: references become ids, rules are parsed, and what was left
 * out is filled in. What cannot be resolved is reported and stays as it was given.
 *
 * @module
 */
import type { Book } from "../model/book.ts";
import type { AddOn, Setting } from "../model/catalog-items.ts";
import type { Path } from "../problems.ts";
import type { BookDocument } from "../reading/document.ts";
import type { BookMemory } from "../reading/memory.ts";
import { idAt, type Resolving } from "../reading/references.ts";
import type { AddOnDocument, SettingDocument } from "../resources/catalog-items.ts";
import { anOrA, shown } from "../sentences.ts";
import type { Steps } from "../steps.ts";
import { type RememberedResolving, resolveOnce } from "./remembered.ts";
import { resolveAccount } from "./resolve-account.ts";
import { resolveFeatures } from "./resolve-features.ts";
import { resolveEventSchema, resolveUsageMeter } from "./resolve-metering.ts";
import { resolvePricePlan, versionsOf } from "./resolve-plan.ts";

/** Resolves a whole document, in its order, an item in a step. Holes stay holes. */
export function* resolveBook(document: BookDocument, resolving: RememberedResolving): Steps<Book> {
  const { organization } = document;
  const { features, featureDetails } = resolveFeatures(document, resolving);
  const pricePlans = yield* mapInSteps(document.pricePlans, (plan, at) =>
    resolveOnce(plan, resolving, [], (noting) => resolvePricePlan(plan, ["pricePlans", at], noting)),
  );
  const defaults = { currency: organization.baseCurrency, versions: versionsOf(pricePlans) };
  return {
    organization,
    settings: yield* mapInSteps(document.settings, (setting, at) =>
      resolveOnce(setting, resolving, [organization.id], (noting) =>
        resolveSetting(setting, organization.id, ["settings", at, "entityId"], noting),
      ),
    ),
    eventSchemas: yield* mapInSteps(document.eventSchemas, (schema, at) => {
      const details = featureDetails.get(schema);
      return resolveOnce(schema, resolving, [details?.featureId, details?.attributeName], (noting) =>
        resolveEventSchema(schema, details, ["eventSchemas", at], noting),
      );
    }),
    usageMeters: yield* mapInSteps(document.usageMeters, (meter, at) =>
      resolveOnce(meter, resolving, [], (noting) => resolveUsageMeter(meter, ["usageMeters", at], noting)),
    ),
    features,
    addOns: document.addOns.map(resolveAddOn),
    pricePlans,
    customers: document.customers,
    accounts: yield* mapInSteps(document.accounts, (account, at) =>
      resolveAccount(account, defaults, ["accounts", at], resolving),
    ),
    invoiceGroups: document.invoiceGroups.map((group, at) => ({
      ...group,
      name: group.name ?? group.id,
      accountIds: group.accountIds.map((given, position) =>
        idAt("accounts", given, () => ["invoiceGroups", at, "accountIds", position], resolving),
      ),
    })),
    ...(document.lint.length > 0 && { lint: document.lint }),
  };
}

/** The last step, when every place has been checked: enrichment fields and computations in their order. */
export function inOrder(book: Book, memory: BookMemory): Book {
  const once = <Item extends object>(item: Item, run: () => Item): Item =>
    memory.recall({ work: "arrange", item, report: () => undefined, run });
  return {
    ...book,
    eventSchemas: book.eventSchemas.map((schema) =>
      once(schema, () => ({
        ...schema,
        enrichments: { ...schema.enrichments, fields: schema.enrichments.fields.toSorted(byOrder) },
      })),
    ),
    usageMeters: book.usageMeters.map((meter) =>
      once(meter, () => ({ ...meter, computations: meter.computations.toSorted(byOrder) })),
    ),
  };
}

/** Maps a list, an item in a step. Holes stay holes. */
function* mapInSteps<Item, Mapped>(
  list: readonly Item[],
  change: (item: Item, at: number) => Mapped,
): Steps<readonly Mapped[]> {
  const mapped: Mapped[] = [];
  mapped.length = list.length;
  for (const [at, item] of list.entries()) {
    if (item === undefined) continue;
    mapped[at] = change(item, at);
    yield;
  }
  return mapped;
}

function byOrder(a: { readonly order: number }, b: { readonly order: number }): number {
  return a.order - b.order;
}

function resolveAddOn(addOn: AddOnDocument): AddOn {
  return { ...addOn, displayName: addOn.displayName ?? addOn.billableName ?? addOn.name };
}

function resolveSetting(setting: SettingDocument, organizationId: string, path: Path, resolving: Resolving): Setting {
  const { entityType, entityId } = setting;
  switch (entityType) {
    case "ORGANIZATION":
      if (entityId !== undefined && entityId !== null && entityId !== organizationId) {
        resolving.report(path, `expected the organization's id, ${shown(organizationId)}, got ${shown(entityId)}`);
      }
      return { ...setting, entityId: organizationId };
    case "CUSTOMER":
    case "ACCOUNT": {
      if (entityId !== undefined && entityId !== null) {
        const list = entityType === "CUSTOMER" ? "customers" : "accounts";
        return { ...setting, entityId: idAt(list, entityId, () => path, resolving) };
      }
      resolving.report(path, `missing: expected the id or name of ${anOrA(entityType.toLowerCase())}`);
      return { ...setting, entityId: "" };
    }
  }
}
