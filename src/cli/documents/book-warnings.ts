/** Warnings about likely omissions in a valid book. */
import type { Book } from "../../book/resources/book.ts";
import type { PricePlan, PricePlanDetails } from "../../book/resources/price-plan.ts";
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
  const pricedMeterIds = new Set(details.flatMap(listMeterIds));
  const usedPlanIds = new Set(accounts.flatMap((account) => account.pricePlans.map(({ pricePlanId }) => pricePlanId)));
  const unpricedMeterIds = usageMeters
    .filter(({ id, status }) => status !== "ARCHIVED" && !pricedMeterIds.has(id))
    .map(({ id }) => id);
  const unusedPlanIds = accounts.length === 0 ? [] : [...new Set(plans.map(toId).filter((id) => !usedPlanIds.has(id)))];
  const accountsWithoutPlan = accounts
    .filter(({ status, pricePlans: associations }) => status === "ACTIVE" && associations.length === 0)
    .map(toId);
  return [
    ...formatWarning(
      unpricedMeterIds,
      (names, isPlural) => `no plan prices the usage ${isPlural ? "meters" : "meter"} ${names}`,
    ),
    ...formatWarning(
      unusedPlanIds,
      (names, isPlural) => `no account has the price ${isPlural ? "plans" : "plan"} ${names}`,
    ),
    ...formatWarning(
      accountsWithoutPlan,
      (names, isPlural) =>
        `the ${isPlural ? "accounts" : "account"} ${names} ${isPlural ? "have" : "has"} no price plan`,
    ),
  ];
}

function listMeterIds({ usageRateCards }: Pick<PricePlanDetails, "usageRateCards">): readonly string[] {
  return usageRateCards.map(({ usageMeterId }) => usageMeterId);
}

function toId({ id }: Pick<PricePlan, "id">): string {
  return id;
}

function formatWarning(
  ids: readonly string[],
  format: (names: string, isPlural: boolean) => string,
): readonly string[] {
  if (ids.length === 0) return [];
  const rest = ids.length > NAMED_MAX ? ` and ${ids.length - NAMED_MAX} more` : "";
  return [format(`${ids.slice(0, NAMED_MAX).map(quoteText).join(", ")}${rest}`, ids.length > 1)];
}
