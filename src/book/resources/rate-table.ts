/** Price tables of usage cards: a rate for each group of a meter's usage, and for each day (S18). */
import * as z from "zod";

import { type Decimal, formatDecimal, isDecimalObject } from "../../numbers/decimal.ts";
import { issueParams } from "../problems.ts";
import {
  type Amounts,
  amounts,
  day,
  decimal,
  decimalAboveZero,
  decimalFromZero,
  type Frozen,
  recordSchema,
  reference,
  type StrictSchema,
  withDefault,
} from "./fields.ts";

/** Maximum number of rows of a table. */
const ROWS_MAX = 5_000;
/** Maximum characters of a text in a group (S18.1). */
const TEXT_LENGTH_MAX = 512;

const rateTierFields = {
  /** The last unit in the tier, inclusive; every tier but the last has it. */
  upTo: decimalAboveZero.nullish(),
  /** For `per` units, or for each started package; one for each currency if the plan has several. */
  rate: amounts.nullish(),
  /** Charged once if a unit of the tier is used, beside the rate or in place of it. */
  flat: amounts.nullish(),
  /** Units in a package, more than 0: the rate is for each started package. */
  package: decimalAboveZero.nullish(),
  /** Whether the first tier is also charged for a quantity of 0; default false. */
  chargeAtZero: z.boolean().nullish(),
  /** The minimum charge of the tier; default no limit. */
  minimum: amounts.nullish(),
  /** The maximum charge of the tier; default no limit. */
  maximum: amounts.nullish(),
};
export interface RateTierSchema extends StrictSchema<typeof rateTierFields> {}
const rateTier: RateTierSchema = z.strictObject(rateTierFields);
/** One tier of a row: the units above the previous tier's `upTo`, up to and including its own (S18.3). */
export interface RateTier extends Frozen<z.output<RateTierSchema>> {}

/** The text of a dimension; a number is its plain decimal text (S4.1). */
const dimensionText = z
  .custom<string | number>(
    (value) => readDimensionText(value) !== undefined,
    issueParams("WRONG_TYPE", { expected: `a text of 1 to ${TEXT_LENGTH_MAX} characters` }),
  )
  .transform((value) => readDimensionText(value) ?? "")
  .meta({ anyOf: [{ type: "string", minLength: 1, maxLength: TEXT_LENGTH_MAX }, { type: "number" }] });

function readDimensionText(value: unknown): string | undefined {
  if (typeof value === "string") return value !== "" && value.length <= TEXT_LENGTH_MAX ? value : undefined;
  const isNumber = typeof value === "number" || isDecimalObject(value);
  const number = isNumber ? decimal.safeParse(value).data : undefined;
  return number && formatDecimal(number);
}

const rateRowFields = {
  /** The texts of the meter's `groupBy` dimensions for which it holds; those left out may have any; default all groups. */
  when: recordSchema(z.string(), dimensionText).nullish(),
  /** The first day of the price, UTC; default always. The latest of rows with the same `when` applies (S18.2). */
  from: day.nullish(),
  /** For `per` units; one for each currency if the plan has several. */
  rate: amounts.nullish(),
  /** Each tier prices its own units (S7.2). */
  tiers: z.array(rateTier).min(1).nullish(),
  /** The tier that the quantity reaches prices all units (S7.2). */
  volumeTiers: z.array(rateTier).min(1).nullish(),
  /** ROW (default): tiers count all groups of the row together. GROUP: each group counts by itself (S18.3). */
  slabsOver: z.enum(["ROW", "GROUP"]).nullish(),
};
export interface RateRowSchema extends StrictSchema<typeof rateRowFields> {}
const rateRow: RateRowSchema = z.strictObject(rateRowFields);
/** A row of a price table in input form (S18.2). */
export interface RateRowInput extends Frozen<z.input<RateRowSchema>> {}
/** A row of a price table (S18.2). */
export interface RateRow extends Frozen<z.output<RateRowSchema>> {}

const rateAllowanceFields = {
  /** Free units in a whole cycle, 0 or more; by days in a partial one (S18.5). */
  quantity: decimalFromZero,
  /** ALL_ROWS (default): one for the table, taken by rows in their order. EACH_ROW: one for each row. */
  over: withDefault(z.enum(["ALL_ROWS", "EACH_ROW"]), "ALL_ROWS"),
};
export interface RateAllowanceSchema extends StrictSchema<typeof rateAllowanceFields> {}
const rateAllowance: RateAllowanceSchema = z.strictObject(rateAllowanceFields);
/** Units of a table that are free (S18.5). */
export interface RateAllowance extends Frozen<z.output<RateAllowanceSchema>> {}

/** The rows of a table, or those that an override adds. */
export const rateRows = z.array(rateRow).min(1).max(ROWS_MAX);

const rateTableFields = {
  /** The rates are for so many units, such as 1000000; default 1. */
  per: decimalAboveZero.nullish(),
  /** Free units; default none. */
  allowance: rateAllowance.nullish(),
  /** ROW (default): the quantity of a row chooses its volume tier. ALL_ROWS: the sum of all rows does (S18.3). */
  volumeOver: z.enum(["ROW", "ALL_ROWS"]).nullish(),
  /** 1 to 5,000 rows; of those that hold for a group, the one that names most dimensions prices it (S18.2). */
  rows: rateRows,
  /** Default UNPRICED, the only one: usage without a row costs 0, with a notice. */
  otherwise: z.literal("UNPRICED").nullish(),
  /** The minimum charge of the card, prorated in a partial cycle; default no limit. */
  minimum: amounts.nullish(),
  /** The maximum charge of the card, prorated in a partial cycle; default no limit. */
  maximum: amounts.nullish(),
};
export interface RateTableSchema extends StrictSchema<typeof rateTableFields> {}
export const rateTable: RateTableSchema = z.strictObject(rateTableFields);
/** A rate for each group of a meter's usage, and for each day (S18). */
export interface RateTableInput extends Frozen<z.input<RateTableSchema>> {}
/** A rate for each group of a meter's usage, and for each day (S18). */
export interface RateTable extends Frozen<z.output<RateTableSchema>> {}

const rateRowsRequestFields = {
  /** The id or the name of a usage meter with a price table in the version. */
  usageMeterId: reference,
  /** Added after the rows of the table. */
  rows: rateRows,
  /** An ACTIVE version, from 1; default the latest one. */
  version: z.int().min(1).nullish(),
};
export interface RateRowsRequestSchema extends StrictSchema<typeof rateRowsRequestFields> {}
export const rateRowsRequest: RateRowsRequestSchema = z.strictObject(rateRowsRequestFields);
/** Rows for the price table of a plan version in use (S18.8). */
export interface RateRowsRequest extends Frozen<z.input<RateRowsRequestSchema>> {}

/** One text for each `when`, whatever the order of its dimensions. */
export function whenKey(when: Readonly<Record<string, string>>): string {
  return JSON.stringify(Object.entries(when).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The tiers of a row; a rate is one without an end. */
export function listTiers(row: RateRow): readonly RateTier[] {
  return row.tiers ?? row.volumeTiers ?? [{ rate: row.rate }];
}

/** The amount in a currency; undefined if there is none. */
export function amountIn(amounts: Amounts<Decimal> | null | undefined, currency: string): Decimal | undefined {
  if (amounts === null || amounts === undefined || isDecimalObject(amounts)) return amounts ?? undefined;
  return Object.hasOwn(amounts, currency) ? amounts[currency] : undefined;
}

/** The fields with a price table, the same in short and in long form. */
export const priceTableFields = {
  /** Without slabs: a rate for each group of the meter's usage, and for each day (S18). */
  rateTable: rateTable.nullish(),
  /** In an override: rows that are asked before those of the plan's table, with rates for its `per` units (S18.7). */
  rows: rateRows.nullish(),
  /** In an override: a factor for every amount of the plan's table, 0 or more (S18.7). */
  multiply: decimalFromZero.nullish(),
};
