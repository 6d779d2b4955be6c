/**
 * Customers, accounts, and their plans, licenses and credits (service-reference; book.md; S10 to S12, S16).
 *
 * @module
 */
import * as z from "zod";

import {
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
  orDefault,
  reference,
  text,
} from "./fields.ts";
import { pricePlanDetailsOverride } from "./price-plan.ts";

/** A postal address. */
export const address = z.strictObject({
  phoneNumber: text,
  line1: text,
  line2: text,
  postalCode: text,
  city: text,
  state: text,
  country: text,
});

const status = orDefault(z.enum(["ACTIVE", "ARCHIVED"]), "ACTIVE");

/** A customer owns accounts. */
export const customer = z.strictObject({
  id: idSchema(50),
  name: z.string().min(3).max(255),
  primaryEmail: email.nullish(),
  address: address.nullish(),
  status,
});

/** A plan over [effectiveFrom, effectiveUntil), UTC days (S16.1). */
export const planAssociation = z.strictObject({
  pricePlanId: reference,
  /** Default: the latest ACTIVE version, else the latest DRAFT. */
  version: z.int().min(1).nullish(),
  effectiveFrom: date,
  effectiveUntil: date.nullish(),
  /** When the association was made (S9.2); default its effectiveFrom. */
  decidedAt: dateOrDateTime.nullish(),
  pricePlanDetailsOverride: pricePlanDetailsOverride.nullish(),
  retainStartOffsets: z.boolean().nullish(),
});
/** An association in input form, before references are resolved. */
export type PlanAssociationDocument = z.output<typeof planAssociation>;

/** A change of a license's quantity (S10.1). */
export const licenseUpdate = z.strictObject({
  licenseId: reference,
  updateType: orDefault(z.enum(["ABSOLUTE", "RELATIVE"]), "ABSOLUTE"),
  quantity: decimal,
  effectiveFrom: dateOrDateTime,
  idempotencyKey: text,
});

/** Money that pays invoice lines (S12). */
export const credit = z.strictObject({
  id: idSchema(512).nullish(),
  purpose: z.string(),
  creditAmount: decimalFromZero,
  priority: orDefault(z.int(), 0),
  effectiveFrom: date,
  effectiveUntil: date.nullish(),
  applicableEntityIds: z.array(reference).nullish(),
});

/** A purchased feature credit entry (S11). */
export const featureCredit = z.strictObject({
  id: idSchema(512).nullish(),
  featureId: reference,
  granted: decimalFromZero,
  effectiveFrom: dateOrDateTime,
  effectiveUntil: dateOrDateTime,
});

const aliasText = idSchema(50).min(3);
const alias = z.union([aliasText, z.strictObject({ alias: aliasText, status })]);

/** An account: events refer to it, and its customer pays its invoices. */
export const account = z.strictObject({
  id: idSchema(50),
  name: z.string().min(3).max(255),
  customerId: reference,
  status,
  /** Default: the organization's. */
  invoiceCurrency: currency.nullish(),
  aliases: listOrEmpty(alias, 10),
  address: address.nullish(),
  primaryEmail: email.nullish(),
  netTermDays: days.nullish(),
  metadata: freeForm.nullish(),
  tags: z.array(z.string()).nullish(),
  pricePlans: listOrEmpty(planAssociation),
  licenseUpdates: listOrEmpty(licenseUpdate),
  credits: listOrEmpty(credit),
  featureCredits: listOrEmpty(featureCredit),
});
/** An account in input form, before references are resolved. */
export type AccountDocument = z.output<typeof account>;

/** Consolidates the invoices of several accounts (S16.7). */
export const invoiceGroup = z.strictObject({
  id: idSchema(512),
  name: name.nullish(),
  email: email.nullish(),
  dailyInvoiceConsolidation: orDefault(z.boolean(), false),
  gracePeriod: days.nullish(),
  netTermDays: days.nullish(),
  /** The currency of all its accounts; default: that of its first. */
  invoiceCurrency: currency.nullish(),
  address: address.nullish(),
  billingAddress: address.nullish(),
  accountIds: listOrEmpty(reference),
});
