/**
 * Price plans: one version of what is sold (service-reference "Price plan"; S6, S16.4).
 *
 * @module
 */
import { z } from "zod";

import { currency, id } from "./fields.ts";
import {
  billingEntitlementRateCard,
  creditGrantRateCard,
  entitlementOverageRateCard,
  fixedFeeRateCard,
  licenseRateCard,
  minimumCommitment,
  usageRateCard,
} from "./rate-card.ts";

/** When pricing cycles begin (S6.1, S6.3), and how long late events are taken after one ends (S6.5). */
export const pricingCycleConfig = z.strictObject({
  interval: z.enum(["WEEKLY", "MONTHLY", "QUARTERLY", "HALF_YEARLY", "ANNUALLY"]),
  startOffset: z.strictObject({ dayOffset: z.string(), monthOffset: z.string().nullish() }).nullish(),
  /** Whole days, default 0. */
  gracePeriod: z.int().min(0).nullish(),
  anniversaryCycle: z.boolean().nullish(),
});
export type PricingCycleConfig = z.output<typeof pricingCycleConfig>;

const cards = {
  usageRateCards: z.array(usageRateCard).nullish(),
  fixedFeeRateCards: z.array(fixedFeeRateCard).nullish(),
  licenseRateCards: z.array(licenseRateCard).nullish(),
  billingEntitlementRateCards: z.array(billingEntitlementRateCard).nullish(),
  creditGrantRateCards: z.array(creditGrantRateCard).nullish(),
  entitlementOverageRateCards: z.array(entitlementOverageRateCard).nullish(),
  minimumCommitment: minimumCommitment.nullish(),
};

/** Everything that is priced under a plan. */
export const pricePlanDetails = z.strictObject({
  ...cards,
  supportedCurrencies: z.array(currency).nullish(),
  activeCurrencies: z.array(currency).nullish(),
  pricingCycleConfig: pricingCycleConfig.nullish(),
  rateDetails: z.unknown().nullish(),
  entitlementRateCards: z.array(z.unknown()).nullish(),
  type: z.string().nullish(),
});
export type PricePlanDetails = z.output<typeof pricePlanDetails>;

/** What an association changes of its plan (S16.2). */
export const pricePlanDetailsOverride = z.strictObject({ ...cards, pricingCycleConfig: pricingCycleConfig.nullish() });
export type PricePlanDetailsOverride = z.output<typeof pricePlanDetailsOverride>;

/** One version of a plan; several versions are several items with one id. */
export const pricePlan = z.strictObject({
  id: id.max(255),
  name: z.string().min(1).max(255),
  type: z.enum(["BILLING"]).default("BILLING"),
  status: z.enum(["DRAFT", "ACTIVE", "ARCHIVED"]).default("DRAFT"),
  version: z.int().min(1).default(1),
  description: z.string().nullish(),
  pricePlanDetails,
});
export type PricePlan = z.output<typeof pricePlan>;
