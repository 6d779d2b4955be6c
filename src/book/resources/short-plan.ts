/**
 * Price plans in short form, in which people write: a line for each tier, no details. `short/expand-book.ts` turns the
 * short form into the long form before anything else reads the book (book.md).
 */
import * as z from "zod";

import { type DecimalInput, isDecimalObject } from "../../numbers/decimal.ts";
import { issueParams } from "../problems.ts";
import { type Frozen, currency, DECIMAL_FORMAT, name, reference, type StrictSchema, text } from "./fields.ts";
import { CURRENCIES_MAX, pricePlan, pricePlanDetails } from "./price-plan.ts";
import {
  billingEntitlementRateCard,
  creditGrantRateCard,
  fixedFeeRateCard,
  licenseRateCard,
  usageRateCard,
} from "./rate-card.ts";

const decimalJson = [
  { type: "number" },
  { type: "string", pattern: String.raw`^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$` },
];

/** A decimal that the long form checks later. */
export const plainDecimal = z
  .custom<DecimalInput>(isDecimalLike, issueParams("WRONG_TYPE", { expected: "a decimal" }))
  .meta({ anyOf: decimalJson, description: DECIMAL_FORMAT });
/** An amount in the only currency of the plan, or one for each of its currencies. */
const amount = z
  .custom<DecimalInput | { readonly [currency: string]: DecimalInput }>(
    (value) => isDecimalLike(value) || isAmountByCurrency(value),
    issueParams("WRONG_TYPE", { expected: 'a decimal, or decimals by currency, such as { "USD": "0.002" }' }),
  )
  .meta({ anyOf: [...decimalJson, { type: "object", additionalProperties: { anyOf: decimalJson } }] });

/** Whether a value may be a decimal: a number, text or Decimal. */
export function isDecimalLike(value: unknown): value is DecimalInput {
  return typeof value === "number" || typeof value === "string" || isDecimalObject(value);
}

function isAmountByCurrency(value: unknown): boolean {
  return (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    Object.values(value).length > 0 &&
    Object.values(value).every(isDecimalLike)
  );
}

const timing = z.enum(["IN_ARREARS", "IN_ADVANCE"]).nullish();
const flag = z.boolean().nullish();
const count = z.int().min(0).nullish();

const tierPriceFields = {
  /** For each unit, or each started package; text or number, or one for each currency. */
  rate: amount.nullish(),
  /** The rate is for so many units, such as 1000000; default 1. */
  per: plainDecimal.nullish(),
  /** Charged once if a unit of the tier is used, beside the rate or in place of it. */
  flat: amount.nullish(),
  /** Units in a package: the rate is for each started package. */
  package: plainDecimal.nullish(),
  /** Whether the first tier is also charged for a quantity of 0; default false. */
  chargeAtZero: flag,
  /** The minimum charge; of a card prorated in a partial cycle. */
  minimum: amount.nullish(),
  /** The maximum charge; of a card prorated in a partial cycle. */
  maximum: amount.nullish(),
};
const tierFields = {
  /** The last unit in the tier, inclusive; every tier but the last has it. */
  upTo: plainDecimal.nullish(),
  ...tierPriceFields,
};
/** One tier of a price: the units above the previous tier's `upTo`, up to and including its own (S7.1). */
export interface TierSchema extends StrictSchema<typeof tierFields> {}
const tier: TierSchema = z.strictObject(tierFields);

/** The price of a quantity. */
const priceFields = {
  ...tierPriceFields,
  /** Each tier prices its own units (S7.2). */
  tiers: z.array(tier).min(1).nullish(),
  /** The tier that the quantity reaches prices all units (S7.2). */
  volumeTiers: z.array(tier).min(1).nullish(),
};

const longPrice = {
  ratePlan: licenseRateCard.shape.ratePlan.nullish(),
  rateValues: licenseRateCard.shape.rateValues.nullish(),
};
const { displayName, tag } = usageRateCard.shape;
const display = { displayName, tag };
const recurringFields = {
  /** Cycles from one charge to the next, 1 to 10,000; default 1. */
  everyCycles: count,
  /** Cycles before the first charge, 0 to 10,000; default 0. */
  afterCycles: count,
};

const { rateTable, rows, multiply } = usageRateCard.shape;
const priceTable = { rateTable, rows, multiply };
const usagePriceFields = {
  /** The id or the name of a usage meter. */
  meter: reference,
  ...priceFields,
  ...priceTable,
  ...display,
  ...longPrice,
};
/** The price of a meter's usage in a cycle (S7). */
export interface UsagePriceSchema extends StrictSchema<typeof usagePriceFields> {}
const usagePrice: UsagePriceSchema = z.strictObject(usagePriceFields);

const longFee = { rateValues: fixedFeeRateCard.shape.rateValues.nullish() };
const feeFields = {
  /** The id of its add-on, which need not be listed. */
  id: reference,
  /** The name of the add-on; default the id. */
  name: name.nullish(),
  /** The fee of a whole cycle. */
  rate: amount.nullish(),
  /** Whether the fee of a partial cycle is prorated by days (S8); default false. */
  prorate: flag,
  /** IN_ARREARS (default): charged after the cycle. IN_ADVANCE: charged at its start (S9.1). */
  timing,
  /** Whether it is charged once, in the first cycle after `afterCycles`; default false. */
  once: flag,
  ...recurringFields,
  ...display,
  ...longFee,
};
/** A fee that does not depend on a quantity (S9). */
export interface FeeSchema extends StrictSchema<typeof feeFields> {}
const fee: FeeSchema = z.strictObject(feeFields);

const licensePriceFields = {
  /** The id of its add-on, which need not be listed. */
  id: reference,
  /** The name of the add-on; default the id. */
  name: name.nullish(),
  ...priceFields,
  /** Whether a quantity in effect for part of a cycle is prorated by days (S10.2); default false. */
  prorate: flag,
  /** IN_ARREARS (default): charged after the cycle. IN_ADVANCE: charged at its start (S9.1). */
  timing,
  /** The maximum quantity; default no limit. */
  max: plainDecimal.nullish(),
  /** Whether a decrease that was charged in advance is refunded as credits (S10.3); default false. */
  refund: flag,
  ...display,
  ...longPrice,
};
/** The price of a license's quantity (S10). */
export interface LicensePriceSchema extends StrictSchema<typeof licensePriceFields> {}
const licensePrice: LicensePriceSchema = z.strictObject(licensePriceFields);

const longGrant = { featureConfigs: billingEntitlementRateCard.shape.featureConfigs.nullish() };
const entitlementFields = {
  /** The id of a feature, which need not be listed. */
  feature: reference,
  /** The name of the feature; default the id. */
  name: name.nullish(),
  /** Units granted in each cycle. */
  quantity: plainDecimal.nullish(),
  /** How long they can be used, as an ISO 8601 duration such as `P1M`. */
  for: text,
  ...priceFields,
  /** IN_ARREARS (default): charged after the cycle. IN_ADVANCE: charged at its start (S9.1). */
  timing,
  ...recurringFields,
  ...display,
  ...longGrant,
  ...longPrice,
};
/** Units of a feature that each cycle grants, and their price (S11.1). */
export interface EntitlementSchema extends StrictSchema<typeof entitlementFields> {}
const entitlement: EntitlementSchema = z.strictObject(entitlementFields);

const overageFields = {
  /** The id of a feature, which need not be listed. */
  feature: reference,
  /** The name of the feature; default the id. */
  name: name.nullish(),
  ...priceFields,
  /** Maximum units of overage in a billing window, a whole number; default no limit (S11.3). */
  max: plainDecimal.nullish(),
  ...recurringFields,
  ...display,
  ...longPrice,
};
/** The price of consumption beyond the entitlements (S11.7). */
export interface OverageSchema extends StrictSchema<typeof overageFields> {}
const overage: OverageSchema = z.strictObject(overageFields);

const { minimum: _minimum, maximum: _maximum, ...creditPriceFields } = priceFields;
const longCreditOffer = {
  rateDetails: creditGrantRateCard.shape.rateDetails.nullish(),
  grantDetails: creditGrantRateCard.shape.grantDetails.nullish(),
};
const creditOfferFields = {
  /** The id of its add-on, which need not be listed. */
  id: reference,
  /** The name of the add-on; default the id. */
  name: name.nullish(),
  /** The money that is granted in each cycle. */
  amount: amount.nullish(),
  ...creditPriceFields,
  /** How long the credits last: a duration such as `P1M`, or `CYCLE`; default without end. */
  for: text,
  /** Lower ones are spent first, a whole number; default 0. */
  priority: z.int().nullish(),
  /** The items that the credits can pay for, as `applicableEntityIds`; default all (S12.2). */
  appliesTo: z.array(reference).nullish(),
  /** IN_ARREARS (default): charged after the cycle. IN_ADVANCE: charged at its start (S9.1). */
  timing,
  /** Whether it is granted once, in the first cycle after `afterCycles`; default false. */
  once: flag,
  ...recurringFields,
  ...display,
  ...longCreditOffer,
};
/** Money that each cycle grants, and its price (S12.6). */
export interface CreditOfferSchema extends StrictSchema<typeof creditOfferFields> {}
const creditOffer: CreditOfferSchema = z.strictObject(creditOfferFields);

/** The kinds of prices in a short plan. */
const priceListFields = {
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

const interval = z.enum(["WEEKLY", "MONTHLY", "QUARTERLY", "HALF_YEARLY", "ANNUALLY"]);
const grace = { gracePeriod: pricePlanDetails.shape.pricingCycleConfig.unwrap().unwrap().shape.gracePeriod };
const cycleFields = {
  /** The length of a natural cycle. */
  interval,
  /** The day of the month or week on which a cycle begins, from 1, or `LAST`; default 1. */
  day: z.union([z.int().min(1).max(31), z.literal("LAST")]).nullish(),
  /** The month of a longer cycle in which it begins, from 1 (`FIRST`), or `LAST`; default the first. */
  month: z.union([z.int().min(1).max(12), z.enum(["FIRST", "LAST"])]).nullish(),
  /** Whether cycles follow the date of the association instead (S6.3); default false. */
  anniversary: flag,
  ...grace,
};
export interface CycleSchema extends StrictSchema<typeof cycleFields> {}
const cycle: CycleSchema = z.strictObject(cycleFields);

const { supportedCurrencies: _currencies, ...otherDetails } = pricePlanDetails.shape;
const { pricePlanDetails: _details, status: _status, name: _name, ...otherPlanFields } = pricePlan.shape;

const shortPlanFields = {
  ...otherPlanFields,
  /** 1 to 255 characters, unique among plans; default the id. */
  name: name.nullish(),
  /** Default ACTIVE. */
  status: z.enum(["DRAFT", "ACTIVE", "ARCHIVED"]).nullish(),
  /** An interval such as MONTHLY, or an object with the day on which cycles begin. */
  cycle: z.union([interval, cycle]).nullish(),
  /** ISO 4217 codes for which every price has a rate; default the organization's. */
  currencies: z.array(currency).min(1).max(CURRENCIES_MAX).nullish(),
  ...priceListFields,
  ...otherDetails,
};
export interface ShortPlanSchema extends StrictSchema<typeof shortPlanFields> {}
export const shortPlan: ShortPlanSchema = z.strictObject(shortPlanFields);
/** A price plan as people write it. */
export interface ShortPlanInput extends Frozen<z.input<ShortPlanSchema>> {
  /** Only in the long form. */
  readonly pricePlanDetails?: undefined;
}

const overrideCycle = { cycle: shortPlanFields.cycle };
/** Changes of a plan for one account, in short form (S16.2). */
const shortOverrideFields = { ...overrideCycle, ...priceListFields };
export interface ShortOverrideSchema extends StrictSchema<typeof shortOverrideFields> {}
export const shortOverride: ShortOverrideSchema = z.strictObject(shortOverrideFields);
