/**
 * The records of a ledger, as plain data: accounts, events, usage, feature credits, credits and invoices (S4 to S16).
 * Decimals are Decimals, instants are milliseconds, and every record has its account's id; stores write and read them
 * unchanged.
 */
import type { Address } from "../book/resources/account.ts";
import type { UsageGroup } from "../book/resources/event-schema.ts";
import type { PricePlanDetailsOverride } from "../book/resources/price-plan.ts";
import type { CycleConfig } from "../calendar/cycle.ts";
import type { Day, Instant } from "../calendar/instant.ts";
import type { CreditKind } from "../credits/monetary-credits.ts";
import type { Invoice } from "../invoicing/invoice.ts";
import type { ClosedCycles } from "../invoicing/timeline.ts";
import type { IncomingEvent } from "../metering/event-envelope.ts";
import type { UsageCell } from "../metering/usage.ts";
import type { Decimal } from "../numbers/decimal.ts";
import type { Exact } from "../numbers/exact.ts";
import type { IngestStatus } from "./outcome.ts";

/** An alias of an account, over the half-open `[createdAt, removedAt)` (S16.6). */
export interface AliasRecord {
  readonly alias: string;
  readonly createdAt: Instant;
  /** Absent while the alias is in use. */
  readonly removedAt?: Instant;
}

/** A former invoice group of an account, over the half-open `[from, until)` (S16.7). */
export interface PastInvoiceGroup {
  readonly invoiceGroupId: string;
  readonly from: Instant;
  readonly until: Instant;
}

/** A decision on an account's plan; records are in the order of decision (S16.1). */
export interface AssociationRecord {
  readonly id: string;
  /** Absent: dissociated. */
  readonly plan?: {
    readonly planId: string;
    readonly version: number;
    /** Derived, retained or the plan's own, at the time of the association (S6.3). */
    readonly cycleConfig: CycleConfig;
    /** Retained from the previous plan, in whole days; absent: that of the plan or its override (S16.5). */
    readonly gracePeriodDays?: number;
    readonly override?: PricePlanDetailsOverride;
  };
  readonly from: Instant;
  /** `NO_END` without an end. */
  readonly until: Instant;
  /**
   * When it was decided, from when on it is known (S9.2); for an association of a book, as the book says, before or
   * after loading.
   */
  readonly decidedAt: Instant;
  /** When it was recorded, if that differs from `decidedAt`: for an association loaded with a book. */
  readonly recordedAt?: Instant;
}

/** A change of a license's quantity, in the order of arrival (S10.1). */
export interface LicenseUpdateRecord {
  readonly id: string;
  readonly licenseId: string;
  readonly updateType: "ABSOLUTE" | "RELATIVE";
  readonly quantity: Decimal;
  readonly effectiveFrom: Instant;
  /** Present without an effectiveFrom in the request: it takes effect on arrival. */
  readonly fromArrival?: true;
  /** Present if loaded with a book: then it is known from the beginning, whenever the book was loaded (S13.5). */
  readonly fromBook?: true;
  readonly createdAt: Instant;
  readonly idempotencyKey?: string;
}

/** The position of an invoice that is not final or not stored in the list of all invoices (S13.4). */
export interface DraftIndexEntry {
  /** The id of the draft and of the final invoice. */
  readonly id: string;
  /** Sorts the list: the start of the cycle, or the date of an AD_HOC invoice. */
  readonly listedAt: Instant;
  /** The billing period, `[start, end)`; the draft exists once it has begun. */
  readonly start: Instant;
  readonly end: Instant;
  /** When it becomes final. */
  readonly finalAt: Instant;
}

/** The position of a credit that is not stored yet in the list of all credits. */
export interface CreditIndexEntry {
  /** The id that it will have. */
  readonly id: string;
  /** When it falls due; it does not exist before. */
  readonly createdAt: Instant;
}

/** Draft invoices and due credits of an account, which lists show besides the stored ones. */
export interface DraftIndex {
  /** Until when the index is complete, exclusive, unless a decision on the account changes it. */
  readonly until: Instant;
  /** Unordered; some may have no lines, and so not become invoices. */
  readonly places: readonly DraftIndexEntry[];
  /** Unordered; some may not be created, or be stored already. Absent in records of older releases. */
  readonly credits?: readonly CreditIndexEntry[];
}

/** One account. Read and written whole. */
export interface AccountRecord {
  readonly id: string;
  readonly name: string;
  readonly customerId: string;
  readonly status: "ACTIVE" | "ARCHIVED";
  readonly invoiceCurrency: string;
  /** The current ones. */
  readonly aliases: readonly AliasRecord[];
  /** The removed ones with their `removedAt`, in the order of removal; the latest thousand. */
  readonly pastAliases?: readonly AliasRecord[];
  readonly invoiceGroupId?: string;
  /** When the account joined its group; absent: when it was created. */
  readonly invoiceGroupFrom?: Instant;
  /** Former groups, in order; the latest thousand. */
  readonly pastInvoiceGroups?: readonly PastInvoiceGroup[];
  readonly netTermDays?: number;
  readonly primaryEmail?: string;
  readonly address?: Address;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly tags?: readonly string[];
  readonly associations: readonly AssociationRecord[];
  readonly licenseUpdates: readonly LicenseUpdateRecord[];
  /** Everything due up to and including this instant was processed (S2.4). */
  readonly caughtUpTo: Instant;
  /** The next instant at which something falls due; catching up has no effect before. */
  readonly nextDueAt: Instant;
  /** Cycles that stay closed: they closed before the account's group changed, or their events were deleted (S6.5). */
  readonly closedCycles?: ClosedCycles;
  /** Absent until a cycle closes, and without meters that carry over. */
  readonly carriedUsage?: CarriedUsage | undefined;
  /** Absent if not computed: then reads compute the account's drafts. */
  readonly drafts?: DraftIndex;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
}

/** The feature credits that an event consumed (S11.4). */
export interface FeatureUse {
  readonly featureId: string;
  readonly quantity: Decimal;
  /** In the order taken. */
  readonly allocations: readonly { readonly entryId: string; readonly quantity: Decimal }[];
  readonly overage: Decimal;
}

/** The number of an event that is not stored yet: it sorts last. */
export const UNNUMBERED: number = Number.MAX_SAFE_INTEGER;

/** One stored event (S14). */
export interface EventRecord {
  readonly referenceId: string;
  /** Empty, like `customerId`, if no account has the name that was sent. */
  readonly accountId: string;
  readonly customerId: string;
  /**
   * Its position in the order of ingest, 1 or more; greater than those of all earlier events of its account, so that
   * "earliest ingested" is unambiguous. Assigned by the store: a new event has {@link UNNUMBERED}.
   */
  readonly number: number;
  readonly eventId: string;
  readonly schemaName: string;
  /** Absent if no schema was active. */
  readonly schemaVersion?: number;
  readonly timestamp: Instant;
  /** The time of ingest. */
  readonly createdAt: Instant;
  /** As sent, including the account id or alias. */
  readonly payload: {
    readonly accountId: string;
    readonly attributes: readonly {
      readonly name: string;
      /** A text only if the sent value is not a decimal within S1.3: the event failed, and this is what was sent. */
      readonly value: Decimal | string;
      readonly unit?: string;
    }[];
    /** Texts, as rules see them. */
    readonly dimensions: Readonly<Record<string, string>>;
    /** The names of those sent as numbers; absent if there are none. */
    readonly numericDimensions?: readonly string[];
  };
  /** The outcome of its ingest; never changes (S14.1). */
  readonly status: IngestStatus;
  /** For an accepted event derived from the status, so a store need not save it. */
  readonly description: string;
  readonly reverted: boolean;
  readonly enriched: {
    readonly attributes: readonly { readonly name: string; readonly value: Decimal }[];
    readonly dimensions: Readonly<Record<string, string>>;
  };
  /** The units of each matching meter; a meter with keys has one for each key (S19.2). */
  readonly units: readonly { readonly meterId: string; readonly quantity: Decimal; readonly key?: string }[];
  readonly feature?: FeatureUse;
}

/** The usage of a meter and group, or the overage of a feature, of one account on one UTC day. */
export interface LedgerCell {
  readonly accountId: string;
  readonly meterOrFeatureId: string;
  /** Absent for overage, and for a meter without groups. */
  readonly group?: UsageGroup;
  readonly day: Day;
  readonly quantity: Decimal;
}

/** A change of the usage of a meter and group, or the overage of a feature, of one account on one UTC day. */
export interface UsageDelta extends Omit<LedgerCell, "quantity"> {
  /** Negative in an undo. */
  readonly quantity: Exact;
}

/**
 * The external usage that was billed for a cycle, as of its closing; it never changes (S17.4). Stored for cycles
 * without usage too, because usage that arrives later is late.
 */
export interface BilledUsage {
  /** The id of the cycle's STANDARD invoice, even if that does not exist because it has no lines. */
  readonly id: string;
  readonly accountId: string;
  /** The days of the cycle, `[from, until)`. */
  readonly from: Day;
  readonly until: Day;
  /** Those of its days and, of meters that carry over, of days without a cycle before it: by meter, day and group, each once; zeros are omitted. */
  readonly cells: readonly Omit<UsageCell, "accountId">[];
  /** Before all of its cells; absent without meters that carry over. */
  readonly carriedUsage?: CarriedUsage;
  /** A hash of the cells. */
  readonly digest: string;
  /** When the cycle closed. */
  readonly closedAt: Instant;
}

/** Usage of meters that carry over, before a day: the last value of each group, or the sum of its changes (S19.1). */
export interface CarriedUsage {
  readonly until: Day;
  /** Each on the day of its last event. */
  readonly cells: BilledUsage["cells"];
}

/** The external usage of one account (S17.4). */
export interface AccountExternalUsage {
  /** The source's current usage. */
  readonly current: readonly LedgerCell[];
  /** That of days that are not billed. */
  readonly open: readonly LedgerCell[];
  readonly billed: readonly BilledUsage[];
}

/** A feature credit entry as stored (S11). */
export interface EntryRecord {
  readonly id: string;
  readonly accountId: string;
  readonly featureId: string;
  /** Granted by a card, or purchased. */
  readonly source: "PRICE_PLAN" | "PURCHASE";
  readonly granted: Decimal;
  readonly balance: Decimal;
  readonly effectiveFrom: Instant;
  readonly effectiveUntil: Instant;
  readonly createdAt: Instant;
  readonly voided: boolean;
  /** The cause of a card's grant, so that it is not created twice. Absent in entries with old, long ids, which contain it. */
  readonly key?: string;
  readonly idempotencyKey?: string;
  /** The values in the request with the idempotencyKey, if the entry was changed since. */
  readonly requested?: { readonly granted: Decimal; readonly effectiveUntil: Instant };
  /** The latest timestamp among deleted events that spent the entry (S11.8). */
  readonly spentAtBefore?: Instant;
}

/** A monetary credit as stored; amounts reserved by drafts are computed when read (S12.4). */
export interface CreditRecord {
  readonly id: string;
  readonly accountId: string;
  readonly customerId: string;
  readonly kind: CreditKind;
  /** The description on invoices, as of its creation. */
  readonly purpose: string;
  readonly creditAmount: Decimal;
  readonly consumedAmount: Decimal;
  readonly currency: string;
  readonly priority: number;
  readonly effectiveFrom: Instant;
  readonly effectiveUntil?: Instant;
  readonly applicableEntityIds?: readonly string[];
  /** The cause of a credit granted by a plan or an invoice, so that it is not created twice. */
  readonly cause?: string;
  readonly voided: boolean;
  readonly createdAt: Instant;
  readonly idempotencyKey?: string;
  readonly transactions: readonly { readonly invoiceId: string; readonly amount: Decimal; readonly at: Instant }[];
}

/** A final invoice; it never changes, except that a group merges STANDARD ones (S13.4, S16.7). */
export interface InvoiceRecord {
  /** Derived from its account and key, so that the draft has the same id. */
  readonly id: string;
  readonly accountId: string;
  /** Its type, cycle and date, unique within the account. Absent in invoices with old, long ids, which contain it. */
  readonly key?: string;
  readonly finalizedAt: Instant;
  readonly invoice: Invoice;
  /** The account's group when the invoice became final (S16.7). */
  readonly invoiceGroupId?: string;
  /** The composite invoice that contains it. */
  readonly mergedInto?: string;
}

/** A new event as sent and decided. Stores choose how to represent it. */
export interface NewEvent {
  readonly referenceId: string;
  readonly eventId: string;
  /** Empty, like `customerId`, if no account has the name that was sent. */
  readonly accountId: string;
  readonly customerId: string;
  readonly schemaName: string;
  /** Absent if no schema was active. */
  readonly schemaVersion?: number | undefined;
  readonly timestamp: Instant;
  /** The time of ingest. */
  readonly createdAt: Instant;
  /** As sent, well formed, with a list of attributes. The object belongs to the caller: a store copies it. */
  readonly sent: IncomingEvent["sent"];
  readonly status: IngestStatus;
  readonly description: string;
  /** The ids of the schema's active meters. */
  readonly meterIds: readonly string[];
  /** The units of each meter; undefined if it does not match. Empty for an event that is not counted. */
  readonly quantities: readonly (Exact | undefined)[];
  /** The keys of these units; absent if no meter has keys (S19.2). */
  readonly usageKeys?: readonly (string | undefined)[] | undefined;
  /** The enriched fields, if any. */
  readonly enriched: EventRecord["enriched"] | undefined;
  readonly feature: FeatureUse | undefined;
}

/** A new event with only those sent fields that it does not store itself. */
export type StoredEventFields = Omit<NewEvent, "sent"> & {
  readonly sent: Pick<IncomingEvent["sent"], "accountId" | "attributes" | "dimensions">;
};
