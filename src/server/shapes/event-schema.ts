/**
 * Event schemas as they are answered (service-reference: Event schema).
 *
 * @module
 */
import * as z from "zod";

import { type EventSchema, NAME_PATTERN } from "../../book/resources/event-schema.ts";
import type { Stored } from "../../engine/configured.ts";
import type { Body } from "../../engine/document-body.ts";
import { withoutAbsent } from "../http/fields.ts";
import { shownRule } from "./rule-text.ts";

const declared = z
  .array(z.strictObject({ name: z.string(), displayName: z.string().optional(), defaultUnit: z.string().optional() }))
  .max(50);

/** A version of an event schema. */
export const eventSchemaShape = z
  .strictObject({
    name: z.string().max(50).regex(NAME_PATTERN),
    version: z.int().min(1),
    description: z.string().max(255).optional(),
    status: z.enum(["DRAFT", "ACTIVE", "INACTIVE", "ARCHIVED"]),
    attributes: declared,
    dimensions: declared,
    featureDetails: z
      .strictObject({ featureId: z.string(), attributeName: z.string() })
      .optional()
      .meta({ description: "The feature whose credits its events take, and the attribute that says how many." }),
    eventLevelRevenue: z.boolean(),
    enrichments: z
      .strictObject({
        dependencies: z.array(z.strictObject({ type: z.literal("SETTING"), key: z.string(), name: z.string() })),
        fields: z.array(
          z.strictObject({
            name: z.string(),
            type: z.enum(["ATTRIBUTE", "DIMENSION"]),
            enrichmentType: z.enum(["VALUE", "JSON_LOGIC", "JSON_LOGIC_FROM_DEPENDENCY"]),
            value: z.string().meta({ description: "A rule as text, as it was sent where it was sent so." }),
            order: z.int().min(0),
          }),
        ),
      })
      .optional(),
  })
  .meta({ id: "EventSchema" });

/** An event schema as it is answered. */
export function shownEventSchema({ item, given }: Stored<EventSchema>): z.input<typeof eventSchemaShape> {
  const { name, version, description, status, attributes, dimensions, featureDetails, eventLevelRevenue } = item;
  return withoutAbsent({
    name,
    version,
    description,
    status,
    attributes: attributes.map(withoutAbsent),
    dimensions: dimensions.map(withoutAbsent),
    featureDetails,
    eventLevelRevenue: eventLevelRevenue ?? false,
    enrichments: given["enrichments"] === undefined ? undefined : shownEnrichments(item, given["enrichments"] as Body),
  });
}

function shownEnrichments(
  { enrichments }: EventSchema,
  given: Body,
): NonNullable<z.input<typeof eventSchemaShape>["enrichments"]> {
  // The fields of the item are in their order, those that were given in any: their names are unique.
  const sent = new Map(((given["fields"] ?? []) as readonly Body[]).map((field) => [field["name"], field["value"]]));
  return {
    dependencies: enrichments.dependencies.map(({ type, key, name }) => ({ type, key, name })),
    fields: enrichments.fields.map(({ name, type, enrichmentType, order }) => ({
      name,
      type,
      enrichmentType,
      value: shownRule(sent.get(name)) ?? "",
      order,
    })),
  };
}
