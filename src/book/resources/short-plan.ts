/**
 * Price plans in short form, in which people write: a line for each tier, no details. `short/book-forms.ts` turns the
 * short form into the long form before anything else reads the book (book.md).
 */
import * as z from "zod";

import { type DecimalInput, isDecimalObject, isJsonObject } from "../../numbers/decimal.ts";
import { issueParams } from "../problems.ts";
import { currency, decimal, decimalJson, type Frozen, name, reference, type StrictSchema, text } from "./fields.ts";
import { CURRENCIES_MAX, pricePlan, pricePlanDetails, pricingCycleConfig } from "./price-plan.ts";
import {
  billingEntitlementRateCard,
  creditGrantRateCard,
  displayFields,
  fixedFeeRateCard,
  licenseRateCard,
  recurrenceConfig,
} from "./rate-card.ts";
import { priceTableFields } from "./rate-table.ts";

/** Whether a value may be a decimal: a number, text or Decimal. */
function isDecimalLike(value: unknown): value is DecimalInput {
  return typeof value === "number" || typeof value === "string" || isDecimalObject(value);
}

/** An amount in the only currency of the plan, or one for each of its currencies. */
const amount = z
  .custom<DecimalInput | { readonly [currency: string]: DecimalInput }>(
    (value) => {
      const amounts = isJsonObject(value) ? Object.values(value) : [value];
      return amounts.length > 0 && amounts.every(isDecimalLike);
    },
    issueParams("WRONG_TYPE", { expected: 'a decimal, or decimals by currency, such as { "USD": "0.002" }' }),
  )
  .meta({ anyOf: [...decimalJson, { type: "object", additionalProperties: { anyOf: decimalJson } }] });
const flag = z.boolean().nullish();
const timing = fixedFeeRateCard.shape.invoiceTiming;

const tierFields = {
  /** The last unit in the tier, inclusive; every tier but the last has it. */
  upTo: decimal.nullish(),
  /** For each unit, or each started package; text or number, or one for each currency. */
  rate: amount.nullish(),
  /** The rate is for so many units, such as 1000000; default 1. */
  per: decimal.nullish(),
  /** Charged once if a unit of the tier is used, beside the rate or in place of it. */
  flat: amount.nullish(),
  /** Units in a package: the rate is for each started package. */
  package: decimal.nullish(),
  /** Whether the first tier is also charged for a quantity of 0; default false. */
  chargeAtZero: flag,
  /** The minimum charge; of a card prorated in a partial cycle. */
  minimum: amount.nullish(),
  /** The maximum charge; of a card prorated in a partial cycle. */
  maximum: amount.nullish(),
};
/** One tier of a price: the units above the previous tier's `upTo`, up to and including its own (S7.1). */
export interface TierSchema extends StrictSchema<typeof tierFields> {}
const tier: TierSchema = z.strictObject(tierFields);

const { upTo: _upTo, ...onlyTierFields } = tierFields;
/** The price of a quantity, and how it is displayed. */
const priceFields = {
  ...onlyTierFields,
  /** Each tier prices its own units (S7.2). */
  tiers: z.array(tier).min(1).nullish(),
  /** The tier that the quantity reaches prices all units (S7.2). */
  volumeTiers: z.array(tier).min(1).nullish(),
  ...displayFields,
  /** In the long form: the slabs, and whether they are TIERED or VOLUME. */
  ratePlan: licenseRateCard.shape.ratePlan.nullish(),
  /** In the long form: the rates in each currency that the plan supports. */
  rateValues: licenseRateCard.shape.rateValues.nullish(),
};
const cardAddOnFields = {
  /** The id of its add-on, which need not be listed. */
  id: reference,
  /** The name of the add-on; default the id. */
  name: name.nullish(),
  /** IN_ARREARS (default): charged after the cycle. IN_ADVANCE: charged at its start (S9.1). */
  timing,
  ...displayFields,
};
const recurrenceFields = {
  /** Cycles from one charge to the next, 1 to 10,000; default 1. */
  everyCycles: recurrenceConfig.shape.interval,
  /** Cycles before the first charge, 0 to 10,000; default 0. */
  afterCycles: recurrenceConfig.shape.offset,
};
const cardFeatureFields = {
  /** The id of a feature, which need not be listed. */
  feature: reference,
  /** The name of the feature; default the id. */
  name: name.nullish(),
  ...priceFields,
  ...recurrenceFields,
};

/** The price of a meter's usage in a cycle (S7). */
const usagePrice = z.strictObject({
  /** The id or the name of a usage meter. */
  meter: reference,
  /** Whether the price of a peak, a count of different values or a last value is prorated in a partial cycle (S19.4). */
  prorate: flag,
  ...priceFields,
  ...priceTableFields,
});

/** A fee that does not depend on a quantity (S9). */
const fee = z.strictObject({
  ...cardAddOnFields,
  /** The fee of a whole cycle. */
  rate: amount.nullish(),
  /** Whether the fee of a partial cycle is prorated by days (S8); default false. */
  prorate: flag,
  /** Whether it is charged once, in the first cycle after `afterCycles`; default false. */
  once: flag,
  ...recurrenceFields,
  /** In the long form: the fee of a whole cycle in each currency that the plan supports. */
  rateValues: fixedFeeRateCard.shape.rateValues.nullish(),
});

/** The price of a license's quantity (S10). */
const licensePrice = z.strictObject({
  ...cardAddOnFields,
  ...priceFields,
  /** Whether a quantity in effect for part of a cycle is prorated by days (S10.2); default false. */
  prorate: flag,
  /** The maximum quantity; default no limit. */
  max: decimal.nullish(),
  /** Whether a decrease that was charged in advance is refunded as credits (S10.3); default false. */
  refund: flag,
});

/** Units of a feature that each cycle grants, and their price (S11.1). */
const entitlement = z.strictObject({
  ...cardFeatureFields,
  /** Units granted in each cycle. */
  quantity: decimal.nullish(),
  /** How long they can be used, as an ISO 8601 duration such as `P1M`. */
  for: text,
  /** IN_ARREARS (default): charged after the cycle. IN_ADVANCE: charged at its start (S9.1). */
  timing,
  /** In the long form: the granted entries, at least one. */
  featureConfigs: billingEntitlementRateCard.shape.featureConfigs.nullish(),
});

/** The price of consumption beyond the entitlements (S11.7). */
const overage = z.strictObject({
  ...cardFeatureFields,
  /** Maximum units of overage in a billing window, a whole number; default no limit (S11.3). */
  max: decimal.nullish(),
});

const { minimum: _min, maximum: _max, ratePlan: _plan, rateValues: _values, ...creditPriceFields } = priceFields;
/** Money that each cycle grants, and its price (S12.6). */
const creditOffer = z.strictObject({
  ...cardAddOnFields,
  /** The money that is granted in each cycle. */
  amount: amount.nullish(),
  ...creditPriceFields,
  /** How long the credits last: a duration such as `P1M`, or `CYCLE`; default without end. */
  for: text,
  /** Lower ones are spent first, a whole number; default 0. */
  priority: z.int().nullish(),
  /** The items that the credits can pay for, as `applicableEntityIds`; default all (S12.2). */
  appliesTo: z.array(reference).nullish(),
  /** Whether it is granted once, in the first cycle after `afterCycles`; default false. */
  once: flag,
  ...recurrenceFields,
  /** In the long form: the grant and its price. */
  rateDetails: creditGrantRateCard.shape.rateDetails.nullish(),
  /** In the long form: how the credits are spent and when they expire. */
  grantDetails: creditGrantRateCard.shape.grantDetails.nullish(),
});

const { startOffset: _offset, anniversaryCycle: _anniversary, ...cycleFields } = pricingCycleConfig.shape;
const cycle = z.strictObject({
  ...cycleFields,
  /** The day of the month or week on which a cycle begins, from 1, or `LAST`; default 1. */
  day: z.union([z.int().min(1).max(31), z.literal("LAST")]).nullish(),
  /** The month of a longer cycle in which it begins, from 1 (`FIRST`), or `LAST`; default the first. */
  month: z.union([z.int().min(1).max(12), z.enum(["FIRST", "LAST"])]).nullish(),
  /** Whether cycles follow the date of the association instead (S6.3); default false. */
  anniversary: flag,
});

const overrideFields = {
  /** An interval such as MONTHLY, or an object with the day on which cycles begin. */
  cycle: z.union([cycleFields.interval, cycle]).nullish(),
  /** Prices of metered usage (S7). */
  usage: z.array(usagePrice).nullish(),
  /** Fees that do not depend on a quantity (S9). */
  fees: z.array(fee).nullish(),
  /** Prices of licenses, such as seats (S10). */
  licenses: z.array(licensePrice).nullish(),
  /** Units of features that a cycle grants, and their price (S11.1). */
  entitlements: z.array(entitlement).nullish(),
  /** Prices of usage beyond entitlements (S11.7). */
  overages: z.array(overage).nullish(),
  /** Money that a cycle grants, and its price (S12.6). */
  credits: z.array(creditOffer).nullish(),
  /** The minimum charge of a cycle, prorated in a partial cycle (S13.3); default none. */
  commitment: amount.nullish(),
};
/** Changes of a plan for one account, in short form (S16.2). */
export interface ShortOverrideSchema extends StrictSchema<typeof overrideFields> {}
export const shortOverride: ShortOverrideSchema = z.strictObject(overrideFields);

const { pricePlanDetails: _details, ...planFields } = pricePlan.shape;
const { supportedCurrencies: _currencies, ...detailsFields } = pricePlanDetails.shape;
const ownPlanFields = {
  ...planFields,
  ...detailsFields,
  /** 1 to 255 characters, unique among plans; default the id. */
  name: name.nullish(),
  /** Default ACTIVE. */
  status: planFields.status,
  /** ISO 4217 codes for which every price has a rate; default the organization's. */
  currencies: z.array(currency).min(1).max(CURRENCIES_MAX).nullish(),
};
export interface ShortPlanSchema extends StrictSchema<typeof ownPlanFields & typeof overrideFields> {}
export const shortPlan: ShortPlanSchema = z.strictObject({ ...ownPlanFields, ...overrideFields });
/** A price plan as people write it. */
export interface ShortPlanInput extends Frozen<z.input<ShortPlanSchema>> {
  /** Only in the long form. */
  readonly pricePlanDetails?: undefined;
}
