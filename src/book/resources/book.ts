/** A whole book: in input form, with references still to be resolved, and checked (book.md). */
import * as z from "zod";

import { type Account, account, type Customer, customer, type InvoiceGroup, invoiceGroup } from "./account.ts";
import { type AddOn, addOn, type Feature, feature, type Setting, setting } from "./catalog-items.ts";
import {
  type EventSchema,
  type EventSchemaInput,
  eventSchema,
  type UsageMeter,
  type UsageMeterInput,
  usageMeter,
} from "./event-schema.ts";
import { type Frozen, currency, idSchema, name, withDefault, type StrictSchema } from "./fields.ts";
import { type PricePlan, type PricePlanInput, pricePlan } from "./price-plan.ts";
import {
  shortAccount,
  type ShortAccountInput,
  shortEventSchema,
  type ShortEventSchemaInput,
  shortMeter,
  type ShortMeterInput,
} from "./short-items.ts";
import { shortPlan, type ShortPlanInput } from "./short-plan.ts";

/** The kinds of finding, each with a stable code. */
export const LINT_CODES = [
  "PRICE_FALLS",
  "PRICE_JUMPS",
  "SLAB_UNREACHABLE",
  "RULE_NEVER_MATCHES",
  "RULE_ALWAYS_MATCHES",
  "COMPUTATION_SHADOWED",
  "VALUE_CONSTANT",
  "METER_UNPRICED",
  "FEE_TWICE",
  "CREDIT_UNUSABLE",
  "COMMITMENT_IDLE",
  "FREE_TIER_ABOVE_ENTITLEMENT",
  "RATE_TOO_FINE",
  "CHARGE_WAITS",
  "PRORATION_FIXED",
  "ROW_NEVER_MATCHES",
  "ROW_HIDDEN",
  "ROW_UNUSED",
  "RATE_OUT_OF_SCALE",
  "DATES_UNORDERED",
  "USAGE_UNPRICED",
] as const;
/** The code of a finding. */
export type LintCode = (typeof LINT_CODES)[number];

const lintSuppressionFields = {
  /** The code of the finding, such as PRICE_FALLS. */
  code: z.enum(LINT_CODES),
  /** The place to which it applies, as in the `at` of findings, including everything below, 1 to 1,000 characters; default the whole book. */
  at: z.string().min(1).max(1000).nullish(),
  /** Why it is accepted, 1 to 1,000 characters. */
  reason: z.string().min(1).max(1000),
};
export interface LintSuppressionSchema extends StrictSchema<typeof lintSuppressionFields> {}
export const lintSuppression: LintSuppressionSchema = z.strictObject(lintSuppressionFields);
/** A lint finding that is accepted: it is listed separately and does not fail the run. */
export interface LintSuppression extends Frozen<z.output<LintSuppressionSchema>> {}

const organizationFields = {
  /** 1 to 50 characters, without white space and slashes; `default` if the book has no organization. */
  id: idSchema(50),
  /** 1 to 255 characters. */
  name: name.nullish(),
  /** The default currency of accounts: ISO 4217, default USD. */
  baseCurrency: withDefault(currency, "USD"),
  /**
   * How the amount of a card is rounded to the minor unit of the currency (S1.5): HALF_UP (default; half away from zero),
   * HALF_EVEN or DOWN.
   */
  rounding: withDefault(z.enum(["HALF_UP", "HALF_EVEN", "DOWN"]), "HALF_UP"),
};
export interface OrganizationSchema extends StrictSchema<typeof organizationFields> {}
export const organization: OrganizationSchema = z.strictObject(organizationFields);
/** The organization of a book. */
export interface OrganizationInput extends Frozen<z.input<OrganizationSchema>> {}
/** The organization of a book. */
export interface Organization extends Frozen<z.output<OrganizationSchema>> {}

/** The expected organization of a store; absent fields are not compared. */
export const organizationRequest = z.strictObject({
  /** The expected id. */
  id: idSchema(50).nullish(),
  /** The expected currency. */
  baseCurrency: currency.nullish(),
});

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

const bookFields = {
  /** The path or URL of the JSON Schema of books, for editors; no other effect. */
  $schema: z.string().optional(),
  /** The organization, its currency, and how amounts are rounded; default `default`, in USD. */
  organization: organization.nullish(),
  /** Values for enrichments of events, such as the number of tokens in a unit. */
  settings: z.array(setting).nullish(),
  /** The fields of events, and the fields computed from them; several versions are several items with one name. */
  eventSchemas: z.array(eventSchema).nullish(),
  /** Measures of usage: the number of matching events, or the sum of a value computed for each. */
  usageMeters: z.array(usageMeter).nullish(),
  /** Units that plans and purchases grant, and events use. */
  features: z.array(feature).nullish(),
  /** The priced items of fixed fee, license and credit grant cards. */
  addOns: z.array(addOn).nullish(),
  /** Prices; several versions are several items with one id. */
  pricePlans: z.array(pricePlan).nullish(),
  /** The owners of accounts. */
  customers: z.array(customer).nullish(),
  /** Accounts: events refer to them, and their customers pay their invoices. */
  accounts: z.array(account).nullish(),
  /** Groups of accounts whose invoices are consolidated. */
  invoiceGroups: z.array(invoiceGroup).nullish(),
  /** Accepted findings of `ratebook lint`; no effect on prices. */
  lint: z.array(lintSuppression).nullish(),
};
export interface BookSchema extends StrictSchema<typeof bookFields> {}
export const bookSchema: BookSchema = z.strictObject(bookFields);
/** A book in long form: products, customers and prices. Each list is empty by default. */
export interface BookInput extends Frozen<z.input<BookSchema>> {}

/** For JSON Schemas: {@link ShortBookInput} has its types. */
export const shortBookSchema: z.ZodObject = bookSchema.extend({
  eventSchemas: z.array(z.union([shortEventSchema, eventSchema])).nullish(),
  usageMeters: z.array(z.union([shortMeter, usageMeter])).nullish(),
  pricePlans: z.array(z.union([shortPlan, pricePlan])).nullish(),
  accounts: z.array(z.union([shortAccount, account])).nullish(),
});
/** A book as people write it: each item in short or in long form. */
export interface ShortBookInput extends Omit<BookInput, "eventSchemas" | "usageMeters" | "pricePlans" | "accounts"> {
  /** The fields of events, and the fields computed from them; several versions are several items with one name. */
  readonly eventSchemas?: readonly (ShortEventSchemaInput | EventSchemaInput)[] | null | undefined;
  /** Measures of usage: the number of events, or the sum of an attribute or rule. */
  readonly usageMeters?: readonly (ShortMeterInput | UsageMeterInput)[] | null | undefined;
  /** Prices; several versions are several items with one id. */
  readonly pricePlans?: readonly (ShortPlanInput | PricePlanInput)[] | null | undefined;
  /** Accounts: events refer to them, and their customers pay their invoices. */
  readonly accounts?: readonly ShortAccountInput[] | null | undefined;
}

/** A book with the right shapes and defaults, before references are resolved: they are ids or names, rules may be text. */
export type BookDocument = { readonly organization: Organization; readonly lint: readonly LintSuppression[] } & {
  readonly [List in ResourceList]: readonly z.output<(typeof RESOURCES)[List]>[];
};

/** A checked book: plain data with references as ids (for event schemas: names), parsed rules, and defaults filled in. */
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
  /** Lint findings that are accepted; no effect on prices. */
  readonly lint?: readonly LintSuppression[];
}
