/** Warnings about likely omissions in a valid book. */
import type { Book } from "../../book/resources/book.ts";
import { quoteText } from "../../problem-table.ts";

/** The maximum number of names in a warning. */
const NAMED_MAX = 5;

/** One sentence for each kind: meters that no plan prices, plans without accounts, accounts without a plan. */
export function findBookWarnings(book: Book): readonly string[] {
  const { accounts, pricePlans, usageMeters } = book;
  const plans = pricePlans.filter(({ status }) => status !== "ARCHIVED");
  const details = [
    ...plans.map(({ pricePlanDetails }) => pricePlanDetails),
    ...accounts.flatMap((account) =>
      account.pricePlans.flatMap(({ pricePlanDetailsOverride }) => pricePlanDetailsOverride ?? []),
    ),
  ];
  const pricedMeterIds = new Set(
    details.flatMap((each) => each.usageRateCards.map(({ usageMeterId }) => usageMeterId)),
  );
  const usedPlanIds = new Set(accounts.flatMap((account) => account.pricePlans.map(({ pricePlanId }) => pricePlanId)));
  const meters = usageMeters.filter(({ id, status }) => status !== "ARCHIVED" && !pricedMeterIds.has(id));
  const unusedPlans = accounts.length === 0 ? [] : plans.filter(({ id }) => !usedPlanIds.has(id));
  const accountsWithoutPlan = accounts.filter((each) => each.status === "ACTIVE" && each.pricePlans.length === 0);
  return [
    ...warn(meters, ["no plan prices the usage meter"], ["no plan prices the usage meters"]),
    ...warn(unusedPlans, ["no account has the price plan"], ["no account has the price plans"]),
    ...warn(accountsWithoutPlan, ["the account", " has no price plan"], ["the accounts", " have no price plan"]),
  ];
}

type Words = readonly [before: string, after?: string];

/** A sentence that names resources; none without one. */
function warn(resources: readonly { readonly id: string }[], singular: Words, plural: Words): readonly string[] {
  const ids = [...new Set(resources.map(({ id }) => id))];
  if (ids.length === 0) return [];
  const rest = ids.length > NAMED_MAX ? ` and ${ids.length - NAMED_MAX} more` : "";
  const [before, after = ""] = ids.length === 1 ? singular : plural;
  return [`${before} ${ids.slice(0, NAMED_MAX).map(quoteText).join(", ")}${rest}${after}`];
}
