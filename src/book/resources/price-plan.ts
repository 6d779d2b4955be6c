/**
 * Price plan versions (service-reference "Price plan"; S6, S16.4).
 *
 * @module
 */
import * as z from "zod";

import { currency, days, freeForm, idSchema, listOrEmpty, name, withDefault, text } from "./fields.ts";
import {
  billingEntitlementRateCard,
  creditGrantRateCard,
  entitlementOverageRateCard,
  fixedFeeRateCard,
  licenseRateCard,
  minimumCommitment,
  usageRateCard,
} from "./rate-card.ts";

/** Maximum number of currencies of a plan, more than ISO 4217 has. */
export const CURRENCIES_MAX = 200;

/** When pricing cycles begin (S6.1, S6.3), and how long late events are accepted after one ends (S6.5). */
export const pricingCycleConfig = z.strictObject({
  interval: z.enum(["WEEKLY", "MONTHLY", "QUARTERLY", "HALF_YEARLY", "ANNUALLY"]),
  startOffset: z.strictObject({ dayOffset: z.string(), monthOffset: text }).nullish(),
  /** Whole days, default 0. */
  gracePeriod: days.nullish(),
  anniversaryCycle: z.boolean().nullish(),
});

const cards = {
  usageRateCards: listOrEmpty(usageRateCard),
  fixedFeeRateCards: listOrEmpty(fixedFeeRateCard),
  licenseRateCards: listOrEmpty(licenseRateCard),
  billingEntitlementRateCards: listOrEmpty(billingEntitlementRateCard),
  creditGrantRateCards: listOrEmpty(creditGrantRateCard),
  entitlementOverageRateCards: listOrEmpty(entitlementOverageRateCard),
  minimumCommitment: minimumCommitment.nullish(),
};

/** The prices of a plan. */
export const pricePlanDetails = z.strictObject({
  ...cards,
  supportedCurrencies: z.array(currency).max(CURRENCIES_MAX).nullish(),
  activeCurrencies: z.array(currency).max(CURRENCIES_MAX).nullish(),
  pricingCycleConfig: pricingCycleConfig.nullish(),
  /** Stored unchanged; no effect on prices. */
  rateDetails: freeForm.nullish(),
  /** Stored unchanged; no effect on prices. */
  entitlementRateCards: z.array(freeForm).nullish(),
  type: z.literal("BILLING").nullish(),
});

const overrideShape = { ...cards, pricingCycleConfig: pricingCycleConfig.nullish() };
export interface PricePlanDetailsOverrideSchema extends z.ZodObject<typeof overrideShape, z.core.$strict> {}
/** An override: an association's changes of a plan (S16.2). */
export const pricePlanDetailsOverride: PricePlanDetailsOverrideSchema = z.strictObject(overrideShape);

/** One version of a plan; several versions are several items with one id. */
export const pricePlan = z.strictObject({
  id: idSchema(255),
  name,
  type: withDefault(z.literal("BILLING"), "BILLING"),
  status: withDefault(z.enum(["DRAFT", "ACTIVE", "ARCHIVED"]), "DRAFT"),
  version: withDefault(z.int().min(1), 1),
  description: text,
  pricePlanDetails,
});
