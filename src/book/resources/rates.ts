/**
 * Slabs and rates, the common parts of rate cards (service-reference "Common rate card parts"; S7). In input form, a
 * decimal is a number, a decimal text or a Decimal; when read, it is a Decimal.
 *
 * @module
 */
import * as z from "zod";

import { issueParams } from "../wording.ts";
import type { Frozen } from "./common-types.ts";
import { currency, decimal, decimalAboveZero, decimalFromZero } from "./fields.ts";

const booleanOrText = z
  .custom<boolean | "true" | "false">(
    (value) => ["true", "false"].includes(String(value)) && typeof value !== "object",
    issueParams("WRONG_TYPE", { expected: "true or false" }),
  )
  .transform((value) => String(value) === "true")
  .meta({ anyOf: [{ type: "boolean" }, { type: "string", enum: ["true", "false"] }] });
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
export interface SlabConfigSchema extends z.ZodObject<typeof slabConfigFields, z.core.$strict> {}
const slabConfig: SlabConfigSchema = z.strictObject(slabConfigFields);

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
  slabConfig: slabConfig.nullish(),
};
export interface SlabSchema extends z.ZodObject<typeof slabFields, z.core.$strict> {}
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
export interface RatePlanSchema extends z.ZodObject<typeof ratePlanFields, z.core.$strict> {}
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
export interface RateConfigSchema extends z.ZodObject<typeof rateConfigFields, z.core.$strict> {}
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
export interface SlabRateConfigSchema extends z.ZodObject<typeof slabRateConfigFields, z.core.$strict> {}
const slabRateConfig: SlabRateConfigSchema = z.strictObject(slabRateConfigFields);

const slabRateFields = {
  /** The order of the slab that it prices. */
  order: z.int().min(1),
  /** In the currency: for each unit or package, or for the slab, depending on its price type. */
  rate: decimal,
  /** An additional flat rate, and limits of the slab's charge. */
  slabRateConfig: slabRateConfig.nullish(),
};
export interface SlabRateSchema extends z.ZodObject<typeof slabRateFields, z.core.$strict> {}
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
export interface RateValueSchema extends z.ZodObject<typeof rateValueFields, z.core.$strict> {}
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
export interface FixedRateValueSchema extends z.ZodObject<typeof fixedRateValueFields, z.core.$strict> {}
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
export interface GrantSlabSchema extends z.ZodObject<typeof grantSlabFields, z.core.$strict> {}
export const grantSlab: GrantSlabSchema = z.strictObject(grantSlabFields);
/** A slab of the price of a credit grant, with its rate (S12.6). */
export interface GrantSlabInput extends Frozen<z.input<GrantSlabSchema>> {}
/** A slab with its rate (S12.6). */
export interface GrantSlab extends Frozen<z.output<GrantSlabSchema>> {}
