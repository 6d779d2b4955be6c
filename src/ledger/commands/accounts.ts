/** Account aliases (S16.6) and archiving (S16.3). */
import type { Instant } from "../../calendar/instant.ts";
import { runToCompletion } from "../../numbers/steps.ts";
import { quoteText } from "../../problem-table.ts";
import type { AccountState } from "../account-state.ts";
import { endAliases, findAccountPlan } from "../account/account-plan.ts";
import { catchUp } from "../account/catch-up.ts";
import { listDrafts } from "../account/invoices.ts";
import type { Catalog } from "../catalog.ts";
import type { Changes, DocumentRecord } from "../decision.ts";
import type { AccountRecord } from "../records.ts";
import { invalidInputError, refusedError, alreadyTakenError, requireActive } from "../refusals.ts";

/** Maximum number of aliases per account. */
export const ALIASES_MAX = 10;

/** The aliases and accounts that already use the requested names, read before the decision. */
export interface TakenNames {
  /** The existing alias documents with these names. */
  readonly aliases: readonly DocumentRecord[];
  /** The accounts whose id is one of the names, including archived ones. */
  readonly accounts: readonly Pick<AccountRecord, "id">[];
}

/** Documents to write and to remove. */
export type AliasChanges = Required<Pick<Changes, "documents" | "removedDocuments">>;

/**
 * Adds aliases to an account; existing ones stay (S16.6).
 *
 * @throws {RatebookError} ERR_TAKEN for a name of another account, ERR_INPUT_INVALID for too many, ERR_REFUSED
 */
export function addAliases(
  account: AccountState,
  aliases: readonly string[],
  takenNames: TakenNames,
  now: Instant,
): AliasChanges {
  const { record } = account;
  requireActive(record);
  const existingAliases = new Set(record.aliases.map(({ alias }) => alias));
  const added = [...new Set(aliases)].filter((alias) => !existingAliases.has(alias));
  for (const alias of added) checkFree(alias, record.id, takenNames);
  if (existingAliases.size + added.length > ALIASES_MAX) {
    throw invalidInputError(
      "aliases",
      "QUANTITY_NOT_ALLOWED",
      `expected at most ${ALIASES_MAX} aliases in all, got ${existingAliases.size + added.length}`,
    );
  }
  if (added.length === 0) return { documents: [], removedDocuments: [] };
  const records = added.map((alias) => ({ alias, createdAt: now }));
  account.putRecord({ ...record, aliases: [...record.aliases, ...records], updatedAt: now });
  return { documents: added.map((alias) => aliasDocument(alias, record.id, now)), removedDocuments: [] };
}

/** Removes aliases from an account; unknown ones are ignored (S16.6). */
export function removeAliases(account: AccountState, aliases: readonly string[], now: Instant): AliasChanges {
  const { record } = account;
  const removedAliases = new Set(aliases);
  const removed = record.aliases.filter(({ alias }) => removedAliases.has(alias));
  if (removed.length === 0) return { documents: [], removedDocuments: [] };
  account.putRecord({ ...record, ...endAliases(record, removedAliases, now), updatedAt: now });
  return { documents: [], removedDocuments: removed.map(({ alias }) => ({ kind: "alias" as const, id: alias })) };
}

/** Checks that no other account has the id of a new account, or has it as an alias (S16.6). @throws {RatebookError} ERR_TAKEN */
export function checkAccountId(id: string, takenNames: TakenNames): void {
  if (takenNames.accounts.some((account) => account.id === id)) {
    throw alreadyTakenError("account", id, `the account id ${quoteText(id)} is taken`);
  }
  if (takenNames.aliases.some((alias) => alias.id === id)) {
    throw alreadyTakenError("alias", id, `the account id ${quoteText(id)} is the alias of another account`);
  }
}

/** The document of an alias; without an account the alias resolves to nothing. */
export function aliasDocument(alias: string, accountId: string | undefined, now: Instant): DocumentRecord {
  const body = accountId === undefined ? {} : { accountId };
  return { kind: "alias", id: alias, createdAt: now, updatedAt: now, body };
}

/** The id of the account that an alias resolves to, if any (S16.6). */
export function aliasTarget({ body: { accountId } }: DocumentRecord): string | undefined {
  return typeof accountId === "string" ? accountId : undefined;
}

/**
 * Archives an account and frees its aliases (S16.3, S16.6).
 *
 * @param account with everything that {@link catchUp} needs
 * @throws {RatebookError} ERR_REFUSED while a plan is associated now or later, or a draft invoice is open
 */
export function archiveAccount(catalog: Catalog, account: AccountState, now: Instant): AliasChanges {
  checkArchivable(catalog, account, now);
  const changes = removeAliases(
    account,
    account.record.aliases.map(({ alias }) => alias),
    now,
  );
  account.putRecord({ ...account.record, status: "ARCHIVED", updatedAt: now });
  return changes;
}

/** Refuses to archive an account, or its customer, while something remains to be invoiced (S16.3). */
export function checkArchivable(catalog: Catalog, account: AccountState, now: Instant): void {
  catchUp(catalog, account, now);
  const { record } = account;
  if (record.status === "ARCHIVED")
    throw refusedError("S16.3", `the account ${quoteText(record.id)} is already archived`);
  const plan = findAccountPlan(catalog, record).timeline.find(({ until }) => until > now)?.plan;
  if (plan !== undefined) {
    throw refusedError(
      "S16.3",
      `the account ${quoteText(record.id)} has the price plan ${quoteText(plan.planId)}; remove the plan first`,
    );
  }
  const [draft] = runToCompletion(listDrafts(catalog, account, now, { limit: 1 }));
  if (draft === undefined) return;
  throw refusedError("S16.3", `the account ${quoteText(record.id)} has an open draft invoice, ${quoteText(draft.id)}`);
}

function checkFree(alias: string, accountId: string, takenNames: TakenNames): void {
  const holder = takenNames.aliases.find(({ id }) => id === alias);
  if (holder !== undefined && aliasTarget(holder) !== accountId) {
    throw alreadyTakenError("alias", alias, `the alias ${quoteText(alias)} is taken`);
  }
  if (takenNames.accounts.some(({ id }) => id === alias)) {
    throw alreadyTakenError("alias", alias, `the alias ${quoteText(alias)} is the id of an account`);
  }
}
