/** Event schemas (S4.4) and usage meters (S5.4) over HTTP. */
import * as z from "zod";

import {
  type EventSchema,
  declaredFields,
  eventSchema,
  NAME_PATTERN,
  hasKeys,
  type UsageMeter,
  usageMeter,
} from "../../../book/resources/event-schema.ts";
import { computationId, EVERY_EVENT, ONE_UNIT } from "../../../engine/catalog/resource-methods.ts";
import type { StoredResource } from "../../../engine/configured-resources.ts";
import { createAnswerDeriver, formatRule, toAnswer } from "../../http/answers.ts";
import type { Endpoint } from "../../http/endpoint.ts";
import { Refusal } from "../../http/failures.ts";
import { version } from "../../http/fields.ts";
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
  const { enrichments } = input as Pick<z.input<typeof eventSchema>, "enrichments">;
  // The stored fields are sorted, the input's are not; names are unique.
  const valuesByName = new Map(enrichments?.fields?.map(({ name, value }) => [name, value]));
  return toAnswer(eventSchemaShape, {
    ...item,
    eventLevelRevenue: item.eventLevelRevenue ?? false,
    allowUnmetered: item.allowUnmetered ?? false,
    enrichments: enrichments && {
      ...item.enrichments,
      fields: item.enrichments.fields.map((field) => ({
        ...field,
        value: formatRule(valuesByName.get(field.name)) ?? "",
      })),
    },
  });
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
    run: ({ engine, id, query }) => engine.eventSchemas.get(id, query.version),
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
    params: z.strictObject({ event_schema_name: schemaName }),
    shape: eventSchemaShape,
    toJson: toEventSchemaJson,
  }).list({
    id: "listEventSchemaVersions",
    summary: "List all versions of an event schema, newest first",
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

/** The aggregations that clients know. */
const answeredAggregation = z.enum(["COUNT", "SUM"]);

function toAnswered(aggregation: UsageMeter["aggregation"]): z.output<typeof answeredAggregation> {
  return aggregation === "COUNT" ? "COUNT" : "SUM";
}

const usageMeterShape = createAnswerDeriver().deriveObject(
  usageMeter,
  {
    id: z.string().max(20),
    name: z.string().max(50).regex(NAME_PATTERN),
    displayName: z.string().max(255).meta({ description: "The billableName, else the name." }),
    billableName: z.string().max(255).optional(),
    description: z.string().max(255).optional(),
    aggregation: answeredAggregation.meta({ description: "SUM for every aggregation but COUNT." }),
    actualAggregation: usageMeter.shape.aggregation
      .optional()
      .meta({ description: "The aggregation of a meter that neither counts nor sums." }),
    computations: z
      .array(
        z.strictObject({
          id: z.string().meta({ description: "As in the request; default the order." }),
          order: z.int().min(0),
          matcher: z
            .string()
            .meta({ description: "A rule as a string; without one `true`, which matches every event." }),
          computation: z.string().meta({ description: "A rule as a string; `1` for a COUNT without one." }),
        }),
      )
      .min(1),
  },
  { id: "UsageMeter" },
);

/** A usage meter with its computations in the order in which they were sent. */
function toMeterJson({ item, input }: StoredResource<UsageMeter>): z.input<typeof usageMeterShape> {
  const { computations } = input as { readonly computations: z.input<typeof usageMeter>["computations"] };
  return toAnswer(usageMeterShape, {
    ...item,
    aggregation: toAnswered(item.aggregation),
    actualAggregation: hasKeys(item) ? item.aggregation : undefined,
    computations: computations.map((step) => ({
      id: computationId(step),
      order: step.order,
      matcher: formatRule(step.matcher) ?? EVERY_EVENT,
      computation: formatRule(step.computation) ?? ONE_UNIT,
    })),
  });
}

const {
  name: meterName,
  billableName,
  description: meterDescription,
  aggregation,
  eventSchemaName,
  computations,
  groupBy,
} = usageMeter.shape;
const { daily, carryOver, mode } = usageMeter.shape;
const { type } = usageMeterShape.shape;
const USAGE_METERS = new ResourceEndpoints<StoredResource<UsageMeter>>({
  tag: "Usage meters",
  path: "/usage_meters",
  methods: (engine) => engine.usageMeters,
  idName: "usage_meter_id",
  shape: usageMeterShape,
  toJson: toMeterJson,
});

/** One aggregation, or several separated by commas. */
const aggregations = z
  .string()
  .refine((text) => text.split(",").every((part) => answeredAggregation.safeParse(part).success), {
    error: 'expected "COUNT", "SUM" or "COUNT,SUM"',
  })
  .meta({ pattern: "^(COUNT|SUM)(,(COUNT|SUM))*$" })
  .optional();

export const USAGE_METER_ENDPOINTS: readonly Endpoint[] = [
  USAGE_METERS.create({
    id: "createUsageMeter",
    summary: "Create a usage meter",
    description: "The usage meter starts as a DRAFT and counts events that arrive while it is ACTIVE.",
    body: z.strictObject({
      name: meterName,
      billableName,
      description: meterDescription,
      type,
      aggregation,
      computations,
      eventSchemaName,
      groupBy,
      daily,
      carryOver,
      mode,
    }),
    status: 201,
  }),
  USAGE_METERS.list({
    id: "listUsageMeters",
    summary: "List usage meters, newest first",
    filters: { status: usageMeterShape.shape.status.optional(), aggregation: aggregations, aggregations },
    normalize: ({ aggregations: listFilter, ...query }) => {
      if (query.aggregation !== undefined && listFilter !== undefined) {
        throw new Refusal(400, "aggregations: use either aggregations or aggregation");
      }
      return { ...query, aggregation: query.aggregation ?? listFilter, aggregations: undefined };
    },
    answerId: "UsageMeterList",
    run: (engine, { status, aggregation: filter }, page) => {
      const answered = filter?.split(",");
      const aggregations = answered && aggregation.options.filter((each) => answered.includes(toAnswered(each)));
      return engine.usageMeters.list({ filter: { status, aggregation: aggregations }, page });
    },
  }),
  USAGE_METERS.get({ id: "getUsageMeter", summary: "Get a usage meter" }),
  USAGE_METERS.update({
    id: "updateUsageMeter",
    summary: "Change a usage meter",
    description:
      "Unless the meter is a DRAFT, only name, billableName and description can change; the other fields can be sent unchanged.",
    body: z.strictObject({
      name: meterName.optional(),
      billableName,
      description: meterDescription,
      type: type.optional(),
      aggregation: aggregation.optional().meta({
        description: "SUM without actualAggregation leaves that of a meter that is answered as SUM unchanged.",
      }),
      actualAggregation: aggregation.optional().meta({ description: "The aggregation; takes precedence." }),
      computations: computations.optional(),
      groupBy,
      daily,
      carryOver,
      mode,
    }),
    run: async ({ engine, id, body: { actualAggregation, aggregation: answered, ...fields } }) => {
      // Clients that know only COUNT and SUM send back the SUM that they were answered.
      const isUnchanged = answered === "SUM" && hasKeys((await engine.usageMeters.get(id)).item);
      const next = actualAggregation ?? (isUnchanged ? undefined : answered);
      return engine.usageMeters.update(id, { ...fields, ...(next && { aggregation: next }) });
    },
  }),
  USAGE_METERS.action("activate", { id: "activateUsageMeter", summary: "Activate a usage meter" }),
  USAGE_METERS.action("deactivate", {
    id: "deactivateUsageMeter",
    summary: "Deactivate a usage meter",
    description: "Rejected while an account has, or will have, a price plan with the meter.",
  }),
  USAGE_METERS.remove({ id: "archiveUsageMeter", summary: "Archive a usage meter that is a DRAFT or INACTIVE" }),
];
