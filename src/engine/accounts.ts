/**
 * Customers, accounts and aliases of an engine (S16.3, S16.6).
 *
 * @module
 */
import type { Customer } from "../book/account.ts";
import { readRequest, type RequestInput } from "../book/requests.ts";
import type { Instant } from "../calendar/instant.ts";
import { NO_END } from "../invoicing/timeline.ts";
import {
  addAliases,
  type AliasChanges,
  aliasDocument,
  archiveAccount,
  checkAccountId,
  type NamesHeld,
  removeAliases,
} from "../ledger/accounts.ts";
import { catchUp } from "../ledger/catch-up.ts";
import type { DocumentRecord } from "../ledger/decision.ts";
import type { AccountRecord } from "../ledger/records.ts";
import { invalidInput, notFound, quoted, refused, taken } from "../ledger/refusals.ts";
import type { LedgerView } from "../ledger/view.ts";
import { type AccountWork, openWorkspace } from "../ledger/workspace.ts";
import { accountIdsWhere } from "./account-lists.ts";
import { decideOnAccount, type EngineContext, openAccounts } from "./context.ts";
import { type Body, plainOf } from "./document-body.ts";
import { type Page, pageOf, type PageOptions, pageRequest } from "./pages.ts";

/** A customer as it is stored. */
export type CustomerShown = Customer & { readonly createdAt: Instant; readonly updatedAt: Instant };

/** An alias as it is listed; without an account it resolves to nothing. */
export interface AliasShown {
  readonly value: string;
  readonly accountId?: string;
  readonly createdAt: Instant;
}

/** Makes a customer. @throws {RatebookError} ERR_INPUT_INVALID, ERR_TAKEN */
export async function createCustomer(
  { store, clock }: EngineContext,
  input: RequestInput<"customerCreate">,
): Promise<CustomerShown> {
  const asked = readRequest("customerCreate", input);
  return store.transact({ configuration: "exclusive", accountIds: [], eventIds: [] }, async (view) => {
    if ((await view.document("customer", asked.id)) !== undefined) {
      throw taken("customer", asked.id, `the customer id ${quoted(asked.id)} is taken`);
    }
    const now = clock();
    const body = plainOf(withoutNull({ ...asked, status: "ACTIVE" })) as Body;
    const document: DocumentRecord = { kind: "customer", id: asked.id, createdAt: now, updatedAt: now, body };
    return { result: customerOf(document), changes: { documents: [document] } };
  });
}

/** Changes who a customer is; null clears. */
export async function updateCustomer(
  { store, clock }: EngineContext,
  id: string,
  input: RequestInput<"customerPatch">,
): Promise<CustomerShown> {
  const patch = readRequest("customerPatch", input);
  return store.transact({ configuration: "exclusive", accountIds: [], eventIds: [] }, async (view) => {
    const before = await customerDocument(view, id);
    checkActive("customer", customerOf(before));
    const body = withoutNull({ ...before.body, ...defined(patch) });
    if (body["name"] === undefined) throw invalidInput("name", "expected a name: it cannot be cleared");
    const document: DocumentRecord = { ...before, updatedAt: clock(), body };
    return { result: customerOf(document), changes: { documents: [document] } };
  });
}

/** Archives a customer and its accounts; refused where one of them cannot be (S16.3). */
export async function archiveCustomer(context: EngineContext, id: string): Promise<CustomerShown> {
  const { store, clock, configuration } = context;
  const isActive = ({ status }: AccountRecord): boolean => status === "ACTIVE";
  const locks = await accountIdsWhere(store.read, isActive, { customerId: id });
  return store.transact({ configuration: "exclusive", accountIds: locks, eventIds: [] }, async (view) => {
    const before = await customerDocument(view, id);
    checkActive("customer", customerOf(before));
    const { catalog } = await configuration(view);
    const now = clock();
    const accountIds = await accountIdsWhere(view, isActive, { customerId: id });
    const workspace = await openAccounts(catalog, view, accountIds, now);
    const freed = accountIds.map((accountId) => archiveAccount(catalog, workspace.account(accountId), now));
    const document: DocumentRecord = { ...before, updatedAt: now, body: { ...before.body, status: "ARCHIVED" } };
    return {
      result: customerOf(document),
      changes: {
        ...workspace.changes(),
        documents: [document],
        removedDocuments: freed.flatMap(({ removedDocuments }) => removedDocuments),
      },
    };
  });
}

/** A customer. @throws {RatebookError} ERR_NOT_FOUND */
export async function getCustomer({ store }: EngineContext, id: string): Promise<CustomerShown> {
  return customerOf(await customerDocument(store.read, id));
}

/** Customers, newest first. */
export async function listCustomers({ store }: EngineContext, options: PageOptions): Promise<Page<CustomerShown>> {
  const request = pageRequest(options);
  const documents = await store.read.documents("customer", { ...request, limit: request.limit + 1 });
  return pageOf(documents.map(customerOf), request.limit, ({ createdAt, id }) => ({ createdAt, id }));
}

/** Makes an account of a customer. @throws {RatebookError} ERR_INPUT_INVALID, ERR_TAKEN, ERR_REFUSED */
export async function createAccount(
  { store, clock, configuration }: EngineContext,
  input: RequestInput<"accountCreate">,
): Promise<AccountRecord> {
  const { aliases, invoiceCurrency, ...asked } = readRequest("accountCreate", input);
  const scope = { configuration: "exclusive", accountIds: [asked.id], eventIds: [] } as const;
  return store.transact(scope, async (view) => {
    const { catalog } = await configuration(view);
    const now = clock();
    const names = [asked.id, ...(aliases ?? [])];
    const held = await namesHeld(view, names);
    checkAccountId(asked.id, { aliases: held.aliases.filter(({ id }) => id === asked.id), accounts: held.accounts });
    const customer = await view.document("customer", asked.customerId);
    if (customer === undefined) throw invalidInput("customerId", "expected the id of a customer");
    checkActive("customer", customerOf(customer));
    if (aliases?.includes(asked.id) === true) {
      throw taken("alias", asked.id, `the alias ${quoted(asked.id)} is the id of an account`);
    }
    const workspace = openWorkspace([
      {
        record: newAccount(asked, invoiceCurrency ?? catalog.book.organization.baseCurrency, now),
        entries: [],
        credits: [],
        invoices: [],
        usage: [],
        overage: [],
        events: [],
      },
    ]);
    const work = workspace.account(asked.id);
    work.putRecord({ ...work.record });
    const added = addAliases(work, aliases ?? [], held, now);
    return { result: work.record, changes: { ...workspace.changes(), documents: added.documents } };
  });
}

/** Changes who an account is and when it pays; null clears. */
export async function updateAccount(
  context: EngineContext,
  id: string,
  input: RequestInput<"accountPatch">,
): Promise<AccountRecord> {
  const patch = readRequest("accountPatch", input);
  return decideOnAccount(context, id, (catalog, work, now) => {
    catchUp(catalog, work, now);
    checkActive("account", work.record);
    const next = withoutNull({ ...work.record, ...defined(patch), updatedAt: now });
    if (next["name"] === undefined) throw invalidInput("name", "expected a name: it cannot be cleared");
    work.putRecord(next as unknown as AccountRecord);
    return work.record;
  });
}

/** Archives an account, which frees its aliases (S16.3). */
export async function endAccount(context: EngineContext, id: string): Promise<AccountRecord> {
  return changeNames(context, id, async ({ catalog, work, now }) => archiveAccount(catalog, work, now));
}

/** An account. @throws {RatebookError} ERR_NOT_FOUND */
export async function getAccount({ store }: EngineContext, id: string): Promise<AccountRecord> {
  const [record] = await store.read.accounts([id]);
  if (record === undefined) throw notFound("account", id);
  return record;
}

/** Accounts, newest first. */
export async function listAccounts(
  { store }: EngineContext,
  filter: { readonly customerId?: string; readonly status?: "ACTIVE" | "ARCHIVED"; readonly invoiceGroupId?: string },
  options: PageOptions,
): Promise<Page<AccountRecord>> {
  const request = pageRequest(options);
  const records = await store.read.accountList(filter, { ...request, limit: request.limit + 1 });
  return pageOf(records, request.limit, ({ createdAt, id }) => ({ createdAt, id }));
}

/** Gives an account more names (S16.6). */
export async function giveAliases(
  context: EngineContext,
  id: string,
  input: RequestInput<"aliases">,
): Promise<AccountRecord> {
  const aliases = readRequest("aliases", input);
  return changeNames(context, id, async ({ work, view, now }) =>
    addAliases(work, aliases, await namesHeld(view, aliases), now),
  );
}

/** Takes names from an account (S16.6). */
export async function takeAliases(
  context: EngineContext,
  id: string,
  input: RequestInput<"aliases">,
): Promise<AccountRecord> {
  const aliases = readRequest("aliases", input);
  return changeNames(context, id, async ({ work, now }) => removeAliases(work, aliases, now));
}

/** Makes aliases, of accounts or of nothing yet; all or none (S16.6). */
export async function createAliases(
  { store, clock, configuration }: EngineContext,
  input: RequestInput<"aliasCreate">,
): Promise<readonly AliasShown[]> {
  const asked = readRequest("aliasCreate", input);
  const accountIds = [...new Set(asked.flatMap(({ accountId }) => accountId ?? []))];
  return store.transact({ configuration: "exclusive", accountIds, eventIds: [] }, async (view) => {
    const { catalog } = await configuration(view);
    const now = clock();
    const values = asked.map(({ value }) => value);
    const held = await namesHeld(view, values);
    const [known] = [...held.aliases, ...held.accounts];
    const twice = values.find((value, index) => values.indexOf(value) !== index);
    const used = known?.id ?? twice;
    if (used !== undefined) throw taken("alias", used, `the alias ${quoted(used)} is taken`);
    const workspace = await openAccounts(catalog, view, accountIds, now);
    const documents = asked.flatMap(({ value, accountId }) => {
      if (accountId === undefined || accountId === null) return [aliasDocument(value, undefined, now)];
      return addAliases(workspace.account(accountId), [value], held, now).documents;
    });
    return { result: documents.map(aliasShown), changes: { ...workspace.changes(), documents } };
  });
}

/** Ends an alias, whosever it is. @throws {RatebookError} ERR_NOT_FOUND */
export async function endAlias(context: EngineContext, alias: string): Promise<void> {
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

interface Naming {
  readonly catalog: Parameters<typeof archiveAccount>[0];
  readonly work: AccountWork;
  readonly view: LedgerView;
  readonly now: Instant;
}

/** Names span accounts, so they change under the exclusive lock. */
async function changeNames(
  { store, clock, configuration }: EngineContext,
  accountId: string,
  decide: (naming: Naming) => Promise<AliasChanges>,
): Promise<AccountRecord> {
  return store.transact({ configuration: "exclusive", accountIds: [accountId], eventIds: [] }, async (view) => {
    const { catalog } = await configuration(view);
    const now = clock();
    const workspace = await openAccounts(catalog, view, [accountId], now);
    const work = workspace.account(accountId);
    const names = await decide({ catalog, work, view, now });
    return { result: work.record, changes: { ...workspace.changes(), ...names } };
  });
}

async function namesHeld(view: LedgerView, names: readonly string[]): Promise<NamesHeld> {
  return { aliases: await view.documentsOf("alias", names), accounts: await view.accounts(names) };
}

async function aliasNamed(view: LedgerView, alias: string): Promise<AliasShown> {
  const document = await view.document("alias", alias);
  if (document === undefined) throw notFound("alias", alias);
  return aliasShown(document);
}

function aliasShown({ id, body, createdAt }: DocumentRecord): AliasShown {
  const { accountId } = body;
  return { value: id, createdAt, ...(typeof accountId === "string" ? { accountId } : {}) };
}

async function customerDocument(view: LedgerView, id: string): Promise<DocumentRecord> {
  const document = await view.document("customer", id);
  if (document === undefined) throw notFound("customer", id);
  return document;
}

function customerOf({ body, createdAt, updatedAt }: DocumentRecord): CustomerShown {
  return { ...(body as unknown as Customer), createdAt, updatedAt };
}

function newAccount(
  asked: Omit<ReturnType<typeof readRequest<"accountCreate">>, "aliases" | "invoiceCurrency">,
  invoiceCurrency: string,
  now: Instant,
): AccountRecord {
  return withoutNull({
    ...asked,
    status: "ACTIVE",
    invoiceCurrency,
    aliases: [],
    associations: [],
    licenseUpdates: [],
    eventCount: 0,
    caughtUpTo: now,
    nextDueAt: NO_END,
    createdAt: now,
    updatedAt: now,
  }) as unknown as AccountRecord;
}

function checkActive(what: string, { id, status }: { readonly id: string; readonly status: string }): void {
  if (status !== "ACTIVE") throw refused("S16.3", `the ${what} ${quoted(id)} is archived`);
}

function defined(value: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(value).filter(([, part]) => part !== undefined));
}

function withoutNull(value: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(value).filter(([, part]) => part !== undefined && part !== null));
}
