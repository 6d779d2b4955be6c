/**
 * All checks across a book. Each checks the resolved book, reports document paths, and skips unreadable items, which
 * are holes in a list.
 */
import type { Steps } from "../../numbers/steps.ts";
import { checkUnique, type Path, quoteValue, type Report } from "../problems.ts";
import type { BookCache } from "../reading/book-cache.ts";
import type { BookShape } from "../reading/read-document.ts";
import { indexVersions } from "../resolving/resolve.ts";
import type { PlanAssociation } from "../resources/account.ts";
import type { Book } from "../resources/book.ts";
import { settingKey } from "../resources/catalog-items.ts";
import type { PricePlan } from "../resources/price-plan.ts";
import { checkAccounts } from "./check-accounts.ts";
import { checkMeters, checkSchemas } from "./check-metering.ts";
import { type CardContext, checkCardContents, checkPricedItems } from "./check-plans.ts";

/** Reports all problems across a book, one item per step. */
export function* checkBook(book: Book, { document, brokenItems }: BookShape, cache: BookCache, report: Report): Steps {
  checkNames(book, report);
  yield* checkSchemas(book, cache, report);
  yield* checkMeters(book, cache, report);
  const versions = indexVersions(book.pricePlans);
  const findPlan = ({
    pricePlanId,
    version,
  }: Pick<PlanAssociation, "pricePlanId" | "version">): PricePlan | undefined =>
    versions.get(pricePlanId)?.all.get(version);
  const associatedPlans = new Set<PricePlan | undefined>();
  book.accounts.forEach(({ pricePlans }) =>
    pricePlans.forEach((association) => associatedPlans.add(findPlan(association))),
  );
  const catalog = indexBillables(book);
  for (const [index, plan] of book.pricePlans.entries()) {
    if (plan === undefined) continue;
    const inUse = plan.status === "ACTIVE" || associatedPlans.has(plan);
    checkPricePlan(plan, { ...catalog, inUse, cache }, ["pricePlans", index], report);
    yield;
  }
  const brokenPlans = new Set(
    book.pricePlans.flatMap((plan, index) => (brokenItems.has(document.pricePlans[index]) ? [plan] : [])),
  );
  checkAccounts(book, document, { ...catalog, findPlan, isComplete: (plan) => !brokenPlans.has(plan) }, report);
}

/** Reports problems of one plan version. */
export function checkPricePlan(
  plan: PricePlan,
  { cache, ...context }: CardContext & { readonly cache: BookCache },
  path: Path,
  report: Report,
): void {
  const details = plan.pricePlanDetails;
  const place: Path = [...path, "pricePlanDetails"];
  const checkContents = (itemReport: Report): void => {
    const currencies = details.supportedCurrencies ?? [];
    checkUnique(currencies, { path: [...place, "supportedCurrencies"], what: "currency" }, itemReport);
    // Holes are skipped: a currency that could not be read requires nothing.
    const readable = currencies.flatMap((currency) => [currency]);
    checkCardContents(details, { currencies: readable, isOverride: false }, place, itemReport);
  };
  cache.runOrReuse({ work: "check", item: plan, report, run: checkContents });
  checkPricedItems(details, context, place, report);
}

/** Usage meters and add-ons by id. */
export function indexBillables(book: Book): Pick<CardContext, "usageMeters" | "addOns"> {
  return {
    usageMeters: new Map(book.usageMeters.flatMap((meter) => [[meter.id, meter] as const])),
    addOns: new Map(book.addOns.flatMap((addOn) => [[addOn.id, addOn] as const])),
  };
}

/** Reports every id, name and version that another item of its kind has. */
export function checkNames(book: Book, report: Report): void {
  const { settings, eventSchemas, usageMeters, features, addOns, pricePlans } = book;
  for (const list of ["usageMeters", "features", "addOns", "customers", "accounts", "invoiceGroups"] as const)
    checkUnique<object>(book[list], { path: [list], field: "id" }, report);
  const settingIds = { path: ["settings"], field: "id", what: "id in this namespace and level" };
  checkUnique(settings, settingIds, report, (setting) =>
    JSON.stringify([setting.entityType, setting.entityId, settingKey(setting)]),
  );
  const schemaVersions = { path: ["eventSchemas"], field: "version" };
  checkUnique(eventSchemas, schemaVersions, report, ({ name, version }) => JSON.stringify([name, version]));
  const planVersions = { path: ["pricePlans"], field: "version" };
  checkUnique(pricePlans, planVersions, report, ({ id, version }) => JSON.stringify([id, version]));
  // At most one version of an event schema is ACTIVE (S4.4).
  const active = { path: ["eventSchemas"], field: "status", code: "SECOND_ACTIVE_VERSION" } as const;
  checkUnique(eventSchemas, active, report, ({ name, status }) => (status === "ACTIVE" ? name : undefined));
  checkUnique(features, { path: ["features"], field: "name" }, report);
  checkUnique(usageMeters, { path: ["usageMeters"], field: "name" }, report, nameUnlessArchived);
  checkUnique(addOns, { path: ["addOns"], field: "name" }, report, nameUnlessArchived);
  const planIdsByName = new Map<string, string>();
  // The versions of a plan share its name.
  pricePlans.forEach((plan) => {
    if (plan.status !== "ARCHIVED" && !planIdsByName.has(plan.name)) planIdsByName.set(plan.name, plan.id);
  });
  pricePlans.forEach((plan, index) => {
    const otherPlanId = planIdsByName.get(plan.name);
    if (plan.status === "ARCHIVED" || otherPlanId === undefined || otherPlanId === plan.id) return;
    report(["pricePlans", index, "name"], "NOT_UNIQUE", {
      what: "name",
      other: `the price plan ${quoteValue(otherPlanId)}`,
    });
  });
}

function nameUnlessArchived(item: { readonly name: string; readonly status: string }): string | undefined {
  return item.status === "ARCHIVED" ? undefined : item.name;
}
