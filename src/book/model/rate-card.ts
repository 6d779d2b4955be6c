/**
 * Rate cards, in input form and as read: the prices of billable items (S7, S9 to S12). In input form, a decimal is a
 * number, a decimal text or a Decimal, of at most 20 digits before and 20 after the point; when read, it is a Decimal.
 *
 * @module
 */
import type { Decimal, DecimalInput } from "../../numbers/decimal.ts";
import type { Maybe } from "./common-types.ts";

/** Whether a card is charged after its cycle, by actual quantities, or before it (S9.1, S13.1). */
export type InvoiceTiming = "IN_ARREARS" | "IN_ADVANCE";
/** Whether a card is charged repeatedly or once (S9.1). */
export type Recurrence = "RECURRING" | "ONE_TIME";
/** Whether each slab prices the units in it, or one slab prices all units (S7.2). */
export type PricingModel = "TIERED" | "VOLUME";
/** What a slab's rate applies to: the slab as a whole, each unit, or each started package (S7.3). */
export type PriceType = "FLAT" | "PER_UNIT" | "PACKAGE";

/** How a card is displayed. */
export interface DisplayFields {
  /** The name on invoices, at most 255 characters; default that of the billable item. */
  readonly displayName?: Maybe<string>;
  /** Groups the lines of cards with the same tag on an invoice; default no group. */
  readonly tag?: Maybe<string>;
}

/** One tier of a rate plan: the units above `startAfter`, up to and including `endAt` (S7.1). */
export interface SlabInput {
  /** 1 for the first slab, 2 for the second, and so on. */
  readonly order: number;
  /** The lower bound in units, exclusive: 0 for the first, then the `endAt` of the previous slab. */
  readonly startAfter: DecimalInput;
  /** The upper bound in units, inclusive: the `startAfter` of the next slab, which is the default; none for the last slab. */
  readonly endAt?: Maybe<DecimalInput>;
  /** What the slab's rate applies to (S7.3). */
  readonly priceType: PriceType;
  /** Details of the price type. */
  readonly slabConfig?: Maybe<{
    /** Units per package, more than 0; required for PACKAGE slabs. */
    readonly packageSize?: Maybe<DecimalInput>;
    /** Whether a quantity of 0 reaches the first slab; default false. */
    readonly chargeAtZero?: Maybe<boolean | "true" | "false">;
  }>;
}
/** One tier of a rate plan (S7.1). */
export interface Slab {
  readonly order: number;
  readonly startAfter: Decimal;
  readonly endAt?: Maybe<Decimal>;
  readonly priceType: PriceType;
  readonly slabConfig?: Maybe<{
    readonly packageSize?: Maybe<Decimal>;
    readonly chargeAtZero?: Maybe<boolean>;
  }>;
}

/** Slabs, and how they price a quantity (S7.2). */
export interface RatePlanInput {
  /** Whether each slab prices its own units (TIERED), or the slab that the quantity reaches prices all of them (VOLUME). */
  readonly pricingModel: PricingModel;
  /** At least one, in ascending order. */
  readonly slabs: readonly SlabInput[];
}
/** Slabs, and how they price a quantity (S7.2). */
export interface RatePlan {
  readonly pricingModel: PricingModel;
  readonly slabs: readonly Slab[];
}

/** Limits of an amount, in the card's currency (S7.4). */
export interface RateBoundsInput {
  /** The minimum charge; default no limit. */
  readonly minimumRate?: Maybe<DecimalInput>;
  /** The maximum charge; default no limit. */
  readonly maximumRate?: Maybe<DecimalInput>;
}
/** Limits of an amount (S7.4). */
export interface RateBounds {
  readonly minimumRate?: Maybe<Decimal>;
  readonly maximumRate?: Maybe<Decimal>;
}

/** The rate of one slab in one currency (S7.3, S7.4). */
export interface SlabRateInput {
  /** That of the slab. */
  readonly order: number;
  /** In the currency: for each unit or package, or for the slab, depending on its price type. */
  readonly rate: DecimalInput;
  /** Limits of the slab's charge, and an additional amount. */
  readonly slabRateConfig?: Maybe<
    RateBoundsInput & {
      /** Added once if the slab is reached; default 0. */
      readonly flatRate?: Maybe<DecimalInput>;
    }
  >;
}
/** The rate of one slab in one currency. */
export interface SlabRate {
  readonly order: number;
  readonly rate: Decimal;
  readonly slabRateConfig?: Maybe<RateBounds & { readonly flatRate?: Maybe<Decimal> }>;
}

/** The rates of a card in one currency (S7). */
export interface RateValueInput {
  /** ISO 4217, such as `USD`. */
  readonly currency: string;
  /** One for each slab, matched by `order`. */
  readonly slabRates: readonly SlabRateInput[];
  /** Limits of the whole card (S7.4); default none. */
  readonly rateConfig?: Maybe<RateBoundsInput>;
}
/** The rates of a card in one currency (S7). */
export interface RateValue {
  readonly currency: string;
  readonly slabRates: readonly SlabRate[];
  readonly rateConfig?: Maybe<RateBounds>;
}

/** One amount in one currency. */
export interface FixedRateValueInput {
  /** ISO 4217, such as `USD`. */
  readonly currency: string;
  /** The amount in it. */
  readonly rate: DecimalInput;
}
/** One amount in one currency. */
export interface FixedRateValue {
  readonly currency: string;
  readonly rate: Decimal;
}

/** Charged for the cycles n > offset with (n − 1 − offset) mod interval = 0 (S9.1). */
export interface RecurrenceConfig {
  /** Cycles from one charge to the next, 1 to 10,000; default 1. */
  readonly interval?: Maybe<number>;
  /** Cycles before the first charge, 0 to 10,000; default 0. */
  readonly offset?: Maybe<number>;
}

/** The parts of every card with slabs. */
interface SlabPricingInput extends DisplayFields {
  /** The slabs, and whether they are TIERED or VOLUME. */
  readonly ratePlan: RatePlanInput;
  /** The rates in each currency that the plan supports. */
  readonly rateValues: readonly RateValueInput[];
}
interface SlabPricing extends DisplayFields {
  readonly ratePlan: RatePlan;
  readonly rateValues: readonly RateValue[];
}

/** Prices a meter's usage in the cycle (S7). */
export interface UsageRateCardInput extends SlabPricingInput {
  /** The id or the name of a usage meter. */
  readonly usageMeterId: string;
}
/** Prices a meter's usage in the cycle (S7). */
export interface UsageRateCard extends SlabPricing {
  readonly usageMeterId: string;
}

/** A fee that does not depend on a quantity (S9). */
export interface FixedFeeRateCardInput extends DisplayFields {
  /** The id or the name of an add-on of the type FIXED_FEE. */
  readonly id: string;
  /** The fee of a whole cycle in each currency that the plan supports. */
  readonly rateValues: readonly FixedRateValueInput[];
  /** Whether the fee of a partial cycle is prorated by days (S8); default false. */
  readonly enableProration?: Maybe<boolean>;
  /** Default IN_ARREARS. */
  readonly invoiceTiming?: Maybe<InvoiceTiming>;
  /** Default RECURRING. */
  readonly type?: Maybe<Recurrence>;
  /** Default every cycle. */
  readonly recurrenceConfig?: Maybe<RecurrenceConfig>;
}
/** A fee that does not depend on a quantity (S9). */
export interface FixedFeeRateCard extends DisplayFields {
  readonly id: string;
  readonly rateValues: readonly FixedRateValue[];
  readonly enableProration: boolean;
  readonly invoiceTiming: InvoiceTiming;
  readonly type: Recurrence;
  readonly recurrenceConfig?: Maybe<RecurrenceConfig>;
}

/** Prices the quantity of a license (S10). */
export interface LicenseRateCardInput extends SlabPricingInput {
  /** The id or the name of an add-on of the type LICENSE. */
  readonly id: string;
  /** Whether a quantity in effect for part of a cycle is prorated by days (S10.2); default false. */
  readonly enableProration?: Maybe<boolean>;
  /** Default IN_ARREARS. */
  readonly invoiceTiming?: Maybe<InvoiceTiming>;
  /** Whether a decrease that was charged in advance is refunded as credits (S10.3); default NONE. */
  readonly proratedRefundMode?: Maybe<"NONE" | "CREDITS">;
  /** The limit of the quantity. */
  readonly config?: Maybe<{
    /** The maximum quantity, 0 or more; default no limit. */
    readonly maxQuantity?: Maybe<DecimalInput>;
  }>;
}
/** Prices the quantity of a license (S10). */
export interface LicenseRateCard extends SlabPricing {
  readonly id: string;
  readonly enableProration: boolean;
  readonly invoiceTiming: InvoiceTiming;
  readonly proratedRefundMode?: Maybe<"NONE" | "CREDITS">;
  readonly config?: Maybe<{ readonly maxQuantity?: Maybe<Decimal> }>;
}
