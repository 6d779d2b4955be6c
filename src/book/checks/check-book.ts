/**
 * All checks across a book. Each checks the resolved book, reports document paths, and skips unreadable items, which
 * are holes in a list.
 *
 * @module
 */
import type { Steps } from "../../numbers/steps.ts";
import type { Path, Report } from "../problems.ts";
import type { BookCache } from "../reading/book-cache.ts";
import type { BookShape } from "../reading/read-document.ts";
import { indexVersions } from "../resolving/resolve-plan.ts";
import type { PlanAssociation } from "../resources/account.ts";
import type { Book } from "../resources/book.ts";
import type { PricePlan } from "../resources/price-plan.ts";
import { checkAccounts } from "./check-accounts.ts";
import { checkMeters } from "./check-meters.ts";
import { checkNames, checkUnique } from "./check-names.ts";
import { type CardContext, checkCardContents, checkPricedItems } from "./check-plans.ts";
import { checkSchemas } from "./check-schemas.ts";

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
    checkUnique(
      currencies,
      { path: [...place, "supportedCurrencies"], what: "currency" },
      itemReport,
      (currency) => currency,
    );
    // Holes are skipped: a currency that could not be read requires nothing.
    checkCardContents(
      details,
      currencies.flatMap((currency) => [currency]),
      place,
      itemReport,
    );
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
