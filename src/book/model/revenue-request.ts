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
  /** Whether `quantity` is the new quantity or is added to the previous one; default ABSOLUTE. */
  readonly updateType?: Maybe<"ABSOLUTE" | "RELATIVE">;
}

/** Quantities by id, at most 500. */
export type ValuesById<Value> = Readonly<Record<string, Value>>;

/** A plan, a currency, and the usage of one cycle (S13.5). */
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
  /** The plan: given completely, a stored version, or that of an account. */
  readonly pricePlanDetailsConfig:
    | { readonly mode: "CUSTOM"; readonly pricePlanDetails: PricePlanDetailsInput }
    | {
        /** A stored plan version. */
        readonly mode: "PRICE_PLAN";
        /** The id of the plan. */
        readonly pricePlanId: string;
        /** From 1; default the latest one, including a DRAFT. */
        readonly pricePlanVersion?: Maybe<number>;
      }
    /** The plan in force in the cycle, with the account's override. */
    | { readonly mode: "ACCOUNT"; readonly accountId: string };
  /** Units by meter: given, or an account's usage in one of its cycles; default none. */
  readonly usageConfig?: Maybe<
    | { readonly mode: "CUSTOM"; readonly usageMap: ValuesById<DecimalInput> }
    | {
        /** An account's usage in one of its cycles. */
        readonly mode: "LOOKUP_CYCLE";
        /** Default: the account of the plan. */
        readonly accountId?: Maybe<string>;
        /** CURRENT: the current cycle; LAST: the latest one that has ended; default CURRENT. */
        readonly cycle?: Maybe<"CURRENT" | "LAST">;
        /** The cycle that contains this date, instead of `cycle`. */
        readonly date?: Maybe<string>;
      }
  >;
  /** By add-on, the quantity of the whole cycle or its changes in order of arrival; or a list. */
  readonly licenseEntriesConfig?: Maybe<
    | {
        /** As a list instead of an object by add-on. */
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
  /** By feature, the units used beyond the entitlements in the cycle; or a list. */
  readonly entitlementOverageConfig?: Maybe<
    | {
        /** As a list instead of an object by feature. */
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
  /** The priced cycle; default the one that contains today. */
  readonly cycleConfig?: Maybe<{
    /** A day of the cycle; default a day of the looked-up cycle, else today. */
    readonly date?: Maybe<string>;
    /** The number of the cycle in the plan, 1 to 1,000; default the account's, else 1. */
    readonly cycleNumber?: Maybe<number>;
  }>;
  /** Whether lines have explanations (S13.6); default false. */
  readonly explain?: Maybe<boolean>;
}
