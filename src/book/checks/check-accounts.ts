/**
 * Checks accounts: aliases, groups, ids of credits, and dates (S11, S12, S16).
 *
 * @module
 */
import { formatInstant, type Instant } from "../../calendar/instant.ts";
import { type Path, formatPath, type Report } from "../problems.ts";
import type { Account } from "../resources/account.ts";
import type { Book, BookDocument } from "../resources/book.ts";
import { quoteValue } from "../wording.ts";
import { type AssociationContext, checkAssociations } from "./check-associations.ts";

/** Reports problems of the accounts and invoice groups. */
export function checkAccounts(book: Book, document: BookDocument, context: AssociationContext, report: Report): void {
  checkAliases(document, report);
  checkGroups(book, report);
  checkHoldingIds(book, document, report);
  book.accounts.forEach((account, index) => {
    const path: Path = ["accounts", index];
    checkAssociations(account, context, path, report);
    checkPeriods(account.credits, "credits", path, report);
    checkPeriods(account.featureCredits, "featureCredits", path, report);
  });
}

/** An alias names one active account, and is not an account's id (S16.6). */
function checkAliases(document: BookDocument, report: Report): void {
  const ids = new Set<string>();
  document.accounts.forEach(({ id }) => ids.add(id));
  const accountIdsByAlias = new Map<string, string>();
  document.accounts.forEach((account, index) => {
    if (account.status === "ARCHIVED") return;
    account.aliases.forEach((entry, position) => {
      if (typeof entry !== "string" && entry.status === "ARCHIVED") return;
      const alias = typeof entry === "string" ? entry : entry.alias;
      const path = (): Path => ["accounts", index, "aliases", position];
      const otherAccountId = accountIdsByAlias.get(alias);
      if (ids.has(alias)) report(path(), "ALIAS_IS_ACCOUNT_ID", { alias });
      else if (otherAccountId !== undefined) {
        report(path(), "NOT_UNIQUE", { what: "alias", other: `the account ${quoteValue(otherAccountId)}` });
      } else accountIdsByAlias.set(alias, account.id);
    });
  });
}

/** An account is in at most one group, and a group's accounts have one currency (S16.7). */
function checkGroups(book: Book, report: Report): void {
  if (book.invoiceGroups.length === 0) return;
  const accounts = new Map<string, Account>();
  book.accounts.forEach((account) => accounts.set(account.id, account));
  const memberships = new Map<string, readonly [group: number, position: number]>();
  book.invoiceGroups.forEach((group, index) => {
    let currency = group.invoiceCurrency ?? undefined;
    group.accountIds.forEach((id, position) => {
      const firstMembership = memberships.get(id);
      if (firstMembership === undefined) memberships.set(id, [index, position]);
      else {
        const other = formatPath(toMemberPath(...firstMembership));
        report(toMemberPath(index, position), "IN_ANOTHER_GROUP", { id, other });
      }
      const account = accounts.get(id);
      if (account === undefined) return;
      currency ??= account.invoiceCurrency;
      if (account.invoiceCurrency === currency) return;
      const params = { id, expected: currency, currency: account.invoiceCurrency };
      report(toMemberPath(index, position), "WRONG_CURRENCY", params);
    });
  });
}

/** A credit or a feature credit. */
interface Holding {
  readonly id: string;
  readonly effectiveFrom: Instant;
  readonly effectiveUntil?: Instant | null | undefined;
}

/** Credits, and feature credits, have unique ids in the book. A generated id can only collide with an explicit one. */
function checkHoldingIds(book: Book, document: BookDocument, report: Report): void {
  for (const list of ["credits", "featureCredits"] as const) {
    const hasIds = document.accounts.some((account) => account[list].some((holding) => (holding?.id ?? null) !== null));
    if (!hasIds) continue;
    const firstPaths = new Map<string, Path>();
    book.accounts.forEach((account, index) => {
      const holdings: readonly Holding[] = account[list];
      holdings.forEach(({ id }, position) => {
        const path: Path = ["accounts", index, list, position];
        const firstPath = firstPaths.get(id);
        if (firstPath === undefined) firstPaths.set(id, path);
        else report([...path, "id"], "NOT_UNIQUE", { what: "id", other: formatPath(firstPath) });
      });
    });
  }
}

function toMemberPath(group: number, position: number): Path {
  return ["invoiceGroups", group, "accountIds", position];
}

function checkPeriods(holdings: readonly Holding[], list: string, path: Path, report: Report): void {
  holdings.forEach(({ effectiveFrom, effectiveUntil }, index) => {
    if (effectiveUntil === undefined || effectiveUntil === null || effectiveUntil > effectiveFrom) return;
    const [start, got] = [formatInstant(effectiveFrom), formatInstant(effectiveUntil)];
    report([...path, list, index, "effectiveUntil"], "ENDS_BEFORE_START", { start, got });
  });
}
