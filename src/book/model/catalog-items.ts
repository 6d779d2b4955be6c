/**
 * Features, add-ons, settings and lint suppressions, in input form and as read.
 *
 * @module
 */
import type { Instant } from "../../calendar/instant.ts";
import type { Maybe } from "./common-types.ts";
import type { LintCode } from "./lint-codes.ts";

/** A schema whose events consume a feature, and the attribute with the quantity (S11.2). */
export interface FeatureAssociation {
  /** The event schema. */
  readonly schemaName: string;
  /** The attribute whose value is consumed; empty if each event consumes 1. */
  readonly attributeName: string;
}

/** A schema in a feature: its name, or its name with the attribute. */
export type FeatureAssociationInput =
  | string
  | {
      /** The name of an event schema, which can consume only one feature. */
      readonly schemaName: string;
      /** Default: as in the schema's featureDetails, else the first declared attribute, else empty: each event consumes 1. */
      readonly attributeName?: Maybe<string>;
    };

/** A feature, for which accounts hold feature credits (S11). */
export interface FeatureInput {
  /** 1 to 50 characters, without white space and slashes. */
  readonly id: string;
  /** 1 to 255 characters, unique among features. */
  readonly name: string;
  /** The name on invoices, at most 255 characters; default `billableName`, else `name`. */
  readonly displayName?: Maybe<string>;
  /** At most 255 characters. */
  readonly billableName?: Maybe<string>;
  /** For people. */
  readonly description?: Maybe<string>;
  /** The schemas whose events consume it, at most 50; default none (S11.2). */
  readonly schemaAssociations?: Maybe<readonly FeatureAssociationInput[]>;
  /** Another spelling of `schemaAssociations`, which some clients use. */
  readonly schemaAssocitions?: Maybe<readonly FeatureAssociationInput[]>;
  /** A date-time with its zone; without effect. */
  readonly createdAt?: Maybe<string>;
  /** A date-time with its zone; without effect. */
  readonly updatedAt?: Maybe<string>;
}
/** A feature, for which accounts hold feature credits (S11). */
export interface Feature {
  readonly id: string;
  readonly name: string;
  readonly displayName: string;
  readonly billableName?: Maybe<string>;
  readonly description?: Maybe<string>;
  readonly schemaAssociations: readonly FeatureAssociation[];
  readonly createdAt?: Maybe<Instant>;
  readonly updatedAt?: Maybe<Instant>;
}

/** A priced item of fixed fee, license and credit grant cards. */
export interface AddOnInput {
  /** 1 to 50 characters, without white space and slashes. */
  readonly id: string;
  /** 1 to 255 characters, unique among add-ons that are not archived. */
  readonly name: string;
  /** The name on invoices, at most 255 characters; default `billableName`, else `name`. */
  readonly displayName?: Maybe<string>;
  /** At most 255 characters. */
  readonly billableName?: Maybe<string>;
  /** The kind of card that may price it. */
  readonly type: "LICENSE" | "FIXED_FEE" | "CREDIT_GRANT";
  /** Default ACTIVE. */
  readonly status?: Maybe<"ACTIVE" | "ARCHIVED">;
  /** A date-time with its zone; without effect. */
  readonly createdAt?: Maybe<string>;
}
/** A priced item of fixed fee, license and credit grant cards. */
export interface AddOn {
  readonly id: string;
  readonly name: string;
  readonly displayName: string;
  readonly billableName?: Maybe<string>;
  readonly type: "LICENSE" | "FIXED_FEE" | "CREDIT_GRANT";
  readonly status: "ACTIVE" | "ARCHIVED";
  readonly createdAt?: Maybe<Instant>;
}

/** The type of a setting's value (S4.2). */
export type SettingDataType = "STRING" | "NUMERIC" | "JSON" | "JSON_LOGIC";

/** A value that enrichments depend on (S4.2). */
export interface SettingInput {
  /** 1 to 255 letters, digits, `_` and `-`. */
  readonly id: string;
  /** 1 to 255 letters, digits, `_` and `-`; default `user`. */
  readonly namespace?: Maybe<string>;
  /** A name for people; default none. */
  readonly name?: Maybe<string>;
  /** How `value` is read; default STRING. */
  readonly dataType?: Maybe<SettingDataType>;
  /** A text that parses as the data type. */
  readonly value: string;
  /**
   * The kind of owner: an account's setting takes precedence over its customer's, and that over the organization's;
   * default ORGANIZATION.
   */
  readonly entityType?: Maybe<"ORGANIZATION" | "CUSTOMER" | "ACCOUNT">;
  /** The customer's or account's id or name; default the organization's. */
  readonly entityId?: Maybe<string>;
}
/** A value that enrichments depend on (S4.2). */
export interface Setting {
  readonly id: string;
  readonly namespace: string;
  readonly name?: Maybe<string>;
  readonly dataType: SettingDataType;
  readonly value: string;
  readonly entityType: "ORGANIZATION" | "CUSTOMER" | "ACCOUNT";
  /** The organization's, customer's or account's id. */
  readonly entityId: string;
}

/** A lint finding that is accepted. */
export interface LintSuppression {
  readonly code: LintCode;
  /** The path to which it applies, as in findings, including everything below, 1 to 1,000 characters; default the whole book. */
  readonly at?: Maybe<string>;
  /** Why it is accepted, 1 to 1,000 characters. */
  readonly reason: string;
}
