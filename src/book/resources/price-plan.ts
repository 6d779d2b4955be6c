/** Price plan versions (service-reference "Price plan"; S6, S16.2, S16.4). */
import * as z from "zod";

import {
  type Frozen,
  currency,
  days,
  freeForm,
  idSchema,
  listOrEmpty,
  name,
  withDefault,
  text,
  label,
  type StrictSchema,
} from "./fields.ts";
import {
  billingEntitlementRateCard,
  creditGrantRateCard,
  entitlementOverageRateCard,
  fixedFeeRateCard,
  fixedRateValue,
  licenseRateCard,
  usageRateCard,
} from "./rate-card.ts";

/** Maximum number of currencies of a plan, more than ISO 4217 has. */
export const CURRENCIES_MAX = 200;

const startOffsetFields = {
  /** `"1"` to `"31"` of the month, `"1"` (Monday) to `"7"` of the week, or `LAST`. */
  dayOffset: z.string(),
  /** `NIL` or absent for weekly and monthly cycles, else `"1"` to `"12"`, `FIRST` or `LAST`. */
  monthOffset: text,
};
export interface StartOffsetSchema extends StrictSchema<typeof startOffsetFields> {}
const startOffset: StartOffsetSchema = z.strictObject(startOffsetFields);

const pricingCycleConfigFields = {
  /** The length of a natural cycle. */
  interval: z.enum(["WEEKLY", "MONTHLY", "QUARTERLY", "HALF_YEARLY", "ANNUALLY"]),
  /** The day, and in longer cycles the month, on which a cycle begins; default the first. */
  startOffset: startOffset.nullish(),
  /** Days after a cycle in which late events are accepted, 0 to 36,500; default 0. */
  gracePeriod: days.nullish(),
  /** Whether cycles follow the date of the association instead (S6.3); default false. */
  anniversaryCycle: z.boolean().nullish(),
};
export interface PricingCycleConfigSchema extends StrictSchema<typeof pricingCycleConfigFields> {}
export const pricingCycleConfig: PricingCycleConfigSchema = z.strictObject(pricingCycleConfigFields);
/** When pricing cycles begin (S6.1, S6.3), and how long late events are accepted (S6.5). */
export interface PricingCycleConfig extends Frozen<z.output<PricingCycleConfigSchema>> {}

const minimumCommitmentFields = {
  /** The name on invoices, at most 255 characters. */
  displayName: label,
  /** The minimum amount in each currency that the plan supports. */
  rateValues: z.array(fixedRateValue).min(1),
};
export interface MinimumCommitmentSchema extends StrictSchema<typeof minimumCommitmentFields> {}
export const minimumCommitment: MinimumCommitmentSchema = z.strictObject(minimumCommitmentFields);
/** The minimum charge of a cycle (S13.3). */
export interface MinimumCommitmentInput extends Frozen<z.input<MinimumCommitmentSchema>> {}
/** The minimum charge of a cycle (S13.3). */
export interface MinimumCommitment extends Frozen<z.output<MinimumCommitmentSchema>> {}

const rateCardsFields = {
  /** Prices of metered usage (S7). */
  usageRateCards: listOrEmpty(usageRateCard),
  /** Fees that do not depend on a quantity (S9). */
  fixedFeeRateCards: listOrEmpty(fixedFeeRateCard),
  /** Prices of licenses (S10). */
  licenseRateCards: listOrEmpty(licenseRateCard),
  /** Grants of feature credits, with their prices (S11.1). */
  billingEntitlementRateCards: listOrEmpty(billingEntitlementRateCard),
  /** Grants of monetary credits, with their prices (S12.6). */
  creditGrantRateCards: listOrEmpty(creditGrantRateCard),
  /** Prices of usage beyond entitlements (S11.7). */
  entitlementOverageRateCards: listOrEmpty(entitlementOverageRateCard),
  /** The minimum charge of a cycle, prorated in a partial cycle (S13.3); default none. */
  minimumCommitment: minimumCommitment.nullish(),
};
/** The cards of a plan: at most one of a kind for each billable item; each list is empty by default. */
export interface RateCardsInput extends Frozen<z.input<z.ZodObject<typeof rateCardsFields>>> {}

const pricePlanDetailsFields = {
  ...rateCardsFields,
  /** ISO 4217 codes, at most 200, for which every card has rates; required to associate the plan. */
  supportedCurrencies: z.array(currency).max(CURRENCIES_MAX).nullish(),
  /** The currencies in which the plan is sold, at most 200; no effect on prices. */
  activeCurrencies: z.array(currency).max(CURRENCIES_MAX).nullish(),
  /** When cycles begin, and how long late events are accepted; required to associate the plan. */
  pricingCycleConfig: pricingCycleConfig.nullish(),
  /** Stored unchanged; no effect on prices. */
  rateDetails: freeForm.nullish(),
  /** Stored unchanged; no effect on prices. */
  entitlementRateCards: z.array(freeForm).nullish(),
  /** Default BILLING, the only one. */
  type: z.literal("BILLING").nullish(),
};
export interface PricePlanDetailsSchema extends StrictSchema<typeof pricePlanDetailsFields> {}
export const pricePlanDetails: PricePlanDetailsSchema = z.strictObject(pricePlanDetailsFields);
/** The prices of a plan. */
export interface PricePlanDetailsInput extends Frozen<z.input<PricePlanDetailsSchema>> {}
/** The prices of a plan. */
export interface PricePlanDetails extends Frozen<z.output<PricePlanDetailsSchema>> {}

const pricePlanDetailsOverrideFields = {
  ...rateCardsFields,
  /** Replaces that of the plan completely; default the plan's. */
  pricingCycleConfig: pricingCycleConfig.nullish(),
};
export interface PricePlanDetailsOverrideSchema extends StrictSchema<typeof pricePlanDetailsOverrideFields> {}
export const pricePlanDetailsOverride: PricePlanDetailsOverrideSchema = z.strictObject(pricePlanDetailsOverrideFields);
/** An override: an association's changes of a plan. Cards replace those of the same billable item, or are added (S16.2). */
export interface PricePlanDetailsOverrideInput extends Frozen<z.input<PricePlanDetailsOverrideSchema>> {}
/** An override: an association's changes of a plan (S16.2). */
export interface PricePlanDetailsOverride extends Frozen<z.output<PricePlanDetailsOverrideSchema>> {}

const pricePlanFields = {
  /** 1 to 255 characters, without white space and slashes; several versions are several items with one id. */
  id: idSchema(255),
  /** 1 to 255 characters, unique among plans. */
  name,
  /** Default BILLING, the only one. */
  type: withDefault(z.literal("BILLING"), "BILLING"),
  /** Default DRAFT; an engine associates only ACTIVE versions, a preview also drafts. */
  status: withDefault(z.enum(["DRAFT", "ACTIVE", "ARCHIVED"]), "DRAFT"),
  /** A whole number from 1; default 1. */
  version: withDefault(z.int().min(1), 1),
  /** A description for people. */
  description: text,
  /** The prices of the plan: currencies, cycles and cards. */
  pricePlanDetails,
};
export interface PricePlanSchema extends StrictSchema<typeof pricePlanFields> {}
export const pricePlan: PricePlanSchema = z.strictObject(pricePlanFields);
/** One version of a plan; several versions are several items with one id (S16.4). */
export interface PricePlanInput extends Frozen<z.input<PricePlanSchema>> {}
/** One version of a plan (S16.4). */
export interface PricePlan extends Frozen<z.output<PricePlanSchema>> {}
