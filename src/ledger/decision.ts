/**
 * Decisions: what an operation answers, and the changes that a store must make, all or none (design: functional core).
 *
 * @module
 */
import type { Instant } from "../calendar/instant.ts";
import type { NewEvent } from "./events/new-event.ts";
import type {
  AccountRecord,
  CreditRecord,
  EntryRecord,
  EventRecord,
  InvoiceRecord,
  BilledUsage,
  UsageDelta,
} from "./records.ts";

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
  "retention",
  "usageElsewhere",
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
 * The changes that a store writes, at once or not at all. A record replaces the one of its id; lists are in no order, but for new
 * events, which get their numbers in the order in which they stand.
 */
export interface Changes {
  readonly documents?: readonly DocumentRecord[];
  readonly removedDocuments?: readonly { readonly kind: DocumentKind; readonly id: string }[];
  /**
   * The revision of the configuration from this commit on, above the one before; absent where the configuration stays. Needs the
   * exclusive configuration lock.
   */
  readonly configurationRevision?: number;
  readonly accounts?: readonly AccountRecord[];
  /** Events that come in; what they count and take is among `usage`, `overage` and `entries`. */
  readonly newEvents?: readonly NewEvent[];
  /** Stored events that are changed. */
  readonly events?: readonly EventRecord[];
  /** Stored events that leave; usage, overage and entries stay as they are. */
  readonly removedEvents?: readonly Pick<EventRecord, "referenceId" | "eventId">[];
  readonly usage?: readonly UsageDelta[];
  readonly overage?: readonly UsageDelta[];
  readonly entries?: readonly EntryRecord[];
  readonly credits?: readonly CreditRecord[];
  readonly invoices?: readonly InvoiceRecord[];
  /** Beside the invoices of the same cycles. */
  readonly keptUsage?: readonly BilledUsage[];
}

/** The answer of an operation and its changes: a finished value, made before anything is written. */
export interface Decision<Result> {
  readonly result: Result;
  readonly changes: Changes;
}

/** Makes ids: a prefix, a part that grows with time and a random part (`um.1zYnCiM9Bpg.lv25y`). */
export type IdSource = (prefix: string) => string;
