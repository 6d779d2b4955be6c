/** Accounts of an engine, and their aliases: other names that events may use for them (S16.3, S16.6). */
import * as z from "zod";

import { readRequest } from "../../book/reading/read-request.ts";
import type { AccountPatch, AccountRequest, RequestOutput, AliasRequest } from "../../book/resources/requests.ts";
import { type Instant, type InstantInput, toInstant } from "../../calendar/instant.ts";
import { NO_END } from "../../invoicing/timeline.ts";
import { type AccountState, createWorkspace } from "../../ledger/account-state.ts";
import { accountAt } from "../../ledger/account/account-plan.ts";
import { catchUp } from "../../ledger/account/catch-up.ts";
import type { Catalog } from "../../ledger/catalog.ts";
import * as accountCommands from "../../ledger/commands/accounts.ts";
import type { Changes, DocumentRecord } from "../../ledger/decision.ts";
import type { AccountRecord } from "../../ledger/records.ts";
import { alreadyTakenError, invalidInputError, notFoundError, refusedError } from "../../ledger/refusals.ts";
import type { LedgerView } from "../../ledger/view.ts";
import { partsOfRecord } from "../../ledger/working-records.ts";
import { quoteText } from "../../problem-table.ts";
import { withoutUndefined, withoutAbsent, toTypedDocument } from "../documents.ts";
import { prepareSettings } from "../entity-settings.ts";
import {
  type EngineContext,
  ID,
  idMethod,
  listMethod,
  method,
  type Methods,
  patchMethod,
  REQUEST,
  textFields,
  pageMethod,
} from "../methods.ts";
import { type DecisionState, decideOnAccount, lockAccounts, needNoAccounts, runOperation } from "../operation.ts";
import { type Page, pageKey, type PageOptions, readPage } from "../pages.ts";
import { listSchedules } from "./plans.ts";

const NAMES = { id: ID, aliases: z.array(REQUEST) };

export const accountMethods = {
  create: method({ account: REQUEST }, createAccount),
  /** Null clears a field. */
  update: patchMethod(updateAccount),
  /** Rejected while a plan is associated now or later, or a draft invoice is open (S16.3). */
  archive: idMethod((context, id) =>
    changeNames(context, id, async ({ catalog, account, now }) =>
      accountCommands.archiveAccount(catalog, account, now),
    ),
  ),
  /** `effectiveOn`: with the aliases and the invoice group at that instant (S16.6, S16.7); default now. */
  get: method({ id: ID, options: z.looseObject({}).optional() }, readAccount),
  /** Newest first. */
  list: listMethod(textFields("customerId", "status", "invoiceGroupId"), listAccounts),
  /** At most 10 in total (S16.6). */
  addAliases: method(NAMES, addAliases),
  removeAliases: method(NAMES, removeAliases),
  /** The past, current and future plans of an account, earliest first. */
  pricingSchedules: idMethod(listSchedules),
};

/** Accounts of an engine. */
export interface Accounts extends Methods<typeof accountMethods> {}

/** @throws {RatebookError} ERR_INPUT_INVALID, ERR_TAKEN, ERR_REFUSED */
async function createAccount(context: EngineContext, input: AccountRequest): Promise<AccountRecord> {
  const request = readRequest("accountCreate", input);
  return runOperation(context, {
    scope: lockAccounts([request.id], "exclusive"),
    needs: needNoAccounts,
    async decide({ configuration, catalog, view, now }) {
      const { record, changes } = await prepareAccount(catalog, view, request, now);
      const customer = await view.document("customer", request.customerId);
      if (customer === undefined) throw invalidInputError("customerId", "UNKNOWN_ID", "expected the id of a customer");
      checkActive("customer", toTypedDocument("customer", customer).body);
      const { id, settings } = request;
      const entity = { entityType: "ACCOUNT", id, settings, pathPrefix: "" } as const;
      const { documents, newConfiguration } = await prepareSettings(configuration, [entity], now);
      const all = [...changes.documents, ...documents];
      return { result: record, changes: { ...changes, documents: all }, newConfiguration };
    },
  });
}

async function updateAccount(context: EngineContext, id: string, input: AccountPatch): Promise<AccountRecord> {
  const patch = readRequest("accountPatch", input);
  return decideOnAccount(context, id, (catalog, account, now) => {
    catchUp(catalog, account, now);
    checkActive("account", account.record);
    const next: Readonly<Record<string, unknown>> = withoutAbsent({
      ...account.record,
      ...withoutUndefined(patch),
      updatedAt: now,
    });
    account.putRecord(next as unknown as AccountRecord);
    return account.record;
  });
}

/** @throws {RatebookError} ERR_NOT_FOUND, ERR_DATE_INVALID */
async function readAccount(
  { store }: EngineContext,
  id: string,
  { effectiveOn }: { readonly effectiveOn?: InstantInput | undefined } = {},
): Promise<AccountRecord> {
  const at = effectiveOn === undefined ? undefined : toInstant(effectiveOn);
  const [record] = await store.read.accounts([id]);
  if (record === undefined) throw notFoundError("account", id);
  return at === undefined ? record : accountAt(record, at);
}

async function listAccounts(
  { store }: EngineContext,
  filter: { readonly customerId?: string; readonly status?: "ACTIVE" | "ARCHIVED"; readonly invoiceGroupId?: string },
  options: PageOptions,
): Promise<Page<AccountRecord>> {
  return readPage(options, (request) => store.read.accountList(filter, request), pageKey);
}

async function addAliases(context: EngineContext, id: string, input: readonly string[]): Promise<AccountRecord> {
  const aliases = readRequest("aliases", input);
  return changeNames(context, id, async ({ account, view, now }) =>
    accountCommands.addAliases(account, aliases, await findTakenNames(view, aliases), now),
  );
}

async function removeAliases(context: EngineContext, id: string, input: readonly string[]): Promise<AccountRecord> {
  const aliases = readRequest("aliases", input);
  return changeNames(context, id, async ({ account, now }) => accountCommands.removeAliases(account, aliases, now));
}

/** Names are unique across accounts, so they change under the exclusive lock. */
async function changeNames(
  context: EngineContext,
  accountId: string,
  decide: (state: DecisionState & { readonly account: AccountState }) => Promise<accountCommands.AliasChanges>,
): Promise<AccountRecord> {
  return runOperation(context, {
    scope: lockAccounts([accountId], "exclusive"),
    async decide(state) {
      const account = state.workspace.account(accountId);
      const changes = await decide({ ...state, account });
      return { result: account.record, changes };
    },
  });
}

/**
 * Creates an account with its aliases. The caller checks its customer and creates its settings.
 *
 * @throws {RatebookError} ERR_TAKEN for its id or an alias
 */
export async function prepareAccount(
  catalog: Catalog,
  view: LedgerView,
  { aliases, invoiceCurrency, settings: _settings, ...request }: RequestOutput<"accountCreate">,
  now: Instant,
): Promise<{ readonly record: AccountRecord; readonly changes: Changes & Required<Pick<Changes, "documents">> }> {
  const takenNames = await findTakenNames(view, [request.id, ...(aliases ?? [])]);
  accountCommands.checkAccountId(request.id, {
    aliases: takenNames.aliases.filter(({ id }) => id === request.id),
    accounts: takenNames.accounts,
  });
  if (aliases?.includes(request.id) === true) {
    throw alreadyTakenError("alias", request.id, `the alias ${quoteText(request.id)} is the id of an account`);
  }
  const record = withoutAbsent({
    ...request,
    status: "ACTIVE",
    invoiceCurrency: invoiceCurrency ?? catalog.book.organization.baseCurrency,
    aliases: [],
    associations: [],
    licenseUpdates: [],
    caughtUpTo: now,
    nextDueAt: NO_END,
    drafts: { until: NO_END, places: [] },
    createdAt: now,
    updatedAt: now,
  }) as unknown as AccountRecord;
  const workspace = createWorkspace(catalog, [partsOfRecord(record)]);
  const account = workspace.account(request.id);
  account.putRecord({ ...account.record });
  const { documents } = accountCommands.addAliases(account, aliases ?? [], takenNames, now);
  return { record: account.record, changes: { ...workspace.changes(), documents } };
}

/** The accounts and aliases that have these names. */
async function findTakenNames(view: LedgerView, names: readonly string[]): Promise<accountCommands.TakenNames> {
  return { aliases: await view.documentsOf("alias", names), accounts: await view.accounts(names) };
}

/** Checks that a resource is not archived. @throws {RatebookError} ERR_REFUSED */
export function checkActive(noun: string, { id, status }: { readonly id: string; readonly status: string }): void {
  if (status !== "ACTIVE") throw refusedError("S16.3", `the ${noun} ${quoteText(id)} is archived`);
}

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
        if (accountId === undefined || accountId === null)
          return [accountCommands.aliasDocument(value, undefined, now)];
        return accountCommands.addAliases(workspace.account(accountId), [value], takenNames, now).documents;
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
      if (current.accountId !== accountId) return "other locks";
      return { accountIds: accountId === undefined ? [] : [accountId], decisionInput: undefined };
    },
    decide({ accounts, workspace, now }) {
      for (const { record } of accounts) accountCommands.removeAliases(workspace.account(record.id), [alias], now);
      return { result: undefined, changes: { removedDocuments: [{ kind: "alias", id: alias }] } };
    },
  });
}

async function listAliases({ store }: EngineContext, options: PageOptions): Promise<Page<AliasSnapshot>> {
  const page = await readPage(options, (request) => store.read.documents("alias", request), pageKey);
  return { ...page, items: page.items.map(toAliasSnapshot) };
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
