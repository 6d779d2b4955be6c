/**
 * A whole book: in input form, with references still to be resolved, and checked (book.md); and the type of a book whose
 * items refer to each other by name, so that the compiler finds misspelt names.
 */
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
import { type PricePlan, type PricePlanInput, pricePlan, type PricePlanDetailsInput } from "./price-plan.ts";
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

type Item<Items> = Items extends readonly (infer One)[] ? One : never;
/** The value of a field, in those members of a union that have it. */
type Field<One, Key extends string> = One extends { readonly [K in Key]: infer Value } ? Value : never;
/** The texts in a union; any text if there is none, or one that is not literal. */
type Known<Names> = [Names] extends [never] ? string : string extends Names ? string : Names & string;
/** The names of attributes or dimensions, declared or computed. */
type FieldName<Schema, Declared extends string, Computed extends string> =
  | Extract<Item<Field<Schema, Declared>>, string>
  | Field<Item<Field<Schema, Declared>> | Item<Field<Field<Schema, "enrichments">, "fields">>, "name">
  | KeyOf<Field<Schema, Computed>>;
/** The keys of an object; none if there is no object, where `keyof` has all. */
type KeyOf<One> = One extends unknown ? keyof One : never;

/** A list of items that also have the fields of a type. */
type ListWith<Items, Fields> = readonly (Item<Items> & Fields)[] | null | undefined;
/** An object with such a list in a field. */
type WithList<One, Key extends keyof One, Fields> = Omit<One, Key> & {
  readonly [K in Key]?: ListWith<One[K], Fields>;
};
/** An id and a name, from which the names of a kind are inferred. */
interface Named<Name> {
  readonly id: Name;
  readonly name?: Name | null | undefined;
}

interface MeterReferences<Schema> extends Partial<
  Record<"sum" | "max" | "min" | "latest" | "level" | "change", AttributeOf<Schema> | object | null>
> {
  readonly schema?: Known<Field<Schema, "name">>;
  readonly eventSchemaName?: Known<Field<Schema, "name">>;
  readonly unique?: DimensionOf<Schema> | object | null | undefined;
  readonly groupBy?: readonly DimensionOf<Schema>[] | null | undefined;
}
type AttributeOf<Schema> = Known<FieldName<Schema, "attributes", "computed">>;
type DimensionOf<Schema> = Known<FieldName<Schema, "dimensions", "computedDimensions">>;
type MeterName<Meter> = Known<Field<Meter, "id"> | Field<Meter, "name">>;
type PlanOf<MeterName, LicenseName> =
  | WithList<WithList<ShortPlanInput, "usage", { readonly meter: MeterName }>, "licenses", Named<LicenseName>>
  | (Omit<PricePlanInput, "pricePlanDetails"> & {
      readonly pricePlanDetails: WithList<
        PricePlanDetailsInput,
        "usageRateCards",
        { readonly usageMeterId: MeterName }
      >;
    });
interface AccountOf<Plan extends string, License extends string> extends Omit<ShortAccountInput, "plan" | "licenses"> {
  readonly plan?: Plan | null | undefined;
  readonly licenses?: { readonly [Name in License]?: LicenseQuantity } | null | undefined;
}
type LicenseQuantity = NonNullable<ShortAccountInput["licenses"]>[string];

/** The lists of a book whose items refer only to parts that it has. */
interface Lists<Schemas, Meters, PlanName, LicenseName> {
  readonly eventSchemas?: Schemas;
  readonly usageMeters?: Meters & ListWith<ShortBookInput["usageMeters"], MeterReferences<Item<NoInfer<Schemas>>>>;
  readonly addOns?: ListWith<ShortBookInput["addOns"], Named<LicenseName>>;
  readonly pricePlans?: ListWith<readonly PlanOf<MeterName<Item<NoInfer<Meters>>>, LicenseName>[], Named<PlanName>>;
  readonly accounts?: readonly AccountOf<Known<NoInfer<PlanName>>, Known<NoInfer<LicenseName>>>[] | null | undefined;
}

/**
 * Types a value as a book: editors complete its fields, and the compiler rejects misspelt values, missing fields, and
 * references to schemas, attributes, dimensions, meters, plans and licenses that the book does not have. Returns the value itself;
 * {@link readBook} makes all other checks.
 */
export function defineBook<
  const Schemas extends ShortBookInput["eventSchemas"],
  const Meters extends ShortBookInput["usageMeters"],
  const PlanName extends string,
  const LicenseName extends string = never,
>(
  book: Lists<Schemas, Meters, PlanName, LicenseName> & Omit<ShortBookInput, keyof Lists<never, never, never, never>>,
): ShortBookInput {
  return book as ShortBookInput;
}
