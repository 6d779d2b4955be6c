/**
 * Event schemas, in input form and as read (S4).
 *
 * @module
 */
import type { Decimal } from "../../numbers/decimal.ts";
import type { Rule } from "../../rules/rule.ts";
import type { Maybe, RuleInput } from "./common-types.ts";

/** The status of a version: the ACTIVE one reads events (S4.4, S5.4). */
export type LifecycleStatus = "DRAFT" | "ACTIVE" | "INACTIVE" | "ARCHIVED";

/** An attribute or dimension of events (S4.1). */
export interface DeclaredField {
  /** 1 to 255 characters. */
  readonly name: string;
  /** For people. */
  readonly displayName?: Maybe<string>;
  /** The unit of an attribute sent without one; no effect on computations. */
  readonly defaultUnit?: Maybe<string>;
}

/** A setting that rules may use as `dependencies.<name>` (S4.2). */
export interface DependencyInput {
  /** Default SETTING. */
  readonly type?: Maybe<"SETTING">;
  /** `setting.<namespace>.<id>` in any case, or the setting's id alone, at most 600 characters. */
  readonly key: string;
  /** The name in rules, 1 to 255 characters. */
  readonly name: string;
}
/** A setting that rules may use as `dependencies.<name>` (S4.2). */
export interface Dependency {
  readonly type: "SETTING";
  /** `setting.<namespace>.<id>` in lower case. */
  readonly key: string;
  readonly name: string;
}

/** A field computed from the event and the fields before it (S4.3). */
export interface EnrichmentFieldInput {
  /** 1 to 255 characters; not that of a declared field or another computed one. */
  readonly name: string;
  /** An ATTRIBUTE is a decimal, a DIMENSION a text. */
  readonly type: "ATTRIBUTE" | "DIMENSION";
  /** The kind of `value`; default JSON_LOGIC. */
  readonly enrichmentType?: Maybe<"VALUE" | "JSON_LOGIC" | "JSON_LOGIC_FROM_DEPENDENCY">;
  /** The rule, the constant, or the name of the dependency whose setting contains the rule. */
  readonly value: RuleInput;
  /** A whole number from 0, unique: a field can use those with a lower one. */
  readonly order: number;
}
/** A field computed from the event and the fields before it (S4.3). */
export type EnrichmentField = Omit<EnrichmentFieldInput, "enrichmentType" | "value"> &
  (
    | { readonly enrichmentType: "JSON_LOGIC"; readonly value: Rule }
    /** `value` names one of the schema's dependencies, whose setting contains the rule. */
    | { readonly enrichmentType: "JSON_LOGIC_FROM_DEPENDENCY"; readonly value: string }
    /** The constant: a Decimal for an ATTRIBUTE, a text for a DIMENSION. */
    | { readonly enrichmentType: "VALUE"; readonly value: Decimal | string }
  );

/** The feature that a schema's events consume (S11.2). */
export interface FeatureDetails {
  /** The feature's id; in input form also its name. */
  readonly featureId: string;
  /** The attribute with the quantity consumed; empty if each event consumes 1. */
  readonly attributeName: string;
}

/** The fields of events of one name, and their enrichment (S4). */
export interface EventSchemaInput {
  /** 1 to 50 letters, digits, white space, `_` and `-`. */
  readonly name: string;
  /** From 1; default 1. */
  readonly version?: Maybe<number>;
  /** At most 255 characters. */
  readonly description?: Maybe<string>;
  /** Default ACTIVE. */
  readonly status?: Maybe<LifecycleStatus>;
  /** Numbers that events must have, at most 50; default none. */
  readonly attributes?: Maybe<readonly DeclaredField[]>;
  /** Texts that events must have, at most 50; default none. */
  readonly dimensions?: Maybe<readonly DeclaredField[]>;
  /** The feature that an event consumes; default none. */
  readonly featureDetails?: Maybe<FeatureDetails>;
  /** Stored unchanged. */
  readonly eventLevelRevenue?: Maybe<boolean>;
  /** Fields computed before an event is metered; default none. */
  readonly enrichments?: Maybe<{
    /** At most 200. */
    readonly dependencies?: Maybe<readonly DependencyInput[]>;
    /** At most 200. */
    readonly fields?: Maybe<readonly EnrichmentFieldInput[]>;
  }>;
}
/** The fields of events of one name, and their enrichment (S4). */
export interface EventSchema {
  readonly name: string;
  readonly version: number;
  readonly description?: Maybe<string>;
  readonly status: LifecycleStatus;
  readonly attributes: readonly DeclaredField[];
  readonly dimensions: readonly DeclaredField[];
  readonly featureDetails?: FeatureDetails | undefined;
  readonly eventLevelRevenue?: Maybe<boolean>;
  readonly enrichments: Enrichments;
}
/** The fields computed before an event is metered, and the settings that they use (S4.2, S4.3). */
export interface Enrichments {
  readonly dependencies: readonly Dependency[];
  /** In ascending order. */
  readonly fields: readonly EnrichmentField[];
}
