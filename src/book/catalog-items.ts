/**
 * Features, add-ons and settings (service-reference; S4.2, S11.2).
 *
 * @module
 */
import { z } from "zod";

import { id } from "./fields.ts";

/** What an account may be entitled to. */
export const feature = z.strictObject({
  id,
  name: z.string().min(1).max(255),
  displayName: z.string().max(255).nullish(),
  billableName: z.string().max(255).nullish(),
  description: z.string().nullish(),
  schemaAssociations: z
    .array(z.union([z.string(), z.strictObject({ schemaName: z.string(), attributeName: z.string().nullish() })]))
    .max(50)
    .default([]),
});
export type Feature = z.output<typeof feature>;

/** A priced item of fixed fee, license and credit grant cards. */
export const addOn = z.strictObject({
  id,
  name: z.string().min(1).max(255),
  displayName: z.string().max(255).nullish(),
  billableName: z.string().max(255).nullish(),
  type: z.enum(["LICENSE", "FIXED_FEE", "CREDIT_GRANT"]),
  status: z.enum(["ACTIVE", "ARCHIVED"]).default("ACTIVE"),
});
export type AddOn = z.output<typeof addOn>;

/** A value that enrichments depend on; `value` is text that must parse as its data type. */
export const setting = z.strictObject({
  id,
  namespace: z.string().default("user"),
  name: z.string().nullish(),
  dataType: z.enum(["STRING", "NUMERIC", "JSON", "JSON_LOGIC"]).default("STRING"),
  value: z.string(),
  entityType: z.enum(["ORGANIZATION", "CUSTOMER", "ACCOUNT"]).default("ORGANIZATION"),
  entityId: z.string().nullish(),
});
export type Setting = z.output<typeof setting>;
