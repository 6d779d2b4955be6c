/**
 * Loads a whole book into a store, and exports a store as one (book.md): the configuration, and the accounts with their
 * records.
 */
import { type BookSource, parseBook, toBookInput, toBookInputOrText } from "../book/book.ts";
import { LIST_NAMES } from "../book/reading/references.ts";
import type { Book, Organization, BookInput } from "../book/resources/book.ts";
import type { Instant } from "../calendar/instant.ts";
import { AccountState } from "../ledger/account-state.ts";
import { createBookAccount, exportAccount, type ExportedAccount } from "../ledger/account/book-account.ts";
import { catchUpInSteps } from "../ledger/account/catch-up.ts";
import { type Catalog, createCatalogInSteps } from "../ledger/catalog.ts";
import { aliasDocument, checkAccountId } from "../ledger/commands/accounts.ts";
import { type Changes, type DocumentKind, type DocumentRecord, type IdSource, noChanges } from "../ledger/decision.ts";
import type { AccountRecord } from "../ledger/records.ts";
import { refusedError, alreadyTakenError } from "../ledger/refusals.ts";
import type { LedgerView } from "../ledger/view.ts";
import { quoteText, describeStatus } from "../problem-table.ts";
import { compareOldest } from "../store/adapter-rules.ts";
import { runWithPauses, createYielder } from "../store/yielder.ts";
import { readAllAccounts } from "./all-accounts.ts";
import { isInUse, formatOrganization } from "./catalog/catalog-resources.ts";
import {
  readChangedBook,
  withDocuments,
  toBookInput as toConfiguredInput,
  type UncheckedDocuments,
} from "./configuration.ts";
import { nounOf } from "./configured-resources.ts";
import {
  revisionAfter,
  BOOK_LISTS,
  type Body,
  toBody,
  CONFIGURED_KINDS,
  type ConfiguredKind,
  toPlainJson,
  configuredDocumentId,
  versionId,
} from "./documents.ts";
import type { EngineContext } from "./methods.ts";

/** The number of resources loaded from each list. */
export type LoadCounts = { readonly [List in Exclude<keyof Book, "organization" | "lint">]: number };

/**
 * @param source a book object, its text, or a book from `readBook`, whose source is loaded
 * @throws {RatebookError} ERR_BOOK_INVALID, ERR_TAKEN for what exists, ERR_REFUSED for an association with a plan that
 * is not ACTIVE
 */
export async function load(context: EngineContext, source: BookSource): Promise<LoadCounts> {
  // Some problems are visible only in the text, such as duplicate keys.
  const json = toBookInputOrText(source);
  const book = parseBook(json, context);
  const raw = toBookInput(book);
  checkPlans(book);
  const scope = { configuration: "exclusive", accountIds: book.accounts.map(({ id }) => id), eventIds: [] } as const;
  return context.store.transact(scope, async (view) => {
    const before = await context.configuration(view);
    const now = context.clock();
    const documents = [
      ...organizationDocument(book, (await isInUse(before, view)) ? before.catalog.book.organization : undefined, now),
      ...toDocuments(book, raw, now),
    ];
    const customers = book.customers.map((customer) => toDocumentRecord("customer", customer.id, customer, now));
    const aliases = book.accounts.flatMap((account) =>
      account.aliases.map((alias) => aliasDocument(alias, account.id, now)),
    );
    await checkFree(view, [...documents, ...customers], book);
    const after = withDocuments<UncheckedDocuments>(before.documents, documents);
    const changedBook = await runWithPauses(readChangedBook(after, documents, before));
    const catalog = await runWithPauses(createCatalogInSteps(changedBook, before.catalog.options, before.catalog));
    const ledgers = await createLedgers(catalog, book, now, context.ids);
    const configurationRevision = revisionAfter(before.revision);
    return {
      result: countResources(book),
      changes: { ...ledgers, documents: [...documents, ...customers, ...aliases], configurationRevision },
    };
  });
}

/** In an engine, only an ACTIVE plan can be associated (book.md, S16.1). */
function checkPlans({ accounts, pricePlans }: Book): void {
  const statuses = new Map(pricePlans.map(({ id, version, status }) => [versionId(id, version), status]));
  for (const { id, pricePlans: associations } of accounts) {
    for (const { pricePlanId, version } of associations) {
      const status = statuses.get(versionId(pricePlanId, version)) ?? "unknown";
      if (status === "ACTIVE") continue;
      const which = `version ${version} of ${quoteText(pricePlanId)}, which the account ${quoteText(id)} has`;
      throw refusedError("S16.1", `${which}, is ${describeStatus(status)}; an account needs an active version`);
    }
  }
}

/**
 * The document of the organization, if the book changes it.
 *
 * @param owner the organization of the store, if it was set or something depends on it
 */
function organizationDocument(book: Book, owner: Organization | undefined, now: Instant): readonly DocumentRecord[] {
  const { organization } = book;
  const document = toDocumentRecord("organization", "organization", organization, now);
  if (owner === undefined) return [document];
  const [ownerText, bookText] = [formatOrganization(owner), formatOrganization(organization)];
  const ownership = `the database belongs to the organization ${ownerText}`;
  if (ownerText !== bookText) throw refusedError("S16", `${ownership}, and the book belongs to ${bookText}`);
  const isRenamed = owner.name !== undefined && organization.name !== undefined && owner.name !== organization.name;
  if (isRenamed || owner.rounding !== organization.rounding) {
    throw refusedError("S16", `${ownership}; the book would change its ${isRenamed ? "name" : "rounding"}`);
  }
  // The name may still change: nothing depends on it.
  return organization.name === undefined || owner.name !== undefined ? [] : [document];
}

/** The documents of the configuration, dated in the order of the book, because lists are sorted by age. */
function toDocuments(book: Book, raw: unknown, now: Instant): readonly DocumentRecord[] {
  const total = CONFIGURED_KINDS.reduce((sum, kind) => sum + book[BOOK_LISTS[kind]].length, 0);
  let place = 0;
  return CONFIGURED_KINDS.flatMap((kind) => {
    const input = (raw as Readonly<Record<string, readonly Body[] | null | undefined>>)[BOOK_LISTS[kind]] ?? [];
    return book[BOOK_LISTS[kind]].map((item, index) => {
      const body = { ...toBody(kind, input[index] ?? {}, item), ...withGroupCurrency(kind, item, book) };
      const document = toDocumentRecord(kind, configuredDocumentId(kind, body), body, now);
      return { ...document, createdAt: now - total + ++place };
    });
  });
}

/** A group without a currency gets that of its first account (S16.7). */
function withGroupCurrency(kind: ConfiguredKind, item: object, { accounts, invoiceGroups, organization }: Book): Body {
  const group = kind === "invoiceGroup" ? invoiceGroups.find((each) => each === item) : undefined;
  if (group === undefined || group.invoiceCurrency) return {};
  const first = accounts.find(({ id }) => id === group.accountIds[0]);
  return { invoiceCurrency: first?.invoiceCurrency ?? organization.baseCurrency };
}

function toDocumentRecord(kind: DocumentKind, id: string, value: object, now: Instant): DocumentRecord {
  return { kind, id, createdAt: now, updatedAt: now, body: toPlainJson(value) as Body };
}

/** Rejects a book if any part of it already exists in the store. */
async function checkFree(view: LedgerView, documents: readonly DocumentRecord[], book: Book): Promise<void> {
  const kinds = new Set(documents.map(({ kind }) => kind));
  for (const kind of kinds) {
    const ids = documents.filter((each) => each.kind === kind && kind !== "organization").map(({ id }) => id);
    const [existing] = await view.documentsOf(kind, ids);
    if (existing === undefined) continue;
    const message = `the ${nounOf(kind)} ${quoteText(existing.id)} already exists; nothing was loaded`;
    throw alreadyTakenError(kind, existing.id, message);
  }
  const aliases = book.accounts.flatMap((account) => account.aliases);
  const names = [...book.accounts.map(({ id }) => id), ...aliases];
  const existing = { aliases: await view.documentsOf("alias", names), accounts: await view.accounts(names) };
  for (const { id } of book.accounts) checkAccountId(id, existing);
  for (const alias of aliases) {
    if (!existing.aliases.some(({ id }) => id === alias) && !existing.accounts.some(({ id }) => id === alias)) continue;
    throw alreadyTakenError("alias", alias, `the alias ${quoteText(alias)} is taken`);
  }
}

/**
 * The accounts with their records, and what is due for them. Yields to other work, because there may be many, or
 * decades of cycles.
 */
async function createLedgers(catalog: Catalog, book: Book, now: Instant, ids: IdSource): Promise<Changes> {
  const yieldToOthers = createYielder();
  const groups = new Map(book.invoiceGroups.flatMap(({ id, accountIds }) => accountIds.map((each) => [each, id])));
  const newAccounts = book.accounts.map((each) => createBookAccount(catalog, each, groups.get(each.id), { now, ids }));
  const changes = noChanges();
  for (const newAccount of newAccounts) {
    const account = new AccountState(catalog, { ...newAccount, entries: [], credits: [] });
    account.putRecord({ ...newAccount.record });
    for (const entry of newAccount.entries) account.putEntry(entry);
    for (const credit of newAccount.credits) account.putCredit(credit);
    for (const _ of catchUpInSteps(catalog, account, now)) await yieldToOthers();
    await yieldToOthers();
    account.addTo(changes);
  }
  return changes;
}

function countResources(book: Book): LoadCounts {
  const lists = Object.keys(LIST_NAMES) as readonly (keyof LoadCounts)[];
  return Object.fromEntries(lists.map((list) => [list, book[list].length])) as LoadCounts;
}

/** A store as a book. */
export interface ExportResult {
  /** A book for `load`. It excludes usage, events and invoices. */
  readonly book: BookInput;
  /** A sentence for each thing that a book cannot express, such as a voided credit. */
  readonly notes: readonly string[];
}

/** The part of a store to export. */
export interface ExportOptions {
  /** Maximum number of accounts, the newest that have had a price plan, with their customers; default all accounts. */
  readonly accountsMax?: number | undefined;
  /**
   * Maximum characters of JSON for the price plans: those that these accounts have had, then the newest others; default
   * all price plans.
   */
  readonly pricePlansLength?: number | undefined;
}

/** Accounts whose credits are read together. */
const CHUNK = 200;

/** The configuration, and the accounts with their records, oldest first. */
export async function exportBook(
  { store: { read }, configuration }: EngineContext,
  { accountsMax, pricePlansLength }: ExportOptions = {},
): Promise<ExportResult> {
  const { documents, catalog } = await configuration(read);
  const records = await readRecords(read, accountsMax);
  const customers = accountsMax === undefined ? await read.allDocuments("customer") : await readOwners(read, records);
  const [accounts, notes]: [ExportedAccount[], string[]] = [[], []];
  for (let at = 0; at < records.length; at += CHUNK) {
    for (const storedAccount of await readStoredAccounts(read, records.slice(at, at + CHUNK))) {
      const exported = exportAccount(storedAccount, catalog.findPlan);
      accounts.push(exported.account);
      notes.push(...exported.notes);
    }
  }
  const pricePlan =
    pricePlansLength === undefined ? documents.pricePlan : selectPlans(documents.pricePlan, accounts, pricePlansLength);
  const configuredBook = toConfiguredInput({ ...documents, pricePlan });
  const invoiceGroups = documents.invoiceGroup.map(({ id, body }) => ({
    ...body,
    accountIds: records.flatMap((record) => (record.invoiceGroupId === id ? [record.id] : [])),
  }));
  const book = { ...configuredBook, customers: customers.map(({ body }) => body), accounts, invoiceGroups };
  return { book: toPlainJson(book) as BookInput, notes };
}

/** The plans that accounts have had, and the newest others up to a length; in their order. */
function selectPlans<Plan extends DocumentRecord>(
  plans: readonly Plan[],
  accounts: readonly ExportedAccount[],
  lengthMax: number,
): readonly Plan[] {
  const associations = accounts.flatMap(({ pricePlans }) => pricePlans ?? []);
  const accountPlanIds = new Set(associations.map(({ pricePlanId, version }) => versionId(pricePlanId, version ?? 1)));
  const selectedPlans = new Set(plans.filter(({ id }) => accountPlanIds.has(id)));
  const otherPlans = plans.filter((plan) => !selectedPlans.has(plan)).toReversed();
  let length = [...selectedPlans].reduce((sum, { body }) => sum + JSON.stringify(body).length, 0);
  for (const plan of otherPlans) {
    length += JSON.stringify(plan.body).length;
    if (length > lengthMax) break;
    selectedPlans.add(plan);
  }
  return plans.filter((plan) => selectedPlans.has(plan));
}

async function readRecords(read: LedgerView, limit = Number.POSITIVE_INFINITY): Promise<readonly AccountRecord[]> {
  const records: AccountRecord[] = [];
  for await (const record of readAllAccounts(read)) {
    if (records.length >= limit) break;
    if (limit === Number.POSITIVE_INFINITY || record.associations.length > 0) records.push(record);
  }
  return records.sort(compareOldest);
}

async function readOwners(read: LedgerView, records: readonly AccountRecord[]): Promise<readonly DocumentRecord[]> {
  const ids = [...new Set(records.map(({ customerId }) => customerId))];
  const owners = await Promise.all(ids.map((id) => read.document("customer", id)));
  return owners.filter((owner) => owner !== undefined);
}

async function readStoredAccounts(
  read: LedgerView,
  records: readonly AccountRecord[],
): Promise<readonly Parameters<typeof exportAccount>[0][]> {
  const ids = records.map(({ id }) => id);
  const [entries, credits] = [await read.entries(ids), await read.credits(ids)];
  return records.map((record) => ({
    record,
    entries: entries.filter(({ accountId }) => accountId === record.id),
    credits: credits.filter(({ accountId }) => accountId === record.id),
  }));
}
