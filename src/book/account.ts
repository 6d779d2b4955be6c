/**
 * Customers, accounts, and what is on an account: plans, licenses, credits (service-reference; book.md; S10 to S12, S16).
 *
 * @module
 */
import { z } from "zod";

import { currency, date, decimal, id, instant } from "./fields.ts";
import { pricePlanDetailsOverride } from "./price-plan.ts";

const text = z.string().nullish();

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
export type Address = z.output<typeof address>;

/** A customer owns accounts. */
export const customer = z.strictObject({
  id,
  name: z.string().min(3).max(255),
  primaryEmail: z.string().max(255).nullish(),
  address: address.nullish(),
  status: z.enum(["ACTIVE", "ARCHIVED"]).default("ACTIVE"),
});
export type Customer = z.output<typeof customer>;

/** A plan over [effectiveFrom, effectiveUntil), UTC days (S16.1). */
export const planAssociation = z.strictObject({
  pricePlanId: z.string(),
  /** Default: the latest version that may be associated. */
  version: z.int().min(1).nullish(),
  effectiveFrom: date,
  effectiveUntil: date.nullish(),
  /** When the association was made (S9.2); default its effectiveFrom. */
  decidedAt: instant.nullish(),
  pricePlanDetailsOverride: pricePlanDetailsOverride.nullish(),
  retainStartOffsets: z.boolean().nullish(),
});
export type PlanAssociation = z.output<typeof planAssociation>;

/** A change of a license's quantity (S10.1). */
export const licenseUpdate = z.strictObject({
  licenseId: z.string(),
  updateType: z.enum(["ABSOLUTE", "RELATIVE"]).default("ABSOLUTE"),
  quantity: decimal,
  effectiveFrom: instant,
  idempotencyKey: text,
});
export type LicenseUpdate = z.output<typeof licenseUpdate>;

/** Money that pays invoice lines (S12). */
export const credit = z.strictObject({
  id: id.nullish(),
  purpose: z.string(),
  creditAmount: decimal,
  priority: z.int().min(0).default(0),
  effectiveFrom: date,
  effectiveUntil: date.nullish(),
  applicableEntityIds: z.array(z.string()).nullish(),
});
export type Credit = z.output<typeof credit>;

/** A feature credit entry that was bought (S11). */
export const featureCredit = z.strictObject({
  id: id.nullish(),
  featureId: z.string(),
  granted: decimal,
  effectiveFrom: instant,
  effectiveUntil: instant,
});
export type FeatureCredit = z.output<typeof featureCredit>;

/** Who uses and pays. */
export const account = z.strictObject({
  id,
  name: z.string().min(3).max(255),
  customerId: z.string(),
  status: z.enum(["ACTIVE", "ARCHIVED"]).default("ACTIVE"),
  /** Default: the organization's. */
  invoiceCurrency: currency.nullish(),
  aliases: z
    .array(z.union([z.string(), z.strictObject({ alias: z.string() })]))
    .max(10)
    .default([]),
  address: address.nullish(),
  primaryEmail: z.string().max(255).nullish(),
  netTermDays: z.int().min(0).nullish(),
  metadata: z.record(z.string(), z.unknown()).nullish(),
  tags: z.array(z.string()).nullish(),
  pricePlans: z.array(planAssociation).default([]),
  licenseUpdates: z.array(licenseUpdate).default([]),
  credits: z.array(credit).default([]),
  featureCredits: z.array(featureCredit).default([]),
});
export type Account = z.output<typeof account>;

/** Consolidates the invoices of several accounts (S16.7). */
export const invoiceGroup = z.strictObject({
  id,
  name: z.string().min(1).max(255),
  email: text,
  dailyInvoiceConsolidation: z.boolean().default(false),
  gracePeriod: z.int().min(0).nullish(),
  netTermDays: z.int().min(0).nullish(),
  address: address.nullish(),
  accountIds: z.array(z.string()).min(1).max(100),
});
export type InvoiceGroup = z.output<typeof invoiceGroup>;
