/**
 * Price plans, in input form and as read (S6, S16.2, S16.4).
 *
 * @module
 */
import type { FreeForm, Maybe } from "./common-types.ts";
import type {
  BillingEntitlementRateCard,
  BillingEntitlementRateCardInput,
  CreditGrantRateCard,
  CreditGrantRateCardInput,
  EntitlementOverageRateCard,
  EntitlementOverageRateCardInput,
  MinimumCommitment,
  MinimumCommitmentInput,
} from "./grant-card.ts";
import type {
  FixedFeeRateCard,
  FixedFeeRateCardInput,
  LicenseRateCard,
  LicenseRateCardInput,
  UsageRateCard,
  UsageRateCardInput,
} from "./rate-card.ts";

/** When pricing cycles begin (S6.1, S6.3), and how long late events are accepted (S6.5). */
export interface PricingCycleConfig {
  /** The length of a natural cycle. */
  readonly interval: "WEEKLY" | "MONTHLY" | "QUARTERLY" | "HALF_YEARLY" | "ANNUALLY";
  /** The day, and in longer cycles the month, on which a cycle begins; default the first. */
  readonly startOffset?: Maybe<{
    /** `"1"` to `"31"` of the month, `"1"` (Monday) to `"7"` of the week, or `LAST`. */
    readonly dayOffset: string;
    /** `NIL` or absent for weekly and monthly cycles, else `"1"` to `"12"`, `FIRST` or `LAST`. */
    readonly monthOffset?: Maybe<string>;
  }>;
  /** Days after a cycle in which late events are accepted, 0 to 36,500; default 0. */
  readonly gracePeriod?: Maybe<number>;
  /** Whether cycles follow the date of the association instead (S6.3); default false. */
  readonly anniversaryCycle?: Maybe<boolean>;
}

/** The cards of a plan: at most one of a kind for each billable item; each list is empty by default. */
export interface RateCardsInput {
  /** Prices of metered usage (S7). */
  readonly usageRateCards?: Maybe<readonly UsageRateCardInput[]>;
  /** Fees that do not depend on a quantity (S9). */
  readonly fixedFeeRateCards?: Maybe<readonly FixedFeeRateCardInput[]>;
  /** Prices of licenses (S10). */
  readonly licenseRateCards?: Maybe<readonly LicenseRateCardInput[]>;
  /** Grants of feature credits, with their prices (S11.1). */
  readonly billingEntitlementRateCards?: Maybe<readonly BillingEntitlementRateCardInput[]>;
  /** Grants of monetary credits, with their prices (S12.6). */
  readonly creditGrantRateCards?: Maybe<readonly CreditGrantRateCardInput[]>;
  /** Prices of usage beyond entitlements (S11.7). */
  readonly entitlementOverageRateCards?: Maybe<readonly EntitlementOverageRateCardInput[]>;
  /** The minimum charge of a cycle (S13.3); default none. */
  readonly minimumCommitment?: Maybe<MinimumCommitmentInput>;
}
interface RateCards {
  readonly usageRateCards: readonly UsageRateCard[];
  readonly fixedFeeRateCards: readonly FixedFeeRateCard[];
  readonly licenseRateCards: readonly LicenseRateCard[];
  readonly billingEntitlementRateCards: readonly BillingEntitlementRateCard[];
  readonly creditGrantRateCards: readonly CreditGrantRateCard[];
  readonly entitlementOverageRateCards: readonly EntitlementOverageRateCard[];
  readonly minimumCommitment?: Maybe<MinimumCommitment>;
}

/** The fields of a plan besides its cards. */
interface PlanTerms {
  /** ISO 4217 codes, at most 200, for which every card has rates; required to associate the plan. */
  readonly supportedCurrencies?: Maybe<readonly string[]>;
  /** The currencies in which the plan is sold, at most 200; no effect on prices. */
  readonly activeCurrencies?: Maybe<readonly string[]>;
  /** When cycles begin; required to associate the plan. */
  readonly pricingCycleConfig?: Maybe<PricingCycleConfig>;
  /** Stored unchanged; no effect on prices. */
  readonly rateDetails?: Maybe<FreeForm>;
  /** Stored unchanged; no effect on prices. */
  readonly entitlementRateCards?: Maybe<readonly FreeForm[]>;
  /** Default BILLING. */
  readonly type?: Maybe<"BILLING">;
}

/** The prices of a plan. */
export interface PricePlanDetailsInput extends RateCardsInput, PlanTerms {}
/** The prices of a plan. */
export interface PricePlanDetails extends RateCards, PlanTerms {}

/** An override: an association's changes of a plan. Cards replace those of the same billable item, or are added (S16.2). */
export interface PricePlanDetailsOverrideInput extends RateCardsInput {
  /** Replaces that of the plan completely; default the plan's. */
  readonly pricingCycleConfig?: Maybe<PricingCycleConfig>;
}
/** An override: an association's changes of a plan (S16.2). */
export interface PricePlanDetailsOverride extends RateCards {
  readonly pricingCycleConfig?: Maybe<PricingCycleConfig>;
}

/** One version of a plan; several versions are several items with one id (S16.4). */
export interface PricePlanInput {
  /** 1 to 255 characters, without white space and slashes. */
  readonly id: string;
  /** 1 to 255 characters, unique among plans. */
  readonly name: string;
  /** Default BILLING. */
  readonly type?: Maybe<"BILLING">;
  /** Default DRAFT. */
  readonly status?: Maybe<"DRAFT" | "ACTIVE" | "ARCHIVED">;
  /** From 1; default 1. */
  readonly version?: Maybe<number>;
  /** For people. */
  readonly description?: Maybe<string>;
  /** The prices of the plan. */
  readonly pricePlanDetails: PricePlanDetailsInput;
}
/** One version of a plan (S16.4). */
export interface PricePlan {
  readonly id: string;
  readonly name: string;
  readonly type: "BILLING";
  readonly status: "DRAFT" | "ACTIVE" | "ARCHIVED";
  readonly version: number;
  readonly description?: Maybe<string>;
  readonly pricePlanDetails: PricePlanDetails;
}
