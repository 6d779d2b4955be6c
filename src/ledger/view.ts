/**
 * What a decision may read: a consistent view of documents and ledgers. Stores implement it (design: storage port).
 *
 * @module
 */
import type { Day, Instant } from "../calendar/instant.ts";
import type { DocumentKind, DocumentRecord } from "./decision.ts";
import type { IngestStatus } from "./outcome.ts";
import type { AccountRecord, LedgerCell, CreditRecord, EntryRecord, EventRecord, InvoiceRecord } from "./records.ts";

/** Where a list goes on. */
export interface PageRequest {
  /** At most this many items, 1 or more. */
  readonly limit: number;
  /** The key of the last item of the page before; absent for the first page. */
  readonly after?: PageKey;
}

/** Where an item stands in a list: lists go by creation, newest first, then by id, ascending. */
export interface PageKey {
  readonly createdAt: Instant;
  readonly id: string;
}

/** Which events a list holds; what is absent does not filter. */
export interface EventFilter {
  readonly accountId?: string;
  readonly schemaName?: string;
  readonly status?: IngestStatus;
  /** Whether the event was accepted: any INGESTION_COMPLETED status. */
  readonly accepted?: boolean;
  readonly eventId?: string;
  readonly referenceId?: string;
  /** The event's own timestamp, `[from, until)`. */
  readonly timestamp?: { readonly from: Instant; readonly until: Instant };
  /** The time of ingest, `[from, until)`. */
  readonly createdAt?: { readonly from: Instant; readonly until: Instant };
}

/** What is known of an event that holds its id: accepted and not reverted. */
export interface AcceptedEventId {
  readonly eventId: string;
  readonly referenceId: string;
  readonly accountId: string;
  readonly timestamp: Instant;
  /** When it was ingested. */
  readonly createdAt: Instant;
}

/**
 * A consistent view of a store. Absence is `undefined` or an empty list, never an error; orders are as said, so that a
 * page follows the other while things are added.
 */
export interface LedgerView {
  /** Grows with every change of the configuration. */
  configurationRevision(): Promise<number>;
  document(kind: DocumentKind, id: string): Promise<DocumentRecord | undefined>;
  /** Those of the ids that exist, in no order. */
  documentsOf(kind: DocumentKind, ids: readonly string[]): Promise<readonly DocumentRecord[]>;
  /** All documents of a kind, oldest first, then by id. */
  allDocuments(kind: DocumentKind): Promise<readonly DocumentRecord[]>;
  documents(kind: DocumentKind, page: PageRequest): Promise<readonly DocumentRecord[]>;

  /** Those of the ids that exist, in no order. */
  accounts(ids: readonly string[]): Promise<readonly AccountRecord[]>;
  accountList(
    filter: { readonly customerId?: string; readonly status?: "ACTIVE" | "ARCHIVED"; readonly invoiceGroupId?: string },
    page: PageRequest,
  ): Promise<readonly AccountRecord[]>;
  /** Accounts whose `nextDueAt` is at or before an instant, by id, ascending. */
  accountsBehind(instant: Instant, limit: number, afterId?: string): Promise<readonly string[]>;

  /**
   * Those of the event ids that an accepted and not reverted event holds. An id that came again after it was forgotten
   * (S14.1) is held by the event of the latest ingest. A store may take ids to be free that it has not looked for, in a
   * transaction that it does again where that was wrong.
   */
  acceptedIds(eventIds: readonly string[]): Promise<readonly AcceptedEventId[]>;
  events(filter: EventFilter, page: PageRequest): Promise<readonly EventRecord[]>;
  /** The first `limit` events of an account that match and are not reverted, earliest ingested first (by number). */
  eventsToUndo(accountId: string, filter: EventFilter, limit?: number): Promise<readonly EventRecord[]>;
  /**
   * The first `page.limit` events of an account and feature with overage, accepted and not reverted, on the days
   * `[from, until)`, by number, after `page.afterNumber`; without a page all of them.
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

  /** Cells with usage of the accounts on the days `[from, until)`, in no order. */
  usage(accountIds: readonly string[], from: Day, until: Day): Promise<readonly LedgerCell[]>;
  /** Cells with overage of the accounts on the days `[from, until)`, in no order. */
  overage(accountIds: readonly string[], from: Day, until: Day): Promise<readonly LedgerCell[]>;

  /** All entries of the accounts, or of one feature of them, in order of creation, then id. */
  entries(accountIds: readonly string[], featureId?: string): Promise<readonly EntryRecord[]>;
  entryList(accountId: string, featureId: string, page: PageRequest): Promise<readonly EntryRecord[]>;
  /** All credits of the accounts, in order of creation, then id. */
  credits(accountIds: readonly string[]): Promise<readonly CreditRecord[]>;
  credit(id: string): Promise<CreditRecord | undefined>;
  creditList(filter: { readonly accountId?: string }, page: PageRequest): Promise<readonly CreditRecord[]>;
  /** All final invoices of the accounts, in order of their date, then id. */
  invoices(accountIds: readonly string[]): Promise<readonly InvoiceRecord[]>;
  invoice(id: string): Promise<InvoiceRecord | undefined>;
}
