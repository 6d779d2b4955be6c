/**
 * Rate cards: the prices of billable items (service-reference "Common rate card parts" and "Rate card kinds"; S7, S9 to
 * S12).
 *
 * @module
 */
import * as z from "zod";

import { issueParams } from "../wording.ts";
import {
  CYCLES_MAX,
  currency,
  decimal,
  decimalAboveZero,
  decimalFromZero,
  label,
  withDefault,
  reference,
  text,
  wholeFromZero,
} from "./fields.ts";

const displayFields = {
  /** The name on invoices, at most 255 characters; default that of the billable item. */
  displayName: label,
  /** Groups the lines of cards with the same tag on an invoice; default no group. */
  tag: text,
};
const invoiceTiming = withDefault(z.enum(["IN_ARREARS", "IN_ADVANCE"]), "IN_ARREARS");
const recurrenceType = withDefault(z.enum(["RECURRING", "ONE_TIME"]), "RECURRING");
const enableProration = withDefault(z.boolean(), false);
const intervalField = z.int().min(1).max(CYCLES_MAX).nullish();
const offsetField = z.int().min(0).max(CYCLES_MAX).nullish();
const booleanOrText = z
  .custom<boolean | "true" | "false">(
    (value) => ["true", "false"].includes(String(value)) && typeof value !== "object",
    issueParams("WRONG_TYPE", { expected: "true or false" }),
  )
  .transform((value) => String(value) === "true")
  .meta({ anyOf: [{ type: "boolean" }, { type: "string", enum: ["true", "false"] }] });

/** One tier of a rate plan (S7.1): the units above `startAfter`, up to and including that of the next slab. */
const slab = z.strictObject({
  order: z.int().min(1),
  startAfter: decimalFromZero,
  endAt: decimalFromZero.nullish(),
  priceType: z.enum(["FLAT", "PER_UNIT", "PACKAGE"]),
  slabConfig: z
    .strictObject({ packageSize: decimalAboveZero.nullish(), chargeAtZero: booleanOrText.nullish() })
    .nullish(),
});

/** TIERED or VOLUME slabs (S7.2). */
const ratePlan = z.strictObject({ pricingModel: z.enum(["TIERED", "VOLUME"]), slabs: z.array(slab).min(1) });

const rateBounds = { minimumRate: decimal.nullish(), maximumRate: decimal.nullish() };

/** One slab's rate in one currency, with the limits of S7.4. */
const slabRate = z.strictObject({
  order: z.int().min(1),
  rate: decimal,
  slabRateConfig: z.strictObject({ ...rateBounds, flatRate: decimal.nullish() }).nullish(),
});

/** The rates of one currency, one per slab, and the limits of the whole card (S7.4). */
const rateValue = z.strictObject({
  currency,
  slabRates: z.array(slabRate).min(1),
  rateConfig: z.strictObject(rateBounds).nullish(),
});

/** One rate in one currency. */
const fixedRateValue = z.strictObject({ currency, rate: decimal });

/** Charged for the cycles n > offset with (n − 1 − offset) mod interval = 0; nulls are 1 and 0 (S9.1). */
const recurrenceConfig = z.strictObject({
  interval: intervalField,
  offset: offsetField,
});

const slabPricing = { ratePlan, rateValues: z.array(rateValue).min(1), ...displayFields };

/** Prices a meter's usage in the cycle (S7). */
export const usageRateCard = z.strictObject({ ...slabPricing, usageMeterId: reference });

/** A fee that does not depend on a quantity (S9). */
export const fixedFeeRateCard = z.strictObject({
  id: reference,
  rateValues: z.array(fixedRateValue).min(1),
  enableProration,
  ...displayFields,
  invoiceTiming,
  type: recurrenceType,
  recurrenceConfig: recurrenceConfig.nullish(),
});

/** Prices the quantity of a license (S10). */
export const licenseRateCard = z.strictObject({
  ...slabPricing,
  id: reference,
  enableProration,
  invoiceTiming,
  proratedRefundMode: z.enum(["NONE", "CREDITS"]).nullish(),
  config: z.strictObject({ maxQuantity: decimalFromZero.nullish() }).nullish(),
});

/** One entry that a billing entitlement card grants (S11.1); durations are ISO 8601, from the grant. */
const featureConfig = z.strictObject({
  featureCreditLimit: decimalFromZero,
  effectiveFrom: withDefault(z.string(), "PT0S"),
  effectiveUntil: z.string(),
});

/** Grants feature credits each recurring cycle and prices the sum of their limits (S11.1). */
export const billingEntitlementRateCard = z.strictObject({
  ...slabPricing,
  featureId: reference,
  featureConfigs: z.array(featureConfig).min(1),
  invoiceTiming,
  recurrenceConfig: recurrenceConfig.nullish(),
});

/** A slab with its rate: the slabs that price a credit grant (S12.6). */
const grantSlab = z.strictObject({
  order: z.int().min(1).nullish(),
  startAfter: decimalFromZero,
  endAt: decimalFromZero.nullish(),
  priceType: slab.shape.priceType,
  rate: decimal,
  slabConfig: slab.shape.slabConfig,
  slabRateConfig: slabRate.shape.slabRateConfig,
});

/** Grants monetary credits each recurring cycle (S12.6). */
export const creditGrantRateCard = z.strictObject({
  id: reference,
  type: recurrenceType,
  ...displayFields,
  rateDetails: z.strictObject({
    pricingModel: ratePlan.shape.pricingModel,
    currencySlabRateDetails: z
      .array(z.strictObject({ currency, creditAmount: decimalFromZero, slabDetails: z.array(grantSlab).min(1) }))
      .min(1),
  }),
  grantDetails: z.strictObject({
    priority: withDefault(z.int(), 0),
    expiryType: z.enum(["PRICING_CYCLE", "NO_EXPIRY", "CUSTOM"]),
    expiryDuration: text,
    applicableEntityIds: z.array(reference).nullish(),
  }),
  invoiceTiming,
  recurrenceConfig: recurrenceConfig.nullish(),
});

/** Prices consumption beyond the entitlements (S11.7). */
export const entitlementOverageRateCard = z.strictObject({
  ...slabPricing,
  featureId: reference,
  maxQuantity: wholeFromZero.nullish(),
  billingConfig: z.strictObject({ interval: intervalField, startOffset: offsetField }).nullish(),
});

/** The minimum charge of a cycle (S13.3). */
export const minimumCommitment = z.strictObject({ displayName: label, rateValues: z.array(fixedRateValue).min(1) });
