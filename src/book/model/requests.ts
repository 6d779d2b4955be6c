/**
 * Requests for operations on accounts and their records. A day is a date, or an instant that is midnight UTC; an
 * instant is milliseconds since 1970, a `Date`, a date-time with its zone, or a date.
 *
 * @module
 */
import type { InstantInput } from "../../calendar/instant.ts";
import type { DecimalInput } from "../../numbers/decimal.ts";
import type { Address } from "../resources/account.ts";
import type { SettingDataType } from "../resources/catalog-items.ts";
import type { PricePlanDetailsOverrideInput, PricingCycleConfig } from "../resources/price-plan.ts";
import type { FreeForm, Maybe } from "./common-types.ts";

/** A setting created with its customer or account (S4.2). */
export interface EntitySettingRequest {
  /** 1 to 255 letters, digits, `_` and `-`. */
  readonly id: string;
  /** 1 to 255 letters, digits, `_` and `-`. */
  readonly namespace: string;
  /** 1 to 255 characters. */
  readonly name: string;
  /** How `value` is read. */
  readonly dataType: SettingDataType;
  /** A string that parses as the data type. */
  readonly value: string;
}

/** A new account. */
export interface AccountRequest {
  /** 1 to 50 characters, without white space and slashes; no other account's id or alias. */
  readonly id: string;
  /** 3 to 255 characters. */
  readonly name: string;
  /** The id of a customer that is not archived. */
  readonly customerId: string;
  /** ISO 4217; default the organization's base currency. */
  readonly invoiceCurrency?: Maybe<string>;
  /** At most 10 of 3 to 50 characters (S16.6); default none. */
  readonly aliases?: Maybe<readonly string[]>;
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
  /** At most 10 settings of its own; default none. */
  readonly settings?: Maybe<readonly EntitySettingRequest[]>;
}
/** Changes of an account: omitted fields stay, null clears. */
export interface AccountPatch {
  /** 3 to 255 characters; it cannot be cleared. */
  readonly name?: string | undefined;
  /** The postal address, for invoices. */
  readonly address?: Maybe<Address>;
  /** An e-mail address of at most 255 characters. */
  readonly primaryEmail?: Maybe<string>;
  /** Days from an invoice to its due date, 0 to 36,500. */
  readonly netTermDays?: Maybe<number>;
  /** Stored unchanged. */
  readonly metadata?: Maybe<FreeForm>;
  /** Stored unchanged. */
  readonly tags?: Maybe<readonly string[]>;
}

/** A new customer, with its first account. */
export interface CustomerRequest {
  /** 1 to 50 characters, without white space and slashes. */
  readonly id: string;
  /** 3 to 255 characters. */
  readonly name: string;
  /** An e-mail address of at most 255 characters. */
  readonly primaryEmail?: Maybe<string>;
  /** The postal address, for invoices. */
  readonly address?: Maybe<Address>;
  /** At most 10 settings of its own; default none. */
  readonly settings?: Maybe<readonly EntitySettingRequest[]>;
  /** Created with the customer, both or none; default no account. */
  readonly account?: Maybe<Omit<AccountRequest, "customerId">>;
}
/** Changes of a customer: omitted fields stay, null clears. */
export interface CustomerPatch {
  /** 3 to 255 characters; it cannot be cleared. */
  readonly name?: string | undefined;
  /** An e-mail address of at most 255 characters. */
  readonly primaryEmail?: Maybe<string>;
  /** The postal address, for invoices. */
  readonly address?: Maybe<Address>;
}

/** A new alias (S16.6). */
export interface AliasRequest {
  /** 3 to 50 characters, without white space and slashes. */
  readonly value: string;
  /** The account that it names; default none. */
  readonly accountId?: Maybe<string>;
}

/** A plan for an account, on the days from `effectiveFrom` up to, but not including, `effectiveUntil` (S16.1). */
export interface AssociationRequest {
  /** The id of a price plan with an ACTIVE version. */
  readonly pricePlanId: string;
  /** From 1; default the latest ACTIVE one. */
  readonly version?: Maybe<number>;
  /** A day, inclusive. */
  readonly effectiveFrom: InstantInput;
  /** A day, exclusive; default no end. */
  readonly effectiveUntil?: Maybe<InstantInput>;
  /** Changes of the plan for this account (S16.2); default none. */
  readonly pricePlanDetailsOverride?: Maybe<PricePlanDetailsOverrideInput>;
  /** Whether the cycles of the previous plan are kept (S16.5); default false. */
  readonly retainStartOffsets?: Maybe<boolean>;
}
/** The days on which an account will have no plan (S16.1). */
export interface DissociationRequest {
  /** A day, inclusive. */
  readonly effectiveFrom: InstantInput;
  /** A day, exclusive; default no end. */
  readonly effectiveUntil?: Maybe<InstantInput>;
  /** If given, the days may have no other plan. */
  readonly pricePlanId?: Maybe<string>;
  /** If given, the days may have no other version. */
  readonly version?: Maybe<number>;
}
/** When a migration moves accounts, and whether overrides are kept (S16.5). */
export type MigrationMode = "IMMEDIATE" | "IMMEDIATE_IGNORE_OVERRIDE" | "NEXT_CYCLE" | "NEXT_CYCLE_IGNORE_OVERRIDE";

/** A move of every account on one version of a plan to another (S16.5). */
export interface MigrationRequest {
  /** The id of the accounts' current plan. */
  readonly sourceId: string;
  /** From 1. */
  readonly sourceVersion: number;
  /** The id of their new plan. */
  readonly targetId: string;
  /** From 1; it must be ACTIVE. */
  readonly targetVersion: number;
  /** When accounts move, and whether overrides are kept. */
  readonly mode: MigrationMode;
  /** Whether cycles keep their start days; default false. */
  readonly retainStartOffsets?: Maybe<boolean>;
  /** When cycles begin; default: as in the target. */
  readonly pricingCycleConfig?: Maybe<PricingCycleConfig>;
}

/** A change of a license's quantity (S10.1). */
export interface LicenseUpdateRequest {
  /** The id of an add-on of the type LICENSE. */
  readonly licenseId: string;
  /** Whether `quantity` is the new quantity or is added to the previous one. */
  readonly updateType: "ABSOLUTE" | "RELATIVE";
  /** Units. */
  readonly quantity: DecimalInput;
  /** An instant; default now. */
  readonly effectiveFrom?: Maybe<InstantInput>;
  /** 1 to 255 characters: a repeated request with the same key has no further effect. */
  readonly idempotencyKey?: Maybe<string>;
}
/** Feature credits purchased for an account (S11). */
export interface EntryGrantRequest {
  /** Units, 0 or more. */
  readonly granted: DecimalInput;
  /** An instant, inclusive. */
  readonly effectiveFrom: InstantInput;
  /** An instant, exclusive. */
  readonly effectiveUntil: InstantInput;
  /** 1 to 255 characters: a repeated request with the same key has no further effect. */
  readonly idempotencyKey?: Maybe<string>;
}
/** Changes of a feature credit entry; omitted fields stay. */
export interface EntryPatch {
  /** Units, 0 or more; not below the amount spent. */
  readonly granted?: Maybe<DecimalInput>;
  /** An instant, exclusive; after the last event that spent it. */
  readonly effectiveUntil?: Maybe<InstantInput>;
}
/** Money for an account (S12). */
export interface CreditRequest {
  /** The account's id. */
  readonly accountId: string;
  /** The description on invoices, 1 to 255 characters. */
  readonly purpose: string;
  /** In the account's invoice currency, more than 0. */
  readonly creditAmount: DecimalInput;
  /** Lower ones pay first, a whole number (S12.1). */
  readonly priority: number;
  /** A day, inclusive. */
  readonly effectiveFrom: InstantInput;
  /** A day, exclusive; default no end. */
  readonly effectiveUntil?: Maybe<InstantInput>;
  /** The items that it can pay for: ids of meters, add-ons and features, or `ALL_…_RATE_CARDS`; default all (S12.2). */
  readonly applicableEntityIds?: Maybe<readonly string[]>;
  /** 1 to 255 characters: a repeated request with the same key has no further effect. */
  readonly idempotencyKey?: Maybe<string>;
}

/** A new invoice group (S16.7). */
export interface InvoiceGroupRequest {
  /** 1 to 255 characters. */
  readonly name: string;
  /** An e-mail address of at most 255 characters. */
  readonly email: string;
  /** Whether invoices of one day become one. */
  readonly dailyInvoiceConsolidation: boolean;
  /** Its accounts, 1 to 100 ids. */
  readonly accountIds: readonly string[];
  /** Days, 0 to 36,500; takes precedence over the accounts'. */
  readonly netTermDays?: Maybe<number>;
  /** Days after a cycle, 0 to 36,500; takes precedence over the plan's. */
  readonly gracePeriod?: Maybe<number>;
  /** The postal address, for invoices. */
  readonly address?: Maybe<Address>;
}

/** A metric: units of meters, stored events, or the price of usage. */
export type MetricName = "USAGE" | "EVENTS" | "REVENUE";
/** The length of a point; days begin at midnight UTC, weeks on Monday, months on the first. */
export type AggregationPeriod = "HOUR" | "DAY" | "WEEK" | "MONTH";
/** A field by which series are grouped and filtered. */
export type MetricField = "ACCOUNT_ID" | "USAGE_METER_ID" | "SCHEMA_NAME" | "EVENT_STATUS";

/** One series, or one for each value of a field. */
export interface MetricQuery {
  /** Identifies the result, 1 to 50 characters; unique in the request. */
  readonly id: string;
  /** What is summed: usage of meters, events, or revenue. */
  readonly name: MetricName;
  /** How long a point of the series is, in UTC. */
  readonly aggregationPeriod: AggregationPeriod;
  /** Default: one series of everything. */
  readonly groupBy?: Maybe<MetricField>;
  /** At most 4; events must match all filters, and any value of each; default all events. */
  readonly filters?: Maybe<
    readonly {
      /** The field to match. */
      readonly fieldName: MetricField;
      /** Any of these values, 1 to 100. */
      readonly fieldValues: readonly string[];
    }[]
  >;
}
/** Metrics over the time from `startTime` up to, but not including, `endTime`. */
export interface MetricsRequestInput {
  /** An instant, inclusive. */
  readonly startTime: InstantInput;
  /** An instant, exclusive. */
  readonly endTime: InstantInput;
  /** 1 to 5. */
  readonly metricQueries: readonly MetricQuery[];
}
