/**
 * Customers, accounts and invoice groups, in input form and as read (S10 to S12, S16). In input form, a date is a text
 * such as `2024-06-01`, or a date-time that is midnight UTC; a moment is a date-time with its zone, or a date. When
 * read, both are milliseconds since 1970, UTC.
 *
 * @module
 */
import type { Instant } from "../../calendar/instant.ts";
import type { Decimal, DecimalInput } from "../../numbers/decimal.ts";
import type { FreeForm, Maybe } from "./common-types.ts";
import type { PricePlanDetailsOverride, PricePlanDetailsOverrideInput } from "./price-plan.ts";

export type Status = "ACTIVE" | "ARCHIVED";

/** A postal address, stored unchanged. */
export interface Address {
  /** A text. */
  readonly phoneNumber?: Maybe<string>;
  /** The first line, such as street and number. */
  readonly line1?: Maybe<string>;
  /** The second line. */
  readonly line2?: Maybe<string>;
  /** A text. */
  readonly postalCode?: Maybe<string>;
  /** A text. */
  readonly city?: Maybe<string>;
  /** A text. */
  readonly state?: Maybe<string>;
  /** A text. */
  readonly country?: Maybe<string>;
}

/** A customer owns accounts. */
export interface CustomerInput {
  /** 1 to 50 characters, without white space and slashes. */
  readonly id: string;
  /** 3 to 255 characters. */
  readonly name: string;
  /** An e-mail address of at most 255 characters. */
  readonly primaryEmail?: Maybe<string>;
  /** The postal address, for invoices. */
  readonly address?: Maybe<Address>;
  /** Default ACTIVE. */
  readonly status?: Maybe<Status>;
}
/** A customer owns accounts. */
export interface Customer extends Omit<CustomerInput, "status"> {
  readonly status: Status;
}

/** A plan that an account has on the days from `effectiveFrom` up to, but not including, `effectiveUntil` (S16.1). */
export interface PlanAssociationInput {
  /** The id or the name of a price plan. */
  readonly pricePlanId: string;
  /** From 1; default the latest ACTIVE version, else the latest DRAFT. */
  readonly version?: Maybe<number>;
  /** A date, inclusive. */
  readonly effectiveFrom: string;
  /** A date, exclusive; default no end. */
  readonly effectiveUntil?: Maybe<string>;
  /** The moment of the decision (S9.2): of two that overlap the later one takes precedence; default `effectiveFrom`. */
  readonly decidedAt?: Maybe<string>;
  /** Changes of the plan for this account (S16.2); default none. */
  readonly pricePlanDetailsOverride?: Maybe<PricePlanDetailsOverrideInput>;
  /** Whether the cycles of the previous plan are kept (S16.5); default false. */
  readonly retainStartOffsets?: Maybe<boolean>;
}
/** A plan over [effectiveFrom, effectiveUntil), UTC days (S16.1). */
export interface PlanAssociation {
  readonly pricePlanId: string;
  readonly version: number;
  readonly effectiveFrom: Instant;
  readonly effectiveUntil?: Maybe<Instant>;
  /** When the association was made (S9.2); default its effectiveFrom. */
  readonly decidedAt?: Maybe<Instant>;
  readonly pricePlanDetailsOverride?: Maybe<PricePlanDetailsOverride>;
  readonly retainStartOffsets?: Maybe<boolean>;
}

/** A change of a license's quantity (S10.1). */
export interface LicenseUpdateInput {
  /** The id or the name of an add-on of the type LICENSE. */
  readonly licenseId: string;
  /** Whether `quantity` is the new quantity or is added to the previous one; default ABSOLUTE. */
  readonly updateType?: Maybe<"ABSOLUTE" | "RELATIVE">;
  /** Units. */
  readonly quantity: DecimalInput;
  /** A moment. */
  readonly effectiveFrom: string;
  /** Stored unchanged; unique in the list of its account. */
  readonly idempotencyKey?: Maybe<string>;
}
/** A change of a license's quantity (S10.1). */
export interface LicenseUpdate {
  readonly licenseId: string;
  readonly updateType: "ABSOLUTE" | "RELATIVE";
  readonly quantity: Decimal;
  readonly effectiveFrom: Instant;
  readonly idempotencyKey?: Maybe<string>;
}

/** Money that pays invoice lines (S12). */
export interface CreditInput {
  /** 1 to 512 characters; default `<account>.credit.<n>`. */
  readonly id?: Maybe<string>;
  /** The description on invoices. */
  readonly purpose: string;
  /** In the account's invoice currency, 0 or more. */
  readonly creditAmount: DecimalInput;
  /** Lower ones pay first, a whole number; default 0 (S12.1). */
  readonly priority?: Maybe<number>;
  /** A date, inclusive. */
  readonly effectiveFrom: string;
  /** A date, exclusive; default no end. */
  readonly effectiveUntil?: Maybe<string>;
  /** The items that it can pay for: ids of meters, add-ons and features, or `ALL_…_RATE_CARDS`; default all (S12.2). */
  readonly applicableEntityIds?: Maybe<readonly string[]>;
}
/** Money that pays invoice lines (S12). */
export interface Credit {
  readonly id: string;
  readonly purpose: string;
  readonly creditAmount: Decimal;
  readonly priority: number;
  readonly effectiveFrom: Instant;
  readonly effectiveUntil?: Maybe<Instant>;
  readonly applicableEntityIds?: Maybe<readonly string[]>;
}

/** A purchased feature credit entry (S11). */
export interface FeatureCreditInput {
  /** 1 to 512 characters; default `<account>.featureCredit.<n>`. */
  readonly id?: Maybe<string>;
  /** The id or the name of a feature. */
  readonly featureId: string;
  /** Units, 0 or more. */
  readonly granted: DecimalInput;
  /** A moment, inclusive. */
  readonly effectiveFrom: string;
  /** A moment, exclusive. */
  readonly effectiveUntil: string;
}
/** A purchased feature credit entry (S11). */
export interface FeatureCredit {
  readonly id: string;
  readonly featureId: string;
  readonly granted: Decimal;
  readonly effectiveFrom: Instant;
  readonly effectiveUntil: Instant;
}

/** Another name of an account, which events may use (S16.6): a text, or a text with its status. */
export type AliasInput =
  | string
  | {
      /** 3 to 50 characters, without white space and slashes. */
      readonly alias: string;
      /** Default ACTIVE; an archived one names no account. */
      readonly status?: Maybe<Status>;
    };

/** An account: events refer to it, and its customer pays its invoices. */
export interface AccountInput {
  /** 1 to 50 characters, without white space and slashes. */
  readonly id: string;
  /** 3 to 255 characters. */
  readonly name: string;
  /** The id or the name of a customer. */
  readonly customerId: string;
  /** Default ACTIVE. */
  readonly status?: Maybe<Status>;
  /** ISO 4217; default the organization's. */
  readonly invoiceCurrency?: Maybe<string>;
  /** At most 10 other names that events may use; default none. */
  readonly aliases?: Maybe<readonly AliasInput[]>;
  /** The postal address, for invoices. */
  readonly address?: Maybe<Address>;
  /** An e-mail address of at most 255 characters. */
  readonly primaryEmail?: Maybe<string>;
  /** Days from an invoice to its due date, 0 to 36,500; default 0. */
  readonly netTermDays?: Maybe<number>;
  /** Stored unchanged. */
  readonly metadata?: Maybe<FreeForm>;
  /** Stored unchanged. */
  readonly tags?: Maybe<readonly string[]>;
  /** Its past, current and future plans; default none. */
  readonly pricePlans?: Maybe<readonly PlanAssociationInput[]>;
  /** Changes of its license quantities; default none. */
  readonly licenseUpdates?: Maybe<readonly LicenseUpdateInput[]>;
  /** Money that pays its invoices; default none. */
  readonly credits?: Maybe<readonly CreditInput[]>;
  /** Purchased feature credits; default none. */
  readonly featureCredits?: Maybe<readonly FeatureCreditInput[]>;
}
/** An account: events refer to it, and its customer pays its invoices. */
export interface Account {
  readonly id: string;
  readonly name: string;
  readonly customerId: string;
  readonly status: Status;
  readonly invoiceCurrency: string;
  /** The aliases that are active. */
  readonly aliases: readonly string[];
  readonly address?: Maybe<Address>;
  readonly primaryEmail?: Maybe<string>;
  readonly netTermDays?: Maybe<number>;
  readonly metadata?: Maybe<FreeForm>;
  readonly tags?: Maybe<readonly string[]>;
  /** In list order; `sortByDecision` sorts them by decision (S9.2, S16.1). */
  readonly pricePlans: readonly PlanAssociation[];
  readonly licenseUpdates: readonly LicenseUpdate[];
  readonly credits: readonly Credit[];
  readonly featureCredits: readonly FeatureCredit[];
}

/** Consolidates the invoices of several accounts (S16.7). */
export interface InvoiceGroupInput {
  /** 1 to 512 characters, without white space and slashes. */
  readonly id: string;
  /** 1 to 255 characters; default the id. */
  readonly name?: Maybe<string>;
  /** An e-mail address of at most 255 characters. */
  readonly email?: Maybe<string>;
  /** Whether invoices of one day become one; default false. */
  readonly dailyInvoiceConsolidation?: Maybe<boolean>;
  /** Days after a cycle, 0 to 36,500; takes precedence over the plan's. */
  readonly gracePeriod?: Maybe<number>;
  /** Days, 0 to 36,500; takes precedence over the accounts'. */
  readonly netTermDays?: Maybe<number>;
  /** ISO 4217: the currency of all its accounts; default that of its first. */
  readonly invoiceCurrency?: Maybe<string>;
  /** The postal address, for invoices. */
  readonly address?: Maybe<Address>;
  /** The recipient of invoices; stored unchanged. */
  readonly billingAddress?: Maybe<Address>;
  /** Ids or names of accounts, each in one group; default none. */
  readonly accountIds?: Maybe<readonly string[]>;
}
/** Consolidates the invoices of several accounts (S16.7). */
export interface InvoiceGroup extends Omit<InvoiceGroupInput, "name" | "dailyInvoiceConsolidation" | "accountIds"> {
  readonly name: string;
  readonly dailyInvoiceConsolidation: boolean;
  readonly accountIds: readonly string[];
}
