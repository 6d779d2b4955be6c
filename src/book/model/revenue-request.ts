/**
 * The request for a revenue calculation (S13.5).
 *
 * @module
 */
import type { DecimalInput } from "../../numbers/decimal.ts";
import type { Maybe } from "./common-types.ts";
import type { PricePlanDetailsInput } from "./price-plan.ts";

/** One change of a license's quantity (S10.1). */
export interface LicenseEntryInput {
  /** Units. */
  readonly quantity: DecimalInput;
  /** A date-time with its zone, or a date; default the start of the cycle. */
  readonly effectiveFrom?: Maybe<string>;
  /** Whether `quantity` is the new quantity or is added to the one before; default ABSOLUTE. */
  readonly updateType?: Maybe<"ABSOLUTE" | "RELATIVE">;
}

/** Quantities by the id of what they are of, at most 500. */
export type ValuesById<Value> = Readonly<Record<string, Value>>;

/** A plan, a currency, and what is used of it in one cycle (S13.5). */
export interface RevenueRequestInput {
  /** Default the account's invoice currency, else the organization's. */
  readonly currencyConfig?: Maybe<{
    /** CUSTOM: `currency`; ACCOUNT_INVOICE: that of the account's invoices; default CUSTOM. */
    readonly mode?: Maybe<"CUSTOM" | "ACCOUNT_INVOICE">;
    /** ISO 4217, with CUSTOM. */
    readonly currency?: Maybe<string>;
    /** An account's id, with ACCOUNT_INVOICE. */
    readonly accountId?: Maybe<string>;
  }>;
  /** Where the plan is: given whole, a version of a stored one, or the one that an account has. */
  readonly pricePlanDetailsConfig:
    | { readonly mode: "CUSTOM"; readonly pricePlanDetails: PricePlanDetailsInput }
    | {
        /** A version of a plan that the store has. */
        readonly mode: "PRICE_PLAN";
        /** The id of the plan. */
        readonly pricePlanId: string;
        /** From 1; default the latest one, a DRAFT too. */
        readonly pricePlanVersion?: Maybe<number>;
      }
    /** The plan in force in the cycle, with what differs for the account. */
    | { readonly mode: "ACCOUNT"; readonly accountId: string };
  /** How much meters count: given, or what an account used in one of its cycles; default nothing. */
  readonly usageConfig?: Maybe<
    | { readonly mode: "CUSTOM"; readonly usageMap: ValuesById<DecimalInput> }
    | {
        /** What an account used in one of its cycles. */
        readonly mode: "LOOKUP_CYCLE";
        /** Default the account whose plan is asked for. */
        readonly accountId?: Maybe<string>;
        /** CURRENT: the cycle of now; LAST: the latest that has ended; default CURRENT. */
        readonly cycle?: Maybe<"CURRENT" | "LAST">;
        /** The cycle that holds this date, in place of `cycle`. */
        readonly date?: Maybe<string>;
      }
  >;
  /** By add-on a quantity for the whole cycle, or its changes in order of arrival; or a list of all. */
  readonly licenseEntriesConfig?: Maybe<
    | {
        /** As a list, in place of an object by add-on. */
        readonly mode: "CUSTOM";
        /** Each with its add-on. */
        readonly custom?: Maybe<
          readonly (Omit<LicenseEntryInput, "updateType"> & {
            /** The add-on. */
            readonly licenseId: string;
          })[]
        >;
      }
    | ValuesById<DecimalInput | readonly LicenseEntryInput[]>
  >;
  /** By feature the units used in the cycle beyond the entitlements; or a list of them. */
  readonly entitlementOverageConfig?: Maybe<
    | {
        /** As a list, in place of an object by feature. */
        readonly mode: "CUSTOM";
        /** Each with its feature. */
        readonly custom?: Maybe<
          readonly {
            /** The id of the feature. */
            readonly featureId: string;
            /** Units, 0 or more. */
            readonly quantity: DecimalInput;
          }[]
        >;
      }
    | ValuesById<DecimalInput>
  >;
  /** Which cycle is priced; default the one that holds today. */
  readonly cycleConfig?: Maybe<{
    /** A day of the cycle; default a day of the cycle that is looked up, else today. */
    readonly date?: Maybe<string>;
    /** Which cycle of the plan it is, 1 to 1,000; default the account's, else 1. */
    readonly cycleNumber?: Maybe<number>;
  }>;
  /** Whether lines carry explanations (S13.6); default false. */
  readonly explain?: Maybe<boolean>;
}
