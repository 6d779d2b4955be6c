/**
 * Event schemas and their enrichments (service-reference "Event schema"; S4).
 *
 * @module
 */
import * as z from "zod";

import type { Decimal } from "../../numbers/decimal.ts";
import type { Rule } from "../../rules/rule.ts";
import { label, listOf, name, orDefault, reference, ruleSource, text } from "./fields.ts";

/** The pattern of an event schema's and a meter's name. */
export const NAME_PATTERN = /^[\sa-zA-Z0-9_-]*$/;

/** A setting that rules may use as `dependencies.<name>` (S4.2). */
const dependency = z.strictObject({
  type: orDefault(z.literal("SETTING"), "SETTING"),
  /** In a {@link Book}: `setting.<namespace>.<id>` in lower case. */
  key: z.string().min(1).max(600),
  name,
});
/** A setting that rules may use as `dependencies.<name>` (S4.2). */
export type Dependency = z.output<typeof dependency>;

/** A field computed from the event and the fields before it (S4.3). */
const enrichmentField = z.strictObject({
  name,
  type: z.enum(["ATTRIBUTE", "DIMENSION"]),
  enrichmentType: orDefault(z.enum(["VALUE", "JSON_LOGIC", "JSON_LOGIC_FROM_DEPENDENCY"]), "JSON_LOGIC"),
  value: ruleSource,
  order: z.int().min(0),
});
/** An enrichment field as it is written: its rule may be text. */
export type EnrichmentFieldDocument = z.output<typeof enrichmentField>;
/** A field computed from the event and the fields before it (S4.3). */
export type EnrichmentField = Omit<EnrichmentFieldDocument, "enrichmentType" | "value"> &
  (
    | { readonly enrichmentType: "JSON_LOGIC"; readonly value: Rule }
    /** `value` names one of the schema's dependencies, whose setting holds the rule. */
    | { readonly enrichmentType: "JSON_LOGIC_FROM_DEPENDENCY"; readonly value: string }
    /** The constant: a Decimal for an ATTRIBUTE, a text for a DIMENSION. */
    | { readonly enrichmentType: "VALUE"; readonly value: Decimal | string }
  );

/** Where the features of a schema's events are consumed: an attribute's value is taken from a feature (S11.2). */
export interface FeatureDetails {
  readonly featureId: string;
  readonly attributeName: string;
}

/** Most fields that enrichment adds, and most settings that its rules use. */
const ENRICHMENTS_MAX = 200;

const named = z.strictObject({ name, displayName: text, defaultUnit: text });
/** The attributes, or the dimensions, that an event must carry, as a request writes them. */
export const declaredFields = z.array(named.extend({ displayName: label })).max(50);

/** What an event of one name carries and what is computed from it. */
export const eventSchema = z.strictObject({
  name: z.string().min(1).max(50).regex(NAME_PATTERN),
  version: orDefault(z.int().min(1), 1),
  description: label,
  status: orDefault(z.enum(["DRAFT", "ACTIVE", "INACTIVE", "ARCHIVED"]), "ACTIVE"),
  attributes: listOf(named, 50),
  dimensions: listOf(named, 50),
  featureDetails: z.strictObject({ featureId: reference, attributeName: reference }).nullish(),
  eventLevelRevenue: z.boolean().nullish(),
  enrichments: z
    .strictObject({
      dependencies: listOf(dependency, ENRICHMENTS_MAX),
      fields: listOf(enrichmentField, ENRICHMENTS_MAX),
    })
    .nullish(),
});
/** An event schema as it is written, before references are resolved. */
export type EventSchemaDocument = z.output<typeof eventSchema>;
/** What an event of one name carries and what is computed from it (S4). */
export interface EventSchema extends Omit<EventSchemaDocument, "featureDetails" | "enrichments"> {
  readonly featureDetails?: FeatureDetails | undefined;
  readonly enrichments: Enrichments;
}
/** What is computed of an event before it is metered, and from which settings (S4.2, S4.3). */
interface Enrichments {
  readonly dependencies: readonly Dependency[];
  /** In ascending order. */
  readonly fields: readonly EnrichmentField[];
}

/** The version of each event schema that counts now: the ACTIVE one, else the latest. */
export function currentSchemas<Schema extends Pick<EventSchema, "name" | "status" | "version">>(
  schemas: readonly Schema[],
): ReadonlyMap<string, Schema> {
  const current = new Map<string, Schema>();
  schemas.forEach((schema) => {
    const other = current.get(schema.name);
    const isCurrent =
      other === undefined ||
      (other.status !== "ACTIVE" && (schema.status === "ACTIVE" || schema.version > other.version));
    if (isCurrent) current.set(schema.name, schema);
  });
  return current;
}
