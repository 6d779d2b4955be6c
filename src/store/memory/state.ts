/** The state of a memory store, and its changes. */
import { canPay } from "../../credits/monetary-credits.ts";
import { listingInstant } from "../../ledger/account/invoices.ts";
import { type Changes, DOCUMENT_KINDS, type DocumentKind, type DocumentRecord } from "../../ledger/decision.ts";
import type { AccountRecord, CreditRecord, EntryRecord, InvoiceRecord, BilledUsage } from "../../ledger/records.ts";
import { idCollisionError } from "../../ledger/refusals.ts";
import type { CreditState, ListedCredit, ListedDraft } from "../../ledger/view.ts";
import { compareIds } from "../../numbers/ids.ts";
import { checkDistinctIds, compareOldest } from "../adapter-rules.ts";
import { type CellTable, createCellTable } from "./cells.ts";
import { createEventTable, type EventTable, toStoredEvent } from "./events.ts";
import { createRecordTable, createSortedList, type RecordTable, type SortedList } from "./records.ts";

/** The content of a memory store. */
export interface MemoryState {
  revision: number;
  readonly documents: Readonly<Record<DocumentKind, RecordTable<DocumentRecord>>>;
  readonly accounts: RecordTable<AccountRecord>;
  /** The accounts that a customer has or had, and those of its invoices. */
  readonly accountsOfCustomers: Map<string, Set<string>>;
  /** The ids of accounts, ascending. */
  readonly accountIds: SortedList<string>;
  /** Draft index entries. */
  readonly drafts: RecordTable<ListedDraft>;
  /** Index entries of due credits. */
  readonly dueCredits: RecordTable<ListedCredit>;
  readonly events: EventTable;
  readonly usage: CellTable;
  readonly overage: CellTable;
  readonly entries: RecordTable<EntryRecord>;
  readonly credits: RecordTable<CreditRecord>;
  readonly billedUsage: RecordTable<BilledUsage>;
  readonly invoices: RecordTable<InvoiceRecord>;
}

export function emptyState(): MemoryState {
  const shared = { key: <Item>(item: Item): Item => item, compare: compareOldest };
  const unowned = { ...shared, owner: () => undefined };
  const ofAccount = { ...shared, owner: ({ accountId }: { readonly accountId: string }) => accountId };
  const documentTables = DOCUMENT_KINDS.map((kind) => [kind, createRecordTable<DocumentRecord>(unowned)]);
  return {
    revision: 0,
    documents: Object.fromEntries(documentTables) as MemoryState["documents"],
    accounts: createRecordTable<AccountRecord>(unowned),
    accountsOfCustomers: new Map(),
    accountIds: createSortedList(compareIds),
    drafts: createRecordTable<ListedDraft>({
      ...ofAccount,
      key: ({ id, listedAt: createdAt }) => ({ id, createdAt }),
      compare: (a, b) => a.listedAt - b.listedAt,
    }),
    dueCredits: createRecordTable<ListedCredit>(ofAccount),
    events: createEventTable(),
    usage: createCellTable(),
    overage: createCellTable(),
    entries: createRecordTable<EntryRecord>(ofAccount),
    credits: createRecordTable<CreditRecord>(ofAccount),
    billedUsage: createRecordTable<BilledUsage>({
      ...ofAccount,
      key: ({ id, closedAt: createdAt }) => ({ id, createdAt }),
      compare: compareByDays,
    }),
    invoices: createRecordTable<InvoiceRecord>({
      ...ofAccount,
      key: ({ id, invoice }) => ({ id, createdAt: listingInstant(invoice) }),
      compare: compareByDate,
    }),
  };
}

/** The state of a credit without the amounts reserved by drafts. */
export function storedCreditState(credit: CreditRecord): CreditState {
  if (credit.voided) return "VOIDED";
  return canPay(credit) ? "ACTIVE" : "CONSUMED";
}

/** Invoices by date, then id. */
export function compareByDate(a: InvoiceRecord, b: InvoiceRecord): number {
  return compareIds(a.invoice.invoiceDate, b.invoice.invoiceDate) || compareIds(a.id, b.id);
}

/** Billed usage by first day, then id. */
export function compareByDays(a: BilledUsage, b: BilledUsage): number {
  return a.from - b.from || compareIds(a.id, b.id);
}

/**
 * Applies changes, all or none: whatever can fail comes first and is reverted on failure.
 *
 * @throws {RatebookError} ERR_ARITHMETIC if a sum of usage or overage needs more than 100 digits; ERR_TAKEN for an id of
 * a new event that is repeated, or a reference id that exists
 */
export function applyChanges(state: MemoryState, changes: Changes): void {
  const { newEvents = [], usage: _usage, overage: _overage, configurationRevision, ...records } = changes;
  readAll(records);
  checkDistinctIds(newEvents);
  const { events } = state;
  const firstNumber = events.lastNumber() + 1;
  const storedEvents = newEvents.map((event, index) => toStoredEvent(event, firstNumber + index));
  for (const { referenceId } of storedEvents) {
    if (events.has(referenceId)) throw idCollisionError("event", referenceId, "reference id");
  }
  addCells(state, changes);
  const { documents } = state;
  for (const { kind, id } of records.removedDocuments ?? []) documents[kind].remove(id);
  for (const document of records.documents ?? []) documents[document.kind].put(document);
  for (const account of records.accounts ?? []) putAccount(state, account);
  putAll(events, storedEvents);
  putAll(events, records.events);
  for (const { referenceId } of records.removedEvents ?? []) events.remove(referenceId);
  putAll(state.entries, records.entries);
  putAll(state.credits, records.credits);
  for (const invoice of records.invoices ?? []) putInvoice(state, invoice);
  putAll(state.billedUsage, records.billedUsage);
  state.revision = configurationRevision ?? state.revision;
}

function putAll<Item>(table: { put(item: Item): void }, items: readonly Item[] = []): void {
  for (const item of items) table.put(item);
}

/** Reads all fields of records, so that one that cannot be read fails before anything changes. */
function readAll(changes: Omit<Changes, "newEvents" | "usage" | "overage" | "configurationRevision">): void {
  for (const records of Object.values(changes)) for (const record of records) Object.values(record);
  for (const { invoice } of changes.invoices ?? []) listingInstant(invoice);
}

function putAccount(state: MemoryState, account: AccountRecord): void {
  const { id: accountId, customerId, drafts: index } = account;
  const before = state.accounts.get(accountId);
  state.accounts.put(account);
  if (before?.customerId !== customerId) addAccountOfCustomer(state, customerId, accountId);
  if (before === undefined) state.accountIds.add(accountId);
  if (before !== undefined && before.drafts === index) return;
  const { drafts, dueCredits } = state;
  for (const { id } of drafts.of(accountId)) drafts.remove(id);
  for (const { id } of dueCredits.of(accountId)) dueCredits.remove(id);
  for (const draft of index?.places ?? []) drafts.put({ ...draft, accountId });
  for (const credit of index?.credits ?? []) dueCredits.put({ ...credit, accountId });
}

function putInvoice(state: MemoryState, invoice: InvoiceRecord): void {
  state.invoices.put(invoice);
  // The account may have another customer now.
  addAccountOfCustomer(state, invoice.invoice.customerId, invoice.accountId);
}

function addAccountOfCustomer({ accountsOfCustomers }: MemoryState, customerId: string, accountId: string): void {
  accountsOfCustomers.set(customerId, (accountsOfCustomers.get(customerId) ?? new Set()).add(accountId));
}

/** Adds all cells, or none. */
function addCells({ usage, overage }: MemoryState, changes: Changes): void {
  const takeBack = usage.add(changes.usage ?? []);
  try {
    overage.add(changes.overage ?? []);
  } catch (error) {
    takeBack();
    throw error;
  }
}
