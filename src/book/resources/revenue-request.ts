/** The request for a revenue calculation: a plan, a currency, and the usage of one cycle (S13.5). */
import * as z from "zod";

import { joinQuoted } from "../../problem-table.ts";
import { issueParams } from "../problems.ts";
import {
  type Frozen,
  currency,
  date,
  dateOrDateTime,
  decimal,
  decimalFromZero,
  recordSchema,
  reference,
  type StrictSchema,
} from "./fields.ts";
import { type PricePlanDetails, type PricePlanDetailsInput, pricePlanDetails } from "./price-plan.ts";
/** Maximum number of items in a map of quantities. */
const ITEMS_MAX = 500;
/** Maximum number of changes of one license's quantity. */
const CHANGES_MAX = 100;
/** Maximum cycle number of a plan. */
const CYCLE_NUMBER_MAX = 1000;

/** Values by id, at most 500. */
export type ValuesById<Value> = Readonly<Record<string, Value>>;

const currencyConfigFields = {
  /** CUSTOM (default): `currency`; ACCOUNT_INVOICE: that of the account's invoices. */
  mode: z.enum(["CUSTOM", "ACCOUNT_INVOICE"]).nullish(),
  /** ISO 4217, with CUSTOM. */
  currency: currency.nullish(),
  /** An account's id, with ACCOUNT_INVOICE. */
  accountId: reference.nullish(),
};
const currencyConfig = z
  .strictObject(currencyConfigFields)
  .superRefine(({ mode, currency: currencyCode, accountId }, context) => {
    const [requiredField, unexpectedField] =
      mode === "ACCOUNT_INVOICE" ? (["accountId", "currency"] as const) : (["currency", "accountId"] as const);
    const values = { currency: currencyCode, accountId };
    const reason = `with the mode ${mode ?? "CUSTOM"}`;
    const missing = issueParams("MISSING", { expected: `it ${reason}` });
    const unexpected = issueParams("UNEXPECTED_FIELD", { reason });
    if (!values[requiredField]) context.addIssue({ code: "custom", path: [requiredField], ...missing });
    if (values[unexpectedField]) context.addIssue({ code: "custom", path: [unexpectedField], ...unexpected });
  });

interface PlanDetailsSchema extends z.ZodType<PricePlanDetails, PricePlanDetailsInput> {}
const customPlanFields = {
  /** CUSTOM: the plan in `pricePlanDetails`. */
  mode: z.literal("CUSTOM"),
  /** Currencies, cycles and cards. */
  pricePlanDetails: pricePlanDetails as PlanDetailsSchema,
};
const pricePlanDetailsConfigFields = {
  /**
   * CUSTOM: the plan in `pricePlanDetails`. PRICE_PLAN: a stored version. ACCOUNT: the plan in force in the cycle, with
   * the association's overrides.
   */
  mode: z.literal("PRICE_PLAN"),
  /** The id of the plan. */
  pricePlanId: reference,
  /** Default: the latest version, even if it is a DRAFT. */
  pricePlanVersion: z.int().min(1).nullish(),
};
const accountPlanFields = {
  /** ACCOUNT: the plan in force in the cycle, with the association's overrides. */
  mode: z.literal("ACCOUNT"),
  /** The id of the account. */
  accountId: reference,
};

const customUsageFields = {
  /** CUSTOM: units by meter. */
  mode: z.literal("CUSTOM"),
  /** By the id of a meter. */
  usageMap: quantityMap(decimal),
};
const usageConfigFields = {
  /** CUSTOM: units by meter. LOOKUP_CYCLE: an account's usage in one of its cycles. */
  mode: z.literal("LOOKUP_CYCLE"),
  /** Default: the account whose plan is requested. */
  accountId: reference.nullish(),
  /** CURRENT (default): the current cycle; LAST: the latest that has ended. */
  cycle: z.enum(["CURRENT", "LAST"]).nullish(),
  /** The cycle that contains this date; instead of `cycle`. */
  date: date.nullish(),
};

const licenseEntryFields = {
  /** Units. */
  quantity: decimal,
  /** Default: the start of the cycle. */
  effectiveFrom: dateOrDateTime.nullish(),
  /** Whether `quantity` is the new quantity (ABSOLUTE, the default) or is added to the previous one (RELATIVE). */
  updateType: z.enum(["ABSOLUTE", "RELATIVE"]).nullish(),
};
interface LicenseEntrySchema extends StrictSchema<typeof licenseEntryFields> {}
const licenseEntry: LicenseEntrySchema = z.strictObject(licenseEntryFields);
/** One change of a license's quantity (S10.1). */
export interface LicenseEntryInput extends Frozen<z.input<LicenseEntrySchema>> {}

const listedLicenseFields = {
  /** The add-on. */
  licenseId: reference,
  /** Units. */
  quantity: licenseEntryFields.quantity,
  /** Default: the start of the cycle. */
  effectiveFrom: licenseEntryFields.effectiveFrom,
};
/** Licenses as a list, as the service's clients send them; those of one license are its changes, in order. */
const listedLicenses = z
  .strictObject({
    mode: z.literal("CUSTOM"),
    custom: z.array(z.strictObject(listedLicenseFields)).max(ITEMS_MAX).nullish(),
  })
  .transform(({ custom }) => {
    const changes = new Map<string, z.output<LicenseEntrySchema>[]>();
    for (const { licenseId, ...change } of custom ?? []) {
      changes.set(licenseId, [...(changes.get(licenseId) ?? []), change]);
    }
    return Object.fromEntries(changes);
  });

const listedOverageFields = {
  /** The id of the feature. */
  featureId: reference,
  /** Units, 0 or more. */
  quantity: decimalFromZero,
};
/** Units of overage as a list, as the service's clients send them. */
const listedOverage = z
  .strictObject({
    mode: z.literal("CUSTOM"),
    custom: z
      .array(z.strictObject(listedOverageFields))
      .max(ITEMS_MAX)
      .refine((entries) => new Set(entries.map(({ featureId }) => featureId)).size === entries.length, {
        error: "expected each feature once",
      })
      .nullish(),
  })
  .transform(({ custom }) => Object.fromEntries((custom ?? []).map((entry) => [entry.featureId, entry.quantity])));

const cycleConfigFields = {
  /** A day of the cycle; default a day of the cycle looked up, else today. */
  date: date.nullish(),
  /** Which cycle of the plan it is, from 1; default the account's, else 1. */
  cycleNumber: z.int().min(1).max(CYCLE_NUMBER_MAX).nullish(),
};

const revenueRequestFields = {
  /** Default: the account's invoice currency, else the organization's. */
  currencyConfig: currencyConfig.nullish(),
  /** The plan that is priced. */
  pricePlanDetailsConfig: z.discriminatedUnion(
    "mode",
    [z.strictObject(customPlanFields), z.strictObject(pricePlanDetailsConfigFields), z.strictObject(accountPlanFields)],
    modeMessages("CUSTOM", "PRICE_PLAN", "ACCOUNT"),
  ),
  /** Units by meter: those in the request, or an account's usage in one of its cycles; default no usage. */
  usageConfig: z
    .discriminatedUnion(
      "mode",
      [z.strictObject(customUsageFields), z.strictObject(usageConfigFields)],
      modeMessages("CUSTOM", "LOOKUP_CYCLE"),
    )
    .nullish(),
  /**
   * By add-on: a quantity for the whole cycle, or its changes in order of arrival; or a list of all, with the mode
   * CUSTOM.
   */
  licenseEntriesConfig: z
    .union([listedLicenses, quantityMap(z.union([z.array(licenseEntry).min(1).max(CHANGES_MAX), decimalFromZero]))])
    .nullish(),
  /** By feature: the units used in the cycle beyond the entitlements; or a list of them, with the mode CUSTOM. */
  entitlementOverageConfig: z.union([listedOverage, quantityMap(decimalFromZero)]).nullish(),
  /** The priced cycle; default the one that contains today. */
  cycleConfig: z.strictObject(cycleConfigFields).nullish(),
  /** Whether lines carry explanations (S13.6). */
  explain: z.boolean().nullish(),
};
export interface RevenueRequestSchema extends StrictSchema<typeof revenueRequestFields> {}
export const revenueRequest: RevenueRequestSchema = z.strictObject(revenueRequestFields);
/** A plan, a currency, and the usage of one cycle (S13.5). */
export interface RevenueRequestInput extends Frozen<z.input<RevenueRequestSchema>> {}
/** A parsed revenue calculation. */
export type RevenueRequest = z.output<RevenueRequestSchema>;

/** Messages for an unknown mode. */
function modeMessages(...modeNames: readonly string[]): {
  readonly error: (issue: { readonly code?: string }) => string | undefined;
} {
  return { error: ({ code }) => (code === "invalid_union" ? `expected ${joinQuoted(modeNames, "or")}` : undefined) };
}

function quantityMap<Value extends z.ZodType>(
  value: Value,
): z.ZodType<ValuesById<z.output<Value>>, ValuesById<z.input<Value>>> {
  return recordSchema(reference, value).refine((map) => Object.keys(map).length <= ITEMS_MAX, {
    error: `expected at most ${ITEMS_MAX} items`,
  });
}
