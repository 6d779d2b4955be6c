/**
 * The schemas of a whole book, and their output types.
 *
 * @module
 */
import * as z from "zod";

import type { Organization } from "../model/book.ts";
import { account, customer, invoiceGroup } from "../resources/account.ts";
import { addOn, feature, setting } from "../resources/catalog-items.ts";
import { eventSchema } from "../resources/event-schema.ts";
import { currency, idSchema, name, withDefault } from "../resources/fields.ts";
import type { LintSuppression } from "../resources/lint.ts";
import { pricePlan } from "../resources/price-plan.ts";
import { usageMeter } from "../resources/usage-meter.ts";

/** The organization of a book. */
export const organization = z.strictObject({
  id: idSchema(50),
  name: name.nullish(),
  baseCurrency: withDefault(currency, "USD"),
  /** How a card's line is rounded to the minor unit (S1.5). */
  rounding: withDefault(z.enum(["HALF_UP", "HALF_EVEN", "DOWN"]), "HALF_UP"),
});

/** The expected organization of a store; absent fields are not compared. */
export const organizationRequest = z.strictObject({ id: idSchema(50).nullish(), baseCurrency: currency.nullish() });

/** The lists of a book with the schemas of their items, in the order of book.md. */
export const RESOURCES = {
  settings: setting,
  eventSchemas: eventSchema,
  usageMeters: usageMeter,
  features: feature,
  addOns: addOn,
  pricePlans: pricePlan,
  customers: customer,
  accounts: account,
  invoiceGroups: invoiceGroup,
} as const;
/** A list of a book. */
export type ResourceList = keyof typeof RESOURCES;

/** A book in input form: references are ids or names, rules may be text. */
export type BookDocument = { readonly organization: Organization; readonly lint: readonly LintSuppression[] } & {
  readonly [List in ResourceList]: readonly z.output<(typeof RESOURCES)[List]>[];
};
