/** Usage meters over HTTP (S5.4). */
import * as z from "zod";

import { hasKeys, NAME_PATTERN, type UsageMeter, usageMeter } from "../../../book/resources/event-schema.ts";
import { computationId, EVERY_EVENT, ONE_UNIT } from "../../../engine/catalog/resource-methods.ts";
import type { StoredResource } from "../../../engine/configured-resources.ts";
import type { PageOptions } from "../../../engine/pages.ts";
import {
  createAnswerDeriver,
  formatRule,
  answerPage,
  createListShape,
  readBoundedPage,
  toAnswer,
} from "../../http/answers.ts";
import { type Endpoint, defineEndpoint } from "../../http/endpoint.ts";
import { Refusal } from "../../http/failures.ts";
import { listQuery } from "../../http/pagination.ts";
import { ResourceEndpoints } from "../resource-endpoints.ts";

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

const { name, billableName, description, aggregation, eventSchemaName, computations, groupBy } = usageMeter.shape;
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
      name,
      billableName,
      description,
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
  defineEndpoint({
    method: "GET",
    path: "/usage_meters",
    id: "listUsageMeters",
    tag: "Usage meters",
    summary: "List usage meters, newest first",
    query: listQuery({ status: usageMeterShape.shape.status.optional(), aggregation: aggregations, aggregations }),
    answers: { 200: createListShape(usageMeterShape, "UsageMeterList") },
    handle: async ({ engine, paging, query: { aggregation: singleFilter, aggregations: listFilter, ...query } }) => {
      if (singleFilter !== undefined && listFilter !== undefined) {
        throw new Refusal(400, "aggregations: use either aggregations or aggregation");
      }
      const request = paging.readRequest({
        list: "usage_meters",
        query: { ...query, aggregation: singleFilter ?? listFilter },
      });
      const answered = request.filters.aggregation?.split(",");
      const aggregations = answered && aggregation.options.filter((each) => answered.includes(toAnswered(each)));
      const filter = { status: request.filters.status, aggregation: aggregations };
      const listMeters = (page: PageOptions): ReturnType<typeof engine.usageMeters.list> =>
        engine.usageMeters.list({ filter, page });
      return answerPage(request, await readBoundedPage(request, listMeters, toMeterJson));
    },
  }),
  USAGE_METERS.get({ id: "getUsageMeter", summary: "Get a usage meter" }),
  USAGE_METERS.update({
    id: "updateUsageMeter",
    summary: "Change a usage meter",
    description:
      "Unless the meter is a DRAFT, only name, billableName and description can change; the other fields can be sent unchanged.",
    body: z.strictObject({
      name: name.optional(),
      billableName,
      description,
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
    run: async (engine, id, { actualAggregation, aggregation: answered, ...fields }) => {
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
