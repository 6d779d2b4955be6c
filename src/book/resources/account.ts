/** Customers, accounts, and their plans, licenses and credits (service-reference; book.md; S10 to S12, S16). */
import * as z from "zod";

import type { Instant } from "../../calendar/instant.ts";
import {
  type Frozen,
  currency,
  date,
  days,
  decimal,
  decimalFromZero,
  email,
  freeForm,
  idSchema,
  listOrEmpty,
  dateOrDateTime,
  name,
  withDefault,
  reference,
  text,
  type StrictSchema,
} from "./fields.ts";
import { pricePlanDetailsOverride } from "./price-plan.ts";

const addressFields = {
  /** The phone number. */
  phoneNumber: text,
  /** The first line, such as street and number. */
  line1: text,
  /** The second line. */
  line2: text,
  /** The postal code. */
  postalCode: text,
  /** The city. */
  city: text,
  /** The state or region. */
  state: text,
  /** The country. */
  country: text,
};
export interface AddressSchema extends StrictSchema<typeof addressFields> {}
export const address: AddressSchema = z.strictObject(addressFields);
/** A postal address, stored unchanged. */
export interface Address extends Frozen<z.output<AddressSchema>> {}

const status = withDefault(z.enum(["ACTIVE", "ARCHIVED"]), "ACTIVE");

/** The fields of a customer that can be changed, besides its name. */
export const customerContactFields = {
  /** An e-mail address of at most 255 characters; ratebook sends nothing. */
  primaryEmail: email.nullish(),
  /** The postal address, for invoices. */
  address: address.nullish(),
};
const customerFields = {
  /** 1 to 50 characters, without white space and slashes; accounts refer to it by its id or its name. */
  id: idSchema(50),
  /** 3 to 255 characters. */
  name: z.string().min(3).max(255),
  ...customerContactFields,
  /** Default ACTIVE. */
  status,
};
export interface CustomerSchema extends StrictSchema<typeof customerFields> {}
export const customer: CustomerSchema = z.strictObject(customerFields);
/** A customer owns accounts. */
export interface CustomerInput extends Frozen<z.input<CustomerSchema>> {}
/** A customer owns accounts. */
export interface Customer extends Frozen<z.output<CustomerSchema>> {}
export type Status = Customer["status"];

const planAssociationFields = {
  /** The id or the name of a price plan. */
  pricePlanId: reference,
  /** A whole number from 1; default the latest ACTIVE version, else the latest DRAFT. */
  version: z.int().min(1).nullish(),
  /** The first day: a date in UTC, inclusive. */
  effectiveFrom: date,
  /** The day on which it ends: a date in UTC, exclusive; default no end. */
  effectiveUntil: date.nullish(),
  /** The moment of the decision (S9.2): of two that overlap the later one takes precedence; default `effectiveFrom`. */
  decidedAt: dateOrDateTime.nullish(),
  /** Changes of the plan for this account (S16.2); default none. */
  pricePlanDetailsOverride: pricePlanDetailsOverride.nullish(),
  /** Whether the cycles of the previous plan are kept (S16.5); default false. */
  retainStartOffsets: z.boolean().nullish(),
};
export interface PlanAssociationSchema extends StrictSchema<typeof planAssociationFields> {}
export const planAssociation: PlanAssociationSchema = z.strictObject(planAssociationFields);
/** A plan that an account has on the days from `effectiveFrom` up to, but not including, `effectiveUntil` (S16.1). */
export interface PlanAssociationInput extends Frozen<z.input<PlanAssociationSchema>> {}
/** An association in input form, before references are resolved. */
export type PlanAssociationDocument = z.output<PlanAssociationSchema>;
/** A plan over [effectiveFrom, effectiveUntil), UTC days (S16.1). */
export interface PlanAssociation extends Omit<Frozen<PlanAssociationDocument>, "version"> {
  readonly version: number;
}

/** An association of a book with its decision time. */
export interface DecidedAssociation {
  readonly association: PlanAssociation;
  readonly decidedAt: Instant;
  /** Its index in the account's list. */
  readonly index: number;
}

/**
 * An account's associations by decision time, then by list order. An association without decidedAt was decided at its
 * effectiveFrom, or with the next association in the list that has one, if that is earlier (S9.2): otherwise the
 * earlier one would take precedence over the later one. In a checked list the decidedAt never decrease.
 *
 * @param associations the list in the book; unreadable items are skipped
 */
export function sortByDecision(associations: readonly PlanAssociation[]): readonly DecidedAssociation[] {
  const result: DecidedAssociation[] = [];
  let earliestLaterDecision = Number.POSITIVE_INFINITY;
  for (let index = associations.length - 1; index >= 0; index--) {
    const association = associations[index];
    if (association === undefined) continue;
    const ownDecidedAt = association.decidedAt ?? undefined;
    result.push({
      association,
      index,
      decidedAt: ownDecidedAt ?? Math.min(association.effectiveFrom, earliestLaterDecision),
    });
    if (ownDecidedAt !== undefined) earliestLaterDecision = Math.min(earliestLaterDecision, ownDecidedAt);
  }
  return result.sort((a, b) => a.decidedAt - b.decidedAt || a.index - b.index);
}

const licenseUpdateFields = {
  /** The id or the name of an add-on of the type LICENSE. */
  licenseId: reference,
  /** Whether `quantity` is the new quantity (ABSOLUTE, the default) or is added to the previous one (RELATIVE). */
  updateType: withDefault(z.enum(["ABSOLUTE", "RELATIVE"]), "ABSOLUTE"),
  /** Units. */
  quantity: decimal,
  /** A date-time with a zone, or a date, which means midnight UTC. */
  effectiveFrom: dateOrDateTime,
  /** Stored unchanged, unique in the list of its account: a later request with the same key has no further effect. */
  idempotencyKey: text,
};
export interface LicenseUpdateSchema extends StrictSchema<typeof licenseUpdateFields> {}
export const licenseUpdate: LicenseUpdateSchema = z.strictObject(licenseUpdateFields);
/** A change of a license's quantity (S10.1). */
export interface LicenseUpdateInput extends Frozen<z.input<LicenseUpdateSchema>> {}
/** A change of a license's quantity (S10.1). */
export interface LicenseUpdate extends Frozen<z.output<LicenseUpdateSchema>> {}

const creditFields = {
  /** 1 to 512 characters; default `<account>.credit.<n>`. */
  id: idSchema(512).nullish(),
  /** The description on invoices. */
  purpose: z.string(),
  /** In the account's invoice currency, 0 or more. */
  creditAmount: decimalFromZero,
  /** Lower ones pay first, a whole number; default 0 (S12.1). */
  priority: withDefault(z.int(), 0),
  /** The first day: a date in UTC, inclusive. */
  effectiveFrom: date,
  /** The day on which it ends: a date in UTC, exclusive; default no end. */
  effectiveUntil: date.nullish(),
  /** The items that it can pay for: ids of meters, add-ons and features, or `ALL_…_RATE_CARDS`; default all (S12.2). */
  applicableEntityIds: z.array(reference).nullish(),
};
export interface CreditSchema extends StrictSchema<typeof creditFields> {}
export const credit: CreditSchema = z.strictObject(creditFields);
/** Money that pays invoice lines (S12). */
export interface CreditInput extends Frozen<z.input<CreditSchema>> {}
/** Money that pays invoice lines (S12). */
export interface Credit extends Omit<Frozen<z.output<CreditSchema>>, "id"> {
  readonly id: string;
}

const featureCreditFields = {
  /** 1 to 512 characters; default `<account>.featureCredit.<n>`. */
  id: idSchema(512).nullish(),
  /** The id or the name of a feature. */
  featureId: reference,
  /** Units, 0 or more. */
  granted: decimalFromZero,
  /** Inclusive: a date-time with a zone, or a date, which means midnight UTC. */
  effectiveFrom: dateOrDateTime,
  /** Exclusive: a date-time with a zone, or a date, which means midnight UTC. */
  effectiveUntil: dateOrDateTime,
};
export interface FeatureCreditSchema extends StrictSchema<typeof featureCreditFields> {}
export const featureCredit: FeatureCreditSchema = z.strictObject(featureCreditFields);
/** A purchased feature credit entry (S11). */
export interface FeatureCreditInput extends Frozen<z.input<FeatureCreditSchema>> {}
/** A purchased feature credit entry (S11). */
export interface FeatureCredit extends Omit<Frozen<z.output<FeatureCreditSchema>>, "id"> {
  readonly id: string;
}

const aliasText = idSchema(50).min(3);
const aliasFields = {
  /** 3 to 50 characters, without white space and slashes; no other active account's alias, and no account's id. */
  alias: aliasText,
  /** Default ACTIVE; events cannot use an archived alias. */
  status,
};
export interface AliasSchema extends StrictSchema<typeof aliasFields> {}
const alias: AliasSchema = z.strictObject(aliasFields);
/** Another name of an account, which events may use (S16.6): a text, or a text with its status. */
export type AliasInput = string | Frozen<z.input<AliasSchema>>;

/** The fields of an account that can be changed, besides its name. */
export const accountTermsFields = {
  /** The postal address, for invoices. */
  address: address.nullish(),
  /** An e-mail address of at most 255 characters; ratebook sends nothing. */
  primaryEmail: email.nullish(),
  /** Days from an invoice to its due date, 0 to 36,500; default 0. */
  netTermDays: days.nullish(),
  /** An object, stored unchanged. */
  metadata: freeForm.nullish(),
  /** Strings, stored unchanged. */
  tags: z.array(z.string()).nullish(),
};
const accountFields = {
  /** 1 to 50 characters, without white space and slashes: the `accountId` of events. */
  id: idSchema(50),
  /** 3 to 255 characters. */
  name: z.string().min(3).max(255),
  /** The id or the name of a customer. */
  customerId: reference,
  /** Default ACTIVE; an ARCHIVED account accepts no events. */
  status,
  /** An ISO 4217 code that its plans support; default the organization's. */
  invoiceCurrency: currency.nullish(),
  /** At most 10 other names that events may use, 3 to 50 characters each; default none. */
  aliases: listOrEmpty(z.union([aliasText, alias]), 10),
  ...accountTermsFields,
  /** Its past, current and future plans; of two that overlap, the one decided later takes precedence. Default none. */
  pricePlans: listOrEmpty(planAssociation),
  /** Changes of its license quantities; default none. */
  licenseUpdates: listOrEmpty(licenseUpdate),
  /** Money that pays its invoices; default none. */
  credits: listOrEmpty(credit),
  /** Purchased feature credits; default none. */
  featureCredits: listOrEmpty(featureCredit),
};
export interface AccountSchema extends StrictSchema<typeof accountFields> {}
export const account: AccountSchema = z.strictObject(accountFields);

/** Whether a text can be the id of an account. */
export function isAccountId(text: string): boolean {
  return accountFields.id.safeParse(text).success;
}
/** An account: events refer to it, and its customer pays its invoices. */
export interface AccountInput extends Frozen<z.input<AccountSchema>> {}
/** An account in input form, before references are resolved. */
export type AccountDocument = z.output<AccountSchema>;
/** An account: events refer to it, and its customer pays its invoices. */
export interface Account extends Omit<
  Frozen<AccountDocument>,
  "invoiceCurrency" | "aliases" | "pricePlans" | "credits" | "featureCredits"
> {
  readonly invoiceCurrency: string;
  /** The aliases that are active. */
  readonly aliases: readonly string[];
  /** In list order; `sortByDecision` sorts them by decision (S9.2, S16.1). */
  readonly pricePlans: readonly PlanAssociation[];
  readonly credits: readonly Credit[];
  readonly featureCredits: readonly FeatureCredit[];
}

const invoiceGroupFields = {
  /** 1 to 512 characters, without white space and slashes. */
  id: idSchema(512),
  /** 1 to 255 characters; default the id. */
  name: name.nullish(),
  /** An e-mail address of at most 255 characters; ratebook sends nothing. */
  email: email.nullish(),
  /** Whether invoices of one day are combined into one; default false. */
  dailyInvoiceConsolidation: withDefault(z.boolean(), false),
  /** Days after a cycle, 0 to 36,500; takes precedence over the plan's. */
  gracePeriod: days.nullish(),
  /** Days, 0 to 36,500; takes precedence over the accounts'. */
  netTermDays: days.nullish(),
  /** ISO 4217: the currency of all its accounts; default that of its first. */
  invoiceCurrency: currency.nullish(),
  /** The postal address, for invoices. */
  address: address.nullish(),
  /** The recipient of invoices; stored unchanged. */
  billingAddress: address.nullish(),
  /** Ids or names of accounts, each in one group; default none. */
  accountIds: listOrEmpty(reference),
};
export interface InvoiceGroupSchema extends StrictSchema<typeof invoiceGroupFields> {}
export const invoiceGroup: InvoiceGroupSchema = z.strictObject(invoiceGroupFields);
/** Consolidates the invoices of several accounts (S16.7). */
export interface InvoiceGroupInput extends Frozen<z.input<InvoiceGroupSchema>> {}
/** Consolidates the invoices of several accounts (S16.7). */
export interface InvoiceGroup extends Omit<Frozen<z.output<InvoiceGroupSchema>>, "name"> {
  readonly name: string;
}
