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
import type { EngineContext } from "../context.ts";
import { toTypedDocument } from "../documents.ts";
import { ID, method, type Methods, pageMethod, REQUEST } from "../methods.ts";
import { lockAccounts, runOperation } from "../operation.ts";
import { type Page, toPage, type PageOptions, pageRequest } from "../pages.ts";
import { findTakenNames } from "./accounts.ts";

/** An alias in a list; without an account it resolves to nothing. */
export interface AliasSnapshot {
  readonly value: string;
  readonly accountId?: string;
  readonly createdAt: Instant;
}

const ALIAS = { alias: ID };

export const aliasMethods = {
  /** Creates all or none. */
  create: method({ aliases: REQUEST }, createAliases),
  remove: method(ALIAS, removeAlias),
  get: method(ALIAS, async ({ store }, alias: string) => requireAlias(store.read, alias)),
  /** Newest first. */
  list: pageMethod(listAliases),
};

/** Aliases, of accounts or not assigned yet (S16.6). */
export interface Aliases extends Methods<typeof aliasMethods> {}

async function createAliases(
  context: EngineContext,
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
  return runOperation(context, {
    scope: lockAccounts(accountIds, "exclusive"),
    async needs({ view }) {
      const takenNames = await findTakenNames(view, values);
      const [existing] = [...takenNames.aliases, ...takenNames.accounts];
      if (existing !== undefined)
        throw alreadyTakenError("alias", existing.id, `the alias ${quoteText(existing.id)} is taken`);
      return { accountIds, decisionInput: takenNames };
    },
    decide({ workspace, now }, takenNames) {
      const documents = requests.flatMap(({ value, accountId }) => {
        if (accountId === undefined || accountId === null) return [aliasDocument(value, undefined, now)];
        return addAliases(workspace.account(accountId), [value], takenNames, now).documents;
      });
      return { result: documents.map(toAliasSnapshot), changes: { documents } };
    },
  });
}

async function removeAlias(context: EngineContext, alias: string): Promise<void> {
  let accountId: string | undefined;
  await runOperation(context, {
    async scope() {
      ({ accountId } = await requireAlias(context.store.read, alias));
      return lockAccounts(accountId === undefined ? [] : [accountId], "exclusive")();
    },
    async needs({ view }) {
      const current = await requireAlias(view, alias);
      if (current.accountId !== accountId) return "scope";
      return { accountIds: accountId === undefined ? [] : [accountId], decisionInput: undefined };
    },
    decide({ accounts, workspace, now }) {
      for (const { record } of accounts) removeAliases(workspace.account(record.id), [alias], now);
      return { result: undefined, changes: { removedDocuments: [{ kind: "alias", id: alias }] } };
    },
  });
}

async function listAliases({ store }: EngineContext, options: PageOptions): Promise<Page<AliasSnapshot>> {
  const request = pageRequest(options);
  const documents = await store.read.documents("alias", { ...request, limit: request.limit + 1 });
  return toPage(documents.map(toAliasSnapshot), request.limit, ({ createdAt, value }) => ({ createdAt, id: value }));
}

/** @throws {RatebookError} ERR_NOT_FOUND */
async function requireAlias(view: LedgerView, alias: string): Promise<AliasSnapshot> {
  const document = await view.document("alias", alias);
  if (document === undefined) throw notFoundError("alias", alias);
  return toAliasSnapshot(document);
}

function toAliasSnapshot(document: DocumentRecord): AliasSnapshot {
  const { id, body, createdAt } = toTypedDocument("alias", document);
  return { value: id, createdAt, ...(body.accountId ? { accountId: body.accountId } : {}) };
}
