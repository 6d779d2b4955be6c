/**
 * Event schemas in answers (service-reference: Event schema).
 *
 * @module
 */
import * as z from "zod";

import type { EventSchema } from "../../book/resources/event-schema.ts";
import { declaredFields, eventSchema, NAME_PATTERN } from "../../book/resources/event-schema.ts";
import type { StoredResource } from "../../engine/configured-resources.ts";
import { withoutAbsent } from "../http/fields.ts";
import { createAnswerDeriver } from "./derive-answers.ts";
import { formatRule } from "./rule-text.ts";

const answers = createAnswerDeriver();
const declaredFieldsShape = answers.derive(declaredFields).max(50);
const { fields } = eventSchema.shape.enrichments.unwrap().unwrap().shape;
answers.deriveObject(fields.in.unwrap().unwrap().element, {
  value: z.string().meta({ description: "A rule as a string; unchanged if it was sent as a string." }),
  order: z.int().min(0),
});

export const eventSchemaShape = answers.deriveObject(
  eventSchema,
  {
    name: z.string().max(50).regex(NAME_PATTERN),
    version: z.int().min(1),
    description: z.string().max(255).optional(),
    attributes: declaredFieldsShape,
    dimensions: declaredFieldsShape,
    featureDetails: answers
      .derive(eventSchema.shape.featureDetails)
      .meta({ description: "The feature whose credits its events use, and the attribute with the number." }),
    eventLevelRevenue: z.boolean(),
  },
  { id: "EventSchema" },
);

export function toEventSchemaJson({ item, input }: StoredResource<EventSchema>): z.input<typeof eventSchemaShape> {
  const { enrichments } = input as { readonly enrichments?: EnrichmentsInput };
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
    enrichments: enrichments && toEnrichmentsJson(item, enrichments),
  });
}

type EnrichmentsInput = NonNullable<z.input<typeof eventSchema>["enrichments"]>;

function toEnrichmentsJson(
  { enrichments }: EventSchema,
  input: EnrichmentsInput,
): NonNullable<z.input<typeof eventSchemaShape>["enrichments"]> {
  // The stored fields are sorted, the input's are not; names are unique.
  const valuesByName = new Map((input.fields ?? []).map(({ name, value }) => [name, value]));
  return {
    dependencies: enrichments.dependencies.map(({ type, key, name }) => ({ type, key, name })),
    fields: enrichments.fields.map(({ name, type, enrichmentType, order }) => ({
      name,
      type,
      enrichmentType,
      value: formatRule(valuesByName.get(name)) ?? "",
      order,
    })),
  };
}
