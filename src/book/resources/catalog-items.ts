/**
 * Features, add-ons and settings (service-reference; S4.2, S11.2).
 *
 * @module
 */
import * as z from "zod";

import { idSchema, instant, label, name, orDefault, reference, text } from "./fields.ts";

/** The attribute of a schema with the quantity that an event consumes of a feature; empty if each event consumes 1 (S11.2). */
export const attributeName = z.string().max(512);

const association = z.union([
  reference,
  z.strictObject({ schemaName: reference, attributeName: attributeName.nullish() }),
]);
const associations = z.array(association).max(50).nullish();

/** A feature, for which accounts hold feature credits. */
export const feature = z.strictObject({
  id: idSchema(50),
  name,
  displayName: label,
  billableName: label,
  description: text,
  schemaAssociations: associations,
  /** The spelling in requests of the reference. */
  schemaAssocitions: associations,
  createdAt: instant.nullish(),
  updatedAt: instant.nullish(),
});
/** A feature in input form, before references are resolved. */
export type FeatureDocument = z.output<typeof feature>;

/** A priced item of fixed fee, license and credit grant cards. */
export const addOn = z.strictObject({
  id: idSchema(50),
  name,
  displayName: label,
  billableName: label,
  type: z.enum(["LICENSE", "FIXED_FEE", "CREDIT_GRANT"]),
  status: orDefault(z.enum(["ACTIVE", "ARCHIVED"]), "ACTIVE"),
  createdAt: instant.nullish(),
});
/** An add-on in input form: its displayName may be missing. */
export type AddOnDocument = z.output<typeof addOn>;

/** The default namespace of a setting. */
export const SETTING_NAMESPACE = "user";

/** A value that enrichments depend on; `value` is a text that must parse as its data type (S4.2). */
export const setting = z.strictObject({
  id: z
    .string()
    .min(1)
    .max(255)
    .regex(/^[A-Za-z0-9_-]*$/),
  namespace: orDefault(
    z
      .string()
      .min(1)
      .max(255)
      .regex(/^[A-Za-z0-9_-]*$/),
    SETTING_NAMESPACE,
  ),
  name: text,
  dataType: orDefault(z.enum(["STRING", "NUMERIC", "JSON", "JSON_LOGIC"]), "STRING"),
  value: z.string(),
  entityType: orDefault(z.enum(["ORGANIZATION", "CUSTOMER", "ACCOUNT"]), "ORGANIZATION"),
  /** The customer's or account's id or name; default: the organization's. */
  entityId: reference.nullish(),
});
/** A setting in input form, before its entity is resolved. */
export type SettingDocument = z.output<typeof setting>;

/** `setting.<namespace>.<id>` in lower case, as in dependencies of an {@link EventSchema} (S4.2). */
export function settingKey(setting: Pick<SettingDocument, "namespace" | "id">): string {
  return `setting.${setting.namespace}.${setting.id}`.toLowerCase();
}
