/**
 * The state of a memory store, with its changes and reads.
 *
 * @module
 */
import { type Instant, parseInstant } from "../../calendar/instant.ts";
import { creditStatus } from "../../credits/monetary-credits.ts";
import { listingInstant } from "../../ledger/account/draft-index.ts";
import { compareIds } from "../../ledger/compare-ids.ts";
import { type Changes, DOCUMENT_KINDS, type DocumentKind, type DocumentRecord } from "../../ledger/decision.ts";
import type { AccountRecord, CreditRecord, EntryRecord, InvoiceRecord, BilledUsage } from "../../ledger/records.ts";
import { idCollisionError } from "../../ledger/refusals.ts";
import type {
  CreditListFilter,
  CreditState,
  InvoiceListFilter,
  LedgerView,
  ListedCredit,
  PageKey,
  PageRequest,
} from "../../ledger/view.ts";
import { ZERO } from "../../numbers/decimal.ts";
import { compareNewest, compareOldest } from "../list-order.ts";
import { type CellTable, createCellTable } from "./cells.ts";
import { createDraftTable, type DraftTable, overlapsPeriod } from "./draft-index.ts";
import { createEventTable, type EventTable } from "./events.ts";
import { createGrouped, type Grouped } from "./grouped-lists.ts";
import { createIdsByInstant, type IdsByInstant } from "./ids-by-instant.ts";
import { createRecordTable, type RecordTable } from "./records.ts";

/** The content of a memory store. */
export interface MemoryState {
  revision: number;
  readonly documents: Readonly<Record<DocumentKind, RecordTable<DocumentRecord>>>;
  readonly accounts: RecordTable<AccountRecord>;
  /** The accounts by `nextDueAt`. */
  readonly dueAccounts: IdsByInstant;
  readonly drafts: DraftTable;
  /** Index entries of due credits. */
  readonly dueCredits: RecordTable<ListedCredit>;
  readonly events: EventTable;
  readonly usage: CellTable;
  readonly overage: CellTable;
  readonly entries: RecordTable<EntryRecord>;
  readonly credits: RecordTable<CreditRecord>;
  /** Credits by state and end, for lists of all accounts. */
  readonly creditsByEnd: Grouped<CreditRecord>;
  readonly keptUsage: RecordTable<BilledUsage>;
  readonly invoices: RecordTable<InvoiceRecord>;
  /** Invoices by status and period, for lists of all accounts. */
  readonly invoicesByPeriod: Grouped<InvoiceRecord>;
}

export function emptyState(): MemoryState {
  const documentTable = (): RecordTable<DocumentRecord> =>
    createRecordTable<DocumentRecord>({ key: (record) => record, owner: () => undefined, compare: compareOldest });
  const accounts = createRecordTable<AccountRecord>({
    key: (record) => record,
    owner: () => undefined,
    compare: compareOldest,
  });
  const invoicePageKey = createInvoiceKeys();
  return {
    revision: 0,
    documents: Object.fromEntries(DOCUMENT_KINDS.map((kind) => [kind, documentTable()])) as Record<
      DocumentKind,
      RecordTable<DocumentRecord>
    >,
    accounts,
    dueAccounts: createIdsByInstant(),
    drafts: createDraftTable((id) => accounts.get(id)?.customerId),
    dueCredits: createRecordTable<ListedCredit>({
      key: (place) => place,
      owner: ({ accountId }) => accountId,
      compare: compareOldest,
    }),
    events: createEventTable(),
    usage: createCellTable(),
    overage: createCellTable(),
    entries: createRecordTable<EntryRecord>({
      key: (record) => record,
      owner: ({ accountId }) => accountId,
      compare: compareOldest,
    }),
    credits: createRecordTable<CreditRecord>({
      key: (record) => record,
      owner: ({ accountId }) => accountId,
      compare: compareOldest,
    }),
    creditsByEnd: createGrouped<CreditRecord>({
      key: (credit) => credit,
      groupOf: (credit) => `${creditStateFor(credit)} ${credit.effectiveUntil}`,
    }),
    keptUsage: createRecordTable<BilledUsage>({
      key: ({ id, closedAt: createdAt }) => ({ id, createdAt }),
      owner: ({ accountId }) => accountId,
      compare: compareByDays,
    }),
    invoices: createRecordTable<InvoiceRecord>({
      key: invoicePageKey,
      owner: ({ accountId }) => accountId,
      compare: compareByDate,
    }),
    invoicesByPeriod: createGrouped<InvoiceRecord>({
      key: invoicePageKey,
      groupOf: ({ invoice }) => `${invoice.status} ${invoice.startDate} ${invoice.endDate}`,
    }),
  };
}

/**
 * Applies changes, all or none: whatever can fail comes first and is reverted on failure.
 *
 * @throws {RatebookError} ERR_ARITHMETIC if a sum of usage or overage needs more than 100 digits
 */
export function applyChanges(state: MemoryState, changes: Changes): void {
  const records = readAll(changes);
  for (const { referenceId } of records.newEvents) {
    if (!state.events.has(referenceId)) continue;
    throw idCollisionError("event", referenceId, "reference id");
  }
  addCells(state, changes);
  for (const { kind, id } of records.removedDocuments) state.documents[kind].remove(id);
  for (const document of records.documents) state.documents[document.kind].put(document);
  for (const account of records.accounts) {
    const before = state.accounts.get(account.id);
    state.drafts.put(account, before);
    putDueCredits(state.dueCredits, account, before);
    state.dueAccounts.put(account.id, account.nextDueAt);
    state.accounts.put(account);
  }
  for (const event of records.newEvents) state.events.add(event);
  for (const event of records.events) state.events.put(event);
  for (const { referenceId } of records.removedEvents) state.events.remove(referenceId);
  for (const entry of records.entries) state.entries.put(entry);
  for (const credit of records.credits) {
    state.creditsByEnd.put(credit, state.credits.get(credit.id));
    state.credits.put(credit);
  }
  for (const invoice of records.invoices) {
    state.invoicesByPeriod.put(invoice, state.invoices.get(invoice.id));
    state.invoices.put(invoice);
  }
  for (const usage of records.keptUsage) state.keptUsage.put(usage);
  state.revision = changes.configurationRevision ?? state.revision;
}

function creditStateFor(credit: CreditRecord): CreditState {
  return creditStatus({ ...credit, holdAmount: ZERO });
}

/** Replaces the index entries of an account's due credits. */
function putDueCredits(
  places: RecordTable<ListedCredit>,
  { id: accountId, drafts }: AccountRecord,
  before: AccountRecord | undefined,
): void {
  if (before !== undefined && before.drafts === drafts) return;
  for (const { id } of places.of(accountId)) places.remove(id);
  for (const place of drafts?.credits ?? []) places.put({ ...place, accountId });
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

type Lists = Required<Omit<Changes, "configurationRevision" | "usage" | "overage">>;

const NOTHING: readonly never[] = [];

/** The lists of changes. Reads all fields that the tables use, so that an invalid record fails before anything changes. */
function readAll(changes: Changes): Lists {
  const lists = toLists(changes);
  const { documents, removedDocuments, accounts, newEvents, events, removedEvents, entries, credits, invoices } = lists;
  for (const records of [documents, accounts, entries, credits])
    for (const { id, createdAt } of records) touchAll(id, createdAt);
  for (const { kind, id } of removedDocuments) touchAll(kind, id);
  for (const records of [entries, credits]) for (const { accountId } of records) touchAll(accountId);
  for (const { referenceId, accountId, eventId, number, feature } of events) {
    touchAll(referenceId, accountId, eventId, number, feature);
  }
  touchNewEvents(newEvents);
  for (const { referenceId, eventId } of removedEvents) touchAll(referenceId, eventId);
  touchListedFields(accounts, invoices);
  for (const { id, accountId, from, until, closedAt } of lists.keptUsage)
    touchAll(id, accountId, from, until, closedAt);
  return lists;
}

/** Each list by name: spreading over empty ones would take a tenth of the time of a single event. */
function toLists(changes: Changes): Lists {
  return {
    documents: changes.documents ?? NOTHING,
    removedDocuments: changes.removedDocuments ?? NOTHING,
    accounts: changes.accounts ?? NOTHING,
    newEvents: changes.newEvents ?? NOTHING,
    events: changes.events ?? NOTHING,
    removedEvents: changes.removedEvents ?? NOTHING,
    entries: changes.entries ?? NOTHING,
    credits: changes.credits ?? NOTHING,
    invoices: changes.invoices ?? NOTHING,
    keptUsage: changes.keptUsage ?? NOTHING,
  };
}

/** Reads the fields by which invoices are listed, stored ones and drafts. */
function touchListedFields(accounts: Lists["accounts"], invoices: Lists["invoices"]): void {
  for (const { customerId, nextDueAt, drafts } of accounts) {
    touchAll(customerId, nextDueAt, drafts?.until, ...(drafts?.places ?? []), ...(drafts?.credits ?? []));
  }
  for (const { id, accountId, invoice } of invoices) {
    const { invoiceDate, status, startDate, endDate } = invoice;
    touchAll(id, accountId, invoiceDate, status, startDate, endDate, listingInstant(invoice));
  }
}

function touchNewEvents(newEvents: Lists["newEvents"]): void {
  for (const { referenceId, accountId, eventId, sent } of newEvents) {
    touchAll(referenceId, accountId, eventId, sent.accountId, sent.attributes, sent.dimensions);
  }
}

/** Reading a property is the check: it throws if it cannot be read. */
function touchAll(...values: readonly unknown[]): number {
  return values.length;
}

/** A view of the current state; each call sees one committed state, because changes are applied between calls. */
export function createView(state: MemoryState): LedgerView {
  const { documents, accounts, events, usage, overage, entries, invoices } = state;
  return {
    configurationRevision: async () => state.revision,
    document: async (kind, id) => documents[kind].get(id),
    documentsOf: async (kind, ids) => documents[kind].some(ids),
    allDocuments: async (kind) => [...documents[kind].all()].toSorted(compareOldest),
    documents: async (kind, page) => documents[kind].page(page, () => true),

    accounts: async (ids) => accounts.some(ids),
    accountList: async ({ customerId, status, invoiceGroupId }, page) =>
      accounts.page(
        page,
        (account) =>
          (customerId === undefined || account.customerId === customerId) &&
          (status === undefined || account.status === status) &&
          (invoiceGroupId === undefined || account.invoiceGroupId === invoiceGroupId),
      ),
    accountsBehind: async (instant, limit, afterId) => state.dueAccounts.upTo(instant, limit, afterId),
    accountsWithStaleDraftIndex: async (instant, limit, afterId) => state.drafts.stale(instant, limit, afterId),
    draftList: async (filter, page) => state.drafts.list(filter, page),

    acceptedIds: async (eventIds) => events.findAccepted(eventIds),
    events: async (filter, page) => events.list(filter, page),
    eventsToUndo: async (accountId, filter, limit = Infinity) => events.toUndo(accountId, filter, limit),
    eventsWithOverage: (accountId, featureId, from, until, page) =>
      events.withOverage(accountId, featureId, { from, until }, page),
    lastSpent: async (entryId, accountId) => events.lastSpent(accountId, entryId),

    usage: async (accountIds, from, until) => usage.between(accountIds, from, until),
    overage: async (accountIds, from, until) => overage.between(accountIds, from, until),
    keptUsage: async (accountIds, from, until) => {
      const usageInRange = (id: string): readonly BilledUsage[] =>
        state.keptUsage.of(id).filter((usage) => usage.from < until && usage.until > from);
      return mergeInOrder(accountIds, usageInRange, compareByDays);
    },

    entries: async (accountIds, featureId) =>
      mergeInOrder(
        accountIds,
        (id) => {
          const records = entries.of(id);
          return featureId === undefined ? records : records.filter((entry) => entry.featureId === featureId);
        },
        compareOldest,
      ),
    entryList: async (accountId, featureId, page) =>
      entries.pageOf(accountId, page, (entry) => entry.featureId === featureId),
    ...creditReads(state),
    invoices: async (accountIds, since) => {
      const isListed = ({ invoice }: InvoiceRecord): boolean => since === -Infinity || listingInstant(invoice) >= since;
      return mergeInOrder(accountIds, (id) => invoices.of(id).filter(isListed), compareByDate);
    },
    invoice: async (id) => invoices.get(id),
    invoiceList: async (filter, page) => pageInvoices(state, filter, page),
  };
}

function creditReads({
  credits,
  creditsByEnd,
  dueCredits,
}: MemoryState): Pick<LedgerView, "credits" | "credit" | "creditList" | "dueCreditList"> {
  return {
    credits: async (accountIds) => mergeInOrder(accountIds, (id) => credits.of(id), compareOldest),
    credit: async (id) => credits.get(id),
    creditList: async (filter, page) => {
      const { accountId, ...conditions } = filter;
      const isMatch = createCreditFilter(filter);
      if (accountId !== undefined) return credits.pageOf(accountId, page, isMatch);
      return isEmpty(conditions) ? credits.page(page, isMatch) : creditsByEnd.page(page, isMatch);
    },
    dueCreditList: async ({ id, dueBy = Infinity }, page) => {
      if (id === undefined) return dueCredits.page(startNotBefore(page, dueBy), () => true);
      return dueCredits.some([id]).filter(({ createdAt }) => createdAt <= dueBy);
    },
  };
}

/** Merges the sorted records of several accounts. */
function mergeInOrder<Item>(
  accountIds: readonly string[],
  of: (accountId: string) => readonly Item[],
  compare: (a: Item, b: Item) => number,
): readonly Item[] {
  const ids = [...new Set(accountIds)];
  const [only] = ids;
  return only !== undefined && ids.length === 1 ? of(only) : ids.flatMap(of).sort(compare);
}

/** By date, then id. */
function compareByDate(a: InvoiceRecord, b: InvoiceRecord): number {
  return compareIds(a.invoice.invoiceDate, b.invoice.invoiceDate) || compareIds(a.id, b.id);
}

/** By first day, then id. */
function compareByDays(a: BilledUsage, b: BilledUsage): number {
  return a.from - b.from || compareIds(a.id, b.id);
}

/** A page of final invoices, searched within an account or customer if the filter has one. */
function pageInvoices(
  { invoices, invoicesByPeriod, drafts }: MemoryState,
  filter: InvoiceListFilter,
  page: PageRequest,
): readonly InvoiceRecord[] {
  const { accountId, customerId, ...conditions } = filter;
  const isMatch = createInvoiceFilter(filter);
  if (accountId !== undefined) return invoices.pageOf(accountId, page, isMatch);
  if (customerId === undefined) return (isEmpty(conditions) ? invoices : invoicesByPeriod).page(page, isMatch);
  const customerInvoices = [...drafts.accountsOf(customerId)].flatMap((id) => invoices.pageOf(id, page, isMatch));
  return customerInvoices.sort((a, b) => compareNewest(invoicePageKey(a), invoicePageKey(b))).slice(0, page.limit);
}

function isEmpty(filter: Readonly<Record<string, unknown>>): boolean {
  return Object.values(filter).every((value) => value === undefined);
}

/** Starts a page at an instant at the latest: lists are newest first. */
function startNotBefore(page: PageRequest, instant: Instant): PageRequest {
  const start = { createdAt: instant, id: "" };
  return page.after !== undefined && compareNewest(page.after, start) > 0 ? page : { ...page, after: start };
}

/** Creates a predicate for credits by state and end. */
function createCreditFilter(filter: CreditListFilter): (credit: CreditRecord) => boolean {
  const { state, endsBy = Infinity, endsAfter } = filter;
  return (credit) => {
    const { effectiveUntil = Infinity } = credit;
    if (effectiveUntil > endsBy || (endsAfter !== undefined && effectiveUntil <= endsAfter)) return false;
    return state === undefined || creditStateFor(credit) === state;
  };
}

/** Creates a predicate for final invoices. */
function createInvoiceFilter({ customerId, status, period }: InvoiceListFilter): (record: InvoiceRecord) => boolean {
  // Many invoices have the dates of one cycle.
  const instants = new Map<string, Instant>();
  const parseCached = (text: string): Instant => {
    const instant = instants.get(text) ?? parseInstant(text);
    instants.set(text, instant);
    return instant;
  };
  return ({ invoice }) => {
    if (customerId !== undefined && invoice.customerId !== customerId) return false;
    if (status !== undefined && invoice.status !== status) return false;
    if (period === undefined) return true;
    return overlapsPeriod({ start: parseCached(invoice.startDate), end: parseCached(invoice.endDate) }, period);
  };
}

function invoicePageKey({ id, invoice }: InvoiceRecord): PageKey {
  return { id, createdAt: listingInstant(invoice) };
}

/** Like {@link invoicePageKey}, cached: inserting an invoice into a list compares it with a dozen others. */
function createInvoiceKeys(): (record: InvoiceRecord) => PageKey {
  const cachedKeys = new WeakMap<InvoiceRecord, PageKey>();
  return (record) => {
    const place = cachedKeys.get(record) ?? invoicePageKey(record);
    cachedKeys.set(record, place);
    return place;
  };
}
