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
import { idAt, type Resolving } from "../reading/references.ts";
import type { AddOnDocument, SettingDocument } from "../resources/catalog-items.ts";
import { anOrA, shown } from "../sentences.ts";
import { resolveAccount } from "./resolve-account.ts";
import { resolveFeatures } from "./resolve-features.ts";
import { resolveEventSchema, resolveUsageMeter } from "./resolve-metering.ts";
import { resolvePricePlan, versionsOf } from "./resolve-plan.ts";

/** Resolves a whole document, in its order. Holes stay holes. */
export function resolveBook(document: BookDocument, resolving: Resolving): Book {
  const { organization } = document;
  const { features, featureDetails } = resolveFeatures(document, resolving);
  const pricePlans = document.pricePlans.map((plan, at) => resolvePricePlan(plan, ["pricePlans", at], resolving));
  const defaults = { currency: organization.baseCurrency, versions: versionsOf(pricePlans) };
  return {
    organization,
    settings: document.settings.map((setting, at) =>
      resolveSetting(setting, organization.id, ["settings", at, "entityId"], resolving),
    ),
    eventSchemas: document.eventSchemas.map((schema, at) =>
      resolveEventSchema(schema, featureDetails.get(schema), ["eventSchemas", at], resolving),
    ),
    usageMeters: document.usageMeters.map((meter, at) => resolveUsageMeter(meter, ["usageMeters", at], resolving)),
    features,
    addOns: document.addOns.map(resolveAddOn),
    pricePlans,
    customers: document.customers,
    accounts: document.accounts.map((account, at) => resolveAccount(account, defaults, ["accounts", at], resolving)),
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
export function inOrder(book: Book): Book {
  return {
    ...book,
    eventSchemas: book.eventSchemas.map((schema) => ({
      ...schema,
      enrichments: { ...schema.enrichments, fields: schema.enrichments.fields.toSorted(byOrder) },
    })),
    usageMeters: book.usageMeters.map((meter) => ({ ...meter, computations: meter.computations.toSorted(byOrder) })),
  };
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
