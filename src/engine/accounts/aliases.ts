/**
 * Aliases: other names that events may use for accounts (S16.6).
 *
 * @module
 */
import { readRequest } from "../../book/reading/read-request.ts";
import type { AliasRequest } from "../../book/resources/requests.ts";
import type { Instant } from "../../calendar/instant.ts";
import { addAliases, aliasDocument, removeAliases } from "../../ledger/commands/accounts.ts";
import type { DocumentRecord } from "../../ledger/decision.ts";
import { invalidInputError, notFoundError, quoteText, alreadyTakenError } from "../../ledger/refusals.ts";
import type { LedgerView } from "../../ledger/view.ts";
import { type EngineContext, openAccounts } from "../context.ts";
import { toTypedDocument } from "../documents.ts";
import { type Page, toPage, type PageOptions, pageRequest } from "../pages.ts";
import { findTakenNames } from "./new-account.ts";

/** An alias in a list; without an account it resolves to nothing. */
export interface AliasSnapshot {
  readonly value: string;
  readonly accountId?: string;
  readonly createdAt: Instant;
}

/** Creates aliases, of accounts or not assigned yet; all or none (S16.6). */
export async function createAliases(
  { store, clock, configuration }: EngineContext,
  input: readonly AliasRequest[],
): Promise<readonly AliasSnapshot[]> {
  const requests = readRequest("aliasCreate", input);
  const values = requests.map(({ value }) => value);
  const repeatedIndex = values.findIndex((value, index) => values.indexOf(value) !== index);
  if (repeatedIndex >= 0)
    throw invalidInputError(
      `[${repeatedIndex}].value`,
      "REPEATED_ITEM",
      `the alias ${quoteText(values[repeatedIndex] ?? "")} is repeated`,
    );
  const accountIds = [...new Set(requests.flatMap(({ accountId }) => accountId ?? []))];
  return store.transact({ configuration: "exclusive", accountIds, eventIds: [] }, async (view, usage) => {
    const { catalog } = await configuration(view);
    const now = clock();
    const takenNames = await findTakenNames(view, values);
    const [existing] = [...takenNames.aliases, ...takenNames.accounts];
    if (existing !== undefined)
      throw alreadyTakenError("alias", existing.id, `the alias ${quoteText(existing.id)} is taken`);
    const workspace = await openAccounts(catalog, { view, usage }, accountIds, now);
    const documents = requests.flatMap(({ value, accountId }) => {
      if (accountId === undefined || accountId === null) return [aliasDocument(value, undefined, now)];
      return addAliases(workspace.account(accountId), [value], takenNames, now).documents;
    });
    return { result: documents.map(toAliasSnapshot), changes: { ...workspace.changes(), documents } };
  });
}

/** Removes an alias of any account. @throws {RatebookError} ERR_NOT_FOUND */
export async function removeAlias(context: EngineContext, alias: string): Promise<void> {
  for (;;) {
    const aliasRecord = await requireAlias(context.store.read, alias);
    const accountIds = aliasRecord.accountId === undefined ? [] : [aliasRecord.accountId];
    const scope = { configuration: "exclusive", accountIds, eventIds: [] } as const;
    const result = await context.store.transact(scope, async (view, usage) => {
      const { catalog } = await context.configuration(view);
      const current = await requireAlias(view, alias);
      if (current.accountId !== aliasRecord.accountId) return { result: false, changes: {} };
      const now = context.clock();
      const workspace = await openAccounts(catalog, { view, usage }, accountIds, now);
      for (const id of accountIds) removeAliases(workspace.account(id), [alias], now);
      const removedDocuments = [{ kind: "alias" as const, id: alias }];
      return { result: true, changes: { ...workspace.changes(), removedDocuments } };
    });
    if (result) return;
  }
}

/** Reads an alias. @throws {RatebookError} ERR_NOT_FOUND */
export async function getAlias({ store }: EngineContext, alias: string): Promise<AliasSnapshot> {
  return requireAlias(store.read, alias);
}

/** Lists aliases, newest first. */
export async function listAliases({ store }: EngineContext, options: PageOptions): Promise<Page<AliasSnapshot>> {
  const request = pageRequest(options);
  const documents = await store.read.documents("alias", { ...request, limit: request.limit + 1 });
  return toPage(documents.map(toAliasSnapshot), request.limit, ({ createdAt, value }) => ({ createdAt, id: value }));
}

async function requireAlias(view: LedgerView, alias: string): Promise<AliasSnapshot> {
  const document = await view.document("alias", alias);
  if (document === undefined) throw notFoundError("alias", alias);
  return toAliasSnapshot(document);
}

function toAliasSnapshot(document: DocumentRecord): AliasSnapshot {
  const { id, body, createdAt } = toTypedDocument("alias", document);
  return { value: id, createdAt, ...(body.accountId ? { accountId: body.accountId } : {}) };
}
