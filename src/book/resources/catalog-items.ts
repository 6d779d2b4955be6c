/** Features, add-ons and settings (service-reference; S4.2, S11.2). */
import * as z from "zod";

import {
  type Frozen,
  type Patch,
  idSchema,
  instant,
  label,
  name,
  withDefault,
  reference,
  text,
  type StrictSchema,
} from "./fields.ts";
/** The attribute of a schema with the quantity that an event consumes of a feature; empty if each event consumes 1 (S11.2). */
export const attributeName = z.string().max(512);

const featureAssociationFields = {
  /** The name of an event schema, which can consume only one feature. */
  schemaName: reference,
  /**
   * The attribute whose value is consumed; empty if each event consumes 1. Default: as in the schema's featureDetails,
   * else the first declared attribute, else empty.
   */
  attributeName: attributeName.nullish(),
};
export interface FeatureAssociationSchema extends StrictSchema<typeof featureAssociationFields> {}
const featureAssociation: FeatureAssociationSchema = z.strictObject(featureAssociationFields);
const associations = z
  .array(z.union([reference, featureAssociation]))
  .max(50)
  .nullish();
/** A schema in a feature: its name, or its name with the attribute. */
export type FeatureAssociationInput = string | Frozen<z.input<FeatureAssociationSchema>>;
/** A schema whose events consume a feature, and the attribute with the quantity (S11.2). */
export interface FeatureAssociation {
  /** The event schema. */
  readonly schemaName: string;
  /** The attribute whose value is consumed; empty if each event consumes 1. */
  readonly attributeName: string;
}

const featureFields = {
  /** 1 to 50 characters, without white space and slashes. */
  id: idSchema(50),
  /** 1 to 255 characters, unique among features. */
  name,
  /** The name on invoices, at most 255 characters; default `billableName`, else `name`. */
  displayName: label,
  /** At most 255 characters. */
  billableName: label,
  /** A description for people. */
  description: text,
  /** The schemas whose events consume it, at most 50: names, or objects with schemaName and attributeName; default none. */
  schemaAssociations: associations,
  /** Another spelling of `schemaAssociations`, which some clients use. */
  schemaAssocitions: associations,
  /** A date-time with its zone; without effect. */
  createdAt: instant.nullish(),
  /** A date-time with its zone; without effect. */
  updatedAt: instant.nullish(),
};
export interface FeatureSchema extends StrictSchema<typeof featureFields> {}
export const feature: FeatureSchema = z.strictObject(featureFields);
/** A feature, for which accounts hold feature credits (S11). */
export interface FeatureInput extends Frozen<z.input<FeatureSchema>> {}
/** A feature in input form, before references are resolved. */
export type FeatureDocument = z.output<FeatureSchema>;
/** A feature, for which accounts hold feature credits (S11). */
export interface Feature extends Omit<
  Frozen<FeatureDocument>,
  "displayName" | "schemaAssociations" | "schemaAssocitions"
> {
  readonly displayName: string;
  readonly schemaAssociations: readonly FeatureAssociation[];
}
/** A new feature, with a generated id. */
export type FeatureRequest = Omit<FeatureInput, "id" | "createdAt" | "updatedAt">;
/** Changes of a feature; its associations are replaced. */
export type FeaturePatch = Patch<FeatureRequest>;

const addOnFields = {
  /** 1 to 50 characters, without white space and slashes. */
  id: idSchema(50),
  /** 1 to 255 characters, unique among add-ons that are not archived. */
  name,
  /** The name on invoices, at most 255 characters; default `billableName`, else `name`. */
  displayName: label,
  /** At most 255 characters. */
  billableName: label,
  /** The kind of card that may price it. */
  type: z.enum(["LICENSE", "FIXED_FEE", "CREDIT_GRANT"]),
  /** Default ACTIVE. */
  status: withDefault(z.enum(["ACTIVE", "ARCHIVED"]), "ACTIVE"),
  /** A date-time with its zone; without effect. */
  createdAt: instant.nullish(),
};
export interface AddOnSchema extends StrictSchema<typeof addOnFields> {}
export const addOn: AddOnSchema = z.strictObject(addOnFields);
/** A priced item of fixed fee, license and credit grant cards. */
export interface AddOnInput extends Frozen<z.input<AddOnSchema>> {}
/** An add-on in input form: its displayName may be missing. */
export type AddOnDocument = z.output<AddOnSchema>;
/** A priced item of fixed fee, license and credit grant cards. */
export interface AddOn extends Omit<Frozen<AddOnDocument>, "displayName"> {
  readonly displayName: string;
}
/** A new add-on, with a generated id. */
export type AddOnRequest = Omit<AddOnInput, "id" | "status" | "createdAt">;
/** Changes of an add-on. */
export type AddOnPatch = Patch<Omit<AddOnRequest, "type">>;

/** The default namespace of a setting. */
export const SETTING_NAMESPACE = "user";
const keyText = (): z.ZodString =>
  z
    .string()
    .min(1)
    .max(255)
    .regex(/^[A-Za-z0-9_-]*$/);

const settingFields = {
  /** 1 to 255 letters, digits, `_` and `-`. */
  id: keyText(),
  /** 1 to 255 letters, digits, `_` and `-`; default `user`. */
  namespace: withDefault(keyText(), SETTING_NAMESPACE),
  /** A name for people; default none. */
  name: text,
  /** How `value` is read; default STRING. */
  dataType: withDefault(z.enum(["STRING", "NUMERIC", "JSON", "JSON_LOGIC"]), "STRING"),
  /** A string that parses as the data type. */
  value: z.string(),
  /**
   * The kind of owner: an account's setting takes precedence over its customer's, and that over the organization's;
   * default ORGANIZATION.
   */
  entityType: withDefault(z.enum(["ORGANIZATION", "CUSTOMER", "ACCOUNT"]), "ORGANIZATION"),
  /** The id or name of the customer or account; default the organization's id. */
  entityId: reference.nullish(),
};
export interface SettingSchema extends StrictSchema<typeof settingFields> {}
export const setting: SettingSchema = z.strictObject(settingFields);
/** A value that enrichments depend on (S4.2). */
export interface SettingInput extends Frozen<z.input<SettingSchema>> {}
/** A setting in input form, before its entity is resolved. */
export type SettingDocument = z.output<SettingSchema>;
/** A value that enrichments depend on (S4.2). */
export interface Setting extends Omit<Frozen<SettingDocument>, "entityId"> {
  /** The organization's, customer's or account's id. */
  readonly entityId: string;
}
/** The type of a setting's value (S4.2). */
export type SettingDataType = Setting["dataType"];
/** A new setting (S4.2). */
export type SettingRequest = SettingInput;
/** Changes of a setting. */
export type SettingPatch = Patch<Pick<SettingInput, "name" | "dataType" | "value">>;

/** `setting.<namespace>.<id>` in lower case, as in dependencies of an {@link EventSchema} (S4.2). */
export function settingKey(setting: Pick<SettingDocument, "namespace" | "id">): string {
  return `setting.${setting.namespace}.${setting.id}`.toLowerCase();
}
