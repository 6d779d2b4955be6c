/**
 * Rate cards: what a billable item costs (service-reference "Common rate card parts" and "Rate card kinds"; S7, S9 to S12).
 *
 * @module
 */
import { z } from "zod";

import { currency, decimal, id } from "./fields.ts";

const displayName = z.string().max(255).optional();
const tag = z.string().nullish();
const timing = z.enum(["IN_ARREARS", "IN_ADVANCE"]);

/** One band of a rate plan (S7.1): the units above `startAfter`, up to and including the next slab's. */
export const slab = z.strictObject({
  order: z.int().min(1),
  startAfter: decimal,
  endAt: decimal.nullish(),
  priceType: z.enum(["FLAT", "PER_UNIT", "PACKAGE"]),
  slabConfig: z
    .strictObject({ packageSize: decimal.nullish(), chargeAtZero: z.stringbool().or(z.boolean()).nullish() })
    .nullish(),
});
export type Slab = z.output<typeof slab>;

/** TIERED or VOLUME slabs (S7.2). */
export const ratePlan = z.strictObject({ pricingModel: z.enum(["TIERED", "VOLUME"]), slabs: z.array(slab).min(1) });
export type RatePlan = z.output<typeof ratePlan>;

const rateBounds = { minimumRate: decimal.nullish(), maximumRate: decimal.nullish() };

/** One slab's rate in one currency, with the bounds of S7.4. */
export const slabRate = z.strictObject({
  order: z.int().min(1),
  rate: decimal,
  slabRateConfig: z.strictObject({ ...rateBounds, flatRate: decimal.nullish() }).nullish(),
});
export type SlabRate = z.output<typeof slabRate>;

/** The rates of one currency, one for each slab, and the bounds of the whole card (S7.4). */
export const rateValue = z.strictObject({
  currency,
  slabRates: z.array(slabRate).min(1),
  rateConfig: z.strictObject(rateBounds).nullish(),
});
export type RateValue = z.output<typeof rateValue>;

/** One rate in one currency. */
export const fixedRateValue = z.strictObject({ currency, rate: decimal });
export type FixedRateValue = z.output<typeof fixedRateValue>;

/** Charged for the cycles n > offset with (n − 1 − offset) mod interval = 0; nulls are 1 and 0 (S9.1). */
export const recurrenceConfig = z.strictObject({
  interval: z.int().min(1).nullish(),
  offset: z.int().min(0).nullish(),
});
export type RecurrenceConfig = z.output<typeof recurrenceConfig>;

const slabPriced = { ratePlan, rateValues: z.array(rateValue).min(1), displayName, tag };

/** Prices a meter's usage in the cycle (S7). */
export const usageRateCard = z.strictObject({ ...slabPriced, usageMeterId: id });
export type UsageRateCard = z.output<typeof usageRateCard>;

/** A fee that does not depend on a quantity (S9). */
export const fixedFeeRateCard = z.strictObject({
  id,
  rateValues: z.array(fixedRateValue).min(1),
  enableProration: z.boolean().default(false),
  displayName,
  tag,
  invoiceTiming: timing.default("IN_ARREARS"),
  type: z.enum(["RECURRING", "ONE_TIME"]).default("RECURRING"),
  recurrenceConfig: recurrenceConfig.nullish(),
});
export type FixedFeeRateCard = z.output<typeof fixedFeeRateCard>;

/** Prices the quantity of a license that an account holds (S10). */
export const licenseRateCard = z.strictObject({
  ...slabPriced,
  id,
  enableProration: z.boolean().default(false),
  invoiceTiming: timing.default("IN_ARREARS"),
  proratedRefundMode: z.enum(["NONE", "CREDITS"]).nullish(),
  config: z.strictObject({ maxQuantity: decimal.nullish() }).nullish(),
});
export type LicenseRateCard = z.output<typeof licenseRateCard>;

/** One entry that a billing entitlement card grants (S11.1); durations are ISO 8601, from the grant. */
export const featureConfig = z.strictObject({
  featureCreditLimit: decimal,
  effectiveFrom: z.string().default("PT0S"),
  effectiveUntil: z.string(),
});
export type FeatureConfig = z.output<typeof featureConfig>;

/** Grants feature credits each recurring cycle and prices the sum of their limits (S11.1). */
export const billingEntitlementRateCard = z.strictObject({
  ...slabPriced,
  featureId: id,
  featureConfigs: z.array(featureConfig).min(1),
  invoiceTiming: timing.default("IN_ARREARS"),
  recurrenceConfig: recurrenceConfig.nullish(),
});
export type BillingEntitlementRateCard = z.output<typeof billingEntitlementRateCard>;

/** A slab and its rate in one: the slabs that price a credit grant (S12.6). */
export const grantSlab = z.strictObject({
  order: z.int().min(1).nullish(),
  startAfter: decimal,
  endAt: decimal.nullish(),
  priceType: slab.shape.priceType,
  rate: decimal,
  slabConfig: slab.shape.slabConfig,
  slabRateConfig: slabRate.shape.slabRateConfig,
});
export type GrantSlab = z.output<typeof grantSlab>;

/** Grants monetary credits each recurring cycle (S12.6). */
export const creditGrantRateCard = z.strictObject({
  id,
  type: z.enum(["RECURRING", "ONE_TIME"]).default("RECURRING"),
  displayName,
  tag,
  rateDetails: z.strictObject({
    pricingModel: ratePlan.shape.pricingModel,
    currencySlabRateDetails: z
      .array(z.strictObject({ currency, creditAmount: decimal, slabDetails: z.array(grantSlab).min(1) }))
      .min(1),
  }),
  grantDetails: z.strictObject({
    priority: z.int().min(0).default(0),
    expiryType: z.enum(["PRICING_CYCLE", "NO_EXPIRY", "CUSTOM"]),
    expiryDuration: z.string().nullish(),
    applicableEntityIds: z.array(z.string()).nullish(),
  }),
  invoiceTiming: timing.default("IN_ARREARS"),
  recurrenceConfig: recurrenceConfig.nullish(),
});
export type CreditGrantRateCard = z.output<typeof creditGrantRateCard>;

/** Prices what was consumed beyond the entitlements (S11.7). */
export const entitlementOverageRateCard = z.strictObject({
  ...slabPriced,
  featureId: id,
  maxQuantity: decimal.nullish(),
  billingConfig: z
    .strictObject({ interval: z.int().min(1).nullish(), startOffset: z.int().min(0).nullish() })
    .nullish(),
});
export type EntitlementOverageRateCard = z.output<typeof entitlementOverageRateCard>;

/** The least that a cycle costs (S13.3). */
export const minimumCommitment = z.strictObject({ displayName, rateValues: z.array(fixedRateValue).min(1) });
export type MinimumCommitment = z.output<typeof minimumCommitment>;
