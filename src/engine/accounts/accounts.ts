/**
 * Accounts of an engine (S16.3, S16.6).
 *
 * @module
 */
import { readRequest } from "../../book/reading/read-request.ts";
import type { AccountPatch, AccountRequest } from "../../book/resources/requests.ts";
import { type InstantInput, toInstant } from "../../calendar/instant.ts";
import type { AccountState } from "../../ledger/account-state.ts";
import { accountAt } from "../../ledger/account/account-history.ts";
import { catchUp } from "../../ledger/account/catch-up.ts";
import * as accountCommands from "../../ledger/commands/accounts.ts";
import type { AccountRecord } from "../../ledger/records.ts";
import { invalidInputError, notFoundError } from "../../ledger/refusals.ts";
import type { Configuration } from "../configuration.ts";
import type { EngineContext } from "../context.ts";
import { withoutUndefined, withoutAbsent } from "../document-body.ts";
import { toTypedDocument } from "../documents.ts";
import { prepareSettings } from "../entity-settings.ts";
import { type DecisionState, decideOnAccount, lockAccounts, runOperation } from "../operation.ts";
import { type Page, toPage, type PageOptions, pageRequest } from "../pages.ts";
import { prepareAccount, checkActive, findTakenNames } from "./new-account.ts";

/** Creates an account of a customer, with its settings. @throws {RatebookError} ERR_INPUT_INVALID, ERR_TAKEN, ERR_REFUSED */
export async function createAccount(
  { store, clock, configuration }: EngineContext,
  input: AccountRequest,
): Promise<AccountRecord> {
  const request = readRequest("accountCreate", input);
  const scope = { configuration: "exclusive", accountIds: [request.id], eventIds: [] } as const;
  let newConfiguration: Configuration | undefined;
  const account = await store.transact(scope, async (view) => {
    const before = await configuration(view);
    const now = clock();
    const { record, changes } = await prepareAccount(before.catalog, view, request, now);
    const customer = await view.document("customer", request.customerId);
    if (customer === undefined) throw invalidInputError("customerId", "UNKNOWN_ID", "expected the id of a customer");
    checkActive("customer", toTypedDocument("customer", customer).body);
    const { id, settings } = request;
    const newSettings = await prepareSettings(before, [{ entityType: "ACCOUNT", id, settings, pathPrefix: "" }], now);
    const documents = [...changes.documents, ...newSettings.changes.documents];
    newConfiguration = newSettings.after;
    return { result: record, changes: { ...changes, ...newSettings.changes, documents } };
  });
  if (newConfiguration !== undefined) configuration.adopt(newConfiguration);
  return account;
}

/** Changes an account; null clears a field. */
export async function updateAccount(context: EngineContext, id: string, input: AccountPatch): Promise<AccountRecord> {
  const patch = readRequest("accountPatch", input);
  return decideOnAccount(context, id, (catalog, work, now) => {
    catchUp(catalog, work, now);
    checkActive("account", work.record);
    const next: Readonly<Record<string, unknown>> = withoutAbsent({
      ...work.record,
      ...withoutUndefined(patch),
      updatedAt: now,
    });
    if (next["name"] === undefined) throw invalidInputError("name", "NOT_SUPPORTED", "the name can't be removed");
    work.putRecord(next as unknown as AccountRecord);
    return work.record;
  });
}

/** Archives an account and frees its aliases (S16.3). */
export async function archiveAccount(context: EngineContext, id: string): Promise<AccountRecord> {
  return changeNames(context, id, async ({ catalog, work, now }) => accountCommands.archiveAccount(catalog, work, now));
}

/**
 * Reads an account.
 *
 * @param effectiveOn with the aliases and the invoice group at this instant; default now
 * @throws {RatebookError} ERR_NOT_FOUND, ERR_DATE_INVALID
 */
export async function readAccount(
  { store }: EngineContext,
  id: string,
  { effectiveOn }: { readonly effectiveOn?: InstantInput | undefined },
): Promise<AccountRecord> {
  const at = effectiveOn === undefined ? undefined : toInstant(effectiveOn);
  const [record] = await store.read.accounts([id]);
  if (record === undefined) throw notFoundError("account", id);
  return at === undefined ? record : accountAt(record, at);
}

/** Lists accounts, newest first. */
export async function listAccounts(
  { store }: EngineContext,
  filter: { readonly customerId?: string; readonly status?: "ACTIVE" | "ARCHIVED"; readonly invoiceGroupId?: string },
  options: PageOptions,
): Promise<Page<AccountRecord>> {
  const request = pageRequest(options);
  const records = await store.read.accountList(filter, { ...request, limit: request.limit + 1 });
  return toPage(records, request.limit, ({ createdAt, id }) => ({ createdAt, id }));
}

/** Adds aliases to an account (S16.6). */
export async function addAliases(context: EngineContext, id: string, input: readonly string[]): Promise<AccountRecord> {
  const aliases = readRequest("aliases", input);
  return changeNames(context, id, async ({ work, view, now }) =>
    accountCommands.addAliases(work, aliases, await findTakenNames(view, aliases), now),
  );
}

/** Removes aliases from an account (S16.6). */
export async function removeAliases(
  context: EngineContext,
  id: string,
  input: readonly string[],
): Promise<AccountRecord> {
  const aliases = readRequest("aliases", input);
  return changeNames(context, id, async ({ work, now }) => accountCommands.removeAliases(work, aliases, now));
}

/** Names are unique across accounts, so they change under the exclusive lock. */
async function changeNames(
  context: EngineContext,
  accountId: string,
  decide: (state: DecisionState & { readonly work: AccountState }) => Promise<accountCommands.AliasChanges>,
): Promise<AccountRecord> {
  return runOperation(context, {
    scope: lockAccounts([accountId], "exclusive"),
    async decide(state) {
      const work = state.workspace.account(accountId);
      const changes = await decide({ ...state, work });
      return { result: work.record, changes };
    },
  });
}
