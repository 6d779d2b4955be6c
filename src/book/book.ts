/**
 * The rate book: everything that rating needs to know, read and checked as a whole (book.md).
 *
 * @module
 */
import { z } from "zod";

import { account, customer, invoiceGroup } from "./account.ts";
import { addOn, feature, setting } from "./catalog-items.ts";
import { eventSchema } from "./event-schema.ts";
import { currency, id } from "./fields.ts";
import { pricePlan } from "./price-plan.ts";
import { usageMeter } from "./usage-meter.ts";

/** Whose book it is. */
export const organization = z.strictObject({
  id,
  name: z.string().nullish(),
  baseCurrency: currency.default("USD"),
  rounding: z.enum(["HALF_UP", "HALF_EVEN", "DOWN"]).default("HALF_UP"),
});
export type Organization = z.output<typeof organization>;

/** One JSON document with everything that rating needs. */
export const bookDocument = z.strictObject({
  organization: organization.default({ id: "default", baseCurrency: "USD", rounding: "HALF_UP" }),
  settings: z.array(setting).default([]),
  eventSchemas: z.array(eventSchema).default([]),
  usageMeters: z.array(usageMeter).default([]),
  features: z.array(feature).default([]),
  addOns: z.array(addOn).default([]),
  pricePlans: z.array(pricePlan).default([]),
  customers: z.array(customer).default([]),
  accounts: z.array(account).default([]),
  invoiceGroups: z.array(invoiceGroup).default([]),
});
/** What may be given as a book. */
export type BookInput = z.input<typeof bookDocument>;
