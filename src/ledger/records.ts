/**
 * What a ledger keeps, as plain data: accounts, events, usage, feature credits, credits and invoices (S4 to S16).
 *
 * Decimals are Decimals, instants are milliseconds, and every record names the account that it belongs to; a store
 * writes and reads them as they are.
 *
 * @module
 */
import type { Address } from "../book/resources/account.ts";
import type { PricePlanDetailsOverride } from "../book/resources/price-plan.ts";
import type { CycleConfig } from "../calendar/cycle.ts";
import type { Day, Instant } from "../calendar/instant.ts";
import type { Invoice } from "../invoicing/invoice.ts";
import type { Decimal } from "../numbers/decimal.ts";
import type { Exact } from "../numbers/exact.ts";
import type { IngestStatus } from "./outcome.ts";

/** An alias of an account, over the half-open `[createdAt, removedAt)` (S16.6). */
export interface AliasRecord {
  readonly alias: string;
  readonly createdAt: Instant;
  /** Absent while it holds. */
  readonly removedAt?: Instant;
}

/** An invoice group that an account was in, over the half-open `[from, until)` (S16.7). */
export interface PastInvoiceGroup {
  readonly invoiceGroupId: string;
  readonly from: Instant;
  readonly until: Instant;
}

/** What was decided about an account's plan, in the order of decision (S16.1). */
export interface AssociationRecord {
  readonly id: string;
  /** Absent: dissociated. */
  readonly plan?: {
    readonly planId: string;
    readonly version: number;
    /** Derived, retained or the plan's own, as it was when associated (S6.3). */
    readonly cycleConfig: CycleConfig;
    readonly override?: PricePlanDetailsOverride;
  };
  readonly from: Instant;
  /** `NO_END` where none was given. */
  readonly until: Instant;
  /** From when on it is known (S9.2); of a book, what the book says, before or after it was loaded. */
  readonly decidedAt: Instant;
  /** When it was put on record, where that is not when it was decided: a book was loaded. */
  readonly recordedAt?: Instant;
}

/** A change of a license's quantity, in the order of arrival (S10.1). */
export interface LicenseUpdateRecord {
  readonly id: string;
  readonly licenseId: string;
  readonly updateType: "ABSOLUTE" | "RELATIVE";
  readonly quantity: Decimal;
  readonly effectiveFrom: Instant;
  /** Nobody said from when on: it takes effect when it arrived. */
  readonly fromArrival?: true;
  /** It came with a book: known from the start, whenever that was loaded (S13.5). */
  readonly fromBook?: true;
  readonly createdAt: Instant;
  readonly idempotencyKey?: string;
}

/** One account: who it is, and what was decided for it. Read and written whole. */
export interface AccountRecord {
  readonly id: string;
  readonly name: string;
  readonly customerId: string;
  readonly status: "ACTIVE" | "ARCHIVED";
  readonly invoiceCurrency: string;
  /** Those that hold now. */
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
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
}

/** What an event took of a feature (S11.4). */
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
    readonly dimensions: Readonly<Record<string, string>>;
  };
  /** The outcome of its ingest; it stays what it was (S14.1). */
  readonly status: IngestStatus;
  readonly description: string;
  readonly reverted: boolean;
  /** What enrichment added. */
  readonly enriched: {
    readonly attributes: readonly { readonly name: string; readonly value: Decimal }[];
    readonly dimensions: Readonly<Record<string, string>>;
  };
  /** What each matching meter measured. */
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

/** What is added to the usage of a meter, or the overage of a feature, of one account on one UTC day. */
export interface UsageDelta extends Omit<LedgerCell, "quantity"> {
  /** May be below 0: an undo takes away what its event added. */
  readonly quantity: Exact;
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
   * What a card's grant was made for, so that it is never made twice. Absent where ids were not short yet: they hold it.
   */
  readonly key?: string;
  readonly idempotencyKey?: string;
  /** What was asked for under the key, where it was changed since. */
  readonly asked?: { readonly granted: Decimal; readonly effectiveUntil: Instant };
}

/** A monetary credit as stored; what is held is computed when read (S12.4). */
export interface CreditRecord {
  readonly id: string;
  readonly accountId: string;
  readonly customerId: string;
  readonly purpose: string;
  readonly creditAmount: Decimal;
  readonly consumedAmount: Decimal;
  readonly currency: string;
  readonly priority: number;
  readonly effectiveFrom: Instant;
  readonly effectiveUntil?: Instant;
  readonly applicableEntityIds?: readonly string[];
  /** Made by a plan or an invoice: by what, so that it is never made twice. */
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
  /** Its type, cycle and date: what it is made for, once. Absent where ids were not short yet: they hold it. */
  readonly key?: string;
  readonly finalizedAt: Instant;
  readonly invoice: Invoice;
  /** The group that the account was in when the invoice became final (S16.7). */
  readonly invoiceGroupId?: string;
  /** The composite invoice that shows it. */
  readonly mergedInto?: string;
}
