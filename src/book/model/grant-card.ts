/**
 * Rate cards of features and credits, in input form and as read (S11, S12, S13.3).
 *
 * @module
 */
import type { Decimal, DecimalInput } from "../../numbers/decimal.ts";
import type { Maybe } from "./common-types.ts";
import type {
  FixedRateValue,
  FixedRateValueInput,
  InvoiceTiming,
  PriceType,
  PricingModel,
  RatePlan,
  RatePlanInput,
  RateValue,
  RateValueInput,
  Recurrence,
  RecurrenceConfig,
  DisplayFields,
  Slab,
  SlabInput,
  SlabRate,
  SlabRateInput,
} from "./rate-card.ts";

/** One entry that a billing entitlement card grants (S11.1). */
export interface FeatureConfigInput {
  /** Units granted, 0 or more. */
  readonly featureCreditLimit: DecimalInput;
  /** When the entry begins, as an ISO 8601 duration from the grant; default `PT0S`. */
  readonly effectiveFrom?: Maybe<string>;
  /** When the entry ends, as an ISO 8601 duration from the grant, such as `P1M`. */
  readonly effectiveUntil: string;
}
/** One entry that a billing entitlement card grants (S11.1). */
export interface FeatureConfig {
  readonly featureCreditLimit: Decimal;
  readonly effectiveFrom: string;
  readonly effectiveUntil: string;
}

/** Grants feature credits each recurring cycle, and prices the sum of their limits (S11.1). */
export interface BillingEntitlementRateCardInput extends DisplayFields {
  /** The id or the name of a feature. */
  readonly featureId: string;
  /** The granted entries, at least one. */
  readonly featureConfigs: readonly FeatureConfigInput[];
  /** The slabs, and whether they are TIERED or VOLUME. */
  readonly ratePlan: RatePlanInput;
  /** The rates in each currency that the plan supports. */
  readonly rateValues: readonly RateValueInput[];
  /** Default IN_ARREARS. */
  readonly invoiceTiming?: Maybe<InvoiceTiming>;
  /** Default every cycle. */
  readonly recurrenceConfig?: Maybe<RecurrenceConfig>;
}
/** Grants feature credits each recurring cycle, and prices the sum of their limits (S11.1). */
export interface BillingEntitlementRateCard extends DisplayFields {
  readonly featureId: string;
  readonly featureConfigs: readonly FeatureConfig[];
  readonly ratePlan: RatePlan;
  readonly rateValues: readonly RateValue[];
  readonly invoiceTiming: InvoiceTiming;
  readonly recurrenceConfig?: Maybe<RecurrenceConfig>;
}

/** A slab with its rate: the slabs that price a credit grant (S12.6). */
export interface GrantSlabInput extends Omit<SlabInput, "order">, Omit<SlabRateInput, "order"> {
  /** 1 for the first slab; default its position in the list. */
  readonly order?: Maybe<number>;
}
/** A slab with its rate (S12.6). */
export interface GrantSlab extends Omit<Slab, "order">, Omit<SlabRate, "order"> {
  readonly order?: Maybe<number>;
  readonly priceType: PriceType;
}

/** How granted credits are spent and when they expire (S12.6). */
export interface GrantDetailsInput {
  /** Lower ones are spent first, a whole number; default 0. */
  readonly priority?: Maybe<number>;
  /** With the cycle, never, or after `expiryDuration`. */
  readonly expiryType: "PRICING_CYCLE" | "NO_EXPIRY" | "CUSTOM";
  /** An ISO 8601 duration from the grant; CUSTOM needs it. */
  readonly expiryDuration?: Maybe<string>;
  /** The items that the credits can pay for: ids of meters, add-ons and features, or `ALL_…_RATE_CARDS`; default all (S12.2). */
  readonly applicableEntityIds?: Maybe<readonly string[]>;
}
/** How granted credits are spent and when they expire (S12.6). */
export interface GrantDetails {
  readonly priority: number;
  readonly expiryType: "PRICING_CYCLE" | "NO_EXPIRY" | "CUSTOM";
  readonly expiryDuration?: Maybe<string>;
  readonly applicableEntityIds?: Maybe<readonly string[]>;
}

/** Grants monetary credits each recurring cycle, and prices them (S12.6). */
export interface CreditGrantRateCardInput extends DisplayFields {
  /** The id or the name of an add-on of the type CREDIT_GRANT. */
  readonly id: string;
  /** Default RECURRING. */
  readonly type?: Maybe<Recurrence>;
  /** The grant and its price. */
  readonly rateDetails: {
    /** Whether each slab prices its own units (TIERED) or all of them (VOLUME). */
    readonly pricingModel: PricingModel;
    /** At least one: the grant and its price in each currency. */
    readonly currencySlabRateDetails: readonly {
      /** ISO 4217, such as `USD`. */
      readonly currency: string;
      /** The amount granted, in the currency, 0 or more. */
      readonly creditAmount: DecimalInput;
      /** The price of the grant, at least one slab. */
      readonly slabDetails: readonly GrantSlabInput[];
    }[];
  };
  /** How the credits are spent and when they expire. */
  readonly grantDetails: GrantDetailsInput;
  /** Default IN_ARREARS. */
  readonly invoiceTiming?: Maybe<InvoiceTiming>;
  /** Default every cycle. */
  readonly recurrenceConfig?: Maybe<RecurrenceConfig>;
}
/** Grants monetary credits each recurring cycle, and prices them (S12.6). */
export interface CreditGrantRateCard extends DisplayFields {
  readonly id: string;
  readonly type: Recurrence;
  readonly rateDetails: {
    readonly pricingModel: PricingModel;
    readonly currencySlabRateDetails: readonly {
      readonly currency: string;
      readonly creditAmount: Decimal;
      readonly slabDetails: readonly GrantSlab[];
    }[];
  };
  readonly grantDetails: GrantDetails;
  readonly invoiceTiming: InvoiceTiming;
  readonly recurrenceConfig?: Maybe<RecurrenceConfig>;
}

/** Prices consumption beyond the entitlements (S11.7). */
export interface EntitlementOverageRateCardInput extends DisplayFields {
  /** The id or the name of a feature. */
  readonly featureId: string;
  /** The slabs, and whether they are TIERED or VOLUME. */
  readonly ratePlan: RatePlanInput;
  /** The rates in each currency that the plan supports. */
  readonly rateValues: readonly RateValueInput[];
  /** Maximum units of overage in a billing window, a whole number from 0; default no limit (S11.3). */
  readonly maxQuantity?: Maybe<DecimalInput>;
  /** Cycles that are billed together; default each separately. */
  readonly billingConfig?: Maybe<{
    /** Cycles, 1 to 10,000; default 1. */
    readonly interval?: Maybe<number>;
    /** Cycles before the first, 0 to 10,000; default 0. */
    readonly startOffset?: Maybe<number>;
  }>;
}
/** Prices consumption beyond the entitlements (S11.7). */
export interface EntitlementOverageRateCard extends DisplayFields {
  readonly featureId: string;
  readonly ratePlan: RatePlan;
  readonly rateValues: readonly RateValue[];
  readonly maxQuantity?: Maybe<Decimal>;
  readonly billingConfig?: Maybe<{ readonly interval?: Maybe<number>; readonly startOffset?: Maybe<number> }>;
}

/** The minimum charge of a cycle (S13.3). */
export interface MinimumCommitmentInput {
  /** The name on invoices, at most 255 characters. */
  readonly displayName?: Maybe<string>;
  /** The minimum amount in each currency that the plan supports. */
  readonly rateValues: readonly FixedRateValueInput[];
}
/** The minimum charge of a cycle (S13.3). */
export interface MinimumCommitment {
  readonly displayName?: Maybe<string>;
  readonly rateValues: readonly FixedRateValue[];
}
