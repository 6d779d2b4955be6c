import type { Book } from "../../book/book.ts";
/**
 * What invoicing needs of a book: its catalog, and each account as a view.
 *
 * @module
 */
import type { Account, InvoiceGroup } from "../../book/resources/account.ts";
import type { AccountView, BillingCatalog } from "../../invoicing/account-view.ts";
import { NO_END, type PlanDecision } from "../../invoicing/timeline.ts";

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

/** The terms that invoice groups set, by account. */
export function groupTermsOf(book: Book): ReadonlyMap<string, GroupTerms> {
  return new Map(
    book.invoiceGroups.flatMap((group) => {
      const terms = termsOfGroup(group);
      return group.accountIds.map((accountId) => [accountId, terms] as const);
    }),
  );
}

/** The terms that one invoice group sets for each of its accounts. */
export function termsOfGroup({ gracePeriod, netTermDays }: InvoiceGroup): GroupTerms {
  return {
    ...(typeof gracePeriod === "number" ? { groupGraceDays: gracePeriod } : {}),
    ...(typeof netTermDays === "number" ? { groupNetTermDays: netTermDays } : {}),
  };
}

/** An account of a book with its decisions and what it used. */
export function viewOf(
  account: Account,
  decisions: readonly PlanDecision[],
  terms: GroupTerms,
  used: Pick<AccountView, "usage" | "overage">,
): AccountView {
  return {
    accountId: account.id,
    customerId: account.customerId,
    currency: account.invoiceCurrency,
    netTermDays: terms.groupNetTermDays ?? account.netTermDays ?? 0,
    ...(terms.groupGraceDays === undefined ? {} : { groupGraceDays: terms.groupGraceDays }),
    decisions,
    licenseChanges: account.licenseUpdates,
    // Where a rule breaks ties by createdAt, the order in the book counts; what plans grant comes after it.
    credits: account.credits.map((credit, index) => ({
      id: credit.id,
      purpose: credit.purpose,
      creditAmount: credit.creditAmount,
      left: credit.creditAmount,
      priority: credit.priority,
      effectiveFrom: credit.effectiveFrom,
      ...(typeof credit.effectiveUntil === "number" && credit.effectiveUntil < NO_END
        ? { effectiveUntil: credit.effectiveUntil }
        : {}),
      ...(credit.applicableEntityIds ? { applicableEntityIds: credit.applicableEntityIds } : {}),
      createdAt: Number.MIN_SAFE_INTEGER + index,
    })),
    ...used,
  };
}
