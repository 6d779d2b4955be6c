/**
 * The view that decisions read from, a consistent picture of documents and ledgers. Stores implement it (design: storage port).
 *
 * @module
 */
import type { Day, Instant } from "../calendar/instant.ts";
import type { InvoiceStatus } from "../invoicing/invoice.ts";
import type { DocumentKind, DocumentRecord } from "./decision.ts";
import type { IngestStatus } from "./outcome.ts";
import type {
  AccountRecord,
  CreditPlace,
  CreditRecord,
  DraftIndexEntry,
  EntryRecord,
  EventRecord,
  InvoiceRecord,
  BilledUsage,
  LedgerCell,
} from "./records.ts";

/** A page of a list: its size, and where it begins. */
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
  /** Whether the event was undone. */
  readonly reverted?: boolean;
  readonly eventId?: string;
  readonly referenceId?: string;
  /** The event's own timestamp, `[from, until)`. */
  readonly timestamp?: { readonly from: Instant; readonly until: Instant };
  /** The time of ingest, `[from, until)`. */
  readonly createdAt?: { readonly from: Instant; readonly until: Instant };
}

/** Which invoices a list holds; what is absent does not filter. */
export interface InvoiceListFilter {
  readonly accountId?: string;
  readonly customerId?: string;
  readonly status?: InvoiceStatus;
  /** Billing periods that touch `[from, until)`. */
  readonly period?: { readonly from: Instant; readonly until: Instant };
}

/** Which places of drafts a list holds; what is absent does not filter. */
export interface DraftListFilter extends Omit<InvoiceListFilter, "status"> {
  readonly id?: string;
  /** Their `start` is at or before it. */
  readonly begunBy?: Instant;
  /** Their `finalAt`, `[from, until)`. */
  readonly final?: { readonly from: Instant; readonly until: Instant };
}

/** The state of a stored credit; one that is ACTIVE here may have expired. */
export type CreditState = "ACTIVE" | "CONSUMED" | "VOIDED";

/** Which stored credits a list holds; what is absent does not filter. */
export interface CreditListFilter {
  readonly accountId?: string;
  readonly state?: CreditState;
  /** Their `effectiveUntil` is at or before it. */
  readonly endsBy?: Instant;
  /** Their `effectiveUntil` is after it, or they have none. */
  readonly endsAfter?: Instant;
}

/** Which places of credits a list holds; what is absent does not filter. */
export interface DueCreditFilter {
  readonly id?: string;
  /** They fall due at or before it. */
  readonly dueBy?: Instant;
}

/** The place of a credit that falls due, and whose it is. */
export interface ListedCredit extends CreditPlace {
  readonly accountId: string;
}

/** The place of a draft, and whose it is. */
export interface ListedDraft extends DraftIndexEntry {
  readonly accountId: string;
}

/** An accepted event that is not reverted, as the check for duplicates needs it. */
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
  /** That of the last commit that set one, else 0. */
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
   * Accounts whose places of drafts and due credits are not complete as of an instant, by id, ascending: `drafts.until` is
   * at or before it, or `drafts` or its `credits` are absent.
   */
  accountsWithStaleDraftIndex(instant: Instant, limit: number, afterId?: string): Promise<readonly string[]>;
  /** The places of drafts of all accounts, a page by where they are listed, newest first, then by id. */
  draftList(filter: DraftListFilter, page: PageRequest): Promise<readonly ListedDraft[]>;

  /**
   * Those of the event ids that an accepted and not reverted event holds. An id that came again after it was forgotten
   * (S14.1) is held by the event of the latest ingest. A store may answer without looking, as if all ids were free, if the
   * commit finds out where that was wrong and repeats the transaction.
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

  /** Usage from elsewhere that was kept of the accounts' cycles that touch the days `[from, until)`, by its first day, then id. */
  keptUsage(accountIds: readonly string[], from: Day, until: Day): Promise<readonly BilledUsage[]>;

  /** All entries of the accounts, or of one feature of them, in order of creation, then id. */
  entries(accountIds: readonly string[], featureId?: string): Promise<readonly EntryRecord[]>;
  entryList(accountId: string, featureId: string, page: PageRequest): Promise<readonly EntryRecord[]>;
  /** All credits of the accounts, in order of creation, then id. */
  credits(accountIds: readonly string[]): Promise<readonly CreditRecord[]>;
  credit(id: string): Promise<CreditRecord | undefined>;
  creditList(filter: CreditListFilter, page: PageRequest): Promise<readonly CreditRecord[]>;
  /** The places of credits that fall due, of all accounts, a page by when that is, newest first, then by id. */
  dueCreditList(filter: DueCreditFilter, page: PageRequest): Promise<readonly ListedCredit[]>;
  /**
   * The final invoices of the accounts that are listed ({@link listedAt}) at or after an instant, which may be `-Infinity`, in
   * order of their date, then id.
   */
  invoices(accountIds: readonly string[], listedSince: Instant): Promise<readonly InvoiceRecord[]>;
  invoice(id: string): Promise<InvoiceRecord | undefined>;
  /** Final invoices, a page by where they are listed ({@link listedAt}), newest first, then by id. */
  invoiceList(filter: InvoiceListFilter, page: PageRequest): Promise<readonly InvoiceRecord[]>;
}
