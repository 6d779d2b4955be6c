/** Event schemas over HTTP (S4.4). */
import * as z from "zod";

import { type EventSchema, declaredFields, eventSchema, NAME_PATTERN } from "../../../book/resources/event-schema.ts";
import type { StoredResource } from "../../../engine/configured-resources.ts";
import { createAnswerDeriver, formatRule, toAnswer } from "../../http/answers.ts";
import type { Endpoint } from "../../http/endpoint.ts";
import { withoutAbsent, version } from "../../http/fields.ts";
import { ResourceEndpoints } from "../resource-endpoints.ts";

const answers = createAnswerDeriver();
const declaredFieldsShape = answers.derive(declaredFields).max(50);
const { fields } = eventSchema.shape.enrichments.unwrap().unwrap().shape;
answers.deriveObject(fields.in.unwrap().unwrap().element, {
  value: z.string().meta({ description: "A rule as a string; unchanged if it was sent as a string." }),
  order: z.int().min(0),
});

const eventSchemaShape = answers.deriveObject(
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
    allowUnmetered: z.boolean(),
  },
  { id: "EventSchema" },
);

function toEventSchemaJson({ item, input }: StoredResource<EventSchema>): z.input<typeof eventSchemaShape> {
  const { enrichments } = input as { readonly enrichments?: EnrichmentsInput };
  return toAnswer(eventSchemaShape, {
    ...item,
    attributes: item.attributes.map(withoutAbsent),
    dimensions: item.dimensions.map(withoutAbsent),
    eventLevelRevenue: item.eventLevelRevenue ?? false,
    allowUnmetered: item.allowUnmetered ?? false,
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

const { name, description, enrichments, eventLevelRevenue, allowUnmetered } = eventSchema.shape;
const { status } = eventSchemaShape.shape;
/** In its path, `+` means a space like `%20`, because names can contain spaces but no plus. */
const schemaName = z
  .string()
  .min(1)
  .max(50)
  .transform((text) => text.replaceAll("+", " "))
  .meta({ description: "The name of the event schema. Both `+` and `%20` mean a space." });
const EVENT_SCHEMAS = new ResourceEndpoints<StoredResource<EventSchema>>({
  tag: "Event schemas",
  path: "/event_schema",
  methods: (engine) => engine.eventSchemas,
  idName: "event_schema_name",
  idSchema: schemaName,
  shape: eventSchemaShape,
  toJson: toEventSchemaJson,
});

export const EVENT_SCHEMA_ENDPOINTS: readonly Endpoint[] = [
  EVENT_SCHEMAS.create({
    id: "createEventSchema",
    summary: "Create an event schema",
    description: "The event schema starts as a DRAFT. If an archived schema has the name, its next version is created.",
    body: z.strictObject({
      name,
      description,
      attributes: declaredFields,
      dimensions: declaredFields,
      enrichments,
      eventLevelRevenue,
      allowUnmetered,
    }),
    status: 201,
  }),
  EVENT_SCHEMAS.list({
    id: "listEventSchemas",
    summary: "List the latest version of each event schema, newest first",
    filters: { status: status.optional() },
    answerId: "EventSchemaList",
  }),
  EVENT_SCHEMAS.get({
    id: "getEventSchema",
    summary: "Get an event schema",
    query: z.strictObject({ version }),
    run: (engine, id, query) => engine.eventSchemas.get(id, query.version),
  }),
  EVENT_SCHEMAS.update({
    id: "updateEventSchema",
    summary: "Change an event schema, or move it to another state",
    description:
      "In a DRAFT, lists replace the existing items. In an ACTIVE schema, they add items, which creates the next version. " +
      "`status` is applied after the other changes.",
    body: z.strictObject({
      description,
      allowUnmetered,
      status: status.optional(),
      attributes: declaredFields.optional(),
      dimensions: declaredFields.optional(),
      enrichments,
    }),
  }),
  EVENT_SCHEMAS.with({
    path: "/event_schema/{event_schema_name}/versions",
    shape: eventSchemaShape,
    toJson: toEventSchemaJson,
  }).list({
    id: "listEventSchemaVersions",
    summary: "List all versions of an event schema, newest first",
    params: z.strictObject({ event_schema_name: schemaName }),
    list: ({ event_schema_name: requestedName }) => `event_schema_versions:${requestedName}`,
    answerId: "EventSchemaVersionList",
    run: (engine, _, page, params) => engine.eventSchemas.versions(params.event_schema_name, { page }),
  }),
  EVENT_SCHEMAS.action("activate", { id: "activateEventSchema", summary: "Activate an event schema" }),
  EVENT_SCHEMAS.action("deactivate", {
    id: "deactivateEventSchema",
    summary: "Deactivate an event schema",
    description: "Rejected while an ACTIVE usage meter uses it.",
  }),
  EVENT_SCHEMAS.remove({ id: "archiveEventSchema", summary: "Archive an event schema that is a DRAFT or INACTIVE" }),
];
