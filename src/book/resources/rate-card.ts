/**
 * Rate cards: slabs, rates and the prices of billable items (service-reference "Rate card kinds"; S7, S9 to S13). In input
 * form, a decimal is a number, a decimal text or a Decimal; when read, it is a Decimal.
 */
import * as z from "zod";

import { issueParams } from "../problems.ts";
import {
  booleanOrText,
  type Frozen,
  currency,
  decimal,
  decimalAboveZero,
  decimalFromZero,
  CYCLES_MAX,
  label,
  withDefault,
  reference,
  text,
  wholeFromZero,
  type StrictSchema,
} from "./fields.ts";
import { priceTableFields } from "./rate-table.ts";

export const pricingModel = z.enum(["TIERED", "VOLUME"]);
/** Whether each slab prices the units in it, or one slab prices all units (S7.2). */
export type PricingModel = z.output<typeof pricingModel>;
const priceType = z.enum(["FLAT", "PER_UNIT", "PACKAGE"]);
/** What a slab's rate applies to: the slab as a whole, each unit, or each started package (S7.3). */
export type PriceType = z.output<typeof priceType>;

const slabConfigFields = {
  /** Units per package, more than 0; required for PACKAGE slabs. */
  packageSize: decimalAboveZero.nullish(),
  /** Whether a quantity of 0 reaches the first slab; default false. */
  chargeAtZero: booleanOrText.nullish(),
};

const slabTierFields = {
  /** The lower bound in units, exclusive: 0 for the first, then the `endAt` of the previous slab. */
  startAfter: decimalFromZero,
  /** The upper bound in units, inclusive: the `startAfter` of the next slab, which is the default; none for the last slab. */
  endAt: decimalFromZero.nullish(),
  /** FLAT: the rate applies to the slab as a whole; PER_UNIT: to each unit; PACKAGE: to each started package (S7.3). */
  priceType,
};
const slabFields = {
  /** 1 for the first slab, 2 for the second, and so on. */
  order: z.int().min(1),
  ...slabTierFields,
  /** The size of packages, and whether a quantity of 0 is charged. */
  slabConfig: z.strictObject(slabConfigFields).nullish(),
};
export interface SlabSchema extends StrictSchema<typeof slabFields> {}
const slab: SlabSchema = z.strictObject(slabFields);
/** One tier of a rate plan: the units above `startAfter`, up to and including `endAt` (S7.1). */
export interface SlabInput extends Frozen<z.input<SlabSchema>> {}
/** One tier of a rate plan (S7.1). */
export interface Slab extends Frozen<z.output<SlabSchema>> {}

const ratePlanFields = {
  /** TIERED: each slab prices its own units; VOLUME: the slab that the quantity reaches prices all of them (S7.2). */
  pricingModel,
  /** At least one, in ascending order. */
  slabs: z.array(slab).min(1),
};
export interface RatePlanSchema extends StrictSchema<typeof ratePlanFields> {}
export const ratePlan: RatePlanSchema = z.strictObject(ratePlanFields);
/** Slabs, and how they price a quantity (S7.2). */
export interface RatePlanInput extends Frozen<z.input<RatePlanSchema>> {}
/** Slabs, and how they price a quantity (S7.2). */
export interface RatePlan extends Frozen<z.output<RatePlanSchema>> {}

const rateConfigFields = {
  /** The minimum charge, in the currency; default no limit. */
  minimumRate: decimal.nullish(),
  /** The maximum charge, in the currency; default no limit. */
  maximumRate: decimal.nullish(),
};
export interface RateConfigSchema extends StrictSchema<typeof rateConfigFields> {}
const rateConfig: RateConfigSchema = z.strictObject(rateConfigFields);

/** Limits of an amount, in the card's currency (S7.4). */
export interface RateBoundsInput extends Frozen<z.input<RateConfigSchema>> {}
/** Limits of an amount (S7.4). */
export interface RateBounds extends Frozen<z.output<RateConfigSchema>> {}

const slabRateConfigFields = {
  ...rateConfigFields,
  /** Added once if the slab is reached; default 0. */
  flatRate: decimal.nullish(),
};

const slabRateFields = {
  /** The order of the slab that it prices. */
  order: z.int().min(1),
  /** In the currency: for each unit or package, or for the slab, depending on its price type. */
  rate: decimal,
  /** An additional flat rate, and limits of the slab's charge. */
  slabRateConfig: z.strictObject(slabRateConfigFields).nullish(),
};
export interface SlabRateSchema extends StrictSchema<typeof slabRateFields> {}
const slabRate: SlabRateSchema = z.strictObject(slabRateFields);
/** The rate of one slab in one currency (S7.3, S7.4). */
export interface SlabRateInput extends Frozen<z.input<SlabRateSchema>> {}
/** The rate of one slab in one currency. */
export interface SlabRate extends Frozen<z.output<SlabRateSchema>> {}

const rateValueFields = {
  /** ISO 4217, such as `USD`. */
  currency,
  /** One for each slab, matched by `order`. */
  slabRates: z.array(slabRate).min(1),
  /** Limits of the whole card, prorated in a partial cycle (S7.4); default none. */
  rateConfig: rateConfig.nullish(),
};
export interface RateValueSchema extends StrictSchema<typeof rateValueFields> {}
export const rateValue: RateValueSchema = z.strictObject(rateValueFields);
/** The rates of a card in one currency (S7). */
export interface RateValueInput extends Frozen<z.input<RateValueSchema>> {}
/** The rates of a card in one currency (S7). */
export interface RateValue extends Frozen<z.output<RateValueSchema>> {}

const fixedRateValueFields = {
  /** ISO 4217, such as `USD`. */
  currency,
  /** The amount in the currency. */
  rate: decimal,
};
export interface FixedRateValueSchema extends StrictSchema<typeof fixedRateValueFields> {}
export const fixedRateValue: FixedRateValueSchema = z.strictObject(fixedRateValueFields);
/** One amount in one currency. */
export interface FixedRateValueInput extends Frozen<z.input<FixedRateValueSchema>> {}
/** One amount in one currency. */
export interface FixedRateValue extends Frozen<z.output<FixedRateValueSchema>> {}

const grantSlabFields = {
  /** 1 for the first slab; default its position in the list. */
  order: z.int().min(1).nullish(),
  ...slabTierFields,
  /** In the currency: for each unit or package, or for the slab, depending on its price type. */
  rate: decimal,
  /** The size of packages, and whether a quantity of 0 is charged. */
  slabConfig: slabFields.slabConfig,
  /** An additional flat rate, and limits of the slab's charge. */
  slabRateConfig: slabRateFields.slabRateConfig,
};
export interface GrantSlabSchema extends StrictSchema<typeof grantSlabFields> {}
export const grantSlab: GrantSlabSchema = z.strictObject(grantSlabFields);
/** A slab of the price of a credit grant, with its rate (S12.6). */
export interface GrantSlabInput extends Frozen<z.input<GrantSlabSchema>> {}
/** A slab with its rate (S12.6). */
export interface GrantSlab extends Frozen<z.output<GrantSlabSchema>> {}

export const displayFields = {
  /** The name on invoices, at most 255 characters; default that of the billable item. */
  displayName: label,
  /** Groups the lines of cards with the same tag on an invoice; default no group. */
  tag: text,
};
/** How a card is displayed. */
export interface DisplayFields extends Frozen<z.output<z.ZodObject<typeof displayFields>>> {}
const invoiceTiming = withDefault(z.enum(["IN_ARREARS", "IN_ADVANCE"]), "IN_ARREARS");
/** Whether a card is charged after its cycle, by actual quantities, or before it (S9.1, S13.1). */
export type InvoiceTiming = z.output<typeof invoiceTiming>;
const recurrenceType = withDefault(z.enum(["RECURRING", "ONE_TIME"]), "RECURRING");
/** Whether a card is charged repeatedly or once (S9.1). */
export type Recurrence = z.output<typeof recurrenceType>;
const enableProration = withDefault(z.boolean(), false);
const intervalField = z.int().min(1).max(CYCLES_MAX).nullish();
const offsetField = z.int().min(0).max(CYCLES_MAX).nullish();

const recurrenceConfigFields = {
  /** Cycles from one charge to the next, 1 to 10,000; default 1. */
  interval: intervalField,
  /** Cycles before the first charge, 0 to 10,000; default 0. */
  offset: offsetField,
};
export interface RecurrenceConfigSchema extends StrictSchema<typeof recurrenceConfigFields> {}
export const recurrenceConfig: RecurrenceConfigSchema = z.strictObject(recurrenceConfigFields);
/** Charged for the cycles n > offset with (n − 1 − offset) mod interval = 0 (S9.1). */
export interface RecurrenceConfig extends Frozen<z.output<RecurrenceConfigSchema>> {}

/** The parts of every card with slabs. */
const slabPricingFields = {
  /** The slabs, and whether they are TIERED or VOLUME. */
  ratePlan,
  /** The rates in each currency that the plan supports. */
  rateValues: z.array(rateValue).min(1),
  ...displayFields,
};

/** The rate plan of a card without slabs, whose `rateValues` are empty: a price table prices its usage (S18). */
const NO_RATE_PLAN: z.output<RatePlanSchema> = { pricingModel: "TIERED", slabs: [] };

const usageRateCardFields = {
  /** The slabs, and whether they are TIERED or VOLUME; required without `rateTable`. */
  ratePlan: withDefault(ratePlan, NO_RATE_PLAN),
  /** The rates in each currency that the plan supports; required without `rateTable`. */
  rateValues: withDefault(z.array(rateValue).min(1), []),
  ...displayFields,
  /** The id or the name of a usage meter. */
  usageMeterId: reference,
  /** Whether the price of a peak, a count of different values or a last value is prorated in a partial cycle (S19.4). */
  enableProration: z.boolean().nullish(),
  ...priceTableFields,
};
export interface UsageRateCardSchema extends StrictSchema<typeof usageRateCardFields> {}
export const usageRateCard: UsageRateCardSchema = z.strictObject(usageRateCardFields).superRefine((card, context) => {
  if (card.rateTable || card.rows || card.multiply) return;
  const report = (field: string, input: unknown, expected: string): void =>
    context.addIssue({ code: "custom", path: [field], input, ...issueParams("MISSING", { expected }) });
  if (card.ratePlan === NO_RATE_PLAN) report("ratePlan", undefined, "an object");
  if (card.rateValues.length === 0) report("rateValues", undefined, "a list");
});
/** Prices a meter's usage in the cycle (S7). */
export interface UsageRateCardInput extends Frozen<z.input<UsageRateCardSchema>> {}
/** Prices a meter's usage in the cycle (S7). */
export interface UsageRateCard extends Frozen<z.output<UsageRateCardSchema>> {}

const fixedFeeRateCardFields = {
  /** The id or the name of an add-on of the type FIXED_FEE. */
  id: reference,
  /** The fee of a whole cycle in each currency that the plan supports. */
  rateValues: z.array(fixedRateValue).min(1),
  /** Whether the fee of a partial cycle is prorated by days (S8); default false. */
  enableProration,
  ...displayFields,
  /** IN_ARREARS (default): charged after the cycle. IN_ADVANCE: charged at its start (S9.1). */
  invoiceTiming,
  /** Default RECURRING; ONE_TIME: charged once, in cycle 1 + `recurrenceConfig.offset`. */
  type: recurrenceType,
  /** The cycles in which it recurs; default every cycle. */
  recurrenceConfig: recurrenceConfig.nullish(),
};
export interface FixedFeeRateCardSchema extends StrictSchema<typeof fixedFeeRateCardFields> {}
export const fixedFeeRateCard: FixedFeeRateCardSchema = z.strictObject(fixedFeeRateCardFields);
/** A fee that does not depend on a quantity (S9). */
export interface FixedFeeRateCardInput extends Frozen<z.input<FixedFeeRateCardSchema>> {}
/** A fee that does not depend on a quantity (S9). */
export interface FixedFeeRateCard extends Frozen<z.output<FixedFeeRateCardSchema>> {}

const licenseConfigFields = {
  /** The maximum quantity, 0 or more; default no limit. */
  maxQuantity: decimalFromZero.nullish(),
};

const licenseRateCardFields = {
  ...slabPricingFields,
  /** The id or the name of an add-on of the type LICENSE. */
  id: reference,
  /** Whether a quantity in effect for part of a cycle is prorated by days (S10.2); default false. */
  enableProration,
  /** IN_ARREARS (default): charged after the cycle. IN_ADVANCE: charged at its start (S9.1). */
  invoiceTiming,
  /** Whether a decrease that was charged in advance is refunded as credits (S10.3); default NONE. */
  proratedRefundMode: z.enum(["NONE", "CREDITS"]).nullish(),
  /** The limit of the quantity. */
  config: z.strictObject(licenseConfigFields).nullish(),
};
export interface LicenseRateCardSchema extends StrictSchema<typeof licenseRateCardFields> {}
export const licenseRateCard: LicenseRateCardSchema = z.strictObject(licenseRateCardFields);
/** Prices the quantity of a license (S10). */
export interface LicenseRateCardInput extends Frozen<z.input<LicenseRateCardSchema>> {}
/** Prices the quantity of a license (S10). */
export interface LicenseRateCard extends Frozen<z.output<LicenseRateCardSchema>> {}

const featureConfigFields = {
  /** Units granted, 0 or more. */
  featureCreditLimit: decimalFromZero,
  /** When the entry begins, as an ISO 8601 duration from the grant; default `PT0S`. */
  effectiveFrom: withDefault(z.string(), "PT0S"),
  /** When the entry ends, as an ISO 8601 duration from the grant, such as `P1M`. */
  effectiveUntil: z.string(),
};
export interface FeatureConfigSchema extends StrictSchema<typeof featureConfigFields> {}
const featureConfig: FeatureConfigSchema = z.strictObject(featureConfigFields);
/** One entry that a billing entitlement card grants (S11.1). */
export interface FeatureConfigInput extends Frozen<z.input<FeatureConfigSchema>> {}
/** One entry that a billing entitlement card grants (S11.1). */
export interface FeatureConfig extends Frozen<z.output<FeatureConfigSchema>> {}

const billingEntitlementRateCardFields = {
  ...slabPricingFields,
  /** The id or the name of a feature. */
  featureId: reference,
  /** The granted entries, at least one. */
  featureConfigs: z.array(featureConfig).min(1),
  /** IN_ARREARS (default): charged after the cycle. IN_ADVANCE: charged at its start (S9.1). */
  invoiceTiming,
  /** The cycles in which it recurs; default every cycle. */
  recurrenceConfig: recurrenceConfig.nullish(),
};
export interface BillingEntitlementRateCardSchema extends StrictSchema<typeof billingEntitlementRateCardFields> {}
export const billingEntitlementRateCard: BillingEntitlementRateCardSchema = z.strictObject(
  billingEntitlementRateCardFields,
);
/** Grants feature credits each recurring cycle, and prices the sum of their limits (S11.1). */
export interface BillingEntitlementRateCardInput extends Frozen<z.input<BillingEntitlementRateCardSchema>> {}
/** Grants feature credits each recurring cycle, and prices the sum of their limits (S11.1). */
export interface BillingEntitlementRateCard extends Frozen<z.output<BillingEntitlementRateCardSchema>> {}

const currencySlabRateDetailsFields = {
  /** ISO 4217, such as `USD`. */
  currency,
  /** The amount granted, in the currency, 0 or more. */
  creditAmount: decimalFromZero,
  /** The price of the grant, at least one slab. */
  slabDetails: z.array(grantSlab).min(1),
};

const grantRateDetailsFields = {
  /** TIERED: each slab prices its own units; VOLUME: the slab that the quantity reaches prices all of them (S7.2). */
  pricingModel,
  /** At least one: the grant and its price in each currency. */
  currencySlabRateDetails: z.array(z.strictObject(currencySlabRateDetailsFields)).min(1),
};

const grantDetailsFields = {
  /** Lower ones are spent first, a whole number; default 0. */
  priority: withDefault(z.int(), 0),
  /** When the credits expire: with the cycle, never, or after `expiryDuration`. */
  expiryType: z.enum(["PRICING_CYCLE", "NO_EXPIRY", "CUSTOM"]),
  /** An ISO 8601 duration from the grant; required for CUSTOM. */
  expiryDuration: text,
  /** The items that the credits can pay for: ids of meters, add-ons and features, or `ALL_…_RATE_CARDS`; default all (S12.2). */
  applicableEntityIds: z.array(reference).nullish(),
};
export interface GrantDetailsSchema extends StrictSchema<typeof grantDetailsFields> {}
const grantDetails: GrantDetailsSchema = z.strictObject(grantDetailsFields);
/** How granted credits are spent and when they expire (S12.6). */
export interface GrantDetailsInput extends Frozen<z.input<GrantDetailsSchema>> {}
/** How granted credits are spent and when they expire (S12.6). */
export interface GrantDetails extends Frozen<z.output<GrantDetailsSchema>> {}

const creditGrantRateCardFields = {
  /** The id or the name of an add-on of the type CREDIT_GRANT. */
  id: reference,
  /** Default RECURRING; ONE_TIME: charged once, in cycle 1 + `recurrenceConfig.offset`. */
  type: recurrenceType,
  ...displayFields,
  /** The grant and its price. */
  rateDetails: z.strictObject(grantRateDetailsFields),
  /** How the credits are spent and when they expire. */
  grantDetails,
  /** IN_ARREARS (default): charged after the cycle. IN_ADVANCE: charged at its start (S9.1). */
  invoiceTiming,
  /** The cycles in which it recurs; default every cycle. */
  recurrenceConfig: recurrenceConfig.nullish(),
};
export interface CreditGrantRateCardSchema extends StrictSchema<typeof creditGrantRateCardFields> {}
export const creditGrantRateCard: CreditGrantRateCardSchema = z.strictObject(creditGrantRateCardFields);
/** Grants monetary credits each recurring cycle, and prices them (S12.6). */
export interface CreditGrantRateCardInput extends Frozen<z.input<CreditGrantRateCardSchema>> {}
/** Grants monetary credits each recurring cycle, and prices them (S12.6). */
export interface CreditGrantRateCard extends Frozen<z.output<CreditGrantRateCardSchema>> {}

const billingConfigFields = {
  /** Cycles, 1 to 10,000; default 1. */
  interval: intervalField,
  /** Cycles before the first, 0 to 10,000; default 0. */
  startOffset: offsetField,
};

const entitlementOverageRateCardFields = {
  ...slabPricingFields,
  /** The id or the name of a feature. */
  featureId: reference,
  /** Maximum units of overage in a billing window, a whole number from 0; default no limit (S11.3). */
  maxQuantity: wholeFromZero.nullish(),
  /** Cycles that are billed together; default each separately. */
  billingConfig: z.strictObject(billingConfigFields).nullish(),
};
export interface EntitlementOverageRateCardSchema extends StrictSchema<typeof entitlementOverageRateCardFields> {}
export const entitlementOverageRateCard: EntitlementOverageRateCardSchema = z.strictObject(
  entitlementOverageRateCardFields,
);
/** Prices consumption beyond the entitlements (S11.7). */
export interface EntitlementOverageRateCardInput extends Frozen<z.input<EntitlementOverageRateCardSchema>> {}
/** Prices consumption beyond the entitlements (S11.7). */
export interface EntitlementOverageRateCard extends Frozen<z.output<EntitlementOverageRateCardSchema>> {}
