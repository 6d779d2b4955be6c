/**
 * Event schemas and their enrichments (service-reference "Event schema"; S4).
 *
 * @module
 */
import * as z from "zod";

import type { EventSchema } from "../model/metering.ts";
import { attributeName } from "./catalog-items.ts";
import { label, listOrEmpty, name, orDefault, reference, ruleSource, text } from "./fields.ts";

/** The pattern of the names of event schemas and meters. */
export const NAME_PATTERN = /^[\sa-zA-Z0-9_-]*$/;

/** A setting that rules may use as `dependencies.<name>` (S4.2). */
const dependency = z.strictObject({
  type: orDefault(z.literal("SETTING"), "SETTING"),
  /** In a {@link Book}: `setting.<namespace>.<id>` in lower case. */
  key: z.string().min(1).max(600),
  name,
});

/** A field computed from the event and the fields before it (S4.3). */
const enrichmentField = z.strictObject({
  name,
  type: z.enum(["ATTRIBUTE", "DIMENSION"]),
  enrichmentType: orDefault(z.enum(["VALUE", "JSON_LOGIC", "JSON_LOGIC_FROM_DEPENDENCY"]), "JSON_LOGIC"),
  value: ruleSource,
  order: z.int().min(0),
});
/** An enrichment field in input form: its rule may be text. */
export type EnrichmentFieldDocument = z.output<typeof enrichmentField>;
/** Maximum number of fields that enrichment adds, and of settings that its rules use. */
const ENRICHMENTS_MAX = 200;

const declaredField = z.strictObject({ name, displayName: text, defaultUnit: text });
/** The required attributes or dimensions of an event, in a request. */
export const declaredFields = z.array(declaredField.extend({ displayName: label })).max(50);

/** The fields of events of one name, and their enrichment. */
export const eventSchema = z.strictObject({
  name: z.string().min(1).max(50).regex(NAME_PATTERN),
  version: orDefault(z.int().min(1), 1),
  description: label,
  status: orDefault(z.enum(["DRAFT", "ACTIVE", "INACTIVE", "ARCHIVED"]), "ACTIVE"),
  attributes: listOrEmpty(declaredField, 50),
  dimensions: listOrEmpty(declaredField, 50),
  featureDetails: z.strictObject({ featureId: reference, attributeName }).nullish(),
  eventLevelRevenue: z.boolean().nullish(),
  enrichments: z
    .strictObject({
      dependencies: listOrEmpty(dependency, ENRICHMENTS_MAX),
      fields: listOrEmpty(enrichmentField, ENRICHMENTS_MAX),
    })
    .nullish(),
});
/** An event schema in input form, before references are resolved. */
export type EventSchemaDocument = z.output<typeof eventSchema>;

/** The current version of each event schema: the ACTIVE one, else the latest. */
export function findCurrentSchemas<Schema extends Pick<EventSchema, "name" | "status" | "version">>(
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
