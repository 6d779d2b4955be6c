/**
 * Rate cards: the prices of billable items (service-reference "Rate card kinds"; S7, S9 to S13).
 *
 * @module
 */
import * as z from "zod";

import type { Frozen } from "./common-types.ts";
import { CYCLES_MAX, decimalFromZero, label, withDefault, reference, text, wholeFromZero, currency } from "./fields.ts";
import { fixedRateValue, grantSlab, pricingModel, ratePlan, rateValue } from "./rates.ts";

const displayFields = {
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
export interface RecurrenceConfigSchema extends z.ZodObject<typeof recurrenceConfigFields, z.core.$strict> {}
const recurrenceConfig: RecurrenceConfigSchema = z.strictObject(recurrenceConfigFields);
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

const usageRateCardFields = {
  ...slabPricingFields,
  /** The id or the name of a usage meter. */
  usageMeterId: reference,
};
export interface UsageRateCardSchema extends z.ZodObject<typeof usageRateCardFields, z.core.$strict> {}
export const usageRateCard: UsageRateCardSchema = z.strictObject(usageRateCardFields);
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
  /** Default RECURRING; ONE_TIME: charged in the first cycle only. */
  type: recurrenceType,
  /** The cycles in which it recurs; default every cycle. */
  recurrenceConfig: recurrenceConfig.nullish(),
};
export interface FixedFeeRateCardSchema extends z.ZodObject<typeof fixedFeeRateCardFields, z.core.$strict> {}
export const fixedFeeRateCard: FixedFeeRateCardSchema = z.strictObject(fixedFeeRateCardFields);
/** A fee that does not depend on a quantity (S9). */
export interface FixedFeeRateCardInput extends Frozen<z.input<FixedFeeRateCardSchema>> {}
/** A fee that does not depend on a quantity (S9). */
export interface FixedFeeRateCard extends Frozen<z.output<FixedFeeRateCardSchema>> {}

const licenseConfigFields = {
  /** The maximum quantity, 0 or more; default no limit. */
  maxQuantity: decimalFromZero.nullish(),
};
export interface LicenseConfigSchema extends z.ZodObject<typeof licenseConfigFields, z.core.$strict> {}
const licenseConfig: LicenseConfigSchema = z.strictObject(licenseConfigFields);

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
  config: licenseConfig.nullish(),
};
export interface LicenseRateCardSchema extends z.ZodObject<typeof licenseRateCardFields, z.core.$strict> {}
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
export interface FeatureConfigSchema extends z.ZodObject<typeof featureConfigFields, z.core.$strict> {}
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
export interface BillingEntitlementRateCardSchema extends z.ZodObject<
  typeof billingEntitlementRateCardFields,
  z.core.$strict
> {}
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
export interface CurrencySlabRateDetailsSchema extends z.ZodObject<
  typeof currencySlabRateDetailsFields,
  z.core.$strict
> {}
const currencySlabRateDetails: CurrencySlabRateDetailsSchema = z.strictObject(currencySlabRateDetailsFields);

const grantRateDetailsFields = {
  /** TIERED: each slab prices its own units; VOLUME: the slab that the quantity reaches prices all of them (S7.2). */
  pricingModel,
  /** At least one: the grant and its price in each currency. */
  currencySlabRateDetails: z.array(currencySlabRateDetails).min(1),
};
export interface GrantRateDetailsSchema extends z.ZodObject<typeof grantRateDetailsFields, z.core.$strict> {}
const grantRateDetails: GrantRateDetailsSchema = z.strictObject(grantRateDetailsFields);

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
export interface GrantDetailsSchema extends z.ZodObject<typeof grantDetailsFields, z.core.$strict> {}
const grantDetails: GrantDetailsSchema = z.strictObject(grantDetailsFields);
/** How granted credits are spent and when they expire (S12.6). */
export interface GrantDetailsInput extends Frozen<z.input<GrantDetailsSchema>> {}
/** How granted credits are spent and when they expire (S12.6). */
export interface GrantDetails extends Frozen<z.output<GrantDetailsSchema>> {}

const creditGrantRateCardFields = {
  /** The id or the name of an add-on of the type CREDIT_GRANT. */
  id: reference,
  /** Default RECURRING; ONE_TIME: charged in the first cycle only. */
  type: recurrenceType,
  ...displayFields,
  /** The grant and its price. */
  rateDetails: grantRateDetails,
  /** How the credits are spent and when they expire. */
  grantDetails,
  /** IN_ARREARS (default): charged after the cycle. IN_ADVANCE: charged at its start (S9.1). */
  invoiceTiming,
  /** The cycles in which it recurs; default every cycle. */
  recurrenceConfig: recurrenceConfig.nullish(),
};
export interface CreditGrantRateCardSchema extends z.ZodObject<typeof creditGrantRateCardFields, z.core.$strict> {}
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
export interface BillingConfigSchema extends z.ZodObject<typeof billingConfigFields, z.core.$strict> {}
const billingConfig: BillingConfigSchema = z.strictObject(billingConfigFields);

const entitlementOverageRateCardFields = {
  ...slabPricingFields,
  /** The id or the name of a feature. */
  featureId: reference,
  /** Maximum units of overage in a billing window, a whole number from 0; default no limit (S11.3). */
  maxQuantity: wholeFromZero.nullish(),
  /** Cycles that are billed together; default each separately. */
  billingConfig: billingConfig.nullish(),
};
export interface EntitlementOverageRateCardSchema extends z.ZodObject<
  typeof entitlementOverageRateCardFields,
  z.core.$strict
> {}
export const entitlementOverageRateCard: EntitlementOverageRateCardSchema = z.strictObject(
  entitlementOverageRateCardFields,
);
/** Prices consumption beyond the entitlements (S11.7). */
export interface EntitlementOverageRateCardInput extends Frozen<z.input<EntitlementOverageRateCardSchema>> {}
/** Prices consumption beyond the entitlements (S11.7). */
export interface EntitlementOverageRateCard extends Frozen<z.output<EntitlementOverageRateCardSchema>> {}

const minimumCommitmentFields = {
  /** The name on invoices, at most 255 characters. */
  displayName: label,
  /** The minimum amount in each currency that the plan supports. */
  rateValues: z.array(fixedRateValue).min(1),
};
export interface MinimumCommitmentSchema extends z.ZodObject<typeof minimumCommitmentFields, z.core.$strict> {}
export const minimumCommitment: MinimumCommitmentSchema = z.strictObject(minimumCommitmentFields);
/** The minimum charge of a cycle (S13.3). */
export interface MinimumCommitmentInput extends Frozen<z.input<MinimumCommitmentSchema>> {}
/** The minimum charge of a cycle (S13.3). */
export interface MinimumCommitment extends Frozen<z.output<MinimumCommitmentSchema>> {}
