/** The read interface of a store for decisions: a consistent view of documents and ledgers. */
import type { Day, Instant } from "../calendar/instant.ts";
import type { InvoiceStatus } from "../invoicing/invoice.ts";
import type { UsageCell } from "../metering/usage.ts";
import type { DocumentKind, DocumentRecord } from "./decision.ts";
import type { IngestStatus } from "./outcome.ts";
import type {
  AccountRecord,
  CreditIndexEntry,
  CreditRecord,
  DraftIndexEntry,
  EntryRecord,
  EventRecord,
  InvoiceRecord,
  BilledUsage,
  LedgerCell,
} from "./records.ts";

/** A page request: its size, and where it begins. */
export interface PageRequest {
  /** Maximum number of items, 1 or more. */
  readonly limit: number;
  /** The key of the last item of the previous page; absent for the first page. */
  readonly after?: PageKey;
}

/** The position of an item in a list sorted by creation, newest first, then by id, ascending. */
export interface PageKey {
  readonly createdAt: Instant;
  readonly id: string;
}

/** Selects events; absent fields do not filter. */
export interface EventFilter {
  readonly accountId?: string;
  readonly schemaName?: string;
  readonly status?: IngestStatus;
  /** Whether the event was accepted: any INGESTION_COMPLETED status. */
  readonly accepted?: boolean;
  /** Whether the event was undone. */
  readonly reverted?: boolean;
  readonly eventId?: string;
  readonly referenceId?: string;
  /** The event's own timestamp, `[from, until)`. */
  readonly timestamp?: { readonly from: Instant; readonly until: Instant };
  /** The time of ingest, `[from, until)`. */
  readonly createdAt?: { readonly from: Instant; readonly until: Instant };
}

/** Selects invoices; absent fields do not filter. */
export interface InvoiceListFilter {
  readonly accountId?: string;
  /** The customer of the invoice, even if the account has another one now; for drafts, the customer of the account. */
  readonly customerId?: string;
  readonly status?: InvoiceStatus;
  /** Billing periods that touch `[from, until)`. */
  readonly period?: { readonly from: Instant; readonly until: Instant };
}

/** Selects draft index entries; absent fields do not filter. */
export interface DraftListFilter extends Omit<InvoiceListFilter, "status"> {
  readonly id?: string;
  /** With a `start` at or before this. */
  readonly begunBy?: Instant;
  /** With a `finalAt` in `[from, until)`. */
  readonly final?: { readonly from: Instant; readonly until: Instant };
}

/** The state of a stored credit; an ACTIVE one may have expired. */
export type CreditState = "ACTIVE" | "CONSUMED" | "VOIDED";

/** Selects stored credits; absent fields do not filter. */
export interface CreditListFilter {
  readonly accountId?: string;
  readonly state?: CreditState;
  /** With an `effectiveUntil` at or before this. */
  readonly endsBy?: Instant;
  /** With an `effectiveUntil` after this, or without one. */
  readonly endsAfter?: Instant;
}

/** Selects index entries of due credits; absent fields do not filter. */
export interface DueCreditFilter {
  readonly id?: string;
  /** Due at or before this. */
  readonly dueBy?: Instant;
}

/** The index entry of a due credit, with its account. */
export interface ListedCredit extends CreditIndexEntry {
  readonly accountId: string;
}

/** The index entry of a draft, with its account. */
export interface ListedDraft extends DraftIndexEntry {
  readonly accountId: string;
}

/** An accepted, not reverted event, for the check for duplicates. */
export interface AcceptedEventId {
  readonly eventId: string;
  readonly referenceId: string;
  readonly accountId: string;
  readonly timestamp: Instant;
  /** The time of ingest. */
  readonly createdAt: Instant;
}

/** The usage of a meter by an account on a day. */
export type MeterDay = Pick<UsageCell, "accountId" | "meterId" | "day">;

/** A meter, an account and a day whose groups to count. */
export interface GroupCountRequest extends MeterDay {
  /** If there are at most so many groups, any number from theirs to this one may be returned instead. */
  readonly exactAbove: number;
}

/**
 * A consistent view of a store. Missing records give `undefined` or an empty list, never an error. Orders are as
 * documented, so that paging works while records are added.
 */
export interface LedgerView {
  /** As set by the last commit that changed it, else 0. */
  configurationRevision(): Promise<number>;
  document(kind: DocumentKind, id: string): Promise<DocumentRecord | undefined>;
  /** The existing documents with these ids, unordered. */
  documentsOf(kind: DocumentKind, ids: readonly string[]): Promise<readonly DocumentRecord[]>;
  /** All documents of a kind, oldest first, then by id. */
  allDocuments(kind: DocumentKind): Promise<readonly DocumentRecord[]>;
  documents(kind: DocumentKind, page: PageRequest): Promise<readonly DocumentRecord[]>;

  /** The existing accounts with these ids, unordered. */
  accounts(ids: readonly string[]): Promise<readonly AccountRecord[]>;
  accountList(
    filter: { readonly customerId?: string; readonly status?: "ACTIVE" | "ARCHIVED"; readonly invoiceGroupId?: string },
    page: PageRequest,
  ): Promise<readonly AccountRecord[]>;
  /** Accounts whose `nextDueAt` is at or before an instant, by id, ascending. */
  accountsBehind(instant: Instant, limit: number, afterId?: string): Promise<readonly string[]>;
  /**
   * Accounts whose draft index is not complete at an instant, by id, ascending: `drafts.until` is at or before it, or
   * `drafts` or its `credits` are absent.
   */
  accountsWithStaleDraftIndex(instant: Instant, limit: number, afterId?: string): Promise<readonly string[]>;
  /** Draft index entries of all accounts, by listing instant, newest first, then by id. */
  draftList(filter: DraftListFilter, page: PageRequest): Promise<readonly ListedDraft[]>;

  /**
   * The event ids that accepted, not reverted events have. If an id was reused after its expiry (S14.1), returns the
   * event ingested last. A store may return nothing without a lookup if its commit detects collisions and repeats the
   * transaction.
   */
  acceptedIds(eventIds: readonly string[]): Promise<readonly AcceptedEventId[]>;
  events(filter: EventFilter, page: PageRequest): Promise<readonly EventRecord[]>;
  /**
   * The first `limit` matching events of an account that are not reverted, earliest ingested first (by number). None
   * match a filter for another account or for reverted events.
   */
  eventsToUndo(accountId: string, filter: EventFilter, limit?: number): Promise<readonly EventRecord[]>;
  /**
   * The first `page.limit` accepted, not reverted events of an account and feature with overage on the days `[from,
   * until)`, by number, after `page.afterNumber`; without a page all of them.
   */
  eventsWithOverage(
    accountId: string,
    featureId: string,
    from: Day,
    until: Day,
    page?: { readonly limit: number; readonly afterNumber?: number },
  ): Promise<readonly EventRecord[]>;
  /** The timestamp of the latest accepted, not reverted event that spent the entry. */
  lastSpent(entryId: string, accountId: string): Promise<Instant | undefined>;

  /** Usage cells of the accounts on the days `[from, until)`, unordered. */
  usage(accountIds: readonly string[], from: Day, until: Day): Promise<readonly LedgerCell[]>;
  /** For each meter, account and day, in order: the number of groups with usage other than 0 (S18.1). */
  groupCounts(of: readonly GroupCountRequest[]): Promise<readonly number[]>;
  /** Overage cells of the accounts on the days `[from, until)`, unordered. */
  overage(accountIds: readonly string[], from: Day, until: Day): Promise<readonly LedgerCell[]>;

  /** Billed external usage of the accounts' cycles that touch the days `[from, until)`, by first day, then id. */
  billedUsage(accountIds: readonly string[], from: Day, until: Day): Promise<readonly BilledUsage[]>;

  /** All entries of the accounts, or those of one feature, in order of creation, then id. */
  entries(accountIds: readonly string[], featureId?: string): Promise<readonly EntryRecord[]>;
  entryList(accountId: string, featureId: string, page: PageRequest): Promise<readonly EntryRecord[]>;
  /** All credits of the accounts, in order of creation, then id. */
  credits(accountIds: readonly string[]): Promise<readonly CreditRecord[]>;
  credit(id: string): Promise<CreditRecord | undefined>;
  creditList(filter: CreditListFilter, page: PageRequest): Promise<readonly CreditRecord[]>;
  /** Index entries of due credits of all accounts, by due date, newest first, then by id. */
  dueCreditList(filter: DueCreditFilter, page: PageRequest): Promise<readonly ListedCredit[]>;
  /**
   * The final invoices of the accounts with a listing instant ({@link listingInstant}) at or after `listedSince`, which may
   * be `-Infinity`, in order of their date, then id.
   */
  invoices(accountIds: readonly string[], listedSince: Instant): Promise<readonly InvoiceRecord[]>;
  invoice(id: string): Promise<InvoiceRecord | undefined>;
  /** Final invoices, by listing instant ({@link listingInstant}), newest first, then by id. */
  invoiceList(filter: InvoiceListFilter, page: PageRequest): Promise<readonly InvoiceRecord[]>;
}
