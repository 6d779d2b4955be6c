/**
 * Accounts among each other: aliases, groups, ids of credits, and the dates of what accounts hold (S11, S12, S16).
 *
 * @module
 */
import { formatInstant, type Instant } from "../../calendar/instant.ts";
import type { Account } from "../model/account.ts";
import type { Book } from "../model/book.ts";
import { type Path, pathText, type Report } from "../problems.ts";
import type { BookDocument } from "../reading/document.ts";
import { shown } from "../sentences.ts";
import { type AssociationContext, checkAssociations } from "./check-associations.ts";

/** Reports what is wrong with the accounts and the groups of their invoices. */
export function checkAccounts(book: Book, document: BookDocument, context: AssociationContext, report: Report): void {
  checkAliases(document, report);
  checkGroups(book, report);
  checkHoldingIds(book, document, report);
  book.accounts.forEach((account, at) => {
    const path: Path = ["accounts", at];
    checkAssociations(account, context, path, report);
    checkPeriods(account.credits, "credits", path, report);
    checkPeriods(account.featureCredits, "featureCredits", path, report);
  });
}

/** An alias means one active account, and is not an account's id (S16.6). */
function checkAliases(document: BookDocument, report: Report): void {
  const ids = new Set<string>();
  document.accounts.forEach(({ id }) => ids.add(id));
  const holders = new Map<string, string>();
  document.accounts.forEach((account, at) => {
    if (account.status === "ARCHIVED") return;
    account.aliases.forEach((given, position) => {
      if (typeof given !== "string" && given.status === "ARCHIVED") return;
      const alias = typeof given === "string" ? given : given.alias;
      const path = (): Path => ["accounts", at, "aliases", position];
      const holder = holders.get(alias);
      if (ids.has(alias)) report(path(), `expected an alias that is no account's id, got ${shown(alias)}`);
      else if (holder !== undefined) {
        report(path(), `expected an alias of its own: ${shown(alias)} is also one of the account ${shown(holder)}`);
      } else holders.set(alias, account.id);
    });
  });
}

/** An account is in one group, and a group's accounts are in one currency (S16.7). */
function checkGroups(book: Book, report: Report): void {
  if (book.invoiceGroups.length === 0) return;
  const accounts = new Map<string, Account>();
  book.accounts.forEach((account) => accounts.set(account.id, account));
  const placeOf = new Map<string, readonly [group: number, position: number]>();
  book.invoiceGroups.forEach((group, at) => {
    let currency = group.invoiceCurrency ?? undefined;
    group.accountIds.forEach((id, position) => {
      const before = placeOf.get(id);
      if (before === undefined) placeOf.set(id, [at, position]);
      else {
        const other = pathText(memberPath(...before));
        report(memberPath(at, position), `expected an account that is in no other group: ${other} is ${shown(id)} too`);
      }
      const account = accounts.get(id);
      if (account === undefined) return;
      currency ??= account.invoiceCurrency;
      if (account.invoiceCurrency === currency) return;
      report(
        memberPath(at, position),
        `expected an account in ${currency}, the group's currency: ${shown(id)} is in ${account.invoiceCurrency}`,
      );
    });
  });
}

interface Holding {
  readonly id: string;
  readonly effectiveFrom: Instant;
  readonly effectiveUntil?: Instant | null | undefined;
}

/** Credits, and feature credits, have ids of their own in the book. Those that we made can only meet one that was given. */
function checkHoldingIds(book: Book, document: BookDocument, report: Report): void {
  for (const list of ["credits", "featureCredits"] as const) {
    const isGiven = document.accounts.some((account) =>
      account[list].some((holding) => (holding?.id ?? null) !== null),
    );
    if (!isGiven) continue;
    const first = new Map<string, Path>();
    book.accounts.forEach((account, at) => {
      const holdings: readonly Holding[] = account[list];
      holdings.forEach(({ id }, position) => {
        const path: Path = ["accounts", at, list, position];
        const before = first.get(id);
        if (before === undefined) first.set(id, path);
        else report([...path, "id"], `expected an id of its own: ${pathText(before)} has the same`);
      });
    });
  }
}

function memberPath(group: number, position: number): Path {
  return ["invoiceGroups", group, "accountIds", position];
}

function checkPeriods(holdings: readonly Holding[], list: string, path: Path, report: Report): void {
  holdings.forEach(({ effectiveFrom, effectiveUntil }, at) => {
    if (effectiveUntil === undefined || effectiveUntil === null || effectiveUntil > effectiveFrom) return;
    const [from, until] = [formatInstant(effectiveFrom), formatInstant(effectiveUntil)];
    report([...path, list, at, "effectiveUntil"], `expected after ${from}, the effectiveFrom, got ${until}`);
  });
}
