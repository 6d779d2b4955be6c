/** Decisions: the result of an operation, and the changes that a store must make, all or none. */
import type { Instant } from "../calendar/instant.ts";
import type {
  NewEvent,
  AccountRecord,
  CreditRecord,
  EntryRecord,
  EventRecord,
  InvoiceRecord,
  BilledUsage,
  UsageDelta,
} from "./records.ts";

/**
 * The kinds of document: the configuration of an organization, records that span accounts, and data of a server
 * (`apiKey`, `serverSecret`), which is not part of the configuration.
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
export type DocumentKind = (typeof DOCUMENT_KINDS)[number];

/** One document. */
export interface DocumentRecord {
  readonly kind: DocumentKind;
  /** Unique within its kind; includes a version if there is one (`name@2`). */
  readonly id: string;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
  /** Plain JSON; decimals in it are texts. */
  readonly body: Readonly<Record<string, unknown>>;
}

/**
 * Changes for a store to write atomically. A record replaces the one with its id. Lists are unordered except for new
 * events, which are numbered in the order of the list.
 */
export interface Changes {
  readonly documents?: readonly DocumentRecord[];
  readonly removedDocuments?: readonly { readonly kind: DocumentKind; readonly id: string }[];
  /**
   * The revision of the configuration from this commit on, greater than the last one; absent if the configuration does
   * not change. Needs the exclusive configuration lock.
   */
  readonly configurationRevision?: number;
  readonly accounts?: readonly AccountRecord[];
  /**
   * Newly ingested events; their effects are in `usage`, `overage` and `entries`. A commit is rejected if two of them,
   * or one and an existing event, have one reference id, and if two that are accepted have one event id. The event id
   * of an existing event may be reused, even if it is reserved: the decision knows when it expires (S14.1).
   */
  readonly newEvents?: readonly NewEvent[];
  /** Changed events. */
  readonly events?: readonly EventRecord[];
  /** Events to delete; usage, overage and entries stay. */
  readonly removedEvents?: readonly Pick<EventRecord, "referenceId" | "eventId">[];
  readonly usage?: readonly UsageDelta[];
  readonly overage?: readonly UsageDelta[];
  readonly entries?: readonly EntryRecord[];
  readonly credits?: readonly CreditRecord[];
  readonly invoices?: readonly InvoiceRecord[];
  /** Written with the invoices of the same cycles. */
  readonly billedUsage?: readonly BilledUsage[];
}

/** Changes of accounts, collected from several. */
export type GatheredChanges = {
  [
    Part in Exclude<keyof Changes, `${string}ocuments` | "configurationRevision" | "newEvents" | "removedEvents">
  ]-?: NonNullable<Changes[Part]>[number][];
};

export function noChanges(): GatheredChanges {
  return { accounts: [], events: [], usage: [], overage: [], entries: [], credits: [], invoices: [], billedUsage: [] };
}

/** The result of an operation and its changes, complete before anything is written. */
export interface Decision<Result> {
  readonly result: Result;
  readonly changes: Changes;
}

/** Creates ids: a prefix, a part that grows with time and a random part (`um.1zYnCiM9Bpg.lv25y`). */
export type IdSource = (prefix: string) => string;
