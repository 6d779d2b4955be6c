/**
 * Warnings of things that were probably forgotten in a book without problems.
 *
 * @module
 */
import type { Book } from "../book/model/book.ts";
import type { PricePlan, PricePlanDetails } from "../book/model/price-plan.ts";
import { quoted } from "../records/problems.ts";

/** So many things of a kind are named. */
const NAMED_MAX = 5;

/** A sentence for each kind: meters that no plan prices, plans that no account has, accounts without a plan. */
export function bookWarnings(book: Book): readonly string[] {
  const { accounts, pricePlans, usageMeters } = book;
  const plans = pricePlans.filter(({ status }) => status !== "ARCHIVED");
  const details = [
    ...plans.map(({ pricePlanDetails }) => pricePlanDetails),
    ...accounts.flatMap((account) =>
      account.pricePlans.flatMap(({ pricePlanDetailsOverride }) => pricePlanDetailsOverride ?? []),
    ),
  ];
  const priced = new Set(details.flatMap(metersOf));
  const used = new Set(accounts.flatMap((account) => account.pricePlans.map(({ pricePlanId }) => pricePlanId)));
  const meters = usageMeters.filter(({ id, status }) => status !== "ARCHIVED" && !priced.has(id)).map(({ id }) => id);
  const unused = accounts.length === 0 ? [] : [...new Set(plans.map(idOf).filter((id) => !used.has(id)))];
  const without = accounts.filter(({ status, pricePlans: own }) => status === "ACTIVE" && own.length === 0).map(idOf);
  return [
    ...sentence(meters, (names, many) => `no plan prices the usage ${many ? "meters" : "meter"} ${names}`),
    ...sentence(unused, (names, many) => `no account has the price ${many ? "plans" : "plan"} ${names}`),
    ...sentence(
      without,
      (names, many) => `the ${many ? "accounts" : "account"} ${names} ${many ? "have" : "has"} no price plan`,
    ),
  ];
}

function metersOf({ usageRateCards }: Pick<PricePlanDetails, "usageRateCards">): readonly string[] {
  return usageRateCards.map(({ usageMeterId }) => usageMeterId);
}

function idOf({ id }: Pick<PricePlan, "id">): string {
  return id;
}

function sentence(ids: readonly string[], say: (names: string, many: boolean) => string): readonly string[] {
  if (ids.length === 0) return [];
  const rest = ids.length > NAMED_MAX ? ` and ${ids.length - NAMED_MAX} more` : "";
  return [say(`${ids.slice(0, NAMED_MAX).map(quoted).join(", ")}${rest}`, ids.length > 1)];
}
