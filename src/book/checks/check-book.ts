/**
 * The checks across a book, all of them. Each looks at the resolved book by the places of the document, and skips what
 * was too broken to read: a hole in a list.
 *
 * @module
 */
import type { PlanAssociation } from "../model/account.ts";
import type { Book } from "../model/book.ts";
import type { PricePlan } from "../model/price-plan.ts";
import type { Path, Report } from "../problems.ts";
import type { BookMemory } from "../reading/memory.ts";
import type { BookShape } from "../reading/read-document.ts";
import { versionsOf } from "../resolving/resolve-plan.ts";
import type { Steps } from "../steps.ts";
import { checkAccounts } from "./check-accounts.ts";
import { checkMeters } from "./check-meters.ts";
import { checkNames, unique } from "./check-names.ts";
import { type CardContext, checkOwnCards, checkPriced } from "./check-plans.ts";
import { checkSchemas } from "./check-schemas.ts";

/** Reports everything that is wrong across a book, an item in a step. */
export function* checkBook(book: Book, { document, broken }: BookShape, memory: BookMemory, report: Report): Steps {
  checkNames(book, report);
  yield* checkSchemas(book, memory, report);
  yield* checkMeters(book, memory, report);
  const versions = versionsOf(book.pricePlans);
  const planOf = ({ pricePlanId, version }: Pick<PlanAssociation, "pricePlanId" | "version">): PricePlan | undefined =>
    versions.get(pricePlanId)?.all.get(version);
  const associated = new Set<PricePlan | undefined>();
  book.accounts.forEach(({ pricePlans }) => pricePlans.forEach((association) => associated.add(planOf(association))));
  const catalog = catalogOf(book);
  for (const [at, plan] of book.pricePlans.entries()) {
    if (plan === undefined) continue;
    const inUse = plan.status === "ACTIVE" || associated.has(plan);
    checkPricePlan(plan, { ...catalog, inUse, memory }, ["pricePlans", at], report);
    yield;
  }
  const brokenPlans = new Set(
    book.pricePlans.flatMap((plan, at) => (broken.has(document.pricePlans[at]) ? [plan] : [])),
  );
  checkAccounts(book, document, { ...catalog, planOf, isWhole: (plan) => !brokenPlans.has(plan) }, report);
}

/** Reports what is wrong with one version of a plan. */
export function checkPricePlan(
  plan: PricePlan,
  { memory, ...context }: CardContext & { readonly memory: BookMemory },
  path: Path,
  report: Report,
): void {
  const details = plan.pricePlanDetails;
  const place: Path = [...path, "pricePlanDetails"];
  const checkOwn = (own: Report): void => {
    const currencies = details.supportedCurrencies ?? [];
    unique(currencies, { path: [...place, "supportedCurrencies"], what: "currency" }, own, (currency) => currency);
    // Holes are left out: a currency that could not be read asks for nothing.
    checkOwnCards(
      details,
      currencies.flatMap((currency) => [currency]),
      place,
      own,
    );
  };
  memory.recall({ work: "check", item: plan, report, run: checkOwn });
  checkPriced(details, context, place, report);
}

/** Usage meters and add-ons by id. */
export function catalogOf(book: Book): Pick<CardContext, "usageMeters" | "addOns"> {
  return {
    usageMeters: new Map(book.usageMeters.flatMap((meter) => [[meter.id, meter] as const])),
    addOns: new Map(book.addOns.flatMap((addOn) => [[addOn.id, addOn] as const])),
  };
}
