/**
 * A book as invoicing sees it: its catalog, and each account as a view.
 *
 * @module
 */
import type { InvoiceGroup } from "../../book/model/account.ts";
import type { Book } from "../../book/model/book.ts";
import type { BillingCatalog } from "../../invoicing/account-view.ts";

/** A book's catalog as invoicing shows it. */
export function catalogOf(book: Book): BillingCatalog {
  const named = (
    items: readonly { readonly id: string; readonly displayName: string }[],
  ): ReadonlyMap<string, string> => new Map(items.map(({ id, displayName }) => [id, displayName]));
  return {
    rounding: book.organization.rounding,
    meters: named(book.usageMeters),
    addOns: named(book.addOns),
    features: named(book.features),
  };
}

/** The terms of an account that its invoice group may set (S16.7). */
export interface GroupTerms {
  readonly groupGraceDays?: number;
  readonly groupNetTermDays?: number;
}

/** The terms that one invoice group sets for each of its accounts. */
export function termsOfGroup({ gracePeriod, netTermDays }: InvoiceGroup): GroupTerms {
  return {
    ...(typeof gracePeriod === "number" ? { groupGraceDays: gracePeriod } : {}),
    ...(typeof netTermDays === "number" ? { groupNetTermDays: netTermDays } : {}),
  };
}
