/**
 * Event schemas and their enrichments (service-reference "Event schema"; S4).
 *
 * @module
 */
import { z } from "zod";

import { id, ruleSource } from "./fields.ts";

/** A setting that rules may use as `dependencies.<name>` (S4.2). */
export const dependency = z.strictObject({
  type: z.literal("SETTING").default("SETTING"),
  key: z.string().min(1),
  name: z.string().min(1),
});
export type Dependency = z.output<typeof dependency>;

/** A field computed from the event and the fields before it (S4.3). */
export const enrichmentField = z.strictObject({
  name: z.string().min(1),
  type: z.enum(["ATTRIBUTE", "DIMENSION"]),
  enrichmentType: z.enum(["VALUE", "JSON_LOGIC", "JSON_LOGIC_FROM_DEPENDENCY"]).default("JSON_LOGIC"),
  value: ruleSource,
  order: z.int().min(0),
});
export type EnrichmentField = z.output<typeof enrichmentField>;

const named = z.strictObject({
  name: z.string().min(1).max(255),
  displayName: z.string().nullish(),
  defaultUnit: z.string().nullish(),
});

/** What an event of one name carries and what is computed from it. */
export const eventSchema = z.strictObject({
  name: z
    .string()
    .min(1)
    .max(50)
    .regex(/^[\sa-zA-Z0-9_-]*$/),
  version: z.int().min(1).default(1),
  description: z.string().max(255).nullish(),
  status: z.enum(["DRAFT", "ACTIVE", "INACTIVE", "ARCHIVED"]).default("ACTIVE"),
  attributes: z.array(named).max(50).default([]),
  dimensions: z.array(named).max(50).default([]),
  featureDetails: z.strictObject({ featureId: id, attributeName: z.string() }).nullish(),
  eventLevelRevenue: z.boolean().nullish(),
  enrichments: z
    .strictObject({ dependencies: z.array(dependency).default([]), fields: z.array(enrichmentField).default([]) })
    .nullish(),
});
export type EventSchema = z.output<typeof eventSchema>;
