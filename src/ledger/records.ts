/**
 * The records of a ledger, as plain data: accounts, events, usage, feature credits, credits and invoices (S4 to S16).
 *
 * Decimals are Decimals, instants are milliseconds, and every record names the account that it belongs to; a store
 * writes and reads them as they are.
 *
 * @module
 */
import type { Address } from "../book/model/account.ts";
import type { PricePlanDetailsOverride } from "../book/model/price-plan.ts";
import type { CycleConfig } from "../calendar/cycle.ts";
import type { Day, Instant } from "../calendar/instant.ts";
import type { CreditKind } from "../credits/monetary-credits.ts";
import type { ClosedCycles } from "../invoicing/grace-period.ts";
import type { Invoice } from "../invoicing/invoice.ts";
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

/** An invoice group that an account was in, over the half-open `[from, until)` (S16.7). */
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
    /** Derived, retained or the plan's own, as it was when associated (S6.3). */
    readonly cycleConfig: CycleConfig;
    /** Retained from the plan before, in whole days; absent: the plan's own, or its override's (S16.5). */
    readonly gracePeriodDays?: number;
    readonly override?: PricePlanDetailsOverride;
  };
  readonly from: Instant;
  /** `NO_END` where none was given. */
  readonly until: Instant;
  /** When it was decided, from when on it is known (S9.2); for one of a book as the book says, before or after loading. */
  readonly decidedAt: Instant;
  /** When it was recorded, if that differs from `decidedAt`: for one that came with a book. */
  readonly recordedAt?: Instant;
}

/** A change of a license's quantity, in the order of arrival (S10.1). */
export interface LicenseUpdateRecord {
  readonly id: string;
  readonly licenseId: string;
  readonly updateType: "ABSOLUTE" | "RELATIVE";
  readonly quantity: Decimal;
  readonly effectiveFrom: Instant;
  /** Whether no effectiveFrom was given: it takes effect on arrival. */
  readonly fromArrival?: true;
  /** Whether it came with a book: then it is known from the beginning, whenever the book was loaded (S13.5). */
  readonly fromBook?: true;
  readonly createdAt: Instant;
  readonly idempotencyKey?: string;
}

/** Where an invoice that is not final yet, or not stored, may stand in the list of all invoices (S13.4). */
export interface DraftIndexEntry {
  /** The id that the draft has, and keeps when it is final. */
  readonly id: string;
  /** Lists go by it: the start of the cycle, of an AD_HOC invoice its date. */
  readonly listedAt: Instant;
  /** The billing period, `[start, end)`; it is drawn once it has begun. */
  readonly start: Instant;
  readonly end: Instant;
  /** When it becomes final. */
  readonly finalAt: Instant;
}

/** Where a credit that is not stored yet may stand in the list of all credits. */
export interface CreditPlace {
  /** The id that it will have. */
  readonly id: string;
  /** When it falls due; it is not there before. */
  readonly createdAt: Instant;
}

/** Drafts of invoices and due credits of an account, which lists show beside the stored ones. */
export interface DraftIndex {
  /** Up to when the places are complete, exclusive, unless a decision on the account changes them. */
  readonly until: Instant;
  /** In no order; some may turn out to have no lines, and so to be no invoice. */
  readonly places: readonly DraftIndexEntry[];
  /** Likewise; some may turn out to be none, or to be stored. Absent where an older release looked: nobody knows them. */
  readonly credits?: readonly CreditPlace[];
}

/** One account: who it is, and what was decided for it. Read and written whole. */
export interface AccountRecord {
  readonly id: string;
  readonly name: string;
  readonly customerId: string;
  readonly status: "ACTIVE" | "ARCHIVED";
  readonly invoiceCurrency: string;
  /** The present ones. */
  readonly aliases: readonly AliasRecord[];
  /** Those that were removed, each with its `removedAt`, in the order of removal; the latest thousand. */
  readonly pastAliases?: readonly AliasRecord[];
  readonly invoiceGroupId?: string;
  /** Since when the account is in its group; absent: since it was made. */
  readonly invoiceGroupFrom?: Instant;
  /** Groups that it was in, in order; the latest thousand. */
  readonly pastInvoiceGroups?: readonly PastInvoiceGroup[];
  readonly netTermDays?: number;
  readonly primaryEmail?: string;
  readonly address?: Address;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly tags?: readonly string[];
  readonly associations: readonly AssociationRecord[];
  readonly licenseUpdates: readonly LicenseUpdateRecord[];
  /** Everything that falls due up to and including this instant was done (S2.4). */
  readonly caughtUpTo: Instant;
  /** The next instant at which something falls due: before it, there is nothing to catch up with. */
  readonly nextDueAt: Instant;
  /** Cycles that stay closed: they closed before the account's group changed, or events of theirs have left (S6.5). */
  readonly closedCycles?: ClosedCycles;
  /** Absent where they were not worked out: then reads draw the account's drafts to find out. */
  readonly drafts?: DraftIndex;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
}

/** The feature credits that an event took (S11.4). */
export interface FeatureUse {
  readonly featureId: string;
  readonly quantity: Decimal;
  /** In the order taken. */
  readonly allocations: readonly { readonly entryId: string; readonly quantity: Decimal }[];
  readonly overage: Decimal;
}

/** The number of an event that is not stored yet: it comes after all that are. */
export const UNNUMBERED: number = Number.MAX_SAFE_INTEGER;

/** One stored event (S14). */
export interface EventRecord {
  readonly referenceId: string;
  /** Empty, as `customerId`, where no account has the name that was sent. */
  readonly accountId: string;
  readonly customerId: string;
  /**
   * Its place in the order of ingest, 1 or more: that of an event is greater than those of all events that its account had
   * before, so that "earliest ingested" never ties. The store gives it: an event that is new has {@link UNNUMBERED}.
   */
  readonly number: number;
  readonly eventId: string;
  readonly schemaName: string;
  /** Absent where no schema was active. */
  readonly schemaVersion?: number;
  readonly timestamp: Instant;
  /** When it was ingested. */
  readonly createdAt: Instant;
  /** As it was sent, its account id or alias included. */
  readonly payload: {
    readonly accountId: string;
    readonly attributes: readonly {
      readonly name: string;
      /** A text only where what was sent is no decimal within S1.3: the event failed, and the text is what was sent. */
      readonly value: Decimal | string;
      readonly unit?: string;
    }[];
    /** Texts, as rules see them. */
    readonly dimensions: Readonly<Record<string, string>>;
    /** The names of those that were sent as numbers; absent where there are none. */
    readonly numericDimensions?: readonly string[];
  };
  /** The outcome of its ingest; it stays what it was (S14.1). */
  readonly status: IngestStatus;
  /** Of an accepted event it follows from the status, so a store need not keep it. */
  readonly description: string;
  readonly reverted: boolean;
  /** The enriched fields. */
  readonly enriched: {
    readonly attributes: readonly { readonly name: string; readonly value: Decimal }[];
    readonly dimensions: Readonly<Record<string, string>>;
  };
  /** The units of each matching meter. */
  readonly units: readonly { readonly meterId: string; readonly quantity: Decimal }[];
  readonly feature?: FeatureUse;
}

/** The usage of a meter, or the overage of a feature, of one account on one UTC day. */
export interface LedgerCell {
  readonly accountId: string;
  readonly meterOrFeatureId: string;
  readonly day: Day;
  readonly quantity: Decimal;
}

/** An addition to the usage of a meter, or the overage of a feature, of one account on one UTC day. */
export interface UsageDelta extends Omit<LedgerCell, "quantity"> {
  /** May be below 0: an undo takes away what its event added. */
  readonly quantity: Exact;
}

/**
 * The usage from elsewhere that the invoice of a cycle was made of, as it was when the cycle closed; it never changes (S17.4). A cycle
 * that closed without any has one, too: what arrives later is late.
 */
export interface BilledUsage {
  /** That of the cycle's STANDARD invoice, also where there is none, for there was nothing to say. */
  readonly id: string;
  readonly accountId: string;
  /** The days of the cycle, `[from, until)`. */
  readonly from: Day;
  readonly until: Day;
  /** By meter, then day, each once; none is 0. */
  readonly cells: readonly { readonly meterId: string; readonly day: Day; readonly quantity: Decimal }[];
  /** Follows from the cells: another answer of the source has another one. */
  readonly digest: string;
  /** When the cycle closed. */
  readonly closedAt: Instant;
}

/** A feature credit entry as stored (S11). */
export interface EntryRecord {
  readonly id: string;
  readonly accountId: string;
  readonly featureId: string;
  /** A card's grant, or bought. */
  readonly source: "PRICE_PLAN" | "PURCHASE";
  readonly granted: Decimal;
  readonly balance: Decimal;
  readonly effectiveFrom: Instant;
  readonly effectiveUntil: Instant;
  readonly createdAt: Instant;
  readonly voided: boolean;
  /**
   * The cause of a card's grant, so that it is never made twice. Absent in entries with former, long ids, which hold it.
   */
  readonly key?: string;
  readonly idempotencyKey?: string;
  /** The values that the request with the idempotencyKey asked for, if the entry was changed since. */
  readonly asked?: { readonly granted: Decimal; readonly effectiveUntil: Instant };
  /** The latest timestamp among the events that spent the entry and have left the store since (S11.8). */
  readonly spentAtBefore?: Instant;
}

/** A monetary credit as stored; what is held is computed when read (S12.4). */
export interface CreditRecord {
  readonly id: string;
  readonly accountId: string;
  readonly customerId: string;
  readonly kind: CreditKind;
  /** What invoices say of it; as it was when it was made. */
  readonly purpose: string;
  readonly creditAmount: Decimal;
  readonly consumedAmount: Decimal;
  readonly currency: string;
  readonly priority: number;
  readonly effectiveFrom: Instant;
  readonly effectiveUntil?: Instant;
  readonly applicableEntityIds?: readonly string[];
  /** The cause of a credit that a plan or an invoice made, so that it is never made twice. */
  readonly cause?: string;
  readonly voided: boolean;
  readonly createdAt: Instant;
  readonly idempotencyKey?: string;
  readonly transactions: readonly { readonly invoiceId: string; readonly amount: Decimal; readonly at: Instant }[];
}

/** A final invoice; it never changes, but for a STANDARD one that its group merges (S13.4, S16.7). */
export interface InvoiceRecord {
  /** Follows from its account and key, so that the draft has the id of the final one. */
  readonly id: string;
  readonly accountId: string;
  /** Its type, cycle and date, unique within the account. Absent in invoices with former, long ids, which hold it. */
  readonly key?: string;
  readonly finalizedAt: Instant;
  readonly invoice: Invoice;
  /** The group that the account was in when the invoice became final (S16.7). */
  readonly invoiceGroupId?: string;
  /** The composite invoice that shows it. */
  readonly mergedInto?: string;
}
