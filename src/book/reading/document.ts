/**
 * The shape of a whole book: as it is written, and as it is after reading.
 *
 * @module
 */
import * as z from "zod";

import type { ReadonlyDeep } from "../readonly-deep.ts";
import {
  type Account,
  account,
  type Customer,
  customer,
  type InvoiceGroup,
  invoiceGroup,
} from "../resources/account.ts";
import { type AddOn, addOn, type Feature, feature, type Setting, setting } from "../resources/catalog-items.ts";
import { type EventSchema, eventSchema } from "../resources/event-schema.ts";
import { currency, idOf, name, orDefault } from "../resources/fields.ts";
import type { Silence, silence } from "../resources/lint.ts";
import { type PricePlan, pricePlan } from "../resources/price-plan.ts";
import { type UsageMeter, usageMeter } from "../resources/usage-meter.ts";

/** Whose book it is. */
export const organization = z.strictObject({
  id: idOf(50),
  name: name.nullish(),
  baseCurrency: orDefault(currency, "USD"),
  /** How a card's line is rounded to the minor unit (S1.5). */
  rounding: orDefault(z.enum(["HALF_UP", "HALF_EVEN", "DOWN"]), "HALF_UP"),
});
/** Whose book it is. */
export type Organization = z.output<typeof organization>;

/** Whose store it should be; what is left out is not asked. */
export const organizationRequest = z.strictObject({ id: idOf(50).nullish(), baseCurrency: currency.nullish() });

/** The lists of a book and what their items look like, in the order of book.md. */
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

/** What is priced by an organization, as it is written: references are ids or names, rules may be text. */
export type BookDocument = { readonly organization: Organization; readonly lint: readonly Silence[] } & {
  readonly [List in ResourceList]: readonly z.output<(typeof RESOURCES)[List]>[];
};

/** What may be given as a book: every list may be left out. */
export type BookInput = { readonly $schema?: string | undefined } & ReadonlyDeep<
  {
    organization?: z.input<typeof organization> | null | undefined;
    lint?: z.input<typeof silence>[] | null | undefined;
  } & {
    [List in ResourceList]?: z.input<(typeof RESOURCES)[List]>[] | null | undefined;
  }
>;

/**
 * A checked book: plain data in which every reference is an id (of an event schema: its name), every rule is parsed,
 * and what was left out is filled in.
 */
export interface Book {
  readonly organization: Organization;
  readonly settings: readonly Setting[];
  readonly eventSchemas: readonly EventSchema[];
  readonly usageMeters: readonly UsageMeter[];
  readonly features: readonly Feature[];
  readonly addOns: readonly AddOn[];
  readonly pricePlans: readonly PricePlan[];
  readonly customers: readonly Customer[];
  readonly accounts: readonly Account[];
  readonly invoiceGroups: readonly InvoiceGroup[];
  /** Findings of lint that are known and wanted; nothing is priced by them. */
  readonly lint?: readonly Silence[];
}
