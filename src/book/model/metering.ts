/**
 * Event schemas and usage meters, as they are written and as they are when they were read (S4, S5).
 *
 * @module
 */
import type { Decimal } from "../../numbers/decimal.ts";
import type { Rule } from "../../rules/rule.ts";
import type { Maybe, RuleInput } from "./common-types.ts";

/** A version's place in its life: events are read by the ACTIVE one (S4.4, S5.4). */
export type LifecycleStatus = "DRAFT" | "ACTIVE" | "INACTIVE" | "ARCHIVED";

/** An attribute or a dimension that events carry (S4.1). */
export interface DeclaredField {
  /** 1 to 255 characters. */
  readonly name: string;
  /** A text for people. */
  readonly displayName?: Maybe<string>;
  /** The unit of an attribute that comes without one; nothing is computed by it. */
  readonly defaultUnit?: Maybe<string>;
}

/** A setting that rules may use as `dependencies.<name>` (S4.2). */
export interface DependencyInput {
  /** Default SETTING. */
  readonly type?: Maybe<"SETTING">;
  /** `setting.<namespace>.<id>` in any case, or the setting's id alone, at most 600 characters. */
  readonly key: string;
  /** What rules call it, 1 to 255 characters. */
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
  /** 1 to 255 characters; that of no declared field and of no other computed one. */
  readonly name: string;
  /** An ATTRIBUTE comes out as a decimal, a DIMENSION as text. */
  readonly type: "ATTRIBUTE" | "DIMENSION";
  /** What `value` holds; default JSON_LOGIC. */
  readonly enrichmentType?: Maybe<"VALUE" | "JSON_LOGIC" | "JSON_LOGIC_FROM_DEPENDENCY">;
  /** The rule; the constant; or the name of the dependency whose setting holds the rule. */
  readonly value: RuleInput;
  /** A whole number from 0, its own: a field sees those with a lower one. */
  readonly order: number;
}
/** A field computed from the event and the fields before it (S4.3). */
export type EnrichmentField = Omit<EnrichmentFieldInput, "enrichmentType" | "value"> &
  (
    | { readonly enrichmentType: "JSON_LOGIC"; readonly value: Rule }
    /** `value` names one of the schema's dependencies, whose setting holds the rule. */
    | { readonly enrichmentType: "JSON_LOGIC_FROM_DEPENDENCY"; readonly value: string }
    /** The constant: a Decimal for an ATTRIBUTE, a text for a DIMENSION. */
    | { readonly enrichmentType: "VALUE"; readonly value: Decimal | string }
  );

/** Where the features of a schema's events are consumed: an attribute's value is taken from a feature (S11.2). */
export interface FeatureDetails {
  /** The feature's id; as it is written, its name too. */
  readonly featureId: string;
  /** The attribute that says how much is consumed; empty where each event consumes 1. */
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
  /** Numbers that events must carry, at most 50; default none. */
  readonly attributes?: Maybe<readonly DeclaredField[]>;
  /** Texts that events must carry, at most 50; default none. */
  readonly dimensions?: Maybe<readonly DeclaredField[]>;
  /** Whose credits an event consumes; default nobody's. */
  readonly featureDetails?: Maybe<FeatureDetails>;
  /** Kept as given. */
  readonly eventLevelRevenue?: Maybe<boolean>;
  /** What is computed of an event before it is metered; default nothing. */
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
/** The fields that are computed of an event before it is metered, and the settings that they use (S4.2, S4.3). */
export interface Enrichments {
  readonly dependencies: readonly Dependency[];
  /** In ascending order. */
  readonly fields: readonly EnrichmentField[];
}

/** One step of a meter: every one that matches an event counts, and a SUM adds them (S5.1, S5.2). */
export interface ComputationInput {
  /** Kept as given. */
  readonly id?: Maybe<string>;
  /** A whole number from 0, its own: steps are evaluated in ascending order. */
  readonly order: number;
  /** A rule that is true for the events that are meant; default every event. */
  readonly matcher?: Maybe<RuleInput>;
  /** A rule that says how many units an event is; a SUM needs it, a COUNT does without. */
  readonly computation?: Maybe<RuleInput>;
}
/** One step of a meter (S5.1). */
export interface Computation {
  readonly id?: Maybe<string>;
  readonly order: number;
  readonly matcher?: Rule | undefined;
  readonly computation?: Rule | undefined;
}

/** Counts matching events, or sums what is computed of them (S5). */
export interface UsageMeterInput {
  /** 1 to 20 characters, without white space and slashes. */
  readonly id: string;
  /** 1 to 50 letters, digits, white space, `_` and `-`, that no other meter has which is not archived. */
  readonly name: string;
  /** The name on invoices, at most 255 characters; default `billableName`, else `name`. */
  readonly displayName?: Maybe<string>;
  /** At most 255 characters. */
  readonly billableName?: Maybe<string>;
  /** At most 255 characters. */
  readonly description?: Maybe<string>;
  /** Default COUNTER. */
  readonly type?: Maybe<"COUNTER">;
  /** COUNT the events that match, or SUM what is computed of them. */
  readonly aggregation: "COUNT" | "SUM";
  /** Default ACTIVE. */
  readonly status?: Maybe<LifecycleStatus>;
  /** The name of the event schema whose events are measured, ACTIVE where the meter is. */
  readonly eventSchemaName: string;
  /** At least one. */
  readonly computations: readonly ComputationInput[];
}
/** Counts matching events, or sums what is computed of them (S5). */
export interface UsageMeter {
  readonly id: string;
  readonly name: string;
  readonly displayName: string;
  readonly billableName?: Maybe<string>;
  readonly description?: Maybe<string>;
  readonly type: "COUNTER";
  readonly aggregation: "COUNT" | "SUM";
  readonly status: LifecycleStatus;
  readonly eventSchemaName: string;
  /** In ascending order. */
  readonly computations: readonly Computation[];
}
