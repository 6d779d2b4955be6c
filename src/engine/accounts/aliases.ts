/**
 * Aliases of an engine: other names under which events may call accounts (S16.6).
 *
 * @module
 */
import type { AliasRequest } from "../../book/model/requests.ts";
import { readRequest } from "../../book/requests/requests.ts";
import type { Instant } from "../../calendar/instant.ts";
import { addAliases, aliasDocument, removeAliases } from "../../ledger/commands/accounts.ts";
import type { DocumentRecord } from "../../ledger/decision.ts";
import { invalidInput, notFound, quoted, taken } from "../../ledger/refusals.ts";
import type { LedgerView } from "../../ledger/view.ts";
import { type EngineContext, openAccounts } from "../context.ts";
import { documentOf } from "../documents.ts";
import { type Page, pageOf, type PageOptions, pageRequest } from "../pages.ts";
import { namesHeld } from "./new-account.ts";

/** An alias as it is listed; without an account it resolves to nothing. */
export interface AliasShown {
  readonly value: string;
  readonly accountId?: string;
  readonly createdAt: Instant;
}

/** Makes aliases, of accounts or of nothing yet; all or none (S16.6). */
export async function createAliases(
  { store, clock, configuration }: EngineContext,
  input: readonly AliasRequest[],
): Promise<readonly AliasShown[]> {
  const asked = readRequest("aliasCreate", input);
  const values = asked.map(({ value }) => value);
  const twice = values.findIndex((value, index) => values.indexOf(value) !== index);
  if (twice >= 0)
    throw invalidInput(`[${twice}].value`, `expected each alias once, got ${quoted(values[twice] ?? "")} again`);
  const accountIds = [...new Set(asked.flatMap(({ accountId }) => accountId ?? []))];
  return store.transact({ configuration: "exclusive", accountIds, eventIds: [] }, async (view) => {
    const { catalog } = await configuration(view);
    const now = clock();
    const held = await namesHeld(view, values);
    const [known] = [...held.aliases, ...held.accounts];
    if (known !== undefined) throw taken("alias", known.id, `the alias ${quoted(known.id)} is taken`);
    const workspace = await openAccounts(catalog, view, accountIds, now);
    const documents = asked.flatMap(({ value, accountId }) => {
      if (accountId === undefined || accountId === null) return [aliasDocument(value, undefined, now)];
      return addAliases(workspace.account(accountId), [value], held, now).documents;
    });
    return { result: documents.map(aliasShown), changes: { ...workspace.changes(), documents } };
  });
}

/** Ends an alias, whosever it is. @throws {RatebookError} ERR_NOT_FOUND */
export async function removeAlias(context: EngineContext, alias: string): Promise<void> {
  for (;;) {
    const found = await aliasNamed(context.store.read, alias);
    const accountIds = found.accountId === undefined ? [] : [found.accountId];
    const scope = { configuration: "exclusive", accountIds, eventIds: [] } as const;
    const done = await context.store.transact(scope, async (view) => {
      const { catalog } = await context.configuration(view);
      const current = await aliasNamed(view, alias);
      if (current.accountId !== found.accountId) return { result: false, changes: {} };
      const now = context.clock();
      const workspace = await openAccounts(catalog, view, accountIds, now);
      for (const id of accountIds) removeAliases(workspace.account(id), [alias], now);
      const removedDocuments = [{ kind: "alias" as const, id: alias }];
      return { result: true, changes: { ...workspace.changes(), removedDocuments } };
    });
    if (done) return;
  }
}

/** An alias. @throws {RatebookError} ERR_NOT_FOUND */
export async function getAlias({ store }: EngineContext, alias: string): Promise<AliasShown> {
  return aliasNamed(store.read, alias);
}

/** Aliases, newest first. */
export async function listAliases({ store }: EngineContext, options: PageOptions): Promise<Page<AliasShown>> {
  const request = pageRequest(options);
  const documents = await store.read.documents("alias", { ...request, limit: request.limit + 1 });
  return pageOf(documents.map(aliasShown), request.limit, ({ createdAt, value }) => ({ createdAt, id: value }));
}

async function aliasNamed(view: LedgerView, alias: string): Promise<AliasShown> {
  const document = await view.document("alias", alias);
  if (document === undefined) throw notFound("alias", alias);
  return aliasShown(document);
}

function aliasShown(document: DocumentRecord): AliasShown {
  const { id, body, createdAt } = documentOf("alias", document);
  return { value: id, createdAt, ...(body.accountId ? { accountId: body.accountId } : {}) };
}
