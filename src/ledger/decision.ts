/**
 * Decisions: what an operation answers, and the changes that a store must make, all or none (design: functional core).
 *
 * @module
 */
import type { Instant } from "../calendar/instant.ts";
import type { EventBatch } from "./events/event-batch.ts";
import type { AccountRecord, CellChange, CreditRecord, EntryRecord, EventRecord, InvoiceRecord } from "./records.ts";

/**
 * The kinds of document: what configures an organization, what spans its accounts, and what a server over an engine keeps
 * of its own (`apiKey`, `serverSecret`), which is no part of the configuration.
 */
export const DOCUMENT_KINDS = [
  "organization",
  "setting",
  "eventSchema",
  "usageMeter",
  "feature",
  "addOn",
  "pricePlan",
  "customer",
  "alias",
  "invoiceGroup",
  "compositeInvoice",
  "migration",
  "apiKey",
  "serverSecret",
] as const;
/** A kind of document. */
export type DocumentKind = (typeof DOCUMENT_KINDS)[number];

/** One document, whole. */
export interface DocumentRecord {
  readonly kind: DocumentKind;
  /** Unique within its kind; a version is part of it (`name@2`). */
  readonly id: string;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
  /** Plain JSON; decimals within it are texts. */
  readonly body: Readonly<Record<string, unknown>>;
}

/**
 * What a store must write, at once or not at all. A record replaces the one of its id; lists are in no order, but for events
 * that are new (`UNNUMBERED`): they get their numbers in the order in which they stand.
 */
export interface Changes {
  readonly documents?: readonly DocumentRecord[];
  readonly removedDocuments?: readonly { readonly kind: DocumentKind; readonly id: string }[];
  /** Whether the compiled configuration of other engines is out of date; needs the exclusive configuration lock. */
  readonly configurationChanged?: boolean;
  readonly accounts?: readonly AccountRecord[];
  readonly events?: readonly EventRecord[];
  /**
   * New events beside those, numbered before them; what they count is not among `usage`. Only for a store that says that it
   * takes batches.
   */
  readonly batch?: EventBatch | undefined;
  readonly usage?: readonly CellChange[];
  readonly overage?: readonly CellChange[];
  readonly entries?: readonly EntryRecord[];
  readonly credits?: readonly CreditRecord[];
  readonly invoices?: readonly InvoiceRecord[];
}

/** What an operation answers and what it changes. */
export interface Decision<Result> {
  readonly result: Result;
  readonly changes: Changes;
  /**
   * What can be written while the rest is still decided: batches that come before that of `changes`, each decided as it is
   * asked for. A store that goes through them goes to their end before it looks at `result` and `changes`; for one that does
   * not, these hold everything.
   */
  readonly early?: Iterable<EventBatch> | undefined;
}

/** Makes ids: a prefix, a part that grows with time and a random part (`um.1zYnCiM9Bpg.lv25y`). */
export type IdSource = (prefix: string) => string;
