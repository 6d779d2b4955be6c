/**
 * The request for a revenue calculation: a plan, a currency, and the usage of one cycle (S13.5).
 *
 * @module
 */
import * as z from "zod";

import { inputError } from "../../errors.ts";
import { joinQuoted } from "../../problem-table.ts";
import { indexBillables } from "../checks/check-book.ts";
import { checkCards } from "../checks/check-plans.ts";
import type { Book } from "../model/book.ts";
import type { PricePlanDetails } from "../model/price-plan.ts";
import { collectProblems, type Path, type Report } from "../problems.ts";
import { indexReferences } from "../reading/references.ts";
import { resolveDetails } from "../resolving/resolve-plan.ts";
import {
  currency,
  date,
  decimal,
  decimalFromZero,
  recordSchema,
  dateOrDateTime,
  reference,
} from "../resources/fields.ts";
import { pricePlan } from "../resources/price-plan.ts";
import { issueParams, quoteValue } from "../wording.ts";
import { readInput, REQUESTS } from "./requests.ts";

/** Maximum number of items in a map of quantities. */
const ITEMS_MAX = 500;
/** Maximum number of changes of one license's quantity. */
const CHANGES_MAX = 100;
/** Maximum cycle number of a plan. */
const CYCLE_NUMBER_MAX = 1000;

/** The plan: given completely, a stored version, or that of an account. */
const pricePlanDetailsConfig = z.discriminatedUnion(
  "mode",
  [
    z.strictObject({ mode: z.literal("CUSTOM"), pricePlanDetails: pricePlan.shape.pricePlanDetails }),
    z.strictObject({
      mode: z.literal("PRICE_PLAN"),
      pricePlanId: reference,
      pricePlanVersion: z.int().min(1).nullish().meta({ description: "Default: the latest one, a DRAFT too." }),
    }),
    /** The plan in force in the cycle, with the association's overrides. */
    z.strictObject({ mode: z.literal("ACCOUNT"), accountId: reference }),
  ],
  modeMessages("CUSTOM", "PRICE_PLAN", "ACCOUNT"),
);

/** Units by meter: given, or an account's usage in one of its cycles. */
const usageConfig = z.discriminatedUnion(
  "mode",
  [
    z.strictObject({ mode: z.literal("CUSTOM"), usageMap: quantityMap(decimal) }),
    z.strictObject({
      mode: z.literal("LOOKUP_CYCLE"),
      accountId: reference.nullish().meta({ description: "Default: the account whose plan is requested." }),
      cycle: z
        .enum(["CURRENT", "LAST"])
        .nullish()
        .meta({ description: "CURRENT (default): the cycle of now; LAST: the latest that has ended." }),
      date: date.nullish().meta({ description: "The cycle that holds this date; instead of `cycle`." }),
    }),
  ],
  modeMessages("CUSTOM", "LOOKUP_CYCLE"),
);

/** One change of a license's quantity (S10.1). */
const licenseEntry = z.strictObject({
  quantity: decimal,
  effectiveFrom: dateOrDateTime.nullish().meta({ description: "Default: the start of the cycle." }),
  updateType: REQUESTS.licenseUpdate.shape.updateType.nullish().meta({ description: "Default ABSOLUTE." }),
});

/** Licenses as a list, as the service's clients send them; those of one license are its changes, in order. */
const listedLicenses = z
  .strictObject({
    mode: z.literal("CUSTOM"),
    custom: z
      .array(licenseEntry.omit({ updateType: true }).extend({ licenseId: reference }))
      .max(ITEMS_MAX)
      .nullish(),
  })
  .transform(({ custom }) => {
    const changes = new Map<string, z.output<typeof licenseEntry>[]>();
    for (const { licenseId, ...change } of custom ?? []) {
      changes.set(licenseId, [...(changes.get(licenseId) ?? []), change]);
    }
    return Object.fromEntries(changes);
  });

/** Units of overage as a list, as the service's clients send them. */
const listedOverage = z
  .strictObject({
    mode: z.literal("CUSTOM"),
    custom: z
      .array(z.strictObject({ featureId: reference, quantity: decimalFromZero }))
      .max(ITEMS_MAX)
      .refine((entries) => new Set(entries.map(({ featureId }) => featureId)).size === entries.length, {
        error: "expected each feature once",
      })
      .nullish(),
  })
  .transform(({ custom }) => Object.fromEntries((custom ?? []).map((entry) => [entry.featureId, entry.quantity])));

export const revenueRequest = z.strictObject({
  currencyConfig: z
    .strictObject({
      mode: z
        .enum(["CUSTOM", "ACCOUNT_INVOICE"])
        .nullish()
        .meta({ description: "CUSTOM (default): `currency`; ACCOUNT_INVOICE: that of the account's invoices." }),
      currency: currency.nullish(),
      accountId: reference.nullish(),
    })
    .superRefine(({ mode, currency: currencyCode, accountId }, context) => {
      const [requiredField, unexpectedField] =
        mode === "ACCOUNT_INVOICE" ? ["accountId", "currency"] : ["currency", "accountId"];
      const values = { currency: currencyCode, accountId };
      const reason = `with the mode ${mode ?? "CUSTOM"}`;
      const missing = issueParams("MISSING", { expected: `it ${reason}` });
      const unexpected = issueParams("UNEXPECTED_FIELD", { reason });
      if (!Reflect.get(values, requiredField)) context.addIssue({ code: "custom", path: [requiredField], ...missing });
      if (Reflect.get(values, unexpectedField))
        context.addIssue({ code: "custom", path: [unexpectedField], ...unexpected });
    })
    .nullish()
    .meta({ description: "Default: the account's invoice currency, else the organization's." }),
  pricePlanDetailsConfig,
  usageConfig: usageConfig.nullish().meta({ description: "Default: nothing is used." }),
  licenseEntriesConfig: z
    .union([listedLicenses, quantityMap(z.union([z.array(licenseEntry).min(1).max(CHANGES_MAX), decimalFromZero]))])
    .nullish()
    .meta({
      description:
        "By add-on: a quantity for the whole cycle, or its changes in order of arrival; or a list of all, with the mode CUSTOM.",
    }),
  entitlementOverageConfig: z
    .union([listedOverage, quantityMap(decimalFromZero)])
    .nullish()
    .meta({
      description:
        "By feature: the units used in the cycle beyond the entitlements; or a list of them, with the mode CUSTOM.",
    }),
  cycleConfig: z
    .strictObject({
      date: date
        .nullish()
        .meta({ description: "A day of the cycle; default a day of the cycle looked up, else today." }),
      cycleNumber: z
        .int()
        .min(1)
        .max(CYCLE_NUMBER_MAX)
        .nullish()
        .meta({ description: "Which cycle of the plan it is, from 1; default the account's, else 1." }),
    })
    .nullish(),
  explain: z.boolean().nullish().meta({ description: "Whether lines carry explanations." }),
});
/** A parsed revenue calculation. */
export type RevenueRequest = z.output<typeof revenueRequest>;

/** Parses a revenue calculation. @throws {RatebookError} ERR_INPUT_INVALID with all problems, each with its path */
export function readRevenueRequest(raw: unknown): RevenueRequest {
  return readInput(revenueRequest, raw);
}

/**
 * Resolves a plan's details so that they can be priced in a currency: references are ids, every card has rates in the
 * currency, and there are cycles. Meters need not be ACTIVE, because nothing is associated.
 *
 * @param details those of a stored plan, or those of a request, whose references may be names
 * @throws {RatebookError} ERR_INPUT_INVALID with all problems, those of the plan below `pricePlanDetailsConfig`
 */
export function resolvePriceableDetails(details: PricePlanDetails, currencyCode: string, book: Book): PricePlanDetails {
  const problems = collectProblems();
  const { report } = problems;
  const path: Path = ["pricePlanDetailsConfig", "pricePlanDetails"];
  const resolvedDetails = resolveDetails(details, path, { references: indexReferences({ ...book }), report });
  checkSupportedCurrency(resolvedDetails, currencyCode, report);
  checkCards(resolvedDetails, { ...indexBillables(book), currencies: [currencyCode], inUse: false }, path, report);
  if (!resolvedDetails.pricingCycleConfig)
    report([...path, "pricingCycleConfig"], "MISSING", { expected: "one", reason: "to price a billing period" });
  const [first, ...others] = problems.sorted(undefined);
  if (first === undefined) return resolvedDetails;
  throw inputError([first, ...others]);
}

function checkSupportedCurrency({ supportedCurrencies }: PricePlanDetails, currencyCode: string, report: Report): void {
  const currencies = supportedCurrencies ?? [];
  if (currencies.length === 0 || currencies.includes(currencyCode)) return;
  report(["currencyConfig", "currency"], "NOT_AN_OPTION", {
    options: currencies,
    reason: "which the plan supports",
    got: quoteValue(currencyCode),
  });
}

/** Messages for an unknown mode. */
function modeMessages(...modeNames: readonly string[]): {
  readonly error: (issue: { readonly code?: string }) => string | undefined;
} {
  return { error: ({ code }) => (code === "invalid_union" ? `expected ${joinQuoted(modeNames, "or")}` : undefined) };
}

/** Quantities by id. */
function quantityMap<Value extends z.ZodType>(
  value: Value,
): z.ZodType<Record<string, z.output<Value>>, Record<string, z.input<Value>>> {
  return recordSchema(reference, value).refine((map) => Object.keys(map).length <= ITEMS_MAX, {
    error: `expected at most ${ITEMS_MAX} items`,
  });
}
