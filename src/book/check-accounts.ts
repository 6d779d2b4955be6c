/**
 * Accounts among each other: aliases, groups, ids of credits, and the dates of what accounts hold (S11, S12, S16).
 *
 * @module
 */
import { formatInstant, type Instant } from "../calendar/instant.ts";
import type { Account } from "./account.ts";
import { type AssociationContext, checkAssociations } from "./check-associations.ts";
import type { Book, BookDocument } from "./document.ts";
import { type Path, pathText, type Report } from "./problems.ts";
import { shown } from "./sentences.ts";

/** Reports what is wrong with the accounts and the groups of their invoices. */
export function checkAccounts(book: Book, document: BookDocument, context: AssociationContext, report: Report): void {
  checkAliases(document, report);
  checkGroups(book, report);
  const [creditIds, entryIds] = [new Map<string, Path>(), new Map<string, Path>()];
  book.accounts.forEach((account, at) => {
    const path: Path = ["accounts", at];
    checkAssociations(account, context, path, report);
    checkHoldings(account.credits, creditIds, [...path, "credits"], report);
    checkHoldings(account.featureCredits, entryIds, [...path, "featureCredits"], report);
  });
}

/** An alias means one active account, and is not an account's id (S16.6). */
function checkAliases(document: BookDocument, report: Report): void {
  const ids = new Set(document.accounts.flatMap(({ id }) => [id]));
  const holders = new Map<string, string>();
  document.accounts.forEach((account, at) => {
    if (account.status === "ARCHIVED") return;
    account.aliases.forEach((given, position) => {
      if (typeof given !== "string" && given.status === "ARCHIVED") return;
      const alias = typeof given === "string" ? given : given.alias;
      const path: Path = ["accounts", at, "aliases", position];
      const holder = holders.get(alias);
      if (ids.has(alias)) report(path, `expected an alias that is no account's id, got ${shown(alias)}`);
      else if (holder !== undefined) {
        report(path, `expected an alias of its own: ${shown(alias)} is also one of the account ${shown(holder)}`);
      } else holders.set(alias, account.id);
    });
  });
}

/** An account is in one group, and a group's accounts are in one currency (S16.7). */
function checkGroups(book: Book, report: Report): void {
  const accounts = new Map(book.accounts.flatMap((account) => [[account.id, account] as const]));
  const groupOf = new Map<string, Path>();
  book.invoiceGroups.forEach((group, at) => {
    let currency = group.invoiceCurrency ?? undefined;
    group.accountIds.forEach((id, position) => {
      const path: Path = ["invoiceGroups", at, "accountIds", position];
      const before = groupOf.get(id);
      if (before === undefined) groupOf.set(id, path);
      else report(path, `expected an account that is in no other group: ${pathText(before)} is ${shown(id)} too`);
      const account: Account | undefined = accounts.get(id);
      if (account === undefined) return;
      currency ??= account.invoiceCurrency;
      if (account.invoiceCurrency === currency) return;
      report(
        path,
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

function checkHoldings(holdings: readonly Holding[], ids: Map<string, Path>, path: Path, report: Report): void {
  holdings.forEach(({ id, effectiveFrom, effectiveUntil }, at) => {
    const before = ids.get(id);
    if (before === undefined) ids.set(id, [...path, at]);
    else report([...path, at, "id"], `expected an id of its own: ${pathText(before)} has the same`);
    if (effectiveUntil === undefined || effectiveUntil === null || effectiveUntil > effectiveFrom) return;
    const [from, until] = [formatInstant(effectiveFrom), formatInstant(effectiveUntil)];
    report([...path, at, "effectiveUntil"], `expected after ${from}, the effectiveFrom, got ${until}`);
  });
}
