/** Invoices as reads return them, their lists, and previews (S13). */
import { type Instant, type InstantInput, formatInstant, parseInstant, toInstant } from "../../calendar/instant.ts";
import { optionError } from "../../errors.ts";
import { INVOICE_TYPES, type Invoice } from "../../invoicing/invoice.ts";
import type { AccountState } from "../../ledger/account-state.ts";
import { catchUp } from "../../ledger/account/catch-up.ts";
import { listDrafts, listingInstant } from "../../ledger/account/invoices.ts";
import { isShortId, listMatchingIds } from "../../ledger/account/record-ids.ts";
import type { Catalog } from "../../ledger/catalog.ts";
import type { InvoiceRecord } from "../../ledger/records.ts";
import { billInSteps, invalidInputError, notFoundError } from "../../ledger/refusals.ts";
import type { DraftListFilter, InvoiceListFilter, PageKey } from "../../ledger/view.ts";
import { compareIds } from "../../numbers/ids.ts";
import type { Steps } from "../../numbers/steps.ts";
import {
  type ComputedList,
  type WithSkipped,
  accountsWithStaleDrafts,
  collectIds,
  collectSkipped,
  findAccountsInId,
  listComputed,
  readAllAccounts,
  refreshDraftIndexes,
  retryPerAccount,
  splitIntoChunks,
} from "../all-accounts.ts";
import type { EngineContext } from "../methods.ts";
import type { Page, PageOptions } from "../pages.ts";
import { type ProjectedAccounts, projectAccounts } from "../projected-accounts.ts";

/** An invoice as reads return it: drafts are computed, and keep their id when they become final. */
export interface InvoiceSnapshot {
  readonly id: string;
  readonly invoice: Invoice;
  /** Absent on a draft. */
  readonly finalizedAt?: Instant;
  /** When it became final; now for a draft. */
  readonly updatedAt: Instant;
  /** The account's group when the invoice became final (S16.7). */
  readonly invoiceGroupId?: string;
  /** The group's composite invoice that contains it, once MERGED. */
  readonly mergedInto?: string;
}

/** Selects invoices; absent fields do not filter. */
export interface InvoiceFilter {
  readonly accountId?: string | undefined;
  readonly customerId?: string | undefined;
  readonly status?: Invoice["status"] | undefined;
  /** Billing periods that touch `[from, until)`. */
  readonly from?: InstantInput | undefined;
  readonly until?: InstantInput | undefined;
}

/** Options of a preview. */
export interface EnginePreviewOptions {
  /** Default: all accounts that are not archived. */
  readonly accountIds?: readonly string[] | undefined;
  /** The instant of the preview, now or later, as if nothing else happened until then; default now. */
  readonly asOf?: InstantInput | undefined;
  /** Billing periods that touch `[from, until)`; default all. */
  readonly from?: InstantInput | undefined;
  readonly until?: InstantInput | undefined;
}

/** The invoices of a preview, and the accounts left out. */
export interface EnginePreview extends WithSkipped {
  /** By account, then by date. */
  readonly invoices: readonly InvoiceSnapshot[];
}

/** Accounts per read. */
const CHUNK = 50;

/**
 * @throws {RatebookError} ERR_ARITHMETIC, which names a requested account whose bill cannot be computed;
 * ERR_INPUT_INVALID for an `asOf` in the past
 */
export async function preview(
  context: EngineContext,
  { accountIds, asOf, from, until }: EnginePreviewOptions = {},
): Promise<EnginePreview> {
  const at = asOf === undefined ? undefined : toInstant(asOf);
  const invoices: InvoiceSnapshot[] = [];
  const skipping = collectSkipped();
  const readChunk = (ids: readonly string[]): Promise<readonly InvoiceSnapshot[]> =>
    readInvoices(context, ids, { at, isPreview: true });
  const { touches } = periodFilter(from, until);
  const accounts =
    accountIds === undefined
      ? collectIds(readAllAccounts(context.store.read, { status: "ACTIVE" }))
      : new Set(accountIds);
  for await (const ids of splitIntoChunks(accounts, CHUNK)) {
    const snapshots = await (accountIds === undefined ? retryPerAccount(ids, skipping, readChunk) : readChunk(ids));
    invoices.push(...snapshots.filter(({ invoice }) => touches(invoice)));
  }
  return { invoices, ...skipping.result() };
}

/** Reads an invoice, final or draft. @throws {RatebookError} ERR_NOT_FOUND */
export async function readInvoice(context: EngineContext, id: string): Promise<InvoiceSnapshot> {
  const storedInvoice = await context.store.read.invoice(id);
  if (storedInvoice !== undefined) return toFinalSnapshot(storedInvoice);
  for await (const { accountId, matches } of findAccountsThatMayInvoice(context, id)) {
    const matchingIds = listMatchingIds(accountId, id);
    const read = (ids: readonly string[]) => readInvoices(context, ids, { ids: matchingIds });
    const [snapshot] = await (matches ? read([accountId]) : retryPerAccount([accountId], collectSkipped(), read));
    if (snapshot !== undefined) return snapshot;
    // It may have become final meanwhile, or be stored under its short id if an old one was requested.
    for (const matchingId of matchingIds) {
      const finalInvoice = await context.store.read.invoice(matchingId);
      if (finalInvoice !== undefined) return toFinalSnapshot(finalInvoice);
    }
  }
  throw notFoundError("invoice", id);
}

/** An account that may have a requested invoice. */
interface InvoiceCandidate {
  readonly accountId: string;
  /** Whether the id names the account or one of its index entries; false if its draft index is not known. */
  readonly matches: boolean;
}

/**
 * The accounts that may have an invoice that is not stored: those named in an old, long id, or else the one with the id
 * in its draft index, and those with an unknown draft index.
 */
async function* findAccountsThatMayInvoice(context: EngineContext, id: string): AsyncGenerator<InvoiceCandidate> {
  const { read } = context.store;
  for (const accountId of await findAccountsInId(read, id)) yield { accountId, matches: true };
  if (!isShortId("inv", id)) return;
  await refreshDraftIndexes(context, new Set());
  for (const { accountId } of await read.draftList({ id }, { limit: 1 })) yield { accountId, matches: true };
  for await (const accountId of accountsWithStaleDrafts(read, context.clock())) yield { accountId, matches: false };
}

/** What to read of accounts' invoices. */
interface InvoiceReading {
  /** Default now. */
  readonly at?: Instant | undefined;
  /** Which drafts and due, unstored invoices; default all. */
  readonly ids?: ReadonlySet<string> | undefined;
  /** When to compute the lines of drafts: at once, in steps, or on first access, as in a list, which also bills accounts that are behind. */
  readonly lines?: "at once" | "lazily";
  /** Whether a level is weighed over all days of a cycle, as if nothing else happened (S19.5). */
  readonly isPreview?: boolean;
}

/**
 * The invoices of accounts, final and drafts, by account, then by date.
 *
 * @throws {RatebookError} ERR_ARITHMETIC, which names the account whose bill cannot be computed
 */
export async function readInvoices(
  context: EngineContext,
  accountIds: readonly string[],
  { at, ids, lines = "at once", isPreview = false }: InvoiceReading = {},
): Promise<readonly InvoiceSnapshot[]> {
  const listAll = function* ({ catalog, workspace, now }: ProjectedAccounts): Steps<readonly InvoiceSnapshot[]> {
    if (at !== undefined && at < now) {
      throw invalidInputError(
        "asOf",
        "DATE_NOT_ALLOWED",
        `expected a time that is not in the past, got ${formatInstant(at)}`,
      );
    }
    const all: InvoiceSnapshot[] = [];
    for (const id of accountIds) {
      const snapshots = yield* billInSteps(
        id,
        listSnapshots(catalog, workspace.account(id), at ?? now, { ids, weighsAllDays: isPreview }),
      );
      for (const each of snapshots) {
        all.push(each);
        if (lines === "at once") yield* makeLines(each);
      }
    }
    return all;
  };
  const invoices = ids === undefined ? "all" : "open";
  const commitIfBehind = lines === "lazily" ? "behind" : "far behind";
  return projectAccounts(context, accountIds, listAll, at, { invoices, commitIfBehind });
}

/** Computes the lines of an invoice by reading them. */
function* makeLines({ invoice }: InvoiceSnapshot): Steps {
  yield;
  if (invoice.revenueInfo.lineItems !== undefined) yield;
}

/** The invoices of a caught-up account in an uncommitted working copy, by date. @param selection default all */
export function* listSnapshots(
  catalog: Catalog,
  account: AccountState,
  at: Instant,
  selection: { readonly ids?: ReadonlySet<string> | undefined; readonly weighsAllDays?: boolean } = {},
): Steps<readonly InvoiceSnapshot[]> {
  const { ids } = selection;
  catchUp(catalog, account, at);
  const final = account
    .invoices()
    .flatMap((record) => (ids?.has(record.id) === false ? [] : [toFinalSnapshot(record)]));
  const drafts = (yield* listDrafts(catalog, account, at, selection)).map(({ id, invoice }) => ({
    id,
    invoice,
    updatedAt: at,
  }));
  const datedSnapshots = [...final, ...drafts].map((snapshot) => ({
    snapshot,
    date: parseInstant(snapshot.invoice.invoiceDate),
  }));
  return datedSnapshots
    .sort((a, b) => a.date - b.date || compareInvoiceTypes(a.snapshot, b.snapshot))
    .map(({ snapshot }) => snapshot);
}

/** A final invoice as reads return it. */
function toFinalSnapshot({ id, invoice, finalizedAt, invoiceGroupId, mergedInto }: InvoiceRecord): InvoiceSnapshot {
  return {
    id,
    invoice,
    finalizedAt,
    updatedAt: finalizedAt,
    ...(invoiceGroupId === undefined ? {} : { invoiceGroupId }),
    ...(mergedInto === undefined ? {} : { mergedInto }),
  };
}

/** The order in which invoices of one date take credits (S12.3). */
function compareInvoiceTypes(a: InvoiceSnapshot, b: InvoiceSnapshot): number {
  return (
    INVOICE_TYPES.indexOf(a.invoice.invoiceType) - INVOICE_TYPES.indexOf(b.invoice.invoiceType) ||
    a.updatedAt - b.updatedAt ||
    compareIds(a.id, b.id)
  );
}

/** A draft is listed at the start of its cycle or, without one, at its date; the final invoice has the same position. */
export function invoiceKey({ id, invoice }: InvoiceSnapshot): PageKey {
  return { createdAt: listingInstant(invoice), id };
}

/** A range of time, and a predicate for whether an invoice's billing period touches it. */
interface PeriodFilter {
  /** Absent without a filter. */
  readonly period?: { readonly from: Instant; readonly until: Instant };
  readonly touches: (invoice: Pick<Invoice, "startDate" | "endDate">) => boolean;
}

/** The filter for `[from, until)`. @throws {RatebookError} ERR_OPTION_INVALID, ERR_DATE_INVALID */
function periodFilter(from: InstantInput | undefined, until: InstantInput | undefined): PeriodFilter {
  const start = from === undefined ? Number.NEGATIVE_INFINITY : toInstant(from);
  const end = until === undefined ? Number.POSITIVE_INFINITY : toInstant(until);
  if (start >= end) {
    throw optionError("until", "expected an instant after the start of the range");
  }
  const isUnbounded = from === undefined && until === undefined;
  return {
    ...(isUnbounded ? {} : { period: { from: start, until: end } }),
    // An account may have thousands of invoices; parsing their dates would dominate.
    touches: ({ startDate, endDate }) =>
      isUnbounded || (parseInstant(startDate) < end && parseInstant(endDate) > start),
  };
}

/**
 * A page of invoices, final ones and the drafts of every cycle that has begun, by the start of their cycle, newest
 * first. A read that finds missing indexes or due invoices stores them. Accounts whose bill cannot be computed are
 * skipped, except for their final invoices; if such an account is requested alone, the list is rejected.
 */
export async function listInvoices(
  context: EngineContext,
  filter: InvoiceFilter,
  options: PageOptions,
): Promise<Page<InvoiceSnapshot> & WithSkipped> {
  const { storedFilter, isRequested } = parseFilter(filter);
  const now = context.clock();
  const draftsFilter = draftFilter(storedFilter, now);
  const list: ComputedList<InvoiceSnapshot> = {
    now,
    accounts: filter,
    keyOf: invoiceKey,
    isRequested,
    async readPositions(view, page) {
      const drafts = draftsFilter === undefined ? [] : await view.draftList(draftsFilter, page);
      const positions = drafts.map(({ id, accountId, listedAt: createdAt }) => ({ id, accountId, createdAt }));
      return { positions, otherAccountIds: [] };
    },
    positionsMax: Number.POSITIVE_INFINITY,
    readStored: async (view, page) =>
      filter.status === "DRAFT" ? [] : (await view.invoiceList(storedFilter, page)).map(toFinalSnapshot),
    compute: (accountIds, ids) => readInvoices(context, accountIds, { ids, lines: "lazily" }),
    computesAll: false,
  };
  return listComputed(context, list, options);
}

/** A filter for the store, and a predicate for computed invoices. */
function parseFilter({ accountId, customerId, status, from, until }: InvoiceFilter): {
  readonly storedFilter: InvoiceListFilter;
  readonly isRequested: (snapshot: InvoiceSnapshot) => boolean;
} {
  const { period, touches } = periodFilter(from, until);
  const storedFilter = {
    ...(accountId === undefined ? {} : { accountId }),
    ...(customerId === undefined ? {} : { customerId }),
    ...(status === undefined ? {} : { status }),
    ...(period === undefined ? {} : { period }),
  };
  const isRequested = ({ invoice }: InvoiceSnapshot): boolean =>
    (customerId === undefined || invoice.customerId === customerId) &&
    (status === undefined || invoice.status === status) &&
    touches(invoice);
  return { storedFilter, isRequested };
}

/**
 * The filter for draft index entries: a draft past its final date counts as final.
 *
 * @returns undefined if no draft can match: MERGED invoices are stored
 */
function draftFilter({ status, ...filter }: InvoiceListFilter, now: Instant): DraftListFilter | undefined {
  const startedFilter = { ...filter, begunBy: now };
  switch (status) {
    case "MERGED":
      return undefined;
    case "DUE":
    case "PAID":
      return { ...startedFilter, final: { from: Number.NEGATIVE_INFINITY, until: now + 1 } };
    case "DRAFT":
      return { ...startedFilter, final: { from: now + 1, until: Number.POSITIVE_INFINITY } };
    default:
      return startedFilter;
  }
}
